"""Pipelines of steps that pass moments on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from sklearn import get_config
from sklearn.pipeline import Pipeline

from pacsklearn._sklearn_compat import output_config
from pacsklearn.core.subset_fitter import SubsetFitter
from pacsklearn.fitting.moment_fitter import MomentFitter
from pacsklearn.fitting.moments import Moments
from pacsklearn.fitting.pca import PCAFitter
from pacsklearn.fitting.standard_scaler import StandardScalerFitter

__all__ = ["PipelineFitter"]


@final
class PipelineFitter(MomentFitter):
    """Standardise, perhaps turn, and fit: every step from the moments the one before hands on.

    Parameters
    ----------
    steps : tuple of MomentFitter or None
        None for a step that passes its input through.
    """

    def __init__(self, steps: tuple[MomentFitter | None, ...]) -> None:
        self.steps = steps
        parts = [step for step in steps if step is not None]
        self.wants_scatter = any(part.wants_scatter for part in parts)
        self.wants_targets = any(part.wants_targets for part in parts)
        self.wants_classes = any(part.wants_classes for part in parts)

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> PipelineFitter | None:
        # Steps that hand on data frames give names to the features of the next one.
        plain = type(estimator) is Pipeline and get_config()["transform_output"] == "default"
        if not plain or estimator.memory is not None or not estimator.steps:
            return None
        fitters: list[MomentFitter | None] = []
        for position, (_, part) in enumerate(estimator.steps):
            is_last = position == len(estimator.steps) - 1
            if part in (None, "passthrough") and not is_last:
                fitters.append(None)
                continue
            found = resolve(part)
            if not isinstance(found, MomentFitter) or isinstance(found, PipelineFitter):
                return None
            hands_on = isinstance(found, (StandardScalerFitter, PCAFitter))
            if output_config(part) or not (hands_on or is_last):
                return None
            fitters.append(found)
        turns = any(isinstance(one, PCAFitter) for one in fitters)
        last = fitters[-1]
        # Classes come with their variances only, which a turn mixes.
        if last is None or fitters[0] is None or (turns and last.wants_classes):
            return None
        return cls(tuple(fitters))

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
