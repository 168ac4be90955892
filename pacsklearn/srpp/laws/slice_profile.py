"""The public directions along which a sliced guarantee is stated."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats

_UNIT = 1e-8
_TOTAL = 1e-9


@final
@dataclass(frozen=True, eq=False)
class SliceProfile:
    """Unit directions and their weights: public, fixed, hashable.

    Sliced guarantees add up under one profile only, so two profiles are equal when their numbers
    are.

    Parameters
    ----------
    directions : array-like of shape (n_slices, d)
        Unit vectors.
    weights : array-like of shape (n_slices,), optional
        Positive, summing to 1; equal ones when not given.
    name : str
        How they were made, for texts.

    Raises
    ------
    ValueError
        When a direction is not of unit length, or the weights do not sum to 1.

    Examples
    --------
    >>> profile = SliceProfile.uniform(3, n_slices=200)
    >>> profile.n_slices, profile == SliceProfile.uniform(3, n_slices=200)
    (200, True)
    """

    directions: Floats = field(repr=False)
    weights: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    name: str = "given by the user"

    def __post_init__(self) -> None:
        directions = np.array(self.directions, dtype=np.float64)
        if directions.ndim != 2 or directions.size == 0:
            raise ValueError(
                "directions must have shape (n_slices >= 1, d >= 1), got an array of shape "
                f"{directions.shape}."
            )
        lengths = np.linalg.norm(directions, axis=1)
        if not np.all(np.abs(lengths - 1) <= _UNIT):
            wrong = int(np.argmax(~(np.abs(lengths - 1) <= _UNIT)))
            raise ValueError(
                f"directions must be unit vectors, got one of length {lengths[wrong]:.6g} at row "
                f"{wrong}; divide each by its length."
            )
        weights = np.array(self.weights, dtype=np.float64)
        if weights.size == 0:
            weights = np.full(directions.shape[0], 1.0 / directions.shape[0])
        if weights.shape != (directions.shape[0],) or not np.all((weights > 0) & (weights <= 1)):
            raise ValueError(
                f"weights must be {directions.shape[0]} positive numbers, one for each direction, "
                f"got an array of shape {weights.shape}."
            )
        if not abs(weights.sum() - 1) <= _TOTAL:
            raise ValueError(
                f"weights must sum to 1, got a sum of {weights.sum():.12g}; divide by the sum."
            )
        # Ledgers add releases by the digest, which is computed once.
        directions.flags.writeable = weights.flags.writeable = False
        object.__setattr__(self, "directions", directions)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def uniform(cls, dimension: int, *, n_slices: int = 200, seed: int = 0) -> SliceProfile:
        """Draw directions independently and uniformly from the sphere by a public seed."""
        generator = _generator(dimension, n_slices, seed)
        drawn = generator.standard_normal((n_slices, dimension))
        return cls(_unit_rows(drawn), name=f"{n_slices} uniform directions, seed {seed}")

    @classmethod
    def orthogonal(cls, dimension: int, *, n_slices: int = 200, seed: int = 0) -> SliceProfile:
        """Draw uniform directions that are orthogonal within each frame of ``d``."""
        generator = _generator(dimension, n_slices, seed)
        frames = []
        for _ in range(-(-n_slices // dimension)):
            basis, triangle = np.linalg.qr(generator.standard_normal((dimension, dimension)))
            # QR chooses signs by a rule of its own: only with those of R are frames uniform.
            frames.append((basis * np.sign(np.diag(triangle))).T)
        directions = _unit_rows(np.concatenate(frames)[:n_slices])
        return cls(directions, name=f"{n_slices} directions in orthogonal frames, seed {seed}")

    @property
    def n_slices(self) -> int:
        """Number of directions."""
        return int(self.directions.shape[0])

    @property
    def dimension(self) -> int:
        """Length d of the vectors that are sliced."""
        return int(self.directions.shape[1])

    @cached_property
    def digest(self) -> str:
        """First 16 characters of the SHA-256 of directions and weights."""
        content = hashlib.sha256(str(self.directions.shape).encode())
        content.update(self.directions.tobytes())
        content.update(self.weights.tobytes())
        return content.hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SliceProfile):
            return NotImplemented
        return bool(
            np.array_equal(self.directions, other.directions)
            and np.array_equal(self.weights, other.weights)
        )

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (np.array(self.directions), np.array(self.weights), self.name)


def _generator(dimension: object, n_slices: object, seed: object) -> np.random.Generator:
    check_integer(name="dimension", value=dimension, minimum=1)
    check_integer(name="n_slices", value=n_slices, minimum=1)
    return np.random.default_rng(check_integer(name="slice_seed", value=seed, minimum=0))


def _unit_rows(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
