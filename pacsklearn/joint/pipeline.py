"""Pipelines of steps that pass moments on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from pacsklearn._sklearn_compat import features_of, output_config
from pacsklearn.joint.convex_fitter import ConvexFitter, Scaling
from pacsklearn.joint.encoded import EncodedFitter
from pacsklearn.joint.member_sums import Memberships, double_rows
from pacsklearn.joint.moment_fitter import MomentFitter, unfitted_copy
from pacsklearn.joint.moments import Moments, MomentSums, table_moments
from pacsklearn.joint.pca import PCAFitter
from pacsklearn.joint.standard_scaler import StandardScalerFitter
from pacsklearn.joint.table_fitter import TableFitter, TableView
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.secret.secret_space import SecretSpace


@final
class ScaledConvexFitter(TableFitter):
    """A convex model behind scalers: each candidate's own scales go into its penalty.

    Parameters
    ----------
    scalers : tuple of StandardScalerFitter or None
        None for a step that passes its input through.
    model : ConvexFitter
    """

    def __init__(self, scalers: tuple[MomentFitter | None, ...], model: ConvexFitter) -> None:
        self.scalers, self.model = scalers, model
        self.wants_classes = model.wants_classes

    @classmethod
    def behind(
        cls, steps: tuple[MomentFitter | None, ...], model: ConvexFitter
    ) -> ScaledConvexFitter | None:
        """Return the fitter of ``model`` behind steps that only scale.

        None where some step does more.
        """
        scaled = [isinstance(step, StandardScalerFitter) for step in steps if step is not None]
        # The first step that learns something keeps the names of the features.
        usable = bool(scaled) and all(scaled) and steps[0] is not None
        return cls(steps, model) if usable else None

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> SubsetFitter | None:
        return PipelineFitter.for_estimator(estimator, resolve)

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        m, rows = space.n_subsets, double_rows(X)
        if rows is None or not self.model.pays(estimator.steps[-1][1], rows, y):
            return [None] * m
        features = features_of(X)
        moments = MomentSums.of(rows, None, space, scatter=False).exact(rows, space)
        pipes, scaling, doubtful = self._scaled(estimator, moments, m, features)
        models = self.model.fit_scaled(estimator.steps[-1][1], rows, y, space, scaling)
        return _joined(pipes, models, doubtful)

    def table_sums(
        self, rows: Any, targets: Any, members: Memberships, n_classes: int
    ) -> list[Any]:
        counts = self.model.table_sums(rows, targets, members, n_classes)
        return [*counts, *MomentSums.of(rows, None, members, scatter=False).arrays]

    def fit_table(self, estimator: Any, sums: list[Any], view: TableView) -> list[Any]:
        counted, *arrays = sums
        moments, m = table_moments(arrays, view), view.members.n_subsets
        pipes, scaling, doubtful = self._scaled(estimator, moments, m, vars(view.features))
        inner = BaseEstimator()
        inner.n_features_in_ = view.rows.shape[1]  # scalers hand on arrays, which have no names
        last = estimator.steps[-1][1]
        models = self.model.fit_table_scaled(last, counted, replace(view, features=inner), scaling)
        return _joined(pipes, models, doubtful)

    def _scaled(
        self, estimator: Any, moments_of: Iterable[Moments | None], m: int, features: dict[str, Any]
    ) -> tuple[list[Any], Scaling, NDArray[np.bool_]]:
        """Return pipelines with fitted scalers, what they do together, and which are doubtful."""
        p = features["n_features_in_"]
        blank = clone(estimator)
        pipes = [unfitted_copy(blank) for _ in range(m)]
        mean, scale, doubtful = np.zeros((m, p)), np.ones((m, p)), np.zeros(m, dtype=bool)
        for i, each in enumerate(moments_of):
            moments = each
            for step, (_, part) in zip(self.scalers, pipes[i].steps, strict=False):
                if step is None or moments is None:
                    continue
                if not step.fit_moments(part, moments):
                    moments = None
                    continue
                moments = step.transform_moments(part, moments)
                part.n_features_in_ = p
                if part.mean_ is not None and part.with_mean:
                    mean[i] += scale[i] * part.mean_
                if part.scale_ is not None:
                    scale[i] *= part.scale_
            doubtful[i] = moments is None
            vars(pipes[i].steps[0][1]).update(features)
        return pipes, Scaling(mean, scale), doubtful

    def agrees(self, joint: Any, ordinary: Any, X: Any, y: Any) -> bool:
        for step, (_, one), (_, other) in zip(
            self.scalers, joint.steps, ordinary.steps, strict=False
        ):
            if step is None:
                continue
            X = other.transform(X)
            for name in ("mean_", "scale_"):
                left, right = getattr(one, name), getattr(other, name)
                if right is not None and not np.allclose(left, right, rtol=1e-8, atol=1e-8):
                    return False
        return self.model.agrees(joint.steps[-1][1], ordinary.steps[-1][1], X, y)


def _joined(pipes: list[Any], models: list[Any], doubtful: NDArray[np.bool_]) -> list[Any]:
    """Return the pipelines that end in these models.

    None where there is none, or a scale is doubtful.
    """
    for pipe, model in zip(pipes, models, strict=True):
        pipe.steps[-1] = (pipe.steps[-1][0], model)
    usable = [model is not None and not bad for model, bad in zip(models, doubtful, strict=True)]
    return [pipe if good else None for pipe, good in zip(pipes, usable, strict=True)]


@final
class PipelineFitter(MomentFitter):
    """Standardise, perhaps turn, and fit: every step from the moments the one before hands on.

    Parameters
    ----------
    steps : tuple of MomentFitter or None
        None for a step that passes its input through.
    """

    name = "pipeline"
    description = (
        "scalers and components that pass moments on; encoders that learn nothing, applied once"
    )
    estimators = ("sklearn.pipeline.Pipeline",)

    def __init__(self, steps: tuple[MomentFitter | None, ...]) -> None:
        self.steps = steps
        parts = [step for step in steps if step is not None]
        self.wants_scatter = any(part.wants_scatter for part in parts)
        self.wants_class_scatter = any(part.wants_class_scatter for part in parts)
        self.wants_targets = any(part.wants_targets for part in parts)
        self.wants_classes = any(part.wants_classes for part in parts)
        self.needs_rows = parts[-1].needs_rows
        self.most_classes = parts[-1].most_classes

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> SubsetFitter | None:
        # Steps that hand on data frames give names to the features of the next one.
        plain = type(estimator) is Pipeline and get_config()["transform_output"] == "default"
        if not plain or estimator.memory is not None or not estimator.steps:
            return None
        encoded = EncodedFitter.for_estimator(estimator, resolve)
        if encoded is not None:
            return encoded
        fitters: list[MomentFitter | None] = []
        for position, (_, part) in enumerate(estimator.steps):
            is_last = position == len(estimator.steps) - 1
            if part in (None, "passthrough") and not is_last:
                fitters.append(None)
                continue
            fitter = resolve(part)
            if is_last and isinstance(fitter, ConvexFitter):
                # Centred rows without an intercept are raw rows with one that is tied to the rest.
                centred = any(getattr(step, "with_mean", False) for _, step in estimator.steps)
                if centred and not part.fit_intercept:
                    return None
                return ScaledConvexFitter.behind(tuple(fitters), fitter)
            if not isinstance(fitter, MomentFitter) or isinstance(fitter, PipelineFitter):
                return None
            hands_on = isinstance(fitter, (StandardScalerFitter, PCAFitter))
            if output_config(part) or not (hands_on or is_last):
                return None
            fitters.append(fitter)
        turns = any(isinstance(one, PCAFitter) for one in fitters)
        last = fitters[-1]
        # Classes come with their variances only, which a turn mixes.
        if last is None or fitters[0] is None or (turns and last.wants_classes):
            return None
        return cls(tuple(fitters))

    def pays(self, estimator: Any, n: int, p: int, n_classes: int) -> bool:
        for fitter, (_, part) in zip(self.steps, estimator.steps, strict=True):
            if fitter is not None and not fitter.pays(part, n, p, n_classes):
                return False
            p = getattr(part, "n_components", None) or p
        return True

    def fit_moments(self, model: Any, moments: Moments) -> bool:
        for position, fitter in enumerate(self.steps):
            part = model.steps[position][1]
            if fitter is None:
                continue
            if position:
                part.n_features_in_ = moments.n_features
            if not fitter.fit_moments(part, moments):
                return False
            if position < len(self.steps) - 1:
                moments = fitter.transform_moments(part, moments)
        return True

    def finish(self, models: dict[int, Any], rows: Any, codes: Any, space: SecretSpace) -> None:
        last = self.steps[-1]
        assert last is not None
        for index, model in models.items():
            seen = deepcopy(rows)
            for fitter, (_, part) in zip(self.steps[:-1], model.steps, strict=False):
                seen = seen if fitter is None else part.transform(seen)
            last.finish({index: model.steps[-1][1]}, seen, codes, space)

    def agrees(self, joint: Any, ordinary: Any, X: Any, y: Any) -> bool | None:
        last = self.steps[-1]
        assert last is not None
        if type(last).agrees is SubsetFitter.agrees:
            return None
        mine = deepcopy(X)  # a step may work in place
        for fitter, (_, one), (_, other) in zip(
            self.steps[:-1], joint.steps, ordinary.steps, strict=False
        ):
            if fitter is not None:
                mine, X = one.transform(mine), other.transform(X)
        if not np.allclose(mine, X, rtol=1e-8, atol=1e-8 * np.max(np.abs(X))):
            return False
        return last.agrees(joint.steps[-1][1], ordinary.steps[-1][1], X, y)
