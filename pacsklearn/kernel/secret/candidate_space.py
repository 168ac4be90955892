"""Arbitrary candidate inputs, one of which is the secret."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.secret.space import Space, Work
from pacsklearn.kernel.secret.stated_secret import SecretCandidate

_DOUBLE = 8


@final
@dataclass(frozen=True, eq=False)
class CandidateSpace(Space):
    """A finite list of candidate inputs of any kind, and how likely each is a priori.

    The counterpart of :class:`~pacsklearn.secrets.SecretSpace` when the secret is no subset of
    rows: keys, configurations, messages. Build one with :meth:`of`. Which candidate is the secret
    is not part of it; everything here is known to the adversary. Inputs that are equal (``==``) are
    one candidate, with the sum of their weights, which the first of them stands for: whoever names
    their value has named the secret.

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

    public: ClassVar[tuple[str, ...]] = ("the released functions",)

    @classmethod
    def of(cls, candidates: Iterable[Any], weights: ArrayLike | None = None) -> CandidateSpace:
        """Make a space of these candidates.

        Parameters
        ----------
        candidates : iterable
            At least two that differ. Of those that compare equal (``1``, ``1.0`` and ``True``;
            arrays of one shape and equal numbers) the first is kept, as it is.
        weights : array-like of shape (m,), optional
            Prior probabilities, positive; normalised. Uniform when not given.

        Raises
        ------
        DesignError

        Examples
        --------
        >>> from pacsklearn.secrets import CandidateSpace
        >>> round(CandidateSpace.of(range(256)).entropy, 3)
        5.545
        """
        listed = tuple(candidates)
        m = len(listed)
        numbering = _Numbering()
        numbers = np.array([numbering.number(one) for one in listed], dtype=np.int64)
        if numbering.size < 2:
            raise DesignError(
                f"candidates must hold at least 2 inputs that differ, got {numbering.size} in {m}."
            )
        prior = np.full(m, 1.0 / m) if weights is None else np.asarray(weights, dtype=np.float64)
        if prior.shape != (m,) or not np.all(np.isfinite(prior)) or np.any(prior <= 0):
            raise DesignError(
                f"weights must be {m} positive numbers, one for each candidate, got shape "
                f"{prior.shape}; leave out candidates that are impossible."
            )
        # Rule 12: entropy and blind success are those of distinct candidates.
        _, first = np.unique(numbers, return_index=True)
        # The prior of a merged candidate: that one of the equal inputs is the secret.
        summed = np.bincount(numbers, prior / prior.sum()).astype(np.float64)
        summed.setflags(write=False)
        return cls(tuple(listed[i] for i in first), summed, numbers)

    @property
    def n_candidates(self) -> int:
        """Number m of distinct candidates."""
        return len(self.candidates)

    @property
    def size(self) -> str:
        return f"n_candidates={self.n_candidates}"

    def outputs(self, work: Work) -> Any:
        """Compute ``work`` for every candidate."""
        return work.of_inputs(self)

    def stated(self) -> SecretCandidate:
        return SecretCandidate(
            n_candidates=self.n_candidates,
            entropy=self.entropy,
            prior_identification=float(self.weights.max()),
        )

    def listed(self) -> CandidateSpace:
        """Return the space itself: its candidates can be looked at one by one."""
        return self

    def row_subsets(self) -> NoReturn:
        """Refuse what needs subsets of rows.

        Raises
        ------
        TypeError
        """
        raise TypeError(
            "This session is over arbitrary candidates, not over subsets of rows; use "
            "release_function, or begin a session with PrivacySession(X, y, ...)."
        )


@final
class _Numbering:
    """Numbers of inputs in the order of their first appearance; equal ones share a number."""

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}
        # Of inputs that no dictionary finds: compared one by one.
        self._unhashable: list[tuple[Any, int]] = []
        self.size = 0

    def number(self, value: Any) -> int:
        """Return the number of an input: of the first one that it is equal to, or a new one."""
        # Equal by value or by bytes: either way whoever names one has named the other.
        keys, alike = [_identity(value)], list[tuple[Any, int]]()
        try:
            key = ("equal", _comparable(value))
            hash(key)
            keys.append(key)
        except Exception:  # noqa: BLE001 - an object's own methods, which may raise anything
            alike = self._unhashable
        known = [self._known[key] for key in keys if key in self._known]
        number = next((n for one, n in alike if _are_equal(one, value)), self.size)
        number = min([*known, number])
        self.size = max(self.size, number + 1)
        for key in keys:
            self._known.setdefault(key, number)
        if len(keys) == 1:
            self._unhashable.append((value, number))
        return number


def _comparable(value: Any) -> Any:
    """Return what is equal and has the same hash for equal inputs.

    What has no hash raises or is kept.
    """
    if isinstance(value, np.ndarray):
        return "array", value.shape, _numbers(value)
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return kind, tuple(map(_comparable, value))
    if isinstance(value, dict):
        return "dict", frozenset((key, _comparable(one)) for key, one in value.items())
    if isinstance(value, set | frozenset):
        return "set", frozenset(value)
    if isinstance(value, bytearray):
        return bytes(value)
    return value


def _numbers(array: NDArray[Any]) -> Any:
    if array.dtype.kind in "biuf" and array.dtype.itemsize <= _DOUBLE:
        exact = array.astype(np.float64) + 0.0  # -0.0 becomes 0.0
        if np.all(np.abs(exact) < 2.0**53):
            return exact.tobytes()
    return tuple(map(_comparable, array.ravel().tolist()))


def _are_equal(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except Exception:  # noqa: BLE001 - comparisons without an answer: not known to be equal
        return False


def _identity(value: Any) -> Any:
    """Return what inputs of the same bytes share, also those that equal nothing, as nan."""
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
