"""What an adversary comes to believe about the secret, drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.plots.display import Display, pyplot
from pacsklearn.plots.palette import COLOURS, NEUTRAL, legend_below, percent


@dataclass(eq=False, kw_only=True, repr=False)
class BeliefDisplay(Display):
    """Posterior probability of each candidate after each answer, and what remains unknown.

    Above, one line for each candidate: grey, and in colour the one that was drawn in the
    rehearsal. Below, the entropy of the belief and the least that the guarantee leaves, on average
    over conversations. A belief is a function of the rows and of what was released: known to the
    adversary of the guarantee, but not to be shown to anybody who does not know the rows.

    Parameters
    ----------
    beliefs : ndarray of shape (n_steps + 1, m)
        From the prior on; every row a distribution.
    step_budget : float
        Nats that an answer may reveal.
    drawn : int, optional
        Candidate drawn in the rehearsal, never that of a session.

    Attributes
    ----------
    axes_ : tuple of matplotlib Axes
        Belief, and entropy.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.plots import BeliefDisplay
    >>> from pacsklearn.secrets import balanced_space
    >>> predictions = np.random.default_rng(0).integers(0, 2, (30, 16))
    >>> space = balanced_space(40, n_subsets=16)
    >>> display = BeliefDisplay.from_rehearsal(predictions, space, step_budget=1 / 16)
    """

    beliefs: Floats
    step_budget: float
    drawn: int | None = None

    _size = (7, 5.5)
    _grid: ClassVar = {"nrows": 2, "sharex": True, "height_ratios": (2, 1)}

    @classmethod
    def from_rehearsal(
        cls,
        predictions: ArrayLike,
        space: SecretSpace,
        *,
        step_budget: float,
        n_queries: int | None = None,
        random_state: int = 0,
        ax: Any = None,
    ) -> BeliefDisplay:
        """Rehearse one conversation with a secret of its own, and draw.

        Parameters
        ----------
        predictions : array-like of shape (n, m) or (n, m, d)
            What each candidate answers to each query, as for ``TranscriptGame``.
        space : SecretSpace
        step_budget : float
            Nats a contested answer may reveal.
        n_queries : int, optional
            How many of the queries are asked; all when not given.
        random_state : int, default=0
            Public seed of the rehearsal.
        ax : pair of matplotlib Axes, optional
            A new figure is made when not given.
        """
        from pacsklearn.audit.transcript_game import TranscriptGame

        pyplot(cls.__name__)
        beliefs: list[Floats] = []

        def in_order(belief: Floats, queried: NDArray[np.bool_]) -> int:
            beliefs.append(belief)
            return int(np.argmin(queried))

        count = len(np.asarray(predictions)) if n_queries is None else n_queries
        check_integer(name="n_queries", value=count, minimum=1)
        game = TranscriptGame(
            predictions, space, step_budget=step_budget, n_queries=count, adversary=in_order
        )
        played = game.play(np.random.default_rng(random_state))
        path = np.stack([*beliefs, played.posterior])
        return cls(beliefs=path, step_budget=step_budget, drawn=played.secret).plot(ax)

    def _draw(self, above: Any, below: Any) -> None:
        steps = np.arange(len(self.beliefs))
        shares = percent(1) * self.beliefs
        above.plot(steps, shares, color="0.75", linewidth=0.8)
        above.plot([], [], color="0.75", label=f"each of {shares.shape[1]} candidates")
        if self.drawn is not None:
            label = "the one drawn in this rehearsal"
            above.plot(steps, shares[:, self.drawn], color=COLOURS[1], linewidth=2, label=label)
        above.set(ylim=(0, None), ylabel="belief (%)")
        above.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
        entropy = entr(self.beliefs).sum(axis=1)
        below.plot(steps, entropy, color=COLOURS[0], label="remains unknown")
        guaranteed = np.maximum(entropy[0] - self.step_budget * steps, 0)
        below.plot(steps, guaranteed, "--", color=NEUTRAL, label="guaranteed on average")
        below.set(ylim=(0, 1.08 * entropy[0]), ylabel="entropy (nats)")
        below.set_xlabel("answers or releases")
        below.xaxis.get_major_locator().set_params(integer=True)
        legend_below(below)
        for axes in self.axes_:
            axes.grid(visible=True, axis="y", alpha=0.25)
            axes.set_xlim(0, max(len(steps) - 1, 1))
