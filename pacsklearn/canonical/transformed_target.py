"""Regressors of a transformed target: the regressor, and what turns its predictions back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import FunctionTransformer

from pacsklearn.canonical.parts import Part, decode_parts, encode_parts, metric_of_parts
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.core.metric import Metric
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.information.arrays import Floats

__all__ = ["TransformedTargetCanonicalizer"]


@final
class TransformedTargetCanonicalizer(Canonicalizer):
    """A regressor behind functions that are public, like every other parameter.

    Parameters
    ----------
    part : Canonicalizer
        Of the regressor.
    """

    def __init__(self, part: Canonicalizer) -> None:
        self.part = part
        self.noised = tuple(f"regressor_: {what}" for what in part.noised)
        self.is_searched, self.reads_rows = part.is_searched, part.reads_rows

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> TransformedTargetCanonicalizer:
        if estimator.transformer is not None:
            raise NoCanonicalizerError(
                f"{type(estimator).__name__}(transformer=...) learns from the targets how to turn "
                "predictions back; give func= and inverse_func=, which are public."
            )
        return cls(resolve(_blank(estimator)))

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encode_parts(self._parts(estimator, X), dimensions=int(estimator._training_dim))

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        blanks = {"regressor": (self.part, _blank(template))}
        template.regressor_ = decode_parts(vector, layout, blanks)["regressor"]
        template._training_dim = layout.fact("dimensions")
        template.transformer_ = FunctionTransformer(
            func=template.func,
            inverse_func=template.inverse_func,
            validate=True,
            check_inverse=False,
        ).fit(np.ones((2, 1)))
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        return self.part.align(vectors, layout.children[0][1])

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """That of the regressor: the change of the transformed prediction."""
        return metric_of_parts(self._parts(estimator, X), layout, vectors)

    def _parts(self, estimator: Any, X: Any) -> list[Part]:
        return [Part("regressor", self.part, estimator.regressor_, X)]


def _blank(estimator: Any) -> Any:
    return LinearRegression() if estimator.regressor is None else clone(estimator.regressor)
