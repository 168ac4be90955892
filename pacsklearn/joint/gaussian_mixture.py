"""Gaussian mixtures of every subset, from the starts that scikit-learn draws on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from pacsklearn._sklearn_compat import features_of, keeps_lower_bounds
from pacsklearn.joint.exact_fitter import ExactFitter
from pacsklearn.joint.filled_models import filled_models
from pacsklearn.joint.kmeans import fit_kmeans
from pacsklearn.joint.member_sums import (
    block_members,
    double_rows,
    member_products,
    padded_columns,
)
from pacsklearn.joint.moments import is_doubtful, spoilt_by, usable_rows
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.secret.secret_space import SecretSpace

# With more components the tables of a block of rows leave the cache.
_MOST_COMPONENTS = 32
# Below so many rows times subsets compiled code for the starts is not worth its own start.
_LEAST_WORK = 200_000
# Products of more features, for all candidates, cost more than the candidates' own fits.
_MOST_FEATURES = 16
_ROWS = 512
# A change of the bound this near to the tolerance may fall on either side of it by rounding.
_BORDER = 1e-6
_EMPTY = 10 * float(np.finfo(np.float64).eps)


@final
class GaussianMixtureFitter(ExactFitter):
    """Expectation maximisation of all candidates, two matrix products an iteration."""

    name = "gaussian_mixture"
    description = "expectation maximisation of all subsets by two matrix products each"
    estimators = ("sklearn.mixture.GaussianMixture",)

    @staticmethod
    def suits(estimator: Any) -> bool:
        given = (estimator.weights_init, estimator.means_init, estimator.precisions_init)
        return (
            estimator.init_params == "kmeans"
            and estimator.n_init == 1
            and not estimator.warm_start
            and all(one is None for one in given)
            and isinstance(estimator.random_state, (int, np.integer))
            and 1 <= estimator.n_components <= _MOST_COMPONENTS
        )

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        rows, m, k = double_rows(X), space.n_subsets, estimator.n_components
        if rows is None or len(rows) * m < _LEAST_WORK:
            return [None] * m
        if estimator.covariance_type == "full" and rows.shape[1] > _MOST_FEATURES:
            return [None] * m
        rows, usable = usable_rows(rows)
        spoilt = spoilt_by(usable, space) > 0
        counts = np.array([len(space.rows(i)) for i in range(m)], dtype=np.float64)
        if counts.min() < max(k, 2):
            return [None] * m
        labels = np.full((len(rows), m), -1, dtype=np.int8)
        for i in np.flatnonzero(~spoilt).tolist():
            own = space.rows(i)
            labels[own, i] = _first_labels(rows[own], k, estimator.random_state)
        run = _Run(estimator, rows, space, counts)
        run.start(labels)
        run.is_sure &= ~spoilt
        run.iterate()
        return filled_models(estimator, run.is_sure, run.fill, features_of(X))


def _first_labels(own: Floats, k: int, seed: Any) -> NDArray[np.int32]:
    """Return the labels of the K-Means that the mixture of these rows starts with."""
    if k == 1:
        return np.zeros(len(own), dtype=np.int32)
    start = KMeans(k, n_init=1, random_state=seed)
    if fit_kmeans(start, own.copy()):
        return np.asarray(start.labels_)
    return np.asarray(start.fit(own).labels_)


@dataclass(eq=False)
class _Run:
    """Mixtures of all candidates on their way; arrays are (k, m) and (k, m, p).

    Covariances are (k, m, p), (k, m) for spheres, (k, m, p, p), or (m, p, p) where they are tied.
    Shares of tied ones need no squares of the rows: these are the same in all components.
    """

    estimator: Any
    rows: Floats
    space: SecretSpace
    counts: Floats

    def __post_init__(self) -> None:
        self.kind, p = self.estimator.covariance_type, self.rows.shape[1]
        self.is_dense = self.kind in ("full", "tied")
        self.pairs = np.triu_indices(p) if self.kind == "full" else (np.arange(p), np.arange(p))
        if self.kind == "tied":
            self.pairs = (np.arange(0), np.arange(0))
            self.products = member_products(padded_columns(self.rows), self.space)[:, :p, :p]
        self.width = 1 + p + self.pairs[0].size

    def start(self, labels: NDArray[np.int8]) -> None:
        """Start mixtures from the rows as they are labelled; -1 for rows outside."""
        m, k = self.space.n_subsets, self.estimator.n_components
        sums = np.zeros((k * m, self.width))
        for first in range(0, len(self.rows), _ROWS):
            part = labels[first : first + _ROWS]
            shares = (part[:, None] == np.arange(k)[:, None]).astype(np.float64)
            sums += shares.reshape(len(part), -1).T @ self._columns(first)
        self.is_sure = np.ones(m, dtype=bool)
        self.iterations = np.zeros(m, dtype=int)
        self.bounds: list[list[np.float64]] = [[] for _ in range(m)]
        self._maximise(sums, np.arange(m))
        self.weights = self.mass / self.counts

    def iterate(self) -> None:
        """Iterate until the bound of each candidate changes by less than the tolerance."""
        active = np.flatnonzero(self.is_sure)
        before = np.full(self.space.n_subsets, -np.inf)
        for _ in range(self.estimator.max_iter):
            if not active.size:
                break
            sums, total = self._expect(active)
            self._maximise(sums, active)
            self.weights[:, active] = self.mass[:, active] / self.mass[:, active].sum(axis=0)
            bound = total / self.counts[active]
            self.iterations[active] += 1
            for i, value in zip(active, bound, strict=True):
                self.bounds[i].append(np.float64(value))
            change = np.abs(bound - before[active])
            before[active] = bound
            tolerance = self.estimator.tol
            near = np.abs(change - tolerance) <= _BORDER * tolerance + _EMPTY * np.abs(bound)
            self.is_sure[active[near]] = False
            active = active[(change >= tolerance) & self.is_sure[active]]
        self.is_sure[active] = False  # the ordinary fit warns that it did not converge
        variance = self.covariances
        closeness = np.ones(self.space.n_subsets)
        if self.is_dense:
            variance = np.diagonal(variance, axis1=-2, axis2=-1)
            unit = np.sqrt(variance)
            scaled = np.linalg.cond(self.covariances / (unit[..., None] * unit[..., None, :]))
            closeness = scaled.reshape(-1, closeness.size).max(axis=0)
        worst = np.max(self.means**2 / self._wide(variance), axis=(0, 2))
        doubts = zip(worst.tolist(), closeness.tolist(), strict=True)
        self.is_sure &= np.array([not is_doubtful(1.0 + far, close) for far, close in doubts])

    def fill(self, model: Any, i: int) -> None:
        """Set what ``fit`` would."""
        model.weights_, model.means_ = self.weights[:, i].copy(), self.means[:, i].copy()
        if self.is_dense:
            model.covariances_ = self.covariances[..., i, :, :].copy()
            root = np.swapaxes(self._whitening(np.array([i])), -1, -2)[..., 0, :, :]
            model.precisions_cholesky_ = root.copy()
            model.precisions_ = root @ np.swapaxes(root, -1, -2)
        else:
            model.covariances_ = self.covariances[:, i].copy()
            model.precisions_cholesky_ = 1.0 / np.sqrt(model.covariances_)
            model.precisions_ = model.precisions_cholesky_**2
        model.converged_, model.n_iter_ = True, int(self.iterations[i])
        model.lower_bound_ = self.bounds[i][-1]
        if keeps_lower_bounds():
            model.lower_bounds_ = self.bounds[i]

    def _columns(self, first: int) -> Floats:
        """Return a one, features and their products of a block of rows."""
        part = self.rows[first : first + _ROWS]
        products = part[:, self.pairs[0]] * part[:, self.pairs[1]]
        return np.concatenate([np.ones((len(part), 1)), part, products], axis=1)

    def _wide(self, variance: Floats) -> Floats:
        """Return the variances (k, m, p), or what broadcasts to it."""
        return variance[..., None] if self.kind == "spherical" else variance

    def _whitening(self, active: NDArray[np.int64]) -> Floats:
        """Return the inverse of a root of each covariance, (k, a, p, p) or (a, p, p)."""
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.covariances[..., active, :, :])))

    def _densities(self, active: NDArray[np.int64]) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the log-densities.

        Levels (k, a), slopes (k, a, p), those of the products, the common ones.

        The common ones, (a,), are the same in all components and summed over the members.
        """
        means, common = self.means[:, active], np.zeros(active.size)
        if not self.is_dense:
            variance = np.broadcast_to(self._wide(self.covariances[:, active]), means.shape)
            level = np.sum(means**2 / variance + np.log(variance), axis=2)
            return level, means / variance, -0.5 / variance, common
        root = self._whitening(active)
        precision = np.swapaxes(root, -1, -2) @ root
        slopes = (precision @ means[..., None])[..., 0]
        extent = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
        level = np.sum(means * slopes, axis=2) - 2 * extent
        if self.kind == "tied":
            common = -0.5 * np.sum(precision * self.products[active], axis=(1, 2))
        one, other = self.pairs
        return level, slopes, precision[..., one, other] * np.where(one == other, -0.5, -1), common

    def _expect(self, active: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the sums of the rows by their shares, (k a, width), and log-likelihoods, (a,)."""
        k, p, a = self.estimator.n_components, self.rows.shape[1], active.size
        level, linear, curved, total = self._densities(active)
        slopes = np.empty((self.width, k, a))
        slopes[0] = np.log(self.weights[:, active]) - 0.5 * (level + p * np.log(2 * np.pi))
        slopes[1 : 1 + p] = np.moveaxis(linear, 2, 0)
        if self.pairs[0].size:
            slopes[1 + p :] = np.moveaxis(curved, 2, 0)
        flat = slopes.reshape(self.width, -1)
        sums = np.zeros((k * a, self.width))
        for first in range(0, len(self.rows), _ROWS):
            columns = self._columns(first)
            shares = (columns @ flat).reshape(len(columns), k, a)
            members = block_members(self.space, slice(first, first + len(columns)))[:, active]
            largest = shares.max(axis=1)
            shares -= largest[:, None]
            np.exp(shares, out=shares)
            mass = shares.sum(axis=1)
            total += np.sum(np.log(mass) + largest, axis=0, where=members)
            shares *= (members / mass)[:, None]
            sums += shares.reshape(len(columns), -1).T @ columns
        return sums, total

    def _maximise(self, sums: Floats, active: NDArray[np.int64]) -> None:
        """Fit mixtures to sums; those with a variance that is lost are no longer sure."""
        m, k, p = self.space.n_subsets, self.estimator.n_components, self.rows.shape[1]
        sums = sums.reshape(k, active.size, self.width)
        mass = sums[:, :, 0] + _EMPTY
        means = sums[:, :, 1 : 1 + p] / mass[:, :, None]
        if self.is_dense:
            covariances = self._dense(sums, mass, means, active)
            least = np.linalg.eigvalsh(covariances)[..., 0].reshape(-1, active.size)
            lost = np.any(least <= 0, axis=0)
            covariances[..., lost, :, :] = np.eye(p)
        else:
            covariances = sums[:, :, 1 + p :] / mass[:, :, None] - means**2
            covariances += self.estimator.reg_covar
            if self.kind == "spherical":
                covariances = covariances.mean(axis=2)
            lost = np.any((covariances <= 0).reshape(k, active.size, -1), axis=(0, 2))
            covariances[:, lost] = 1.0
        self.is_sure[active[lost]] = False
        if active.size == m:
            self.mass, self.means, self.covariances = mass, means, covariances
            return
        self.mass[:, active], self.means[:, active] = mass, means
        where = np.s_[active] if self.kind == "tied" else np.s_[:, active]
        self.covariances[where] = covariances

    def _dense(
        self, sums: Floats, mass: Floats, means: Floats, active: NDArray[np.int64]
    ) -> Floats:
        p = means.shape[2]
        if self.kind == "tied":
            around = np.einsum("ka,kap,kaq->apq", mass, means, means, optimize=True)
            covariances = (self.products[active] - around) / mass.sum(axis=0)[:, None, None]
        else:
            covariances = np.empty((*means.shape, p))
            one, other = self.pairs
            covariances[..., one, other] = sums[:, :, 1 + p :] / mass[:, :, None]
            covariances[..., other, one] = covariances[..., one, other]
            covariances -= means[..., :, None] * means[..., None, :]
        covariances[..., np.arange(p), np.arange(p)] += self.estimator.reg_covar
        return np.asarray(covariances)
