"""Private answers, played with the session's own engine, and how the next query is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn._validation import check_budget, check_integer
from pacsklearn.audit.game import CandidateGame, Round, read_only
from pacsklearn.estimators.answer_kinds import LabelKind, ValueKind, answer_kind
from pacsklearn.estimators.game_procedure import game_procedure
from pacsklearn.estimators.prediction_table import PredictionTable
from pacsklearn.estimators.stored_answers import StoredAnswers
from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.sampler import NoisePool, SeededSampler
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.kernel.release.account import Secret
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.design import candidates_over

Adversary: TypeAlias = Callable[[Floats, NDArray[np.bool_]], int]
"""``adversary(belief, asked)`` gives the number of the next query: ``belief`` of shape (m,) are the
probabilities of the candidates after all answers so far, ``asked`` of shape (n,) says which queries
were asked before (asking again tells nothing: a session gives the stored answer). A function of its
arguments alone."""


@final
class MostContested:
    """Asks what the candidates disagree about most, under the belief so far.

    A greedy stand-in for the best sequence of queries, which is out of reach to compute
    (pac-private-responses, section 6.3).

    Parameters
    ----------
    predictions : array-like of shape (n, m) or (n, m, d)
        As for :class:`~pacsklearn.audit.transcript_game.TranscriptGame`.

    Notes
    -----
    For labels disagreement is the entropy of the label's distribution under the belief, for values
    the variance summed over the coordinates. Of several queries the first is asked.
    """

    def __init__(self, predictions: ArrayLike) -> None:
        table: Any = np.asarray(predictions)
        self._values = table if table.ndim == 3 else None
        self._shown: NDArray[np.bool_] | None = None
        if table.ndim == 2:
            labels = np.unique(table)
            self._shown = np.stack([table == label for label in labels])

    def __call__(self, belief: Floats, queried: NDArray[np.bool_]) -> int:
        if self._shown is not None:
            masses = self._shown @ belief
            logs = np.log(masses, out=np.zeros_like(masses), where=masses > 0)
            disagreement = -(masses * logs).sum(axis=0)
        else:
            assert self._values is not None
            mean = np.einsum("m,nmd->nd", belief, self._values)
            disagreement = np.einsum("m,nmd->n", belief, (self._values - mean[:, None]) ** 2)
        return int(np.argmax(np.where(queried, -1.0, disagreement)))


@final
class Transcript(NamedTuple):
    """What an adversary sees of a conversation.

    Attributes
    ----------
    queries : list of int
        Numbers of the queries that were answered.
    answers : ndarray of shape (n_answered,) or (n_answered, d)
    left : tuple of float
        Nats that were left, to begin with and after each batch.
    """

    queries: list[int]
    answers: NDArray[Any]
    left: tuple[float, ...]


@final
class TranscriptGame(CandidateGame):
    """A conversation with a black box that answers privately, over and over with fresh secrets.

    Parameters
    ----------
    predictions : array-like of shape (n, m) or (n, m, d)
        What each of the m candidates answers to each of n queries: label codes (integers), or d
        numbers clipped to a public range. Known to the adversary, as the rows are.
    space : SecretSpace
        Candidates, prior and units.
    step_budget : float
        Nats a contested answer may reveal.
    budget : float, optional
        Ceiling of a conversation, in nats; ``n_queries * step_budget`` when not given. The
        conversation ends before an answer that would pass it.
    n_queries : int, optional
        Queries asked in a round; n when not given. More than n are possible with an ``adversary``,
        who may ask again.
    adversary : callable, optional
        Chooses each query after the answers before it:
        :data:`~pacsklearn.audit.transcript_game.Adversary`. All queries in order when not given.
    canaries : tuple of int, default=()
        Units that an attack is about: the target of a poisoning, say.

    Raises
    ------
    BudgetError, ValueError
        When an argument is not of that form.

    Notes
    -----
    Each round is a conversation with a :class:`~pacsklearn.kernel.answers.responder.Responder`, the
    one that a session answers with: it charges, stops, stores and answers; its belief is the
    adversary's exact posterior. Queries are known to it by their numbers. The noise is a rounded
    Gaussian of the lattice's scale from the round's generator: rounds must be reproducible, and the
    difference to the discrete Gaussian is far below what any number of rounds could show.

    *Bound.* The answers reveal at most ``min(budget, n_queries * step_budget, H(S))`` nats
    (pac-private-responses, Theorem 3.3), which caps every criterion by pac-private-algorithms,
    equation 3. A batch is charged as in a session: the step budget for each query on which
    candidates disagree, and never more than is unknown.

    ``Round.released`` is a :class:`Transcript`.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.secrets import balanced_space
    >>> from pacsklearn.audit.transcript_game import MostContested
    >>> from pacsklearn.audit.membership_attack import OptimalMembershipAttack
    >>> from pacsklearn.audit.transcript_game import TranscriptGame
    >>> predictions = np.random.default_rng(0).integers(0, 2, (50, 16))
    >>> space = balanced_space(40, n_subsets=16)
    >>> game = TranscriptGame(
    ...     predictions,
    ...     space,
    ...     step_budget=1 / 64,
    ...     n_queries=8,
    ...     adversary=MostContested(predictions),
    ... )
    >>> result = OptimalMembershipAttack().run(game, n_trials=200, seed=0)
    >>> result.success <= result.bound
    True
    """

    released: ClassVar[str] = "answers"

    beyond = ("prices",)

    def __init__(
        self,
        predictions: ArrayLike,
        space: SecretSpace,
        *,
        step_budget: float,
        budget: float | None = None,
        n_queries: int | None = None,
        adversary: Adversary | None = None,
        canaries: tuple[int, ...] = (),
    ) -> None:
        self.canaries = tuple(canaries)
        self.predictions = _as_table(predictions, space)
        self._step_budget = check_budget(budget=step_budget, name="step_budget")
        self._n_queries = len(self.predictions)
        if n_queries is not None:
            self._n_queries = check_integer(name="n_queries", value=n_queries, minimum=1)
        if adversary is None and self._n_queries > len(self.predictions):
            raise ValueError(
                f"n_queries must be at most the {len(self.predictions)} queries of predictions, "
                f"got {n_queries}; give fewer, or an adversary=, which may ask a query again."
            )
        worst = self._n_queries * self._step_budget
        # Without a ceiling the number of queries is the limit, and rounding must not cut it short.
        self._ceiling = worst * (1 + 1e-9) if budget is None else check_budget(budget=budget)
        super().__init__(space, min(worst, self._ceiling))
        if self.predictions.ndim == 2:
            self._kind: AnswerKind = LabelKind(np.arange(int(self.predictions.max()) + 1))
        else:
            # So wide that no answer is clipped.
            reach = 1e6 * (1 + float(np.abs(self.predictions).max()))
            self._kind = ValueKind((-reach, reach), self.predictions.shape[-1])
        self._adversary = adversary
        self._table = PredictionTable(self.predictions)

    @classmethod
    def rehearse(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        queries: Any,
        space: SecretSpace,
        *,
        answers: str = "auto",
        value_range: tuple[float, float] | None = None,
        fit_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        **game_params: Any,
    ) -> Self:
        """Return game of a session on ``X`` and ``y`` in which ``estimator`` answers ``queries``.

        The candidates are fitted as the session fits them.

        Parameters
        ----------
        estimator : estimator
            Any classifier or regressor.
        X, y : array-likes
            The universe.
        queries : array-like of shape (n, n_features)
        space : SecretSpace
            The session's: ``session.space``.
        answers, value_range, fit_params
            As for :meth:`PrivacySession.responder`.
        n_jobs : int, optional
            Workers that fit the candidates.
        **game_params
            ``step_budget`` and the other arguments of the class.
        """
        options = FitOptions(fit_params or {}, n_jobs)
        candidates = candidates_over(estimator, X, y, space, options)
        kind = answer_kind(estimator, candidates.y, answers, value_range)
        models = candidate_models(candidates)
        rows = queries if hasattr(queries, "shape") else np.asarray(queries)
        predictions = kind.predictions(models, rows)
        return cls(predictions, space, **game_params)

    def play(self, generator: np.random.Generator) -> Round:
        procedure = game_procedure(self._space, SeededSampler(generator), self._ceiling)
        secret = procedure.secret.index  # drawn before the noise
        responder = Responder(
            self._table,
            procedure,
            NoisePool(procedure.secret.sampler),
            self._kind,
            StoredAnswers(self._table.keys),
            step_budget=self._step_budget,
        )
        queries, answers, left = self._conversation(responder, procedure.secret)
        shown = np.asarray(answers).reshape(len(queries), *self._kind.decoded([]).shape[1:])
        return Round(secret, procedure.secret.belief, Transcript(queries, shown, tuple(left)))

    def prices(self, released: Transcript) -> Floats:
        """Return what each step of a round cost, NaN once it was refused; (n_queries,)."""
        charges = np.full(self._n_queries, np.nan)
        taken = -np.diff(released.left)
        charges[: len(taken)] = taken
        return charges

    def _conversation(
        self, responder: Responder, secret: Secret
    ) -> tuple[list[int], list[Any], list[float]]:
        """Return queries, answers and what was left of the budget, until the responder refuses."""
        queries: list[int] = []
        answers: list[Any] = []
        left = [responder.remaining_budget]
        if self._adversary is None:
            # A batch is refused as a whole; whoever is refused asks for one answer after another.
            batches = [np.arange(self._n_queries), *np.arange(self._n_queries)[:, None]]
        else:
            batches = [None] * self._n_queries
        queried = np.zeros(len(self.predictions), dtype=bool)
        for number, batch in enumerate(batches):
            rows = self._chosen(secret.belief, queried.copy()) if batch is None else batch
            try:
                answered = responder.answer_checked(rows[:, None]).values
            except BudgetExhaustedError:
                if number == 0 and self._adversary is None:
                    continue
                break
            queries += rows.tolist()
            answers += list(answered)
            left.append(responder.remaining_budget)
            queried[rows] = True
            if len(rows) == self._n_queries:
                break
        return queries, answers, left

    def _chosen(self, belief: Floats, queried: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the adversary's next query."""
        assert self._adversary is not None
        query = self._adversary(belief, queried)
        query = check_integer(name="the adversary's query", value=query, minimum=0)
        if query >= len(self.predictions):
            raise ValueError(
                f"The adversary's query must be a number below {len(self.predictions)}, "
                f"got {query}."
            )
        return np.array([query])


def _as_table(predictions: ArrayLike, space: SecretSpace) -> NDArray[Any]:
    """Return a copy of what the candidates say, in the form that the engine takes."""
    table = np.array(predictions)
    if table.ndim not in {2, 3} or len(table) == 0 or table.shape[1] != space.n_subsets:
        raise ValueError(
            f"predictions must have shape (n, {space.n_subsets}) for labels, or "
            f"(n, {space.n_subsets}, d) for values, one column for each "
            f"candidate, got shape {table.shape}."
        )
    if table.ndim == 3:
        return read_only(table.astype(np.float64))
    if not np.issubdtype(table.dtype, np.integer) or table.min() < 0:
        raise ValueError(
            "predictions must hold label codes, integers from 0 on; for values give "
            f"an array of shape (n, {space.n_subsets}, d). Got dtype {table.dtype}."
        )
    return read_only(table.astype(np.int32))
