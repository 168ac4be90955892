"""Private labels at speed: Algorithm 1 over distinct labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.answers import label_kernel
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE

Integers = NDArray[np.int64]

# The kernel keeps a table with a place for each.
_MOST_CODES = 2**24

# Below it the masses themselves leave the range of doubles.
_LEAST_BUDGET = 1e-250


@final
class Stop(IntEnum):
    """Why an engine stopped; before the next row, which it has not touched."""

    FINISHED = 0
    NOISE = 1
    """The next row needs more noise than was left: call again with more."""


@final
@dataclass(frozen=True, eq=False)
class StepAnswers:
    """Private answers to the first rows of a batch.

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
    stop : Stop
        Why there are not more rows.
    deviations : ndarray of shape (k, d), optional
        Standard deviation of the noise of each value; zero where all candidates agree.
    """

    answers: NDArray[Any] = field(repr=False)
    charges: Floats = field(repr=False)
    margins: Floats = field(repr=False)
    log_belief: Floats = field(repr=False)
    noise_used: int
    stop: Stop
    deviations: Floats | None = field(default=None, repr=False)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """Checked arguments that both engines share."""

    log_belief: Floats
    secret: int
    budget: float
    noise: Integers
    scale: int

    @classmethod
    def checked(
        cls,
        candidates: int,
        secret: int,
        log_belief: ArrayLike,
        budget: float,
        noise: ArrayLike,
        scale: int = LATTICE_SCALE,
    ) -> Step:
        """Copy of the belief and the other arguments, or an error that tells nothing of them."""
        # Engines write into it; the session's own belief moves only once the answers are stored.
        belief = check_belief(log_belief, candidates).copy()
        if not 0 <= secret < candidates or belief[secret] == -np.inf:
            raise ValueError("secret must be the index of a candidate of positive weight.")
        if not float(budget) >= _LEAST_BUDGET:
            raise ValueError(f"step_budget must be at least {_LEAST_BUDGET} nats, got {budget!r}.")
        buffer = np.asarray(noise)
        if buffer.dtype != np.int64 or buffer.ndim != 1:
            raise TypeError(
                "noise must be a vector of int64 as drawn by a sampler, got shape "
                f"{buffer.shape} and dtype {buffer.dtype}."
            )
        return cls(belief, int(secret), float(budget), np.ascontiguousarray(buffer), scale)


def check_belief(log_belief: ArrayLike, candidates: int) -> Floats:
    """Log-weights as a vector with one entry a candidate, some of them above ``-inf``."""
    belief = np.asarray(log_belief, dtype=np.float64)
    if belief.shape != (candidates,):
        raise ValueError(
            f"log_belief must have one entry for each of the {candidates} candidates, got shape "
            f"{belief.shape}."
        )
    if not np.all(belief < np.inf) or np.all(belief == -np.inf):
        raise ValueError("log_belief must hold no NaN or +inf, and not only -inf.")
    return belief


def answer_labels(
    codes: ArrayLike,
    secret: int,
    log_belief: ArrayLike,
    step_budget: float,
    noise: ArrayLike,
    *,
    scale: int = LATTICE_SCALE,
) -> StepAnswers:
    """Answer label queries, one session step a row, until rows or noise run out.

    Parameters
    ----------
    codes : array-like of shape (n, m)
        Label code that candidate ``j`` gives query ``i``: uint8, or non-negative int16 or int32.
    secret : int
        Index of the candidate that was drawn.
    log_belief : array-like of shape (m,)
        Current log-weights; candidates at ``-inf`` are ignored. Not changed.
    step_budget : float
        Most nats a row may cost.
    noise : ndarray of int64, shape (k,)
        Fresh independent discrete Gaussians of parameter ``scale``, consumed from the front. What
        has been consumed must never be used again.
    scale : int, default=LATTICE_SCALE
        Parameter of the noise; anything else is for tests, where small integers can be summed over.

    Returns
    -------
    StepAnswers
        The rows answered, in order; their worst case is charged before.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, shape or range.

    Notes
    -----
    Source: pac-private-responses, Algorithm 1 and Theorem 3.3, with a calibration in the number of
    distinct labels. For one row with posterior label masses q:

    * All possible candidates agree: the label, free of charge.
    * The entropy of q is within the budget: the exact label, charged its entropy, which is what it
      reveals. The other candidates become impossible.
    * Two labels: noise along their difference only; the released integer is the noise plus a for
      one label, plus 0 for the other, with the largest a whose bound is within the budget.
    * More labels: one coordinate each, noise variances as ``diagonal`` (Efficient-PAC).

    The charge is :func:`~pacsklearn.bounds.linear_bound` of the integer centres, so it holds
    exactly for the integers that are released; labels and margins are public functions of those.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import uniform_belief
    >>> from pacsklearn.kernel.answers.label_engine import answer_labels
    >>> codes = np.array([[2, 2, 2, 2], [0, 0, 1, 1]], dtype=np.uint8)
    >>> step = answer_labels(codes, 3, uniform_belief(4), 1 / 16, np.array([0]))
    >>> step.answers, step.charges.round(4)
    (array([2, 1], dtype=uint8), array([0.    , 0.0625]))
    """
    table = _as_codes(codes)
    n, m = table.shape
    step = Step.checked(m, secret, log_belief, step_budget, noise, scale)
    answers = np.empty(n, dtype=table.dtype)
    charges, margins = np.empty(n), np.empty(n)
    rows, used, stop = label_kernel.answer_rows(
        table,
        step.secret,
        step.log_belief,
        step.budget,
        step.noise,
        scale,
        _places(table),
        answers,
        charges,
        margins,
    )
    return StepAnswers(
        answers=answers[:rows],
        charges=charges[:rows],
        margins=margins[:rows],
        log_belief=step.log_belief,
        noise_used=used,
        stop=Stop(stop),
    )


def contested_rows(codes: ArrayLike, log_belief: ArrayLike) -> NDArray[np.bool_]:
    """Rows that would cost something now, at most a step budget each; the secret is not needed.

    Parameters
    ----------
    codes : array-like of shape (n, m)
        As for :func:`answer_labels`.
    log_belief : array-like of shape (m,)
        Current log-weights.

    Returns
    -------
    ndarray of bool, shape (n,)
        Whether candidates that are still possible disagree. Answering a row can make another one
        unanimous, never contested.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, shape or range.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.kernel.answers.label_engine import contested_rows
    >>> codes = np.array([[0, 0, 1], [1, 1, 1]], dtype=np.uint8)
    >>> contested_rows(codes, np.log([0.5, 0.25, 0.25]))
    array([ True, False])
    """
    table = _as_codes(codes)
    belief = check_belief(log_belief, table.shape[1])
    result = np.empty(table.shape[0], dtype=np.bool_)
    label_kernel.contested(table, np.ascontiguousarray(belief), result)
    return result


def _as_codes(codes: ArrayLike) -> NDArray[Any]:
    table = np.ascontiguousarray(codes)
    if table.dtype not in {np.dtype(np.uint8), np.dtype(np.int16), np.dtype(np.int32)}:
        raise TypeError(f"codes must be uint8, int16 or int32, got {table.dtype}.")
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"codes must have shape (n, m) with m >= 1, got {table.shape}.")
    if table.dtype != np.uint8 and table.size and not 0 <= table.min() <= table.max() < _MOST_CODES:
        raise ValueError(f"codes must lie between 0 and {_MOST_CODES - 1}.")
    return table


def _places(codes: NDArray[Any]) -> NDArray[np.int64]:
    """One entry for every code that occurs, or is below one: where the kernel notes its place."""
    return np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
