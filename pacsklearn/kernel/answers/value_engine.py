"""Private real-valued responses at speed: Algorithm 1 with independent noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.answers import value_kernel
from pacsklearn.kernel.answers.label_engine import Step, StepAnswers, Stop, check_belief
from pacsklearn.kernel.bounds.binary_scale import exponents_of, scaled_by
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE

# Differences of what lies below, and their sums, stay finite.
_LARGEST_VALUE = 2.0**1010


def answer_values(
    values: ArrayLike,
    secret: int,
    log_belief: ArrayLike,
    step_budget: float,
    noise: ArrayLike,
    *,
    scale: int = LATTICE_SCALE,
) -> StepAnswers:
    """Answer real-valued queries, one session step a row, until rows or noise run out.

    Parameters
    ----------
    values : array-like of shape (n, m, d)
        The d numbers that candidate ``j`` answers to query ``i``, clipped to a public range.
    secret : int
        Index of the candidate that was drawn.
    log_belief : array-like of shape (m,)
        Current log-weights; candidates at ``-inf`` are ignored. Not changed.
    step_budget : float
        Most nats a row may cost.
    noise : ndarray of int64, shape (k,)
        Fresh independent discrete Gaussians of parameter ``scale``, consumed from the front: one
        for each coordinate on which candidates differ. What has been consumed must never be used
        again.
    scale : int, default=LATTICE_SCALE
        Parameter of the noise; anything else is for tests.

    Returns
    -------
    StepAnswers
        The rows answered, in order; their worst case is charged before.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, shape or range.

    Notes
    -----
    Source: pac-private-responses, Algorithm 1; noise variances ``e_i = sqrt(v_i) sum_j sqrt(v_j) /
    (2 b)`` as ``diagonal`` (pac-private-algorithms, Theorem 1) under the current belief, enlarged
    until the bound for the integers that are released is within the budget. Coordinates on which
    all possible candidates agree are exact and free. When the entropy of the distinct answers is
    within the budget, the answer is exact and costs that entropy.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import uniform_belief
    >>> from pacsklearn.kernel.answers.value_engine import answer_values
    >>> values = np.array([[[1.0, 0.25], [1.0, 0.75]]])
    >>> step = answer_values(values, 1, uniform_belief(2), 1 / 8, np.array([0]))
    >>> step.answers.round(4), step.charges.round(4)
    (array([[1.  , 0.75]]), array([0.125]))
    """
    table = _as_values(values)
    n, m, width = table.shape
    # A row's unit comes from all candidates' answers to it alone: steps neither vanish nor
    # overflow, and nothing depends on the other rows.
    units = exponents_of(np.max(np.abs(table), axis=(1, 2), initial=0.0))
    table = scaled_by(table, -units[:, None, None])
    step = Step.checked(m, secret, log_belief, step_budget, noise, scale)
    answers, deviations, charges = np.empty((n, width)), np.zeros((n, width)), np.empty(n)
    rows, used, stop = value_kernel.answer_rows(
        table,
        step.secret,
        step.log_belief,
        step.budget,
        step.noise,
        scale,
        answers,
        deviations,
        charges,
    )
    units = units[:rows, None]
    return StepAnswers(
        answers=np.ldexp(answers[:rows], units),
        charges=charges[:rows],
        margins=np.full(rows, np.nan),
        log_belief=step.log_belief,
        noise_used=used,
        stop=Stop(stop),
        deviations=np.ldexp(deviations[:rows], units),
    )


def contested_rows(values: ArrayLike, log_belief: ArrayLike) -> NDArray[np.bool_]:
    """Rows that would cost something now, at most a step budget each; the secret is not needed.

    Parameters
    ----------
    values : array-like of shape (n, m, d)
        As for :func:`answer_values`.
    log_belief : array-like of shape (m,)
        Current log-weights.

    Returns
    -------
    ndarray of bool, shape (n,)
        Whether candidates that are still possible disagree in some coordinate.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, shape or range.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.kernel.answers.value_engine import contested_rows
    >>> contested_rows(np.array([[[0.5], [0.5]], [[0.5], [0.6]]]), np.log([0.5, 0.5]))
    array([False,  True])
    """
    table = _as_values(values)
    belief = check_belief(log_belief, table.shape[1])
    result = np.empty(table.shape[0], dtype=np.bool_)
    value_kernel.contested(table, np.ascontiguousarray(belief), result)
    return result


def _as_values(values: ArrayLike) -> NDArray[np.float64]:
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.ndim != 3 or table.shape[1] == 0:
        raise ValueError(f"values must have shape (n, m, d) with m >= 1, got {table.shape}.")
    if not np.all(np.abs(table) <= _LARGEST_VALUE):
        raise ValueError("values must hold finite numbers, clipped to a public range.")
    return table
