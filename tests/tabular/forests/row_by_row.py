"""The forest as its definition says, one row at a time: slow and plain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Tree = dict[str, Any]


def grid_of(step: float) -> list[float]:
    half = round(1 / step)
    return [k / half for k in range(-half, half + 1)]


def grow(
    X: Any,
    y: list[int],
    n_classes: int,
    order: list[int],
    scale: list[tuple[float, float]],
    *,
    step: float,
    smoothing: float,
    penalty: float,
    prior_count: float,
) -> tuple[list[float], list[list[float]]]:
    """Thresholds level by level and leaf probabilities of one tree."""
    grid = grid_of(step)
    n, depth = len(X), len(order)
    thresholds: list[float] = []
    level_rows = [list(range(n))]
    parents = [[1 / n_classes] * n_classes]
    parents = [shrunken(level_rows[0], y, n_classes, parents[0], prior_count)]
    for level in range(depth):
        feature = order[level]
        centre, half_width = scale[feature]
        children, values = [], []
        for rows, parent in zip(level_rows, parents, strict=True):
            left_behind = []
            for unit in grid:
                threshold = centre + half_width * unit
                left, right = [0] * n_classes, [0] * n_classes
                for row in rows:
                    side = left if X[row][feature] <= threshold else right
                    side[y[row]] += 1
                left_behind.append((entropy(left) + entropy(right)) / n)
            costs = []
            for i, unit in enumerate(grid):
                below = left_behind[max(i - 1, 0)]
                above = left_behind[min(i + 1, len(grid) - 1)]
                cost = (1 - smoothing) * left_behind[i] + smoothing * (below + above)
                costs.append((cost + (penalty + 1e-9) * abs(unit), i))
            best = grid[min(costs)[1]]
            threshold = centre + half_width * best
            thresholds.append(threshold)
            for keep in (
                [row for row in rows if X[row][feature] <= threshold],
                [row for row in rows if X[row][feature] > threshold],
            ):
                children.append(keep)
                values.append(shrunken(keep, y, n_classes, parent, prior_count))
        level_rows, parents = children, values
    return thresholds, parents


def entropy(counts: list[int]) -> float:
    total = sum(counts)
    return -sum(count * math.log(count / total) for count in counts if count)


def shrunken(
    rows: list[int], y: list[int], n_classes: int, parent: list[float], prior_count: float
) -> list[float]:
    counts = [0] * n_classes
    for row in rows:
        counts[y[row]] += 1
    total = len(rows) + prior_count
    if total == 0:
        return parent
    return [
        (count + prior_count * share) / total for count, share in zip(counts, parent, strict=True)
    ]


def probabilities(row: Any, orders: Any, thresholds: Any, leaves: Any) -> list[float]:
    """Mean of the trees' leaves that one row reaches."""
    total = [0.0] * len(leaves[0][0])
    for order, cuts, values in zip(orders, thresholds, leaves, strict=True):
        node = 0
        for feature in order:
            node = 2 * node + (2 if row[feature] > cuts[node] else 1)
        for i, value in enumerate(values[node - len(cuts)]):
            total[i] += value
    return [value / len(orders) for value in total]


def scale_of(X: Any, width: float = 2.5) -> list[tuple[float, float]]:
    """Mean and that many standard deviations of each feature."""
    X = np.asarray(X)
    return [
        (float(mean), float(width * spread))
        for mean, spread in zip(X.mean(axis=0), X.std(axis=0), strict=True)
    ]
