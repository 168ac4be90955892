"""Fitted parts of a meta-estimator, laid side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from pacsklearn.canonical.linear_classifier import LinearClassifierCanonicalizer
from pacsklearn.canonical.pipeline import PipelineCanonicalizer, SearchCanonicalizer
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.core.metric import BlockMetric, Metric
from pacsklearn.core.public_prior import Constant
from pacsklearn.information.arrays import Floats


class Part(NamedTuple):
    """A part by its name: how to encode it, the fitted estimator, and the rows it saw."""

    name: str
    canonicalizer: Canonicalizer
    fitted: Any
    rows: Any


def encode_parts(parts: Iterable[Part], **facts: Any) -> Encoding:
    """Vectors of the parts one after another, with public facts beside them."""
    arrays, children = {}, []
    for part in parts:
        arrays[part.name], layout = part.canonicalizer.encode(part.fitted, part.rows)
        children.append((part.name, layout))
    layout = Layout(facts=tuple(facts.items()), children=tuple(children))
    return Encoding(layout.pack(arrays), layout)


def decode_parts(
    vector: Floats, layout: Layout, blanks: Mapping[str, tuple[Canonicalizer, Any]]
) -> dict[str, Any]:
    """Decoded parts by name; ``blanks`` gives the canonicalizer and the unfitted part of each."""
    arrays = layout.unpack(vector)
    return {
        name: blanks[name][0].decode(arrays[name], child, clone(blanks[name][1]))
        for name, child in layout.children
    }


def align_parts(
    vectors: Floats, layout: Layout, canonicalizers: Mapping[str, Canonicalizer]
) -> Floats:
    """Each part aligned by itself."""
    aligned, where = vectors.copy(), layout.slices()
    for name, child in layout.children:
        aligned[:, where[name]] = canonicalizers[name].align(vectors[:, where[name]], child)
    return aligned


def metric_of_parts(parts: Iterable[Part], layout: Layout, vectors: Floats) -> Metric:
    """Each part's own metric."""
    layouts, where, blocks = dict(layout.children), layout.slices(), []
    for name, canonicalizer, fitted, rows in parts:
        metric = canonicalizer.metric(layouts[name], fitted, rows, vectors[:, where[name]])
        blocks.append((layouts[name].size, metric))
    return BlockMetric(tuple(blocks))


def constant_of_parts(constants: list[Constant | None]) -> Constant | None:
    """Constant that every part predicts; None where one cannot, or their slopes differ."""
    known = [each for each in constants if each is not None]
    if len(known) != len(constants) or len({each.slope for each in known}) != 1:
        return None
    return Constant(np.concatenate([each.vector for each in known]), known[0].slope)


def keeping_scores(canonicalizer: Canonicalizer) -> Canonicalizer:
    """The same canonicalizer, releasing scores and not only decisions.

    Where the scores of several models are compared, the scale of one is no longer a gauge.
    """
    if isinstance(canonicalizer, LinearClassifierCanonicalizer):
        return LinearClassifierCanonicalizer(gauge=False, probabilities=canonicalizer.probabilities)
    if isinstance(canonicalizer, PipelineCanonicalizer):
        return canonicalizer.with_last(keeping_scores(canonicalizer.steps[-1][1]))
    if isinstance(canonicalizer, SearchCanonicalizer):
        return SearchCanonicalizer(keeping_scores(canonicalizer.part))
    return canonicalizer
