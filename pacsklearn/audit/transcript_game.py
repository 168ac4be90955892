"""Private answers, played with the session's own engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn._validation import check_budget, check_integer
from pacsklearn.audit.adversary import Adversary
from pacsklearn.candidates.candidates import Candidates, FitOptions
from pacsklearn.candidates.models import candidate_models
from pacsklearn.core.game import Game, Round
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.information import posterior_success
from pacsklearn.noise.sampler import SeededSampler
from pacsklearn.responses.answer_kind import answer_kind
from pacsklearn.responses.answers import LabelAnswers, ValueAnswers
from pacsklearn.responses.label_engine import answer_labels
from pacsklearn.responses.value_engine import answer_values

__all__ = ["TranscriptGame"]

Floats = NDArray[np.float64]


@final
class TranscriptGame(Game):
    """A conversation with a black box that answers privately, over and over with fresh secrets.

    Parameters
    ----------
    said : array-like of shape (n, m) or (n, m, d)
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
        :data:`~pacsklearn.audit.adversary.Adversary`. All queries in order when not given.

    Raises
    ------
    BudgetError, ValueError
        When an argument is not of that form.

    Notes
    -----
    The answers are computed by ``session.label_engine`` and ``session.value_engine``, as in a
    session; their belief is the adversary's exact posterior. The noise is a rounded Gaussian of the
    lattice's scale from the round's generator: rounds must be reproducible, and the difference to
    the discrete Gaussian is far below what any number of rounds could show.

    *Bound.* The answers reveal at most ``min(budget, n_queries * step_budget, H(S))`` nats
    (pac-private-responses, Theorem 3.3), which caps every criterion by pac-private-algorithms,
    equation 3. What each answer is charged is what the engine says: zero where all candidates
    agree, at most the step budget otherwise.

    ``Round.released`` is a pair: numbers of the queries, and their answers.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn import SecretSpace
    >>> from pacsklearn.audit.adversary import MostContested
    >>> from pacsklearn.audit.membership_attack import OptimalMembershipAttack
    >>> from pacsklearn.audit.transcript_game import TranscriptGame
    >>> said = np.random.default_rng(0).integers(0, 2, (50, 16))
    >>> space = SecretSpace.balanced(40, n_subsets=16)
    >>> game = TranscriptGame(
    ...     said, space, step_budget=1 / 64, n_queries=8, adversary=MostContested(said)
    ... )
    >>> result = OptimalMembershipAttack().run(game, n_trials=200, seed=0)
    >>> result.success <= result.bound
    True
    """

    def __init__(
        self,
        said: ArrayLike,
        space: SecretSpace,
        *,
        step_budget: float,
        budget: float | None = None,
        n_queries: int | None = None,
        adversary: Adversary | None = None,
    ) -> None:
        self._said = _as_table(said, space)
        self._space = space
        self._step_budget = check_budget(budget=step_budget, name="step_budget")
        self._n_queries = len(self._said)
        if n_queries is not None:
            self._n_queries = check_integer(name="n_queries", value=n_queries, minimum=1)
        if adversary is None and self._n_queries > len(self._said):
            raise ValueError(
                f"n_queries must be at most the {len(self._said)} queries of said, got "
                f"{n_queries}; only an adversary asks again."
            )
        worst = self._n_queries * self._step_budget
        # Without a ceiling the number of queries is the limit, and rounding must not cut it short.
        self._ceiling = math.inf if budget is None else check_budget(budget=budget)
        self._information = min(worst, self._ceiling, space.entropy)
        self._adversary = adversary
        self._prior = space.weights / space.weights.sum()
        self._members = space.membership().T
        self._prior.flags.writeable = self._members.flags.writeable = False
        self._width = 1
        if self._said.ndim == 3:
            self._width = self._said.shape[2]
        elif (most := max(len(np.unique(row)) for row in self._said)) > 2:
            # Of two labels only the difference is noised, of more each one.
            self._width = most

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
        options: FitOptions | None = None,
        **game_params: Any,
    ) -> Self:
        """Game of a session on ``X`` and ``y`` in which ``estimator`` answers ``queries``.

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
        options : FitOptions, optional
            Instead of ``fit_params`` and ``n_jobs``: everything about how they are fitted.
        **game_params
            ``step_budget`` and the other arguments of the class.
        """
        chosen = options or FitOptions(fit_params or {}, n_jobs)
        candidates = Candidates.prepare(estimator, X, y, space, chosen)
        kind = answer_kind(estimator, candidates.y, answers, value_range)
        models = candidate_models(candidates)
        asked = queries if hasattr(queries, "shape") else np.asarray(queries)
        said = kind.said(models, asked)
        return cls(said, space, **game_params)

    @property
    def prior(self) -> Floats:
        return self._prior

    @property
    def members(self) -> NDArray[np.bool_]:
        return self._members

    @property
    def said(self) -> NDArray[Any]:
        """What each candidate answers to each query; shape (n, m) or (n, m, d)."""
        return self._said

    @property
    def information(self) -> float:
        """Nats that a round reveals at most, on average over rounds."""
        return self._information

    def bound(self, blind: float) -> float:
        return posterior_success(self._information, blind)

    def play(self, generator: np.random.Generator) -> Round:
        sampler = SeededSampler(generator)
        secret = sampler.index(self._prior)
        with np.errstate(divide="ignore"):
            log_belief = np.log(self._prior)
        if self._adversary is None:
            rows = self._said[: self._n_queries]
            told = self._answer(rows, secret, log_belief, self._ceiling, sampler)
            queries = list(range(len(told.answers)))
            return Round(secret, np.exp(told.log_belief), (queries, told.answers))
        return self._converse(secret, log_belief, sampler)

    def _converse(self, secret: int, log_belief: Floats, sampler: SeededSampler) -> Round:
        """One query at a time, each chosen by the adversary."""
        assert self._adversary is not None
        stored: dict[int, Any] = {}
        asked = np.zeros(len(self._said), dtype=bool)
        queries, answers, spent = [], [], 0.0
        for _ in range(self._n_queries):
            query = self._adversary(np.exp(log_belief), asked.copy())
            query = check_integer(name="the adversary's query", value=query, minimum=0)
            if query >= len(self._said):
                raise ValueError(
                    f"The adversary's query must be a number below {len(self._said)}, got {query}."
                )
            if query not in stored:
                left = max(self._ceiling - spent, 0.0)
                row = self._said[query : query + 1]
                told = self._answer(row, secret, log_belief, left, sampler)
                if len(told.answers) == 0:
                    break
                log_belief, spent = told.log_belief, spent + told.spent
                stored[query], asked[query] = told.answers[0], True
            queries.append(query)
            answers.append(stored[query])
        return Round(secret, np.exp(log_belief), (queries, np.asarray(answers)))

    def _answer(
        self,
        rows: NDArray[Any],
        secret: int,
        log_belief: Floats,
        ceiling: float,
        sampler: SeededSampler,
    ) -> LabelAnswers | ValueAnswers:
        noise = sampler.noise(len(rows) * self._width)
        engine = answer_labels if rows.ndim == 2 else answer_values
        return engine(rows, secret, log_belief, self._step_budget, noise, ceiling=ceiling)


def _as_table(said: ArrayLike, space: SecretSpace) -> NDArray[Any]:
    """Own copy of what the candidates say, as the engine wants it."""
    table = np.array(said)
    if table.ndim not in {2, 3} or len(table) == 0 or table.shape[1] != space.n_subsets:
        raise ValueError(
            f"said must have shape (n, {space.n_subsets}) for labels, or (n, {space.n_subsets}, d) "
            f"for values, one column for each candidate, got shape {table.shape}."
        )
    if table.ndim == 2:
        if not np.issubdtype(table.dtype, np.integer) or table.min() < 0:
            raise ValueError(
                "said must hold label codes, integers from 0 on; for values give an array of shape "
                f"(n, {space.n_subsets}, d). Got dtype {table.dtype}."
            )
        table = table.astype(np.int32)
    else:
        table = table.astype(np.float64)
    table.flags.writeable = False
    return table
