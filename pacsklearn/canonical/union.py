"""Feature unions: the outputs of several transformers side by side."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
from scipy import sparse

from pacsklearn.canonical.parts import (
    Part,
    align_parts,
    decode_parts,
    encode_parts,
    metric_of_parts,
)
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.core.metric import Metric
from pacsklearn.information.arrays import Floats

_PUBLIC = ("drop", "passthrough")


class SideBySide(Canonicalizer):
    """Transformers whose outputs stand side by side, each with a canonicalizer of its own.

    Parameters
    ----------
    transformers : tuple of (str, Canonicalizer)
        Those that are neither dropped nor passed through.
    """

    methods = ("transform",)

    def __init__(self, transformers: tuple[tuple[str, Canonicalizer], ...]) -> None:
        self.transformers = transformers
        self.noised = tuple(
            f"{name}: {what}" for name, part in transformers for what in part.noised
        )
        self.is_exact = all(part.is_exact for _, part in transformers)
        self.is_searched = any(part.is_searched for _, part in transformers)

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        return align_parts(vectors, layout, dict(self.transformers))

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Each transformer's own."""
        return metric_of_parts(self._parts(estimator, X), layout, vectors)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return _side_by_side(self._parts(estimator, X))

    @abstractmethod
    def _parts(self, estimator: Any, X: Any) -> list[Part]:
        """Fitted transformers with the columns that each sees."""


@final
class UnionCanonicalizer(SideBySide):
    """Outputs of a feature union; the transformers' weights are public."""

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> UnionCanonicalizer:
        listed = estimator.transformer_list
        return cls(tuple((name, resolve(part)) for name, part in listed if part not in _PUBLIC))

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encode_parts(self._parts(estimator, X))

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        parts, blank = dict(self.transformers), dict(template.transformer_list)
        decoded = decode_parts(vector, layout, {name: (parts[name], blank[name]) for name in parts})
        template.transformer_list = [
            (name, decoded.get(name, part)) for name, part in template.transformer_list
        ]
        return template

    def _parts(self, estimator: Any, X: Any) -> list[Part]:
        fitted = dict(estimator.transformer_list)
        return [Part(name, part, fitted[name], X) for name, part in self.transformers]


def _side_by_side(parts: list[Part]) -> Any:
    """Behaviour of all parts in one table; empty when there is none."""
    shown = [part.canonicalizer.behaviour(part.fitted, part.rows) for part in parts]
    columns = [one.toarray() if sparse.issparse(one) else np.asarray(one) for one in shown]
    if not columns:
        return np.empty((0, 0))
    return np.column_stack(columns)
