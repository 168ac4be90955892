"""Penalty of an additive model: small and smooth terms, so that few directions count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacsklearn.additive.terms import Term

__all__ = ["penalty_matrix"]

# Of the ridge: what a level of an ordered column costs beside its distance to its neighbours.
_LEVELS = 0.02


def penalty_matrix(
    terms: Sequence[Term], ridge: float, smoothness: float, pair_ridge: float
) -> NDArray[np.float64]:
    """Matrix ``P`` of the penalty ``w' P w / 2``; the intercept comes first and is free.

    Notes
    -----
    Levels without an order: ``ridge`` times their squares. Ordered levels: ``ridge`` times the
    squared steps between neighbours, ``smoothness`` times the squared differences between
    neighbouring steps, and a little of the ridge on the levels themselves, so that the problem
    stays strictly convex. The levels of pairs count as without order.
    """
    size = 1 + sum(term.n_levels for term in terms)
    penalty, start = np.zeros((size, size)), 1
    for term in terms:
        stop = start + term.n_levels
        strength = ridge if len(term.columns) == 1 else pair_ridge
        block = np.eye(term.n_levels) * strength
        if term.n_ordered:
            ordered = slice(0, term.n_ordered)
            block[ordered, ordered] = np.eye(term.n_ordered) * _LEVELS * strength
            for order, weight in ((1, strength), (2, smoothness)):
                steps = np.diff(np.eye(term.n_ordered), order, axis=0)
                block[ordered, ordered] += weight * steps.T @ steps
        penalty[start:stop, start:stop] = block
        start = stop
    return penalty
