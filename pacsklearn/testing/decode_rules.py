"""Rules of ``Canonicalizer.decode``, ``align`` and ``metric``; what two estimators do."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.testing.encode_rules import fresh_copy
from pacsklearn.testing.fingerprint import differing_attributes, differing_names
from pacsklearn.testing.fitted_candidates import FittedCandidates
from pacsklearn.testing.one_history import OneHistory
from pacsklearn.testing.rule import Rule


def same_behaviour(left: Any, right: Any, *, tolerance: float = 1e-6) -> bool:
    """Return whether two results of ``Canonicalizer.behaviour`` agree.

    Floating-point numbers agree up to ``tolerance`` times the largest magnitude; everything else
    (labels) exactly. Tuples, lists and dictionaries are compared element by element.
    """
    same = partial(same_behaviour, tolerance=tolerance)
    if isinstance(left, dict):
        is_alike = isinstance(right, dict) and left.keys() == right.keys()
        return is_alike and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (tuple, list)):
        is_alike = isinstance(right, (tuple, list)) and len(left) == len(right)
        return is_alike and all(map(same, left, right))
    first, second = (_dense(value) for value in (left, right))
    if first.shape != second.shape:
        return False
    if first.dtype.kind != "f" or second.dtype.kind != "f":
        return bool(np.all(first == second))
    largest = float(np.max(np.abs(first), initial=0.0))
    return bool(np.allclose(first, second, rtol=tolerance, atol=tolerance * largest))


def _dense(value: Any) -> np.ndarray:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value)


_NOISED = Rule("everything released is noised")
_GAUGE = Rule("gauge")
_ROUND_TRIP = Rule("round trip")
_METRIC = Rule("metric")
_ON_ROWS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score_samples",
    "transform",
)


def decoded(
    canonicalizer: Canonicalizer, vector: Floats, layout: Layout, candidates: FittedCandidates
) -> Any:
    """Return the estimator decoded into a fresh clone."""
    return canonicalizer.decode(vector.copy(), layout, clone(candidates.unfitted))


def check_round_trip(
    canonicalizer: Canonicalizer, candidates: FittedCandidates, encodings: Sequence[Encoding]
) -> None:
    """Check that decoded estimators behave as the encoded ones and can do what is declared."""
    for estimator, (vector, layout) in zip(candidates.estimators, encodings, strict=True):
        given = vector.copy()
        released = canonicalizer.decode(given, layout, clone(candidates.unfitted))
        _ROUND_TRIP.require(
            np.array_equal(given, vector),
            "decode changes the vector it is given.",
            "copy it, or use layout.unpack(vector), which does.",
        )
        _require_same_behaviour(
            canonicalizer, candidates, released, estimator, _ROUND_TRIP, "decode(encode(...))"
        )
    for name in filter(str.isidentifier, canonicalizer.noised):
        _ROUND_TRIP.require(
            _has(released, name),
            f"The guarantee would say that {name!r} is noised, which the decoded estimator lacks.",
            "name in noised the fitted attributes that decode sets.",
        )
    offered = [name for name in canonicalizer.methods if hasattr(estimator, name)]
    _ROUND_TRIP.require(
        offered,
        f"The estimator has none of the declared methods {', '.join(canonicalizer.methods)}.",
        "declare in methods what the decoded estimator can do.",
    )
    for method in offered:
        _ROUND_TRIP.require(
            callable(getattr(released, method, None)),
            f"The decoded estimator lacks {method!r}, which is declared and which the fitted one "
            "has.",
            "set every fitted attribute the method needs, or take it out of methods.",
        )
        if method in _ON_ROWS:
            remedy = "set every fitted attribute the method needs, from the vector or the facts."
            with _ROUND_TRIP.completes(f"{method} of the decoded estimator fails", remedy):
                getattr(released, method)(candidates.X)


def _has(value: Any, name: str) -> bool:
    """Return whether an estimator, or one inside it, has an attribute."""
    inside = value if isinstance(value, (list, tuple)) else getattr(value, "__dict__", {}).values()
    return hasattr(value, name) or any(_has(each, name) for each in inside)


def check_everything_released_is_noised(
    canonicalizer: Canonicalizer,
    candidates: FittedCandidates,
    encodings: Sequence[Encoding],
    generator: np.random.Generator,
    histories: Sequence[OneHistory],
) -> None:
    """Check that what is decoded is a function of the noisy vector, and holds no row.

    ``histories`` are processes that had encoded nothing when they began.
    """
    (vector, layout), (_, other_layout) = encodings[0], encodings[1]
    spread = np.ptp(np.stack([encoding.vector for encoding in encodings]), axis=0)
    # Off every candidate: what decode takes from elsewhere than the vector shows there.
    noisy = vector + generator.normal(size=vector.shape) * (0.1 * spread + 1e-3 * np.abs(vector))
    released = []
    # Another subset, its own layout, and the two mixed: the vector alone may decide.
    for index, public in ((0, layout), (1, other_layout), (1, layout)):
        worker = fresh_copy(canonicalizer)
        worker.encode(candidates.estimators[index], candidates.subset(index))
        template = clone(candidates.estimators[index])
        released.append(worker.decode(noisy.copy(), public, template))
    released.append(decoded(fresh_copy(canonicalizer), noisy, layout, candidates))
    for again in released[1:]:
        _NOISED.require(
            again is not released[0],
            "decode returns the same object twice.",
            "fill the template, a fresh unfitted clone, and return it.",
        )
        differing = differing_attributes(released[0], again)
        _NOISED.require(
            not differing,
            "Decoding one and the same noisy vector gives different estimators, depending on the "
            f"subset that was encoded before: {', '.join(differing)} did not come out of the "
            "noisy vector.",
            "take every number that depends on the rows from the vector.",
        )
    # Here all candidates were encoded by now, and what is kept of them outside the canonicalizer is
    # the same at every decode: bit for bit, it may not matter which one alone was encoded.
    decodes = [history.decoded(noisy, layout) for history in histories]
    for other in decodes[1:]:
        differing = differing_names(decodes[0], other)
        _NOISED.require(
            not differing,
            "Decoding one and the same noisy vector gives different estimators in two processes "
            f"that encoded different subsets: {', '.join(differing)} did not come out of the noisy "
            "vector, and something is kept outside the canonicalizer.",
            "take every number that depends on the rows from the vector; keep nothing in classes "
            "or modules.",
        )
    # What the unfitted estimator holds is public, also where it looks like a row.
    public_bytes = pickle.dumps(candidates.unfitted)
    for name, thing in (("decoded estimator", released[0]), ("canonicalizer", canonicalizer)):
        _NOISED.require(
            not holds_training_rows(
                pickle.dumps(thing), candidates.X, candidates.y, public=public_bytes
            ),
            f"The pickle of the {name} holds rows of the data.",
            "keep no reference to the data; release an estimator that stores its training rows "
            "with release=Answers() instead.",
        )


def check_gauge(
    canonicalizer: Canonicalizer, candidates: FittedCandidates, vectors: Floats, layout: Layout
) -> Floats:
    """Return the aligned vectors, each of which must behave as its own estimator."""
    given = vectors.copy()
    aligned = np.asarray(canonicalizer.align(given, layout))
    _GAUGE.require(
        np.array_equal(given, vectors),
        "align changes the array it is given.",
        "return a new array.",
    )
    _GAUGE.require(
        aligned.shape == vectors.shape
        and aligned.dtype == np.float64
        and np.all(np.isfinite(aligned)),
        f"align must return finite float64 numbers of shape {vectors.shape}, got "
        f"{aligned.dtype} of shape {aligned.shape}.",
        "return one representation for each row of the input.",
    )
    _GAUGE.require(
        np.array_equal(canonicalizer.align(given, layout), aligned),
        "Aligning the same vectors twice gives different results.",
        "use no randomness in align, or a fixed public seed.",
    )
    for estimator, vector in zip(candidates.estimators, aligned, strict=True):
        released = decoded(canonicalizer, vector, layout, candidates)
        _require_same_behaviour(canonicalizer, candidates, released, estimator, _GAUGE, "align")
    return aligned


def check_metric(
    canonicalizer: Canonicalizer, candidates: FittedCandidates, vectors: Floats, layout: Layout
) -> None:
    """Check that the metric measures vectors of this layout."""
    metric = canonicalizer.metric(layout, candidates.estimators[0], candidates.X, vectors)
    remedy = "return one of the metrics of pacsklearn.kernel.outputs.metric, of the layout's size."
    _METRIC.require(
        isinstance(metric, Metric),
        f"metric returns an object of type {type(metric).__qualname__}.",
        remedy,
    )
    try:
        root = metric.root(vectors - vectors.mean(axis=0))
    except ValueError as error:
        raise _METRIC.broken(f"It does not fit the vectors: {error}", remedy) from error
    _METRIC.require(
        root.shape[0] == vectors.shape[0] and np.all(np.isfinite(root)),
        "It gives numbers that are not finite, or not one row for each candidate.",
        remedy,
    )


def _require_same_behaviour(
    canonicalizer: Canonicalizer,
    candidates: FittedCandidates,
    released: Any,
    estimator: Any,
    rule: Rule,
    where: str,
) -> None:
    remedy = "return the template from decode, with every fitted attribute set that is asked for."
    with rule.completes(f"After {where} the estimator cannot be asked", remedy):
        shown = canonicalizer.behaviour(released, candidates.X)
        is_same = same_behaviour(shown, canonicalizer.behaviour(estimator, candidates.X))
    rule.require(
        is_same,
        f"After {where} the estimator does not behave as the one that was encoded.",
        "encode everything the predictions depend on; align may only choose between "
        "representations that behave identically on every input.",
    )


_RUN = 8


def holds_training_rows(pickled: bytes, X: Any, y: Any = None, *, public: bytes = b"") -> bool:
    """Return whether the bytes of a row, or of a run of a column, of the data occur in ``pickled``.

    Parameters
    ----------
    pickled : bytes
    X : array-like or sparse matrix
    y : array-like, optional
    public : bytes
        Pickle in which a match means nothing (the unfitted estimator).

    Notes
    -----
    Looks for float64 and float32. Runs of fewer than two telling numbers are left out, since
    small integers and powers of two occur everywhere.
    """
    for run in _runs(X, y):
        for dtype in (np.float64, np.float32):
            pattern = np.ascontiguousarray(run, dtype=dtype).tobytes()
            if pattern in pickled and pattern not in public:
                return True
    return False


def _runs(X: Any, y: Any) -> Iterator[NDArray[np.float64]]:
    if hasattr(X, "tocsr"):
        sparse = X.tocsr()
        candidates = [
            sparse.data[sparse.indptr[i] : sparse.indptr[i + 1]] for i in range(sparse.shape[0])
        ]
    else:
        table = _numeric(X)
        candidates = [*table, *table[:_RUN].T]
    if y is not None:
        candidates += list(_numeric(y)[:_RUN].T)
    for run in candidates:
        scaled = run * 2.0**20
        is_telling = np.isfinite(scaled) & (scaled != np.rint(scaled))
        if np.unique(run[is_telling]).size >= 2:
            yield run


def _numeric(data: Any) -> NDArray[np.float64]:
    table = data.select_dtypes("number") if hasattr(data, "select_dtypes") else data
    array = np.asarray(table)
    if not np.issubdtype(array.dtype, np.number):
        return np.empty((array.shape[0], 0))
    return np.asarray(array, dtype=np.float64).reshape(array.shape[0], -1)
