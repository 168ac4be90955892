"""What the engines of private responses give back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.core.noise_law import LATTICE_SCALE
from pacsklearn.information.arrays import Floats

Integers = NDArray[np.int64]

LARGEST_CENTRE: Final = 2**26
"""Cap on a label's centre, in grid steps: 64 noise scales tell it from zero but for one release in
exp(500). A cap only ever means more noise than the budget asks for. It matters only for labels of
vanishing mass among three or more, and with it the likelihoods are exact integers."""

LARGEST_OFFSET: Final = 2.0**40
"""Cap on the distance of a centre from the mean, in grid steps: beyond it integers would soon not
be exact doubles. A cap only ever means more noise than the budget asks for."""

TINIEST_STEP: Final = 2.0**-1022

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
class LabelAnswers:
    """Private labels of the first rows of a batch.

    Parameters
    ----------
    answers : ndarray of shape (k,)
        Label codes, k rows in the order asked.
    charges : ndarray of shape (k,)
        Nats each row costs, by the law that was used: 0 where all candidates agree. A session
        charges the worst case beforehand; this is what tests hold against the step budget.
    margins : ndarray of shape (k,)
        Smallest statistic T_j of Proposition 5.1 over the other labels: the answer may be kept
        at level alpha when it is at least ``Phi^-1(1 - alpha)``. ``inf`` where the answer is exact,
        ``-inf`` where some label cannot be told from the answer.
    log_belief : ndarray of shape (m,)
        Normalised log-weights after these rows.
    noise_used : int
        Noise integers consumed, from the front.
    stop : Stop
        Why there are not more rows.
    """

    answers: NDArray[Any] = field(repr=False)
    charges: Floats = field(repr=False)
    margins: Floats = field(repr=False)
    log_belief: Floats = field(repr=False)
    noise_used: int
    stop: Stop


@final
@dataclass(frozen=True, eq=False)
class ValueAnswers:
    """Private real-valued responses for the first rows of a batch.

    Parameters
    ----------
    answers : ndarray of shape (k, d)
        Noisy values; not clipped.
    variances : ndarray of shape (k, d)
        Of the noise of each value; zero where all candidates agree.
    charges : ndarray of shape (k,)
        Nats each row costs.
    log_belief, noise_used, stop
        As for :class:`LabelAnswers`.
    """

    answers: Floats = field(repr=False)
    variances: Floats = field(repr=False)
    charges: Floats = field(repr=False)
    log_belief: Floats = field(repr=False)
    noise_used: int
    stop: Stop

    @property
    def margins(self) -> Floats:
        """Numbers have none: nan; shape (k,)."""
        return np.full(len(self.answers), np.nan)


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
    if belief.shape != (candidates,) or candidates == 0:
        raise ValueError(
            f"log_belief must have one entry for each of the {candidates} candidates, got shape "
            f"{belief.shape}."
        )
    if not np.all(belief < np.inf) or np.all(belief == -np.inf):
        raise ValueError("log_belief must hold no NaN or +inf, and not only -inf.")
    return belief
