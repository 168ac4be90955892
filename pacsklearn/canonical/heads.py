"""What is left of a transformer once the affine map it ends with is folded into the model."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

from pacsklearn.canonical.affine import AffineMap, affine_map, identity_map, is_affine, is_diagonal

_NOTHING = "passthrough"


def is_nothing(step: Any) -> bool:
    """Return whether a step is switched off, or changes what is fitted on and nothing later."""
    # A sampler of imbalanced-learn has no part in what its pipelines predict.
    return step is None or hasattr(step, "fit_resample") or step == _NOTHING


class FoldPlan(NamedTuple):
    """What is done with the steps before a model that can take over affine maps.

    Attributes
    ----------
    folded : tuple of str
        Steps that are affine as a whole: nothing of them is left.
    headed : tuple of str
        Steps that end in an affine map: their heads are left.
    """

    folded: tuple[str, ...]
    headed: tuple[str, ...]


class FoldedSteps(NamedTuple):
    """Fitted steps that are left, by name, and the affine map between them and the model."""

    kept: tuple[tuple[str, Any], ...]
    tail: AffineMap | None


def fold_plan(steps: Sequence[tuple[str, Any]]) -> FoldPlan:
    """Return which of these unfitted steps, the model after them left out, can be folded into it.

    From the model backwards: affine steps, then what a step that is not affine ends with. An
    imputer lets steps pass that move each feature by itself.
    """
    folded: list[str] = []
    headed: list[str] = []
    passes = is_affine
    for name, step in reversed(steps):
        if is_nothing(step):
            continue
        if passes(step):
            folded.append(name)
        elif _is_transparent(step):
            passes = is_diagonal
        else:
            if passes is is_affine and head_of(step) is not step:
                headed.append(name)
            break
    return FoldPlan(tuple(reversed(folded)), tuple(reversed(headed)))


def fold_steps(steps: Sequence[tuple[str, Any]], plan: FoldPlan) -> FoldedSteps:
    """Return the same of fitted steps; a search may have switched some of them off."""
    kept: list[tuple[str, Any]] = []
    maps: list[AffineMap] = []
    first: Any = None
    for name, step in steps:
        if is_nothing(step):
            continue
        if name in plan.folded:
            first = first if maps else step
            maps.append(affine_map(step))
        elif name in plan.headed:
            head, tail = _split(step)
            kept.append((name, head))
            maps += [] if tail is None else [tail]
        else:
            # Behind maps that were folded already only an imputer is left.
            kept.append((name, _before(maps, step, first) if maps else step))
    return FoldedSteps(tuple(kept), reduce(AffineMap.then, maps) if maps else None)


def head_of(step: Any) -> Any:
    """Return an unfitted head of an unfitted step.

    The step itself where nothing of it can be folded.
    """
    if is_nothing(step) or is_affine(step):
        return _NOTHING
    if type(step) is Pipeline:
        plan, parts = fold_plan(step.steps), dict(step.steps)
        heads = {name: head_of(parts[name]) for name in plan.headed}
        if not heads and not plan.folded:
            return step
        left = clone(step)
        left.steps = [
            (name, heads.get(name, part)) for name, part in left.steps if name not in plan.folded
        ]
        return left
    if type(step) is FeatureUnion:
        parts = {name: part for name, part in step.transformer_list if part != "drop"}
        # The union itself does not know how wide its parts are.
        return _with_heads(step, parts) if all(map(_names_outputs, parts.values())) else step
    if type(step) is ColumnTransformer:
        parts = {name: part for name, part, _ in step.transformers}
        named = {**parts, "remainder": step.remainder}
        return _with_heads(step, {name: part for name, part in named.items() if part != "drop"})
    return step


def _with_heads(step: Any, parts: dict[str, Any]) -> Any:
    heads = {name: head_of(part) for name, part in parts.items()}
    changed = {name: head for name, head in heads.items() if head is not parts[name]}
    if all(is_nothing(parts[name]) for name in changed):
        return step
    return clone(step).set_params(**changed)


def _names_outputs(part: Any) -> bool:
    if type(part) is Pipeline:
        return all(is_nothing(step) or _names_outputs(step) for _, step in part.steps)
    return is_nothing(part) or hasattr(part, "get_feature_names_out") or is_affine(part)


def _split(step: Any) -> tuple[Any, AffineMap | None]:
    """Return the fitted head and the affine tail of a fitted step.

    ``"passthrough"`` where no head is left.
    """
    if is_nothing(step):
        return _NOTHING, None
    if is_affine(step):
        return _NOTHING, affine_map(step)
    if type(step) is Pipeline:
        kept, tail = fold_steps(step.steps, fold_plan(step.steps))
        head = copy.copy(step)
        head.steps = list(kept)
        return head, tail
    if type(step) is FeatureUnion:
        return _split_union(step)
    if type(step) is ColumnTransformer:
        return _split_columns(step)
    return step, None


def _split_union(union: Any) -> tuple[Any, AffineMap | None]:
    head, weights = copy.copy(union), union.transformer_weights or {}
    parts, maps = [], []
    for name, part in union.transformer_list:
        if part == "drop":
            parts.append((name, part))
            continue
        own, tail = _split(part)
        tail = identity_map(len(part.get_feature_names_out())) if tail is None else tail
        parts.append((name, _passing(part) if is_nothing(own) else own))
        maps.append(_weighted(tail, weights.get(name, 1.0)))
    head.transformer_list = parts
    return head, _block_diagonal(maps)


def _split_columns(columns: Any) -> tuple[Any, AffineMap | None]:
    head, weights = copy.copy(columns), columns.transformer_weights or {}
    parts, maps, where, start = [], [], {}, 0
    for name, part, chosen in columns.transformers_:
        width = columns.output_indices_[name]
        width = width.stop - width.start
        # What sees no column is not fitted.
        own, tail = (part, None) if isinstance(part, str) or not width else _split(part)
        tail = identity_map(width) if tail is None else tail
        if width:
            maps.append(_weighted(tail, weights.get(name, 1.0)))
            width = tail.n_inputs
        where[name] = slice(start, start + width)
        start += width
        parts.append((name, _passing(part) if is_nothing(own) else own, chosen))
    head.transformers_, head.output_indices_ = parts, where
    unfitted = head_of(columns)
    head.transformers, head.remainder = unfitted.transformers, unfitted.remainder
    return head, _block_diagonal(maps)


def _passing(part: Any) -> Any:
    """Return scikit-learn's step for ``"passthrough"``, fitted where ``part`` was."""
    passing = FunctionTransformer(
        accept_sparse=True, check_inverse=False, feature_names_out="one-to-one"
    )
    passing.n_features_in_ = part.n_features_in_
    if hasattr(part, "feature_names_in_"):
        passing.feature_names_in_ = part.feature_names_in_
    if hasattr(part, "_sklearn_output_config"):
        passing._sklearn_output_config = part._sklearn_output_config
    return passing


def _weighted(tail: AffineMap, weight: float) -> AffineMap:
    # The head's output is weighted before the tail sees it: only the offset is left to weight.
    return AffineMap(tail.matrix, tail.offset * weight)


def _block_diagonal(maps: Sequence[AffineMap]) -> AffineMap | None:
    if not maps:
        return None
    offset = np.concatenate([each.offset for each in maps])
    if all(each.is_diagonal for each in maps):
        return AffineMap(np.concatenate([each.matrix for each in maps]), offset)
    blocks = [each.two_dimensional() for each in maps]
    return AffineMap(sparse.block_diag(blocks, format="csr"), offset)


def _is_transparent(step: Any) -> bool:
    """Return whether affine maps of single features may stand before or after it."""
    return (
        type(step) is SimpleImputer
        and step.strategy in ("mean", "median")
        and isinstance(step.missing_values, float)
        and bool(np.isnan(step.missing_values))
        and not step.add_indicator
    )


def _before(maps: Sequence[AffineMap], imputer: Any, first: Any) -> Any:
    """Return imputer that stands before diagonal maps, the first step's, as this one after them."""
    before = copy.copy(imputer)
    moved = reduce(AffineMap.then, maps)
    before.statistics_ = moved.undo(np.asarray(imputer.statistics_, dtype=np.float64))
    if hasattr(first, "feature_names_in_"):
        before.feature_names_in_ = first.feature_names_in_
    return before
