"""Answers to a batch of queries, as the session's one procedure takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.belief import belief_entropy
from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.ledger.event import QueryAnswers
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampler import NoisePool
from pacsklearn.kernel.release.account import Secret
from pacsklearn.kernel.release.plan import Part, Plan

_LEAST_NOISE = 64
# A belief may be certain but for what doubles can tell.
_LEAST_CHARGE = 1e-250


@final
class DrawnAnswers(NamedTuple):
    """Answers as the engine gives them, how sure each is, and the belief after all of them."""

    values: list[Any]
    margins: list[float]
    log_belief: Floats
    n_contested: int


Keep: TypeAlias = Callable[[DrawnAnswers], None]


@final
@dataclass(frozen=True)
class AnswerLaw:
    """How a batch is noised: each contested row for a step budget, under the rows before it.

    Parameters
    ----------
    n_noisy : int
        Contested rows. Answering makes rows unanimous, never contested: this is the worst case.
    bound : float
        Nats that they reveal at most; never more than is still unknown.
    """

    n_noisy: int
    bound: float

    backend: ClassVar[str] = "diagonal"
    confidence: ClassVar[float] = 1.0
    information: ClassVar[None] = None
    # The rows' own laws depend on what came out before: none is kept.
    laws: ClassVar[tuple[Any, ...]] = ()

    @classmethod
    def of(cls, n_contested: int, step_budget: float, log_belief: Floats) -> Self:
        """Return the law of so many contested rows under a belief."""
        # Each row tells at most its step budget given those before it (chain rule), and all of them
        # together no more than the entropy of the belief.
        unknown = max(belief_entropy(log_belief) * OUTWARD, _LEAST_CHARGE)
        return cls(n_contested, min(n_contested * step_budget, unknown))


@final
@dataclass(frozen=True, eq=False, repr=False)
class AnsweredRows(Plan):
    """Answers to queries: each row is one step of pac-private-responses' Algorithm 1.

    Parameters
    ----------
    answers : AnswerKind
    predictions : ndarray
        What every candidate says.
    log_belief : ndarray of shape (m,)
        That rows are counted under: the plan is for this belief and no other one.
    target : Target
        What a contested row may reveal.
    pool : NoisePool
    keep : callable
        Learns and stores what came out: it may be told then.
    """

    answers: AnswerKind
    predictions: NDArray[Any]
    log_belief: Floats
    target: Target
    pool: NoisePool
    keep: Keep

    kind = "responses"
    provenance = ()

    @property
    def n_outputs(self) -> int:
        return len(self.predictions)

    @property
    def released(self) -> tuple[str, ...]:
        return (f"answers ({self.answers.answers})",)

    @property
    def public(self) -> tuple[str, ...]:
        return ("which queries all candidates agree on",)

    @cached_property
    def law(self) -> AnswerLaw:
        """Law under the belief that the plan is for; the secret is not needed."""
        contested = int(self.answers.engine.contested(self.predictions, self.log_belief).sum())
        return AnswerLaw.of(contested, self.target.budget, self.log_belief)

    def calibrate(self, belief: Floats) -> AnswerLaw:
        # A row that was agreed on under a belief may be contested under an earlier one.
        if not np.array_equal(belief, np.exp(self.log_belief)):
            raise RuntimeError("The belief has moved on since these rows were counted.")
        return self.law

    def event(self, law: AnswerLaw, unit: str, n_candidates: int) -> QueryAnswers:
        return QueryAnswers(
            **self._facts(law),
            unit=unit,
            n_candidates=n_candidates,
            answers=self.answers.answers,
            step_budget=self.target.budget,
        )

    def observe(self, law: AnswerLaw, secret: Secret) -> DrawnAnswers:
        """Run Algorithm 1 over the rows, with as much noise as they turn out to need."""
        values: list[Any] = []
        margins: list[float] = []
        log_belief = self.log_belief
        # Nearly every contested row needs some; an engine that stops for want of it runs twice.
        # Reproducible noise is taken in the portions that the golden figures were made with.
        least, each = (0, max(2, self.answers.width)) if self.pool.is_secure else (_LEAST_NOISE, 2)
        size = max(least, each * law.n_noisy)
        noise = self.pool.take(size) if law.n_noisy else np.empty(0, dtype=np.int64)
        while len(values) < len(self.predictions):
            rest = self.predictions[len(values) :]
            step = self.answers.engine.answer(
                rest, secret.index, log_belief, self.target.budget, noise
            )
            values += list(self.answers.given(step))
            margins += step.margins.tolist()
            log_belief = step.log_belief
            # Used once: two answers with the same noise show the difference of what they hide.
            noise = noise[step.noise_used :]
            if len(values) < len(self.predictions):
                noise = np.concatenate([noise, self.pool.take(size)])
        return DrawnAnswers(values, margins, log_belief, law.n_noisy)

    def learn(self, law: AnswerLaw, observed: DrawnAnswers, secret: Secret) -> None:
        # Bayes' rule, row by row, is the engine's: each row's law is one of the belief before it.
        self.keep(observed)

    def value(self, law: AnswerLaw, observed: DrawnAnswers) -> NDArray[Any]:
        return self.answers.decoded(observed.values)

    def example(self, law: AnswerLaw) -> None:
        """Return nothing to rehearse.

        What follows the draw cannot fail, as answers are numbers or labels.
        """

    def parts(self, law: AnswerLaw, observed: DrawnAnswers | None) -> list[Part]:
        return []
