"""The contract of a canonicalizer."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.core.canonicalizer import Canonicalizer
from pacsklearn.testing.decode_rules import (
    check_everything_released_is_noised,
    check_gauge,
    check_metric,
    check_round_trip,
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
from pacsklearn.testing.null_budget_rule import check_null_budget

__all__ = ["check_canonicalizer"]


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
       fresh clone; its result holds no training rows.
    7. *Gauge*: after ``align`` every vector still behaves as its own estimator.
    8. *Metric*: finite and of the right shape.
    9. *Null budget*: noise of any size decodes, and a classifier that is nothing but noise scores
       no better than the most frequent class.
    10. *Secret hygiene*: the canonicalizer remembers nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pacsklearn.plugin import registry
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
    generator = np.random.default_rng(random_state)
    encodings = encode_all(canonicalizer, candidates)
    layout = check_layouts(canonicalizer, encodings)
    check_subset_only(canonicalizer, candidates, encodings)
    check_joint_encoding(canonicalizer, candidates, encodings)
    vectors = np.stack([encoding.vector for encoding in encodings])
    check_round_trip(canonicalizer, candidates, encodings)
    check_everything_released_is_noised(canonicalizer, candidates, encodings, generator)
    aligned = check_gauge(canonicalizer, candidates, vectors, layout)
    check_metric(canonicalizer, candidates, aligned, layout)
    check_null_budget(canonicalizer, candidates, aligned, layout, generator)
    check_keeps_nothing(canonicalizer, candidates, aligned, layout)
