"""What the leaves say: means shrunk along the tree, and probabilities of their averages."""

from __future__ import annotations

import numpy as np

from pacsklearn.information.arrays import Floats


def shrunken_leaves(sums: Floats, mass: Floats, prior: Floats | None, prior_count: float) -> Floats:
    """Means in the leaves, each node's shrunk towards its parent's; ``prior`` is the root's."""
    n_leaves = (sums.shape[1] + 1) // 2
    values = np.empty_like(sums)
    root = mass[:, :1]
    if prior is None:
        values[:, 0] = sums[:, 0] / root
    else:
        values[:, 0] = (sums[:, 0] + prior_count * prior) / (root + prior_count)
    for level in range(1, n_leaves.bit_length()):
        nodes = np.arange(2**level - 1, 2 ** (level + 1) - 1)
        parents = values[:, (nodes - 1) // 2]
        total = mass[:, nodes, None] + prior_count
        shrunken = sums[:, nodes] + prior_count * parents
        # Without a prior an empty node takes its parent's place.
        values[:, nodes] = np.where(total > 0, shrunken / np.where(total > 0, total, 1.0), parents)
    return np.asarray(values[:, n_leaves - 1 :])


def common_votes(values: Floats, sums: Floats, prior_count: float) -> Floats:
    """Each leaf's most probable class with the confidence that all leaves have together.

    Parameters
    ----------
    values : ndarray of shape (n_trees, n_leaves, n_classes)
        Probabilities.
    sums : ndarray of shape (n_trees, n_leaves, n_classes)
        Weights of the rows of each class that reach each leaf.
    prior_count : float
        Rows of equal classes added to the count.
    """
    n_classes = values.shape[-1]
    votes = _votes(values)
    right = np.sum(votes * sums) / sums.shape[0]
    total = sums.sum() / sums.shape[0]
    confidence = (right + prior_count / n_classes) / (total + prior_count)
    return _with_confidence(votes, confidence)


def repaired_votes(values: Floats) -> Floats:
    """Noisy votes as votes again: each leaf names one class, with the leaves' mean confidence."""
    confidence = np.clip(values.max(axis=-1).mean(), 1 / values.shape[-1], 1.0)
    return _with_confidence(_votes(values), float(confidence))


def _votes(values: Floats) -> Floats:
    return np.asarray(np.eye(values.shape[-1])[values.argmax(axis=-1)])


def _with_confidence(votes: Floats, confidence: float) -> Floats:
    rest = (1 - confidence) / max(votes.shape[-1] - 1, 1)
    return np.asarray(rest + (confidence - rest) * votes)


def on_simplex(rows: Floats) -> Floats:
    """Nearest probabilities to each row; their order stays."""
    descending = -np.sort(-rows, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    last = np.sum(descending > excess, axis=1, keepdims=True) - 1
    return np.asarray(np.maximum(rows - np.take_along_axis(excess, last, axis=1), 0.0))
