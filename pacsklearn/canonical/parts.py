"""Fitted parts of a meta-estimator, laid side by side."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch

from pacsklearn.canonical.affine import AffineMap, FoldingCanonicalizer
from pacsklearn.canonical.block_metric import BlockMetric
from pacsklearn.canonical.features import set_facts
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Constant, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric


class Part(NamedTuple):
    """A part by its name: how to encode it, the fitted estimator, and the rows it saw."""

    name: str
    canonicalizer: Canonicalizer
    fitted: Any
    rows: Any


def encode_parts(parts: Iterable[Part], **facts: Any) -> Encoding:
    """Return the vectors of the parts one after another, with public facts beside them."""
    own = {part.name: part.canonicalizer.encode(part.fitted, part.rows) for part in parts}
    return joined(own, **facts)


def joined(encodings: Mapping[str, Encoding], **facts: Any) -> Encoding:
    """Return the encodings by their parts' names in one, with public facts beside them."""
    children = tuple((name, own.layout) for name, own in encodings.items())
    layout = Layout(facts=tuple(facts.items()), children=children)
    return Encoding(layout.pack({name: own.vector for name, own in encodings.items()}), layout)


def decode_parts(
    vector: Floats,
    layout: Layout,
    canonicalizers: Mapping[str, Canonicalizer],
    blanks: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the decoded parts by name; ``blanks`` are unfitted."""
    arrays = layout.unpack(vector)
    return {
        name: canonicalizers[name].decode(arrays[name], child, clone(blanks[name]))
        for name, child in layout.children
    }


def metric_of_parts(parts: Iterable[Part], layout: Layout, vectors: Floats) -> Metric:
    """Return each part's own metric."""
    layouts, where, blocks = dict(layout.children), layout.slices(), []
    for name, canonicalizer, fitted, rows in parts:
        metric = canonicalizer.metric(layouts[name], fitted, rows, vectors[:, where[name]])
        blocks.append((layouts[name].size, metric))
    return BlockMetric(tuple(blocks))


class PartsCanonicalizer(FoldingCanonicalizer):
    """Canonicalizer of a meta-estimator of named parts, each with a canonicalizer of its own.

    Parameters
    ----------
    parts : tuple of (str, Canonicalizer)
    """

    folds = False

    def __init__(self, parts: tuple[tuple[str, Canonicalizer], ...]) -> None:
        self.parts = parts
        self.noised = tuple(f"{name}: {what}" for name, part in parts for what in part.noised)
        self.is_searched = any(part.is_searched for _, part in parts)

    @abstractmethod
    def fitted_parts(self, estimator: Any, X: Any) -> list[Part]:
        """Return the fitted parts with the rows that each sees."""

    def part_of(self, name: str) -> Canonicalizer:
        """Return the canonicalizer of a part."""
        return dict(self.parts)[name]

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        aligned, where = vectors.copy(), layout.slices()
        for name, child in layout.children:
            aligned[:, where[name]] = self.part_of(name).align(vectors[:, where[name]], child)
        return aligned

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return each part's own metric."""
        return metric_of_parts(self.fitted_parts(estimator, X), layout, vectors)

    def constant_of_parts(
        self, layout: Layout, value: float, blanks: Mapping[str, Any]
    ) -> Constant | None:
        """Return the constant of every part; None where one has none, or their slopes differ."""
        constants = [
            self.part_of(name).constant(child, value, clone(blanks[name]))
            for name, child in layout.children
        ]
        known = [each for each in constants if each is not None]
        if len(known) != len(constants) or len({each.slope for each in known}) != 1:
            return None
        return Constant(np.concatenate([each.vector for each in known]), known[0].slope)

    def fold(self, estimator: Any, affine: AffineMap) -> Any:
        folded = copy.copy(estimator)
        moved = {
            id(part.fitted): part.canonicalizer.fold(part.fitted, affine)  # type: ignore[attr-defined]
            for part in self.fitted_parts(estimator, None)
        }
        folded.estimators_ = [moved.get(id(each), each) for each in estimator.estimators_]
        return folded


class ListedCanonicalizer(PartsCanonicalizer):
    """Canonicalizer of a meta-estimator with ``estimators``, some of which may be dropped."""

    def __init__(self, parts: tuple[tuple[str, Canonicalizer], ...]) -> None:
        super().__init__(parts)
        self.folds = all(part.folds for _, part in parts)

    def fitted_parts(self, estimator: Any, X: Any) -> list[Part]:
        fitted = zip(self.parts, estimator.estimators_, strict=True)
        return [Part(name, part, model, X) for (name, part), model in fitted]

    def encode(self, estimator: Any, X: Any, **facts: Any) -> Encoding:
        """Return the vectors of the parts, with public facts, classes and names of features."""
        for name in ("classes_", "feature_names_in_"):
            if hasattr(estimator, name):
                facts[name] = getattr(estimator, name)
        return encode_parts(self.fitted_parts(estimator, X), **facts)

    def decode_listed(self, vector: Floats, layout: Layout, template: Any) -> None:
        """Give a template the decoded ``estimators_`` of what it lists, and facts."""
        blank = dict(template.estimators)
        decoded = decode_parts(vector, layout, dict(self.parts), blank)
        template.estimators_ = list(decoded.values())
        template.named_estimators_ = Bunch(**{name: decoded.get(name, "drop") for name in blank})
        set_facts(template, layout)
