"""Least noise power under a Renyi bound on slices, when the noise may differ by direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from pacsklearn.kernel.bounds.arrays import Floats

# Of the isotropic variance: noise that no direction falls below, so that the full view is finite.
_FLOOR = 0.02
_ROUNDS = 60
_PENALTY = 3.0
_SETTLED = 1e-9


@final
@dataclass(frozen=True, eq=False)
class AnisotropicCovariance:
    """Solution of the convex program, with what proves that it is one.

    Parameters
    ----------
    covariance : ndarray of shape (d, d)
        Of the noise; its smallest eigenvalue is at least ``floor``.
    multipliers : ndarray of shape (n_pairs,)
        Lagrange multipliers of the pairs' constraints, in units of power per nat.
    floor : float
        Variance that no direction falls below.
    """

    covariance: Floats
    multipliers: Floats
    floor: float

    @property
    def power(self) -> float:
        """Trace of the covariance."""
        return float(np.trace(self.covariance))


def slice_costs(
    distances: Floats, weights: Floats, variances: Floats, order: float, *, joint: bool
) -> tuple[Floats, Floats]:
    """Return Renyi cost of each pair for a variance along each slice, and its negative derivatives.

    Parameters
    ----------
    distances : ndarray of shape (n_pairs, n_slices)
    weights : ndarray of shape (n_slices,)
    variances : ndarray of shape (n_slices,)
        Of the noise, positive.
    order : float
        Renyi order.
    joint : bool
        Log-moment over the slices instead of their mean.

    Returns
    -------
    costs : ndarray of shape (n_pairs,)
        In nats.
    slopes : ndarray of shape (n_pairs, n_slices)
        Minus the derivative of each cost with respect to each variance.
    """
    divergences = order * distances**2 / (2 * variances)
    if not joint:
        shares = np.broadcast_to(weights, distances.shape)
        costs = divergences @ weights
    else:
        exponents = (order - 1) * divergences + np.log(weights)
        moments = logsumexp(exponents, axis=1)
        shares = np.exp(exponents - moments[:, None])
        costs = np.maximum(moments, 0.0) / (order - 1)
    return np.asarray(costs), np.asarray(shares * divergences / variances)


def anisotropic_covariance(
    distances: Floats,
    directions: Floats,
    weights: Floats,
    order: float,
    epsilon: float,
    *,
    joint: bool = False,
) -> AnisotropicCovariance:
    """Return the covariance of least trace with the cost of every pair at most ``epsilon``.

    Parameters
    ----------
    distances : ndarray of shape (n_pairs, n_slices)
        Not all zero.
    directions : ndarray of shape (n_slices, d)
        Unit vectors.
    weights : ndarray of shape (n_slices,)
        Positive, of sum one.
    order : float
        Renyi order.
    epsilon : float
        Allowed cost, in nats.
    joint : bool, default=False
        Bound the log-moment over the slices instead of their mean.

    Returns
    -------
    AnisotropicCovariance

    Notes
    -----
    ``1 / (u' Sigma u)`` is convex in ``Sigma``, so this is a convex program; an augmented
    Lagrangian on a factor of ``Sigma`` solves it. The result is scaled until the constraint holds,
    so that it is sound however far the method came, and never above the isotropic solution.
    Source: algorithms.md section 7.
    """
    d = directions.shape[1]
    problem = _Problem(distances, directions, weights, order, epsilon, joint)
    isotropic = problem.scale(np.ones(directions.shape[0]))
    floor = _FLOOR * isotropic
    # In units of the isotropic variance, beginning with the isotropic solution.
    factor, multipliers = np.eye(d), np.full(distances.shape[0], 1.0 / distances.shape[0])
    for round_number in range(_ROUNDS):
        solution = minimize(
            problem.augmented,
            factor.ravel(),
            args=(multipliers, _PENALTY, isotropic),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 3000, "maxcor": 30, "ftol": 1e-16, "gtol": 1e-10},
        )
        factor = solution.x.reshape(d, d)
        excess = problem.excess(factor, isotropic)[0]
        updated = np.maximum(0.0, multipliers + _PENALTY * excess)
        moved = float(np.max(np.abs(updated - multipliers)))
        multipliers = updated
        if round_number > 0 and moved < _SETTLED:
            break
    covariance = isotropic * (factor @ factor.T) + floor * np.eye(d)
    needed = problem.scale(np.einsum("ld,de,le->l", directions, covariance, directions))
    covariance *= needed
    if not np.trace(covariance) < d * isotropic:
        covariance, needed = isotropic * np.eye(d), 1.0
    # The method's constraints are logarithms of the costs, its objective the mean variance.
    costs = problem.costs(np.einsum("ld,de,le->l", directions, covariance, directions))[0]
    scaled = multipliers * d * isotropic * needed / np.where(costs > 0, costs, np.inf)
    return AnisotropicCovariance(covariance, scaled, min(floor * needed, isotropic))


@final
@dataclass(frozen=True, eq=False, repr=False)
class _Problem:
    distances: Floats
    directions: Floats
    weights: Floats
    order: float
    epsilon: float
    joint: bool

    def scale(self, variances: Floats) -> float:
        """Return the least factor on these variances with which every cost is allowed."""

        def worst(factor: float) -> float:
            return float(self.costs(factor * variances)[0].max())

        ratios = self.distances**2 / variances
        high = self.order * float(ratios.max()) / (2 * self.epsilon)
        low = high * 1e-12
        for _ in range(200):
            middle = np.sqrt(low * high)
            if worst(middle) <= self.epsilon:
                high = middle
            else:
                low = middle
            if high <= low * (1 + 1e-13):
                break
        return float(high)

    def costs(self, variances: Floats) -> tuple[Floats, Floats]:
        return slice_costs(self.distances, self.weights, variances, self.order, joint=self.joint)

    def excess(self, factor: Floats, unit: float) -> tuple[Floats, Floats, Floats]:
        """Return each cost's logarithm over the allowed one, its slopes, and the directions."""
        turned = self.directions @ factor
        variances = unit * (np.einsum("ld,ld->l", turned, turned) + _FLOOR)
        costs, slopes = self.costs(variances)
        used = costs > 0
        safe = np.where(used, costs, 1.0)
        excess = np.where(used, np.log(safe / self.epsilon), -np.inf)
        return excess, unit * slopes / safe[:, None], turned

    def augmented(
        self, flat: Floats, multipliers: Floats, penalty: float, unit: float
    ) -> tuple[float, Floats]:
        """Return the augmented Lagrangian of the mean variance, and its gradient."""
        d = self.directions.shape[1]
        excess, slopes, turned = self.excess(flat.reshape(d, d), unit)
        pressed = np.maximum(0.0, multipliers + penalty * excess)
        value = float(flat @ flat) / d
        value += float(pressed @ pressed - multipliers @ multipliers) / (2 * penalty)
        pull = pressed @ slopes
        gradient = 2 * flat / d - 2 * (self.directions.T @ (pull[:, None] * turned)).ravel()
        return value, gradient
