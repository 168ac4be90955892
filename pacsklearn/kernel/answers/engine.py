"""Private answers at speed: Algorithm 1, one row after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE

Answered: TypeAlias = tuple[NDArray[Any], Floats, Floats, Floats]
"""What a loop fills, row by row: answers, deviations, charges, margins."""

# Below it the masses themselves leave the range of doubles.
_LEAST_BUDGET = 1e-250


@final
@dataclass(frozen=True, eq=False)
class StepAnswers:
    """Private answers to the first rows of a batch: to all of them, unless noise ran out.

    Parameters
    ----------
    answers : ndarray of shape (k,) or (k, d)
        Label codes, or noisy values that are not clipped; k rows in the order asked.
    charges : ndarray of shape (k,)
        Nats each row costs, by the law that was used: 0 where all candidates agree. A session
        charges the worst case beforehand; this is what tests hold against the step budget.
    margins : ndarray of shape (k,)
        Smallest statistic T_j of Proposition 5.1 over the other labels: the answer may be kept
        at level alpha when it is at least ``Phi^-1(1 - alpha)``. ``inf`` where the answer is exact,
        ``-inf`` where some label cannot be told from the answer, ``nan`` for values.
    log_belief : ndarray of shape (m,)
        Normalised log-weights after these rows.
    noise_used : int
        Noise integers consumed, from the front.
    deviations : ndarray of shape (k,) or (k, d)
        Standard deviation of the noise of each value; zero where all candidates agree, and for
        labels, which have no noise of their own.
    """

    answers: NDArray[Any] = field(repr=False)
    charges: Floats = field(repr=False)
    margins: Floats = field(repr=False)
    log_belief: Floats = field(repr=False)
    noise_used: int
    deviations: Floats = field(repr=False)


class Engine(ABC):
    """Algorithm 1 over what all candidates answer to some queries.

    Kinds differ in what an answer is: a label, or numbers.

    Notes
    -----
    Source: pac-private-responses, Algorithm 1 and Theorem 3.3. A row on which all possible
    candidates agree is answered exactly, free of charge. Where the entropy of the distinct answers
    is within the step budget, the answer is exact as well, and charged that entropy, which is what
    it reveals; the other candidates become impossible. Everything else is an integer on a lattice
    with exact noise, calibrated under the belief that the rows before it left; answers, margins and
    the next belief are public functions of those integers.
    """

    @abstractmethod
    def table(self, predictions: ArrayLike) -> NDArray[Any]:
        """Return what candidates say, checked, as loops read it; shape (n, m) or (n, m, d)."""

    @abstractmethod
    def fill(self, table: NDArray[Any], step: tuple[Any, ...], answered: Answered) -> Any:
        """Run the loop until rows or noise run out: rows answered, noise used."""

    def answer(
        self,
        predictions: ArrayLike,
        secret: int,
        log_belief: ArrayLike,
        step_budget: float,
        noise: ArrayLike,
        *,
        scale: int = LATTICE_SCALE,
    ) -> StepAnswers:
        """Answer queries, one session step a row, until rows or noise run out.

        Parameters
        ----------
        predictions : array-like
            What candidate ``j`` answers to query ``i``: its label code, shape (n, m) and uint8, or
            non-negative int16 or int32; or its d numbers, clipped to a public range, (n, m, d).
        secret : int
            Index of the candidate that was drawn.
        log_belief : array-like of shape (m,)
            Current log-weights; candidates at ``-inf`` are ignored. Not changed.
        step_budget : float
            Most nats a row may cost.
        noise : ndarray of int64, shape (k,)
            Fresh independent discrete Gaussians of parameter ``scale``, consumed from the front.
            What has been consumed must never be used again.
        scale : int, default=LATTICE_SCALE
            Parameter of the noise; anything else is for tests, where small integers can be summed
            over.

        Returns
        -------
        StepAnswers
            The rows answered, in order; their worst case is charged before.

        Raises
        ------
        TypeError, ValueError
            If an argument has the wrong type, shape or range.
        """
        table = self.table(predictions)
        n, m = table.shape[:2]
        # Loops write into it; the session's own belief moves only once the answers are stored.
        belief = _checked_belief(log_belief, m).copy()
        if not 0 <= secret < m or belief[secret] == -np.inf:
            raise ValueError("secret must be the index of a candidate of positive weight.")
        if not float(step_budget) >= _LEAST_BUDGET:
            raise ValueError(
                f"step_budget must be at least {_LEAST_BUDGET} nats, got {step_budget!r}."
            )
        buffer = np.asarray(noise)
        if buffer.dtype != np.int64 or buffer.ndim != 1:
            raise TypeError(
                "noise must be a vector of int64 as drawn by a sampler, got shape "
                f"{buffer.shape} and dtype {buffer.dtype}."
            )
        answers = np.zeros((n, *table.shape[2:]), table.dtype)
        answered = answers, np.zeros(answers.shape), np.zeros(n), np.full(n, np.nan)
        step = int(secret), belief, float(step_budget), np.ascontiguousarray(buffer), scale
        rows, used = self.fill(table, step, answered)
        answers, deviations, charges, margins = (part[:rows] for part in answered)
        return StepAnswers(answers, charges, margins, belief, used, deviations)

    def contested(self, predictions: ArrayLike, log_belief: ArrayLike) -> NDArray[np.bool_]:
        """Return the rows that would cost something now, at most a step budget each.

        The secret is not needed. Answering a row can make another one unanimous, never contested.

        Parameters
        ----------
        predictions : array-like of shape (n, m) or (n, m, d)
        log_belief : array-like of shape (m,)
            As for :meth:`answer`.

        Returns
        -------
        ndarray of bool, shape (n,)
            Whether candidates that are still possible disagree.

        Raises
        ------
        TypeError, ValueError
            If an argument has the wrong type, shape or range.
        """
        table = self.table(predictions)
        possible = _checked_belief(log_belief, table.shape[1]) > -np.inf
        first = int(np.argmax(possible))
        # Impossible candidates have no say: among the others equal answers reveal nothing.
        differ = table != table[:, first : first + 1]
        differ = np.any(differ, axis=tuple(range(2, table.ndim)))
        contested: NDArray[np.bool_] = np.any(differ & possible, axis=1)
        return contested


def _checked_belief(log_belief: ArrayLike, candidates: int) -> Floats:
    """Return log-weights as a vector with one entry a candidate, some of them above ``-inf``."""
    belief = np.asarray(log_belief, dtype=np.float64)
    if belief.shape != (candidates,):
        raise ValueError(
            f"log_belief must have one entry for each of the {candidates} candidates, got shape "
            f"{belief.shape}."
        )
    if not np.all(belief < np.inf) or np.all(belief == -np.inf):
        raise ValueError("log_belief must hold no NaN or +inf, and not only -inf.")
    return belief
