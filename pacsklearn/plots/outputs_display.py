"""Displays of the vectors that the candidates' models become."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from pacsklearn.estimators.subsets import Subsets, listed_design
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.plots.display import Display, pyplot
from pacsklearn.universe.metrics import metric_or_auto


class OutputsDisplay(Display):
    """A drawing of one vector for each candidate: of an estimator that is fitted, or given."""

    @classmethod
    @abstractmethod
    def from_outputs(cls, *outputs: Any, **options: Any) -> Self:
        """Draw outputs that are there: one array of shape (m, d)."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        metric: Any = "auto",
        canonicalizer: Any = "auto",
        secret: Subsets | None = None,
        groups: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        **options: Any,
    ) -> Self:
        """Fit the candidates and draw.

        Parameters
        ----------
        estimator : estimator
            As for :class:`PACPrivate`.
        X, y : array-likes
        metric, canonicalizer
            As for :class:`~pacsklearn.estimators.Parameters`.
        secret, groups, fit_params, n_jobs
            As for :class:`PACPrivate`; the secret is one of listed subsets.
        **options : dict
            Passed to :meth:`from_outputs`.
        """
        pyplot(cls.__name__)
        chosen = registry().canonicalizer(canonicalizer, estimator)
        design = listed_design(secret, groups, None, "what candidates become")
        how = FitOptions(fit_params or {}, n_jobs)
        outputs = design.candidates(estimator, X, y, how).outputs(chosen)
        given = metric_or_auto(metric)
        cost = outputs.metric() if given is None else given
        return cls.from_outputs(outputs.vectors, metric=cost, **options)
