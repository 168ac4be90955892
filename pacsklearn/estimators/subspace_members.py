"""Members of an ensemble over public random features and rows, and their averaged scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.candidates.subset_fitting import seeded_clone

_SHARE, _FEWEST = 0.3, 5


@final
@dataclass(frozen=True, eq=False)
class SubspaceMembers:
    """Fitted members and the columns that each was given."""

    models: tuple[Any, ...] = field(repr=False)
    columns: tuple[NDArray[np.intp], ...] = field(repr=False)

    def views(self, X: Any) -> list[tuple[Any, Any]]:
        """Each member with what it may see of ``X``."""
        n_features = X.shape[1]
        return [
            (model, X if columns.size == n_features else safe_indexing(X, columns, axis=1))
            for model, columns in zip(self.models, self.columns, strict=True)
        ]


def fit_members(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_members: int,
    max_features: Any,
    max_samples: Any,
    random_state: int,
    fit_params: Mapping[str, Any],
) -> SubspaceMembers:
    """Fit clones on public random columns, and rows, of what they are given.

    Which columns and which positions a member gets depends on the seed and on the shape of ``X``
    alone, so the members are a function of the rows and public constants.
    """
    n_rows, n_features = X.shape
    width, height = _count(max_features, n_features), _count(max_samples, n_rows)
    models, chosen = [], []
    for member in range(n_members):
        # A stream a member: more members leave those before them as they are.
        generator = np.random.default_rng([random_state, member])
        columns = np.sort(generator.permutation(n_features)[:width])
        rows = np.sort(generator.permutation(n_rows)[:height])
        part = X if width == n_features else safe_indexing(X, columns, axis=1)
        weights = dict(fit_params)
        target = y
        if height < n_rows:
            part, target = safe_indexing(part, rows), safe_indexing(y, rows)
            weights = {
                name: safe_indexing(value, rows)
                if hasattr(value, "__len__") and len(value) == n_rows
                else value
                for name, value in weights.items()
            }
        models.append(_template(estimator).fit(part, target, **weights))
        chosen.append(columns)
    return SubspaceMembers(tuple(models), tuple(chosen))


def class_scores(model: Any, X: Any, n_classes: int) -> NDArray[np.float64]:
    """How much a fitted classifier speaks for each of its classes, in [0, 1].

    Shares of the classes where the model has them; for support vector machines the margins of
    every pair of classes, clipped to [-1, 1]; otherwise its vote, and halfway clipped decision
    values where it has those.
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    if isinstance(_last(model), (SVC, NuSVC)):
        pairs = np.clip(model.decision_function(X), -1.0, 1.0)
        # With two classes the sign speaks for the second, with more for the first of a pair.
        pairs = -pairs[:, None] if n_classes == 2 else pairs
        return (1 + _by_class(pairs, n_classes)) / 2
    votes = np.asarray(model.predict(X)[:, None] == model.classes_, dtype=np.float64)
    if not hasattr(model, "decision_function"):
        return votes
    decisions = np.clip(model.decision_function(X), -1.0, 1.0)
    if decisions.ndim == 1:
        decisions = np.column_stack([-decisions, decisions])
    # The scale of the values is unknown: where all are clipped the votes still tell.
    return np.asarray(votes / 2 + (1 + decisions) / 4)


def _template(estimator: Any) -> Any:
    template = seeded_clone(estimator)
    if isinstance(_last(template), (SVC, NuSVC)):
        # Votes of pairs jump; the pairs' own margins are what can be averaged.
        _last(template).set_params(decision_function_shape="ovo")
    return template


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _by_class(pairs: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    scores = np.zeros((len(pairs), n_classes))
    first, second = np.triu_indices(n_classes, k=1)
    for column, (one, other) in enumerate(zip(first, second, strict=True)):
        scores[:, one] += pairs[:, column]
        scores[:, other] -= pairs[:, column]
    return scores / (n_classes - 1)


def _count(share: Any, available: int) -> int:
    if isinstance(share, str):  # "auto"
        return min(available, max(_FEWEST, round(_SHARE * available)))
    return max(1, round(float(share) * available))
