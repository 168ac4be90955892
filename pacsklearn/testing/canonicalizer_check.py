"""The contract of a canonicalizer."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Layout
from pacsklearn.testing.decode_rules import (
    check_everything_released_is_noised,
    check_gauge,
    check_metric,
    check_round_trip,
    decoded,
    same_behaviour,
)
from pacsklearn.testing.encode_rules import (
    check_declarations,
    check_joint_encoding,
    check_keeps_nothing,
    check_layouts,
    check_subset_only,
    encode_all,
)
from pacsklearn.testing.fitted_candidates import FittedCandidates
from pacsklearn.testing.one_history import OneHistory
from pacsklearn.testing.rule import Rule

_RULE = Rule("null budget")
_REPAIR = (
    "repair impossible numbers in decode, by a function of the vector alone (a floor for a "
    "variance, an order for thresholds)."
)
_DRAWS = 200
_ROWS = 500


def check_null_budget(
    canonicalizer: Canonicalizer,
    candidates: FittedCandidates,
    vectors: Floats,
    layout: Layout,
    generator: np.random.Generator,
) -> None:
    """Check that noise of every size decodes to a model that works.

    The largest leaves nothing of the data.

    Over 200 draws a classifier scores as the same noise around zero does, where nothing was learned
    at all, and no better than the share of the most frequent class, with an allowance of four
    standard errors each.
    """
    spread = vectors.std(axis=0)
    varying = spread > 0
    if not varying.any():
        return
    mean = vectors.mean(axis=0)
    largest = float(spread.max())
    swamping = 1e6 * largest + 1e3 * float(np.abs(mean[varying]).max())
    rows = np.arange(np.shape(candidates.X)[0])
    if rows.size > _ROWS:
        rows = np.sort(generator.choice(rows, _ROWS, replace=False))
    X = safe_indexing(candidates.X, rows)
    scores = is_classifier(candidates.unfitted) and "predict" in canonicalizer.methods
    scores = scores and candidates.y is not None and candidates.y.ndim == 1
    truth = canonicalizer.behaviour(candidates.estimators[0], X)
    accuracies: list[float] = []
    gains: list[float] = []
    changed = False
    # All of them must decode; only the largest, which leaves nothing of the data, is counted.
    scales = [largest, 1e3 * largest, *[swamping] * (_DRAWS if scores else 10)]
    for scale in scales:
        noise = np.where(varying, scale * generator.normal(size=mean.shape), 0.0)
        noisy, around_zero = mean + noise, np.where(varying, noise, mean)
        with (
            _RULE.completes("A very noisy vector cannot be decoded and used", _REPAIR),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            released = decoded(canonicalizer, noisy, layout, candidates)
            behaviour = canonicalizer.behaviour(released, X)
            predicted = released.predict(X) if scores else None
            if scores and scale == swamping:
                unlearned = decoded(canonicalizer, around_zero, layout, candidates).predict(X)
        changed = changed or not same_behaviour(behaviour, truth)
        if predicted is not None and scale == swamping:
            accuracies.append(float(np.mean(np.asarray(predicted) == candidates.y[rows])))
            gains.append(accuracies[-1] - float(np.mean(unlearned == candidates.y[rows])))
    _RULE.require(
        changed,
        "However large the noise, the estimator behaves as the one fitted on the first subset: "
        "behaviour does not see the model, or decode does not use the vector.",
        "let behaviour return what the model does, and decode take it from the vector.",
    )
    if accuracies:
        gain, doubt = float(np.mean(gains)), float(np.std(gains) / np.sqrt(len(gains)))
        _RULE.require(
            abs(gain) <= 4 * doubt + 1e-9,
            f"With nothing but noise the accuracy differs by {gain:+.3f} from that of the same "
            f"noise around zero (standard error {doubt:.3f}): what was learned still tells.",
            "let decode depend on the vector alone, without rounding or clipping around what was "
            "learned.",
        )
        _, counts = np.unique(candidates.y[rows], return_counts=True)
        chance = float(counts.max() / counts.sum())
        deviation = float(np.std(accuracies) / np.sqrt(len(accuracies)))
        _RULE.require(
            np.mean(accuracies) <= chance + 4 * deviation + 1e-9,
            f"With nothing but noise the accuracy is {np.mean(accuracies):.3f}, above the "
            f"{chance:.3f} of the most frequent class (standard error {deviation:.3f}): something "
            "learned from the data bypasses the vector.",
            "keep statistics of the data out of the canonicalizer, its layout and its clipping "
            "ranges.",
        )


def check_canonicalizer(
    canonicalizer: Canonicalizer,
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    n_subsets: int = 16,
    random_state: int = 0,
) -> None:
    """Check a canonicalizer against the rules that keep a release private.

    Parameters
    ----------
    canonicalizer : Canonicalizer
        As the registry or a user would give it.
    estimator : estimator
        Unfitted; parameters ``random_state`` that are None are set to ``random_state``.
    X : array-like of shape (n_rows, n_features)
        Realistic data, some dozens of rows or more; real numbers find more than small integers.
    y : array-like of shape (n_rows,), optional
        Target.
    n_subsets : int, default=16
        Candidate subsets to fit; even.
    random_state : int, default=0
        Seed of the subsets, the estimators and the noise of the check.

    Raises
    ------
    AssertionError
        Naming the rule that is broken and what to do.

    Notes
    -----
    The rules, in the order in which they are checked:

    1. *Declarations*: it pickles; ``methods`` and ``noised`` are tuples of names.
    2. *Encoding*: finite float64 vectors of the layout's size.
    3. *Public structure*: one layout for all subsets.
    4. *S-only and determinism*: what ``encode`` returns for a subset does not depend on what the
       canonicalizer saw before, and ``encode`` leaves the estimator as it is.
    5. *Round trip*: the decoded estimator behaves as the encoded one, and has its methods.
    6. *Everything released is noised*: ``decode`` is a function of the vector, the layout and a
       fresh clone, bit for bit: also in processes that have encoded different subsets, where
       processes can be forked; its result holds no training rows.
    7. *Gauge*: after ``align`` every vector still behaves as its own estimator.
    8. *Metric*: finite and of the right shape.
    9. *Null budget*: noise of any size decodes, and a classifier that is nothing but noise scores
       no better than the most frequent class.
    10. *Secret hygiene*: the canonicalizer remembers nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pacsklearn.plugins import registry
    >>> from pacsklearn.testing import check_canonicalizer
    >>> from sklearn.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> canonicalizer = registry().canonicalizer_for(LinearSVC())
    >>> check_canonicalizer(canonicalizer, LinearSVC(), X, y)
    """
    check_declarations(canonicalizer)
    candidates = FittedCandidates.fit(
        estimator, X, y, n_subsets=n_subsets, random_state=random_state
    )
    # Begun before anything is encoded.
    histories = OneHistory.of_each(canonicalizer, candidates, 0, 1)
    try:
        _check_rules(canonicalizer, candidates, histories, np.random.default_rng(random_state))
    finally:
        for history in histories:
            history.close()


def _check_rules(
    canonicalizer: Canonicalizer,
    candidates: FittedCandidates,
    histories: Sequence[OneHistory],
    generator: np.random.Generator,
) -> None:
    encodings = encode_all(canonicalizer, candidates)
    layout = check_layouts(canonicalizer, encodings)
    check_subset_only(canonicalizer, candidates, encodings)
    check_joint_encoding(canonicalizer, candidates, encodings)
    vectors = np.stack([encoding.vector for encoding in encodings])
    check_round_trip(canonicalizer, candidates, encodings)
    check_everything_released_is_noised(canonicalizer, candidates, encodings, generator, histories)
    aligned = check_gauge(canonicalizer, candidates, vectors, layout)
    check_metric(canonicalizer, candidates, aligned, layout)
    check_null_budget(canonicalizer, candidates, aligned, layout, generator)
    check_keeps_nothing(canonicalizer, candidates, aligned, layout)
