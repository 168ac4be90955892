"""Which student learns private answers, where the user names none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone, is_regressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn._sklearn_compat import safe_indexing

_FOLDS = 3
_COMPONENTS = 200


def listed_students(teacher: Any, rows: Any, answers: NDArray[Any]) -> list[Any]:
    """Return the students that suit few queries and many, simplest first.

    The last is a clone of the teacher.

    A linear model, smooth ones, trees with small leaves: what needs many rows in a leaf or has
    no limits learns nothing, or noise, from few queries. They stand behind the teacher's own
    preprocessing; where that does not give numbers, only the clone is listed.

    Parameters
    ----------
    teacher : estimator
    rows : array or DataFrame of shape (n, n_columns)
        Queries.
    answers : ndarray of shape (n,) or (n, width)
    """
    before = Pipeline(teacher.steps[:-1]) if isinstance(teacher, Pipeline) else None
    encoded = clone(before).fit_transform(rows, answers) if before and len(before) else rows
    if not _are_numbers(encoded):
        return [clone(teacher)]
    steps = [clone(step) for _, step in before.steps] if before else []
    steps.append(SimpleImputer(keep_empty_features=True))
    kernel = Nystroem(n_components=min(_COMPONENTS, rows.shape[0] // 2), random_state=0)
    smooth = [[StandardScaler(), kernel]]
    spread = float(np.nanvar(np.asarray(encoded, dtype=np.float64))) if before else 0.0
    if spread > 0:  # the preprocessing's scale may say more than one of each column's own
        smooth.append([clone(kernel).set_params(gamma=1 / (encoded.shape[1] * spread))])
    linear: Any
    if is_regressor(teacher):
        trees: Any = ExtraTreesRegressor(min_samples_leaf=3, random_state=0)
        linear, curved = Ridge(10.0), Ridge(0.1)
    else:
        trees = ExtraTreesClassifier(min_samples_leaf=3, random_state=0)
        linear, curved = (LogisticRegression(C=C, max_iter=1000) for C in (0.1, 10.0))
    heads = [[StandardScaler(), linear], *([*each, curved] for each in smooth), [trees]]
    return [*(make_pipeline(*steps, *head) for head in heads), clone(teacher)]


def best_student(students: list[Any], rows: Any, answers: NDArray[Any]) -> Any:
    """Return simplest student that agrees with answers it has not seen about as well as the best.

    By cross-validation and the one-standard-error rule (Breiman et al., 1984): private answers are
    in part noise, which the students that agree with them best have learned too. A choice by the
    released answers alone, so it reveals nothing more.

    Parameters
    ----------
    students : list of estimators
        Simplest first.
    rows : array or DataFrame of shape (n, n_columns)
    answers : ndarray of shape (n,) or (n, width)

    Returns
    -------
    estimator
        Unfitted; the first one where too few answers are of a second class to tell.
    """
    if len(students) == 1:
        return students[0]
    folds: Any = KFold(_FOLDS, shuffle=True, random_state=0)
    kept = np.arange(len(answers))
    if not is_regressor(students[0]):
        _, codes, counts = np.unique(answers, return_inverse=True, return_counts=True)
        kept = np.flatnonzero(counts[codes] >= _FOLDS)
        if np.unique(codes[kept]).size < 2:
            return students[0]
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    elif len(answers) < 2 * _FOLDS:
        return students[0]
    rows, answers = safe_indexing(rows, kept), answers[kept]
    predicted = [cross_val_predict(student, rows, answers, cv=folds) for student in students]
    if is_regressor(students[0]):
        agreed = [
            -np.sum(np.square(each - answers).reshape(len(kept), -1), axis=1) for each in predicted
        ]
    else:
        agreed = [(each == answers).astype(np.float64) for each in predicted]
    best = agreed[int(np.argmax(np.mean(agreed, axis=1)))]
    behind = best - np.array(agreed)
    error = behind.std(axis=1, ddof=1) / np.sqrt(len(kept))
    return students[int(np.argmax(behind.mean(axis=1) <= error))]


def _are_numbers(encoded: Any) -> bool:
    if issparse(encoded) or len(encoded.shape) != 2:
        return False
    types = encoded.dtypes if hasattr(encoded, "columns") else [encoded.dtype]
    return all(getattr(kind, "kind", "O") in "fiub" for kind in types)
