"""Arbitrary candidate inputs, one of which is the secret."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.exceptions import DesignError


@final
@dataclass(frozen=True, eq=False)
class CandidateSpace:
    """A finite list of candidate inputs of any kind, and how likely each is a priori.

    The counterpart of :class:`~pacsklearn.SecretSpace` when the secret is no subset of rows: keys,
    configurations, messages. Build one with :meth:`of`. Which candidate is the secret is not part
    of it; everything here is known to the adversary. Inputs that are the same are one candidate,
    with the sum of their weights: nobody could tell them apart.

    Parameters
    ----------
    candidates : tuple of length m
        Inputs of the functions that are released; distinct.
    weights : ndarray of shape (m,)
        Prior probabilities.
    numbers : ndarray of int64, shape (n_given,)
        Candidate that each of the inputs given is.
    """

    candidates: tuple[Any, ...] = field(repr=False)
    weights: NDArray[np.float64] = field(repr=False)
    numbers: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, candidates: Iterable[Any], weights: ArrayLike | None = None) -> CandidateSpace:
        """Space of these candidates.

        Parameters
        ----------
        candidates : iterable
            At least two that differ, in value or type; kept as they are.
        weights : array-like of shape (m,), optional
            Prior probabilities, positive; normalised. Uniform when not given.

        Raises
        ------
        DesignError

        Examples
        --------
        >>> from pacsklearn import CandidateSpace
        >>> round(CandidateSpace.of(range(256)).entropy, 3)
        5.545
        """
        listed = tuple(candidates)
        m = len(listed)
        places: dict[Any, int] = {}
        numbers = np.array([places.setdefault(_identity(one), len(places)) for one in listed])
        if len(places) < 2:
            raise DesignError(
                f"candidates must hold at least 2 inputs that differ, got {len(places)} in {m}."
            )
        prior = np.full(m, 1.0 / m) if weights is None else np.asarray(weights, dtype=np.float64)
        if prior.shape != (m,) or not np.all(np.isfinite(prior)) or np.any(prior <= 0):
            raise DesignError(
                f"weights must be {m} positive numbers, one for each candidate, got shape "
                f"{prior.shape}; leave out candidates that are impossible."
            )
        _, first = np.unique(numbers, return_index=True)
        summed = np.bincount(numbers, prior / prior.sum()).astype(np.float64)
        return cls(tuple(listed[i] for i in first), summed, numbers)

    @property
    def n_candidates(self) -> int:
        """Number m of distinct candidates."""
        return len(self.candidates)

    @property
    def entropy(self) -> float:
        """Entropy of the secret, in nats; ln(m) when all candidates are equally likely."""
        return float(-np.sum(self.weights * np.log(self.weights)))


def candidate_space(
    candidates: Iterable[Any] | CandidateSpace, weights: ArrayLike | None
) -> CandidateSpace:
    """Space from a user's argument: one that is there, or a list of inputs."""
    if not isinstance(candidates, CandidateSpace):
        return CandidateSpace.of(candidates, weights)
    if weights is not None:
        raise DesignError("weights must be None when candidates is a CandidateSpace already.")
    return candidates


def _identity(value: Any) -> Any:
    """What two inputs share when no function of them can tell which of the two it was given."""
    kind = type(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return kind, value.dtype.str, value.shape, value.tobytes()
    if kind in (tuple, list):
        return kind, tuple(map(_identity, value))
    if kind is float:
        return kind, value.hex()  # 0.0 == -0.0, and some functions tell them apart
    if kind in (int, bool, str, bytes, type(None)):
        return kind, value
    try:
        return kind, pickle.dumps(value)
    except Exception:  # noqa: BLE001 - an object of its own, whatever keeps it from being pickled
        return kind, id(value)
