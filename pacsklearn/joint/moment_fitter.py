"""Estimators that are functions of their rows' first and second moments."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpocon, dpotrf
from sklearn.base import clone

from pacsklearn._sklearn_compat import features_of, set_classes
from pacsklearn.joint.member_sums import Memberships, double_rows
from pacsklearn.joint.moments import Moments, MomentSums, is_doubtful, table_moments
from pacsklearn.joint.shared_work import made_once
from pacsklearn.joint.table_fitter import TableFitter, TableView
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.row_rules import steps_of

_MOST_CELLS = 2**27


class MomentFitter(TableFitter):
    """Fits from moments; a subset whose moments are doubtful is left to the ordinary fit.

    Attributes
    ----------
    wants_scatter : bool
        Whether products of features are needed, or squares are enough.
    wants_class_scatter : bool
        Whether they are needed for each class apart.
    wants_targets, wants_classes : bool
        What ``y`` holds.
    most_classes : int
        Sums are taken once a class: with more, fitting one after the other is as fast.
    """

    wants_scatter: bool = False
    wants_class_scatter: bool = False
    wants_targets: bool = False
    most_classes: int = 12

    @abstractmethod
    def fit_moments(self, model: Any, moments: Moments) -> bool:
        """Set what ``fit`` would set on an unfitted clone; False where that is doubtful."""

    def pays(self, estimator: Any, n: int, p: int, n_classes: int) -> bool:
        """Return whether a joint fit of candidates of so many rows and features may cost less.

        Products of features that are more than the rows are singular, or dearer than those of rows
        that an ordinary fit takes instead. ``n_classes`` is 0 where targets are no classes.
        """
        return p < n or not self.wants_scatter

    def finish(self, models: dict[int, Any], rows: Floats, codes: Any, space: SecretSpace) -> None:
        """Set what moments do not tell, by each subset's own rows; called where ``needs_rows``."""

    def transform_moments(self, model: Any, moments: Moments) -> Moments:
        """Return the moments of the outputs of a fitted transformer, for the step after it."""
        raise TypeError(f"{type(model).__name__} is no transformer of moments")

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        rows, targets, classes = self._arrays(X, y)
        if rows is None or self._is_too_large(rows, space, classes):
            return [None] * space.n_subsets
        n_classes = 0 if classes is None else len(classes)
        if not self.pays(estimator, len(rows) // 2, rows.shape[1], n_classes):
            return [None] * space.n_subsets

        def moments() -> list[Moments | None]:
            sums = self._sums(rows, targets, space, n_classes)
            table = np.hstack([rows, targets]) if self.wants_targets else rows
            return list(sums.exact(table, space))

        wanted = (
            self.wants_scatter,
            self.wants_class_scatter,
            self.wants_classes,
            self.wants_targets,
        )
        shared = made_once("moments", (X, y, space), wanted, moments)
        fitted = self._fit_each(estimator, shared, features_of(X), classes)
        if self.needs_rows:
            known = {index: model for index, model in enumerate(fitted) if model is not None}
            self.finish(known, rows, targets, space)
        return fitted

    def table_sums(
        self, rows: Any, targets: Any, members: Memberships, n_classes: int
    ) -> list[Any]:
        return list(self._sums(rows, targets, members, n_classes).arrays)

    def _sums(self, rows: Any, targets: Any, members: Memberships, n_classes: int) -> MomentSums:
        scatter, apart = self.wants_scatter, self.wants_class_scatter
        if self.wants_classes:
            return MomentSums.of_classes(
                rows, targets, n_classes, members, scatter=scatter, class_scatter=apart
            )
        numbers = targets.reshape(len(rows), -1) if self.wants_targets else None
        return MomentSums.of(rows, numbers, members, scatter=scatter)

    def fit_table(self, estimator: Any, sums: list[Any], view: TableView) -> list[Any]:
        moments = table_moments(sums, view)
        return self._fit_each(estimator, moments, vars(view.features), view.classes)

    def _fit_each(
        self,
        estimator: Any,
        moments_of_subsets: Iterable[Moments | None],
        features: dict[str, Any],
        classes: NDArray[Any] | None,
    ) -> list[Any]:
        fitted: list[Any] = []
        blank = clone(estimator)
        for moments in moments_of_subsets:
            model = unfitted_copy(blank)
            steps = steps_of(model)
            if classes is not None:
                set_classes(steps[-1], classes)
            if moments is None or not self.fit_moments(model, moments):
                fitted.append(None)
                continue
            vars(steps[0]).update(features)
            fitted.append(model)
        return fitted

    def _is_too_large(self, rows: Any, space: SecretSpace, classes: Any) -> bool:
        """Return whether copies of the rows, or all products of features, would fill the memory."""
        n, p = rows.shape
        products = space.n_subsets * p**2 if self.wants_scatter else 0
        if self.wants_class_scatter:
            products *= len(classes)
        return bool(max(n * p, 2 * products) > _MOST_CELLS)

    def _arrays(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """Return the rows, targets or class codes, classes.

        No rows where the fit would not use doubles.
        """
        rows, nothing = double_rows(X), (None, None, None)
        if self.wants_classes and rows is not None:
            if np.ndim(y) != 1:
                return nothing
            classes, codes = np.unique(np.asarray(y), return_inverse=True)
            return (rows, codes, classes) if classes.size <= self.most_classes else nothing
        if self.wants_targets and rows is not None:
            targets = np.asarray(y)
            single = targets.ndim == 2 and targets.shape[1] == 1
            if single or targets.dtype.kind not in "iuf" or targets.dtype == np.float32:
                return nothing
            return rows, targets.astype(np.float64).reshape(len(rows), -1), None
        return rows, None, None


def unfitted_copy(blank: Any) -> Any:
    """Copy an unfitted estimator with plain parameters, or a pipeline of such."""
    model = copy(blank)
    if hasattr(blank, "steps"):
        model.steps = [(name, copy(part)) for name, part in blank.steps]
    return model


def well_conditioned(matrix: Floats, loss: float) -> tuple[Floats, Floats] | None:
    """Return the Cholesky factor of a matrix scaled to ones on its diagonal, and the scales.

    None where rounding errors, which grew by ``loss`` already, could show in what is solved by it.
    """
    units = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    units[units == 0] = 1.0
    scaled = matrix / (units[:, None] * units)
    factor, failed = dpotrf(scaled, lower=1)
    # Of a symmetric matrix this norm's condition number is no smaller than the spectral one.
    closeness = 0.0 if failed else dpocon(factor, np.abs(scaled).sum(axis=0).max(), uplo="L")[0]
    return None if not closeness or is_doubtful(loss, 1 / closeness) else (factor, units)
