"""One linear model on its way down: scales, step sizes, penalty and what noised gradients do."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar, Final, final

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, StrOptions
from pacsklearn._validation import brief
from pacsklearn.kernel.bounds.arrays import Floats


@final
@dataclass(repr=False)
class LearningRate(BaseEstimator):
    """How far each step goes along the noised gradient, and along those before it.

    Parameters
    ----------
    eta0 : float, default=0.1
        First step size.
    schedule : {"constant", "invscaling", "cosine"}, default="cosine"
        Step size: ``eta0``; ``eta0 / step**power_t``; or falling to zero along a cosine.
    power_t : float, default=0.25
        Of ``"invscaling"``.
    momentum : float, default=0.0
        Share of the last step's direction that is kept.

    Examples
    --------
    >>> from pacsklearn.srpp import LearningRate
    >>> [round(LearningRate(1.0).size(step, 4), 3) for step in range(4)]
    [1.0, 0.854, 0.5, 0.146]
    """

    eta0: float = 0.1
    schedule: str = "cosine"
    power_t: float = 0.25
    momentum: float = 0.0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "schedule": [StrOptions({"constant", "invscaling", "cosine"})],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "momentum": [Interval(Real, 0, 1, closed="left")],
    }

    def size(self, step: int, n_steps: int) -> float:
        """Return the size of a step, counted from 0, of a run of so many."""
        if self.schedule == "invscaling":
            return float(self.eta0 / (step + 1) ** self.power_t)
        if self.schedule == "cosine":
            return float(self.eta0 * (1 + math.cos(math.pi * min(step / n_steps, 1.0))) / 2)
        return float(self.eta0)


@final
@dataclass(repr=False)
class Penalty(BaseEstimator):
    """Penalty on the coefficients, never on the intercepts; added after the noise, at no cost.

    The squared part enters by its gradient, the absolute part by its proximal map. Neither looks at
    rows, so they stay outside the clipping; and neither makes an update react more strongly to the
    gradient: its Lipschitz constant is the step size with or without them (srpp, appendix C).

    Parameters
    ----------
    kind : {"l2", "l1", "elasticnet"} or None, default="l2"
    alpha : float, default=1e-4
        Strength, as in scikit-learn's SGDClassifier.
    l1_ratio : float, default=0.15
        Share of the absolute part, for ``"elasticnet"``.
    """

    kind: str | None = "l2"
    alpha: float = 1e-4
    l1_ratio: float = 0.15

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    }

    @property
    def l1_share(self) -> float:
        """Share of the absolute part."""
        return {"l2": 0.0, "l1": 1.0, "elasticnet": self.l1_ratio, None: 0.0}[self.kind]

    @property
    def l2_strength(self) -> float:
        """Strength of the squared part."""
        return 0.0 if self.kind is None else self.alpha * (1 - self.l1_share)

    def gradient(self, parameters: Floats) -> Floats | float:
        """Return the gradient of the squared part."""
        if self.l2_strength == 0:
            return 0.0
        gradient = self.l2_strength * parameters
        # Intercepts are not drawn toward zero, as scikit-learn's are not.
        gradient[:, -1] = 0.0
        return gradient

    def shrink(self, parameters: Floats, step_size: float) -> None:
        """Apply the proximal map of the absolute part, in place."""
        amount = step_size * self.alpha * self.l1_share
        if amount > 0:
            inner = parameters[:, :-1]
            inner[:] = np.sign(inner) * np.maximum(np.abs(inner) - amount, 0.0)


# Bounds from here to its inverse: no coefficient overflows when it is put back in its own unit.
_SMALLEST: Final = 1e-50
_LARGEST_ENTRY: Final = float(np.finfo(np.float64).max)


@final
@dataclass(frozen=True, eq=False)
class ColumnScales:
    """Public scales in which a linear model is trained, and the norm to clip to there.

    A row within the bounds has a gradient ``slope * (row / bounds, 1)`` in a box of equal sides: no
    matrix cap around that box has less power than the ball. Put back in the columns' own units,
    steps are preconditioned by ``1 / bounds**2`` and the noise has the shape of the matrix cap of
    such updates, of least effect on the decisions of rows at their bounds.

    Parameters
    ----------
    bounds : ndarray of shape (n_features,)
    clip_norm : float
        With which no row within the bounds is clipped whose slope is within the estimator's.
    """

    bounds: Floats
    clip_norm: float

    @classmethod
    def of(
        cls, bounds: Any, n_features: int, clip_norm: float, *, intercept: bool
    ) -> ColumnScales | None:
        """Return the scales for ``feature_bounds``; None where there are none.

        Raises
        ------
        ValueError
            When they are not one positive number for each column.
        """
        if bounds is None:
            return None
        try:
            sides = np.asarray(bounds, dtype=np.float64)
        except (TypeError, ValueError):
            sides = np.empty(0)
        if sides.shape != (n_features,) or not np.all(
            (sides >= _SMALLEST) & (sides <= 1 / _SMALLEST)
        ):
            raise ValueError(
                f"feature_bounds must be {n_features} numbers in [{_SMALLEST:g}, "
                f"{1 / _SMALLEST:g}], one for each column of X, from a codebook; got "
                f"{brief(bounds)}."
            )
        return cls(sides, clip_norm * math.sqrt(n_features + intercept))

    def scaled(self, X: Any) -> Any:
        """Return the rows over the bounds; an array or a sparse matrix of shape (n, n_features)."""
        # An entry that overflows is far beyond its bound: such a row moves nothing.
        with np.errstate(over="ignore", under="ignore"):
            if sparse.issparse(X):
                rows = (X @ sparse.diags(1 / self.bounds, format="csr")).tocsr()
                rows.data = np.clip(rows.data, -_LARGEST_ENTRY, _LARGEST_ENTRY)
                return rows
            return np.clip(X / self.bounds, -_LARGEST_ENTRY, _LARGEST_ENTRY)

    def restored(self, parameters: Floats) -> Floats:
        """Return the parameters for rows as they were; shape (k, n_features + 1)."""
        return parameters / np.append(self.bounds, 1.0)


# Of the largest parameter that a run may reach: noise, far above a gradient, has room beyond.
_LARGEST_LOG: Final = 460.0


@final
@dataclass(eq=False)
class Descent:
    """Parameters, momentum and average. Everything here was noised, or never saw a row.

    Parameters
    ----------
    parameters : ndarray of shape (k, n_features + 1)
        Changed in place.
    learning_rate : LearningRate
    n_planned : int
        Steps of the whole run.
    penalty : Penalty
    average_from : int or None
        Step from which on the parameters are averaged; None for no averaging.
    fits_intercept : bool, default=True
    n_steps : int, default=0
        Steps taken.
    velocity, mean : ndarray of shape (k, n_features + 1), optional
        Momentum's, and the average.
    """

    parameters: Floats = field(repr=False)
    learning_rate: LearningRate
    n_planned: int
    penalty: Penalty
    average_from: int | None
    fits_intercept: bool = True
    n_steps: int = 0
    velocity: Floats | None = field(default=None, repr=False)
    mean: Floats | None = field(default=None, repr=False)

    def check_reach(self, largest: float) -> None:
        """Refuse, before a step is charged, a descent whose parameters may overflow.

        Parameters
        ----------
        largest : float
            Length of a mean gradient, but for its noise.

        Raises
        ------
        ValueError

        Notes
        -----
        Without rows a step is a linear map of parameter and velocity, the same for each number; its
        spectral radius is the factor by which both may grow, and each gradient enters once.
        """
        first, kept = self.learning_rate.eta0, self.learning_rate.momentum
        pull, n_steps = self.penalty.l2_strength, self.n_planned
        with np.errstate(over="ignore", invalid="ignore"):
            turn = np.array([[1 - first * pull, -first * kept], [pull, kept]])
            finite = bool(np.isfinite(turn).all())
            radius = float(np.abs(np.linalg.eigvals(turn)).max()) if finite else math.inf
        reach = math.log(first) + math.log(largest * n_steps / (1 - kept))
        if n_steps * math.log(max(radius, 1.0)) + reach > _LARGEST_LOG:
            raise ValueError(
                f"eta0={first!r} with alpha={self.penalty.alpha!r} and momentum={kept!r} lets "
                f"the parameters grow beyond what a double can hold within {n_steps:,} steps; give "
                "a smaller eta0, below 1 / alpha."
            )

    def step(self, gradient: Floats) -> None:
        """Take a step along the noised mean of the clipped gradients."""
        size = self.learning_rate.size(self.n_steps, self.n_planned)
        # Counted first: an interrupt may not leave a step in the model and out of the statement.
        self.n_steps += 1
        direction = gradient + self.penalty.gradient(self.parameters)
        if self.learning_rate.momentum > 0:
            kept = self.learning_rate.momentum
            before = 0.0 if self.velocity is None else kept * self.velocity
            self.velocity = direction = before + direction
        self.parameters -= size * direction
        if not self.fits_intercept:
            self.parameters[:, -1] = 0.0
        self.penalty.shrink(self.parameters, size)
        if self.average_from is not None and self.n_steps >= self.average_from:
            count = self.n_steps - self.average_from + 1
            if self.mean is None:
                self.mean = self.parameters.copy()
            else:
                self.mean += (self.parameters - self.mean) / count

    @property
    def result(self) -> Floats:
        """Parameters of the model as it stands."""
        return self.parameters if self.mean is None else self.mean
