"""Hyper-parameter searches inside the subset: the best model found there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.core.metric import Metric
from pacsklearn.core.public_prior import Constant
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.information.arrays import Floats


@final
class SearchCanonicalizer(Canonicalizer):
    """``best_estimator_`` of a search, each subset searching on its own rows.

    Which parameters were best depends on the secret, so they are not released: the decoded model
    carries the parameters the search started from.

    Parameters
    ----------
    part : Canonicalizer
        Of the estimator searched over.
    """

    is_searched = True

    def __init__(self, part: Canonicalizer) -> None:
        self.part = part
        self.methods = part.methods
        self.noised = part.noised
        self.is_exact = part.is_exact

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> SearchCanonicalizer:
        if not estimator.refit:
            raise NoCanonicalizerError(
                f"{type(estimator).__name__}(refit=False) has no best_estimator_ to release; use "
                "refit=True."
            )
        return cls(resolve(estimator.estimator))

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return self.part.encode(estimator.best_estimator_, X)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        return self.part.decode(vector, layout, template.estimator)

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        return self.part.align(vectors, layout)

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        return self.part.metric(layout, estimator.best_estimator_, X, vectors)

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        return self.part.constant(layout, value, template.estimator)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return self.part.behaviour(getattr(estimator, "best_estimator_", estimator), X)
