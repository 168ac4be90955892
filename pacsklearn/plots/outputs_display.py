"""Displays of the vectors that the candidates' models become."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.secret.home_process import SubsetSeed
from pacsklearn.plots.display import Display, pyplot
from pacsklearn.universe.design import Design
from pacsklearn.universe.design import subset_seed as seed_of


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
        n_subsets: int = 128,
        rate: float = 0.5,
        stratify: Any = "auto",
        groups: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        subset_seed: int | SubsetSeed | None = None,
        n_jobs: int | None = None,
        fast_fit: bool = True,
        **options: Any,
    ) -> Self:
        """Fit the candidates and draw.

        Parameters
        ----------
        estimator : estimator
            As for :class:`PACPrivate`.
        X, y : array-likes
        metric, canonicalizer, n_subsets, rate, stratify, groups, fit_params, subset_seed, \
n_jobs, fast_fit
            As for :class:`PACPrivate`.
        **options : dict
            Passed to :meth:`from_outputs`.
        """
        pyplot(cls.__name__)
        chosen = registry().canonicalizer(canonicalizer, estimator)
        design = Design(n_subsets, rate, stratify, groups, seed_of(subset_seed))
        how = FitOptions(fit_params or {}, n_jobs, fast_fit=fast_fit)
        outputs = design.candidates(estimator, X, y, how).outputs(chosen)
        return cls.from_outputs(outputs.vectors, metric=outputs.metric(metric), **options)
