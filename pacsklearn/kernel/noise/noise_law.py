"""What noise is calibrated to (the outputs, and a limit on what they reveal), and its law."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_budget
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.binary_scale import (
    binary_exponent,
    middle_exponent,
    power_by,
    scaled_by,
)
from pacsklearn.kernel.bounds.lattice_bound import SpanCoordinates, span_coordinates
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.outputs.metric import Metric

if TYPE_CHECKING:  # which draws by the scale of these laws
    from pacsklearn.kernel.noise.sampler import Sampler

# Beyond it a difference of two outputs may overflow.
_LARGEST_OUTPUT = 2.0**1020
# Of candidates without weight, in the unit of the others.
_FARTHEST = 2.0**400


@final
@dataclass(frozen=True, eq=False)
class Support:
    """What the mechanism would say for each candidate secret, and how likely each is.

    Secret material: it never leaves the coordinating process and is never part of a release.

    Parameters
    ----------
    outputs : ndarray of shape (m, d)
        Canonical vector of each candidate.
    weights : ndarray of shape (m,), optional
        The adversary's current belief; uniform when not given.
    """

    outputs: Floats = field(repr=False)
    weights: Floats = field(default_factory=lambda: np.empty(0), repr=False)

    def __post_init__(self) -> None:
        outputs = np.asarray(self.outputs, dtype=np.float64)
        if outputs.ndim != 2 or outputs.shape[0] < 2:
            raise ValueError(
                "outputs must have shape (n_candidates >= 2, n_outputs), got an array of shape "
                f"{outputs.shape}."
            )
        if not np.all(np.abs(outputs) <= _LARGEST_OUTPUT):  # nor is nan
            raise ValueError(
                "outputs must be finite, and at most 2**1020 in absolute value so that their "
                "differences are; some candidate's are not. Give them in a larger unit."
            )
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.size == 0:
            weights = np.full(outputs.shape[0], 1.0 / outputs.shape[0])
        usable = bool(np.all((weights >= 0) & (weights < np.inf))) and weights.sum() > 0
        if weights.shape != (outputs.shape[0],) or not usable:
            raise ValueError(
                f"weights must be {outputs.shape[0]} finite numbers >= 0, one for each candidate, "
                f"got an array of shape {weights.shape}."
            )
        # The belief is normalised here once: every bound below is under probabilities.
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "weights", weights / weights.sum())

    @property
    def n_candidates(self) -> int:
        """Number m of candidate secrets."""
        return int(self.outputs.shape[0])

    @property
    def entropy(self) -> float:
        """Entropy of the belief over the candidates, in nats."""
        positive = self.weights[self.weights > 0]
        return float(-np.sum(positive * np.log(positive)))

    @cached_property
    def mean(self) -> Floats:
        """Weighted mean output, exact where all candidates agree; shape (d,)."""
        mean = self.weights @ self.outputs
        agreed = self.agreed
        # Weights sum to one but for rounding: equal outputs would get a mean beside them.
        mean[agreed] = self.outputs[0, agreed]
        return mean

    @cached_property
    def deviations(self) -> Floats:
        """Outputs minus their mean, exactly zero where all candidates agree; shape (m, d)."""
        deviations = self.outputs - self.mean
        deviations[:, self.agreed] = 0.0
        # Nobody believes in these: their squares, weighted by zero, would be no numbers.
        impossible = self.weights == 0
        deviations[impossible] = np.clip(deviations[impossible], -_FARTHEST, _FARTHEST)
        return deviations

    @cached_property
    def agreed(self) -> NDArray[np.bool_]:
        """Whether all candidates give the same number; shape (d,)."""
        return np.asarray(np.ptp(self.outputs, axis=0) == 0)

    def exponent(self, metric: Metric) -> int:
        """Return power of two in whose unit squares of the deviations neither vanish nor overflow.

        A function of all possible candidates' outputs and of the metric; 0 for outputs of ordinary
        size, so that nothing changes for them.
        """
        deviations = self.deviations[self.weights > 0]
        sizes = np.max(np.abs(deviations), axis=0)
        if not np.any(sizes):
            return 0
        with np.errstate(over="ignore", invalid="ignore"):
            # Half way first: the metric's own units may undo those of the outputs.
            for first in (middle_exponent(sizes), binary_exponent(sizes)):
                seen = np.abs(metric.root(scaled_by(deviations, -first)))
                if np.all(np.isfinite(seen)):
                    return first + binary_exponent(seen)
        return first

    def scaled(self, exponent: int) -> Support:
        """Return the same support with outputs times ``2**exponent``; zero where all agree."""
        outputs = np.where(self.agreed, 0.0, scaled_by(self.outputs, exponent))
        return Support(outputs, self.weights)

    def span(self, metric: Metric) -> SpanCoordinates:
        """Return the principal coordinates of the outputs, as the metric sees them."""
        return span_coordinates(metric.root(self.deviations), self.weights)


@final
@dataclass(frozen=True)
class Target:
    """Upper limit on what one release may reveal.

    Parameters
    ----------
    budget : float
        Mutual information between the secret and the release, in nats; with a criterion, the
        largest success of any adversary at any of its targets.
    criterion : Criterion, optional
    backend : NoiseBackend, optional
        The only one that has a bound for the secret.
    """

    budget: float
    criterion: Criterion | None = None
    backend: Any = None

    def __post_init__(self) -> None:
        budget = check_budget(budget=self.budget)
        if self.criterion is not None and not budget <= 1:
            raise ValueError(
                f"budget={self.budget!r} is the cap on an adversary's success "
                f"(criterion={self.criterion.name!r}), which lies below 1."
            )
        object.__setattr__(self, "budget", budget)


Integers = NDArray[np.int64]

LATTICE_SCALE: Final = 2**20
"""Parameter of every discrete Gaussian, in grid steps (algorithms.md section 2)."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """How to read whole numbers that are released with independent discrete Gaussian noise.

    Parameters
    ----------
    step : ndarray of shape (k,)
        Grid step of each coordinate, in the coordinate's unit.
    axes : ndarray of shape (k, d)
        Output direction of each coordinate.
    origin : ndarray of shape (d,)
        Output at ``w = 0``.
    scale : int
        :data:`LATTICE_SCALE`, or 0 for a law without noise.
    """

    step: Floats = field(repr=False)
    axes: Floats = field(repr=False)
    origin: Floats = field(repr=False)
    scale: int

    channel = None

    @property
    def laws(self) -> tuple[Self]:
        """Itself: it was planned alone."""
        return (self,)

    @property
    def dimension(self) -> int:
        """Number k of noisy coordinates."""
        return int(self.step.shape[0])

    @property
    def is_noiseless(self) -> bool:
        """Whether outputs are released as they are."""
        return self.scale == 0

    @property
    def n_noisy(self) -> int:
        """Noisy coordinates; 0 for a law without noise."""
        return 0 if self.is_noiseless else self.dimension

    @property
    def noise_variances(self) -> Floats:
        """Variance of the noise of each released number; (d,)."""
        return variances_along(self.axes, self.step * self.scale)

    def decode(self, observed: Integers) -> Floats:
        """Return the output vector of shape (d,) for the released integers; a public function."""
        # A function of the integers and of public numbers alone: post-processing.
        return np.asarray(self.origin + (observed * self.step) @ self.axes)


@dataclass(frozen=True, eq=False)
class LatticeLaw(Lattice):
    """Whole numbers for each candidate or world, and how to read what is released of them.

    A release is a centre and independent discrete Gaussian noise; everything afterwards is the
    public map :meth:`decode`. Which centre is the secret's is no part of it.

    Parameters
    ----------
    centres : ndarray of int64, shape (m, k)
        Each output in grid steps; secret material.
    """

    centres: Integers = field(repr=False)

    @property
    def is_constant(self) -> bool:
        """Whether all centres are the same integers: then a release tells nothing, noise or not."""
        # Decided on the integers that would leave, not on what they were rounded from (rule 13).
        return bool(np.all(self.centres == self.centres[:1]))

    def log_likelihood(self, observed: Integers) -> Floats:
        """Return log-density of the released integers for each centre, up to a constant; (m,)."""
        # Bayes' rule on the very integers: ln p(w | s) = -|w - c_s|^2 / (2 scale^2) + constant, the
        # constant being the same for all s because centres are integers (the lattice's own shifts).
        # Subtracted as integers: as doubles, centres beyond 2**53 would be rounded before.
        difference = (self.centres - observed).astype(np.float64)
        # Without noise a release rules out every candidate with other integers.
        if self.is_noiseless:
            return np.where((difference == 0).all(axis=1), 0.0, -np.inf)
        return np.asarray(-np.sum((difference / self.scale) ** 2, axis=1) / 2)


def variances_along(axes: Floats, deviations: Floats) -> Floats:
    """Return the variances of sums of independent noise of these deviations along ``axes``; (d,).

    Squared last: what is too large or small to square comes out as infinite or zero there alone.
    """
    spread = axes * deviations[:, None]
    with np.errstate(over="ignore"):
        return np.asarray(np.sum(spread**2, axis=0))


def origin_in_unit_of(origin: Floats, support: Support, exponent: int) -> Floats:
    """Return the output at ``w = 0`` of a law made for ``support.scaled(-exponent)``."""
    # Numbers that were dropped there, because all agree or beside far larger ones: their mean.
    dropped = support.scaled(-exponent).agreed
    return np.where(dropped, support.mean, scaled_by(origin, exponent))


@final
@dataclass(frozen=True, eq=False)
class NoiseLaw(LatticeLaw):
    """Noise for one release: integer centres, one for each candidate, and how to read the result.

    The release is ``w = centres[s] + noise`` with independent discrete Gaussian noise of parameter
    :data:`LATTICE_SCALE`; everything afterwards is the public map :meth:`decode` of integers.
    A law never sees which candidate was drawn. Its centres are secret material.

    Parameters
    ----------
    centres : ndarray of int64, shape (m, k)
        Each candidate's output in grid steps.
    step : ndarray of shape (k,)
        Grid step of each coordinate, in the coordinate's unit.
    axes : ndarray of shape (k, d)
        Output direction of each coordinate.
    origin : ndarray of shape (d,)
        Output at ``w = 0``.
    scale : int
        :data:`LATTICE_SCALE`, or 0 for a law without noise.
    bound : float
        Upper bound on the mutual information in nats, or on the success that a criterion caps.
    proof : str
        Why the bound holds.
    backend : str
        Name of the backend that calibrated the law.
    noise_power : float
        Sum of the noise variances over the coordinates the backend works in, in the metric.
    released_power : float
        Power of the part of it that is added: noise outside the span of the outputs tells
        nothing and is left out.
    confidence : float
        Probability that the bound holds; 1.0 when it is a proof.
    information : float, optional
        Bound on the mutual information where ``bound`` is on something else: the success that a
        criterion caps.
    """

    bound: float
    proof: str
    backend: str
    noise_power: float
    released_power: float
    confidence: float = 1.0
    information: float | None = None

    def suits(self, support: Support, target: Target) -> bool:
        """Return whether it can be drawn from for every candidate, and its bound be stated.

        That the bound holds is the backend's own to prove.
        """
        k, (m, d) = np.size(self.step), support.outputs.shape
        read = (self.step, self.axes, self.origin)
        # Without noise a release tells what its integers do: of a criterion that is its success.
        least = support.entropy if self.is_noiseless and target.criterion is None else 5e-324
        return bool(
            self.centres.dtype == np.int64
            and [np.shape(each) for each in (self.centres, *read)] == [(m, k), (k,), (k, d), (d,)]
            and all(np.isfinite(each).all() for each in read)
            and self.scale in (0, LATTICE_SCALE)
            and (0 if self.is_constant else least) <= self.bound <= target.budget
            and 0 <= self.confidence <= 1
        )

    def draw(self, index: int, sampler: Sampler) -> Integers:
        """Return the integers released for candidate ``index``.

        Without noise the sampler is not asked.
        """
        n = self.dimension
        return self.observe(
            index, np.zeros(n, dtype=np.int64) if self.is_noiseless else sampler.noise(n)
        )

    def in_unit_of(self, support: Support, exponent: int) -> NoiseLaw:
        """Return the law of ``support``, for this one of ``support.scaled(-exponent)``."""
        return replace(
            self,
            axes=scaled_by(self.axes, exponent),
            origin=origin_in_unit_of(self.origin, support, exponent),
            noise_power=power_by(self.noise_power, exponent),
            released_power=power_by(self.released_power, exponent),
        )

    def observe(self, index: int, noise: Integers) -> Integers:
        """Return the integer vector released for candidate ``index`` with this integer noise."""
        # Integers alone leave (rule 8): there is no floating-point channel.
        return np.asarray(self.centres[index] + noise)
