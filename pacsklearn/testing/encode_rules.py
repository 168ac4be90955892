"""Rules of ``Canonicalizer.encode``."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.testing.fingerprint import (
    differing_attributes,
    differing_names,
    fingerprint,
    fingerprints,
)
from pacsklearn.testing.fitted_candidates import FittedCandidates
from pacsklearn.testing.rule import Rule
from pacsklearn.universe.listed_space import listed_space

_DECLARATIONS = Rule("declarations")
_ENCODING = Rule("encoding")
_SUBSET_ONLY = Rule("S-only")
_DETERMINISM = Rule("determinism")
_ROUNDING = 1e-8


def check_declarations(canonicalizer: Any) -> None:
    """Check that it is a canonicalizer, says what it does, and can be sent to a worker process."""
    _DECLARATIONS.require_instance(canonicalizer, Canonicalizer)
    for name in ("methods", "noised"):
        value = getattr(canonicalizer, name)
        _DECLARATIONS.require(
            isinstance(value, tuple) and all(isinstance(item, str) for item in value),
            f"The attribute {name!r} is not a tuple of strings.",
            f"set it on the class, for instance {name} = {getattr(Canonicalizer, name)!r}.",
        )
    fresh_copy(canonicalizer)


def fresh_copy(canonicalizer: Canonicalizer) -> Canonicalizer:
    """Return a copy as a worker process gets it."""
    remedy = "define its class at the top level of a module and keep only plain values in it."
    with _DECLARATIONS.completes("The canonicalizer cannot be pickled", remedy):
        copy: Canonicalizer = pickle.loads(pickle.dumps(canonicalizer))  # noqa: S301 - made one line above
    _DECLARATIONS.require(
        type(copy) is type(canonicalizer),
        "Pickling turns the canonicalizer into an object of another type.",
        "do not override __reduce__.",
    )
    return copy


def encode_all(canonicalizer: Canonicalizer, candidates: FittedCandidates) -> list[Encoding]:
    """Return encoding of each candidate by a copy that saw no other, each of the required form."""
    encodings = []
    for index, estimator in enumerate(candidates.estimators):
        before = fingerprints(estimator)
        # A copy for each: what one subset leaves behind must not reach the next.
        encoding = fresh_copy(canonicalizer).encode(estimator, candidates.subset(index))
        changed = differing_names(before, fingerprints(estimator))
        _SUBSET_ONLY.require(
            not changed,
            f"encode changes the fitted estimator: {', '.join(changed)}.",
            "copy arrays before you change them, and set no attribute on the estimator.",
        )
        encodings.append(_checked(encoding))
    return encodings


def _checked(encoding: Any) -> Encoding:
    remedy = "return Encoding(layout.pack(arrays), layout) with layout = Layout.of(arrays, ...)."
    _ENCODING.require(
        isinstance(encoding, Encoding) and isinstance(encoding.layout, Layout),
        f"encode returns an object of type {type(encoding).__qualname__}, not an Encoding.",
        remedy,
    )
    vector, layout = encoding
    _ENCODING.require(
        isinstance(vector, np.ndarray) and vector.dtype == np.float64 and vector.ndim == 1,
        "The vector is not a one-dimensional array of float64.",
        remedy,
    )
    _ENCODING.require(
        vector.shape[0] == layout.size,
        f"The vector has {vector.shape[0]} numbers, its layout says {layout.size}.",
        remedy,
    )
    _ENCODING.require(
        np.all(np.isfinite(vector)),
        "The vector holds nan or infinity.",
        "encode a finite quantity: a logarithm with a floor, a reciprocal, or a public constant "
        "in the layout's facts.",
    )
    return Encoding(vector, layout)


def check_layouts(canonicalizer: Canonicalizer, encodings: Sequence[Encoding]) -> Layout:
    """Return the layout, which must be the same for all candidates."""
    layout = encodings[0].layout
    _DECLARATIONS.require(
        canonicalizer.noised or not layout.size,
        "The vector has numbers and the attribute 'noised' is empty.",
        "name in noised the fitted attributes that come out of the vector, for the guarantee.",
    )
    for encoding in encodings[1:]:
        differences = layout.differences(encoding.layout)
        Rule("public structure").require(
            not differences,
            f"The layout depends on the subset: {'; '.join(differences)}.",
            "put numbers that depend on the rows into the vector; keep in the layout only what is "
            "public and equal for every subset, or raise StructureMismatchError.",
        )
    return layout


def check_subset_only(
    canonicalizer: Canonicalizer, candidates: FittedCandidates, encodings: Sequence[Encoding]
) -> None:
    """Check that what was encoded before, and how often, changes nothing."""
    first = encodings[0].vector
    again = fresh_copy(canonicalizer).encode(candidates.estimators[0], candidates.subset(0))
    _DETERMINISM.require(
        np.array_equal(again.vector, first),
        "Encoding the same fitted estimator twice gives different vectors.",
        "use no randomness in encode, or a fixed public seed.",
    )
    refitted = candidates.refit(0)
    again = fresh_copy(canonicalizer).encode(refitted, candidates.subset(0))
    _DETERMINISM.require(
        np.array_equal(again.vector, first),
        "Two fits of the estimator on the same rows give different vectors: "
        f"{', '.join(differing_attributes(refitted, candidates.estimators[0])) or 'none'} differ.",
        "fix every source of randomness of the estimator by public parameters.",
    )
    seasoned = fresh_copy(canonicalizer)
    # Both orders: what a canonicalizer keeps of the subsets before shows in one of them.
    for order in (range(candidates.n_subsets), reversed(range(candidates.n_subsets))):
        for index in order:
            again = seasoned.encode(candidates.estimators[index], candidates.subset(index))
            _SUBSET_ONLY.require(
                np.array_equal(again.vector, encodings[index].vector),
                "The vector of a subset changes with the other subsets the canonicalizer saw, so "
                "it depends on rows outside the subset.",
                "compute encode from its two arguments alone and store nothing on self.",
            )


def check_joint_encoding(
    canonicalizer: Canonicalizer, candidates: FittedCandidates, encodings: Sequence[Encoding]
) -> None:
    """Check that encoding all candidates together, where it is offered, gives the same."""
    space = listed_space(candidates.rows, np.shape(candidates.X)[0])
    together = fresh_copy(canonicalizer).encode_jointly(candidates.estimators, candidates.X, space)
    if together is None:
        return
    same = len(together) == len(encodings) and all(
        not one.layout.differences(other.layout)
        and np.allclose(one.vector, other.vector, rtol=_ROUNDING, atol=_ROUNDING)
        for one, other in zip(encodings, together, strict=True)
    )
    _SUBSET_ONLY.require(
        same,
        "encode_jointly gives other encodings than encode gives for each candidate and its rows.",
        "leave encode_jointly and reads_rows as they are inherited, or give rows outside a "
        "candidate no weight.",
    )


def check_keeps_nothing(
    canonicalizer: Canonicalizer, candidates: FittedCandidates, vectors: Floats, layout: Layout
) -> None:
    """Check that nothing is kept.

    Whoever publishes the meta-estimator publishes its canonicalizer with it.
    """
    used = fresh_copy(canonicalizer)
    before = fingerprint(used)
    for index, estimator in enumerate(candidates.estimators):
        used.encode(estimator, candidates.subset(index))
    used.align(vectors.copy(), layout)
    used.metric(layout, candidates.estimators[0], candidates.X, vectors.copy())
    released = used.decode(vectors[0].copy(), layout, clone(candidates.unfitted))
    used.behaviour(released, candidates.X)
    Rule("secret hygiene").require(
        fingerprint(used) == before,
        "Using the canonicalizer changes it: it remembers something about the estimators it saw.",
        "store nothing on self outside __init__; the layout carries what decode needs.",
    )
