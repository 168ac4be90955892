"""The published stopping rule that waits until a variance estimate stops moving."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.baselines.estimated_noise import EstimatedNoise
from pacsklearn._validation import check_budget, check_integer

__all__ = ["variance_converged"]

Floats = NDArray[np.float64]


def variance_converged(
    outputs: Iterable[ArrayLike],
    budget: float,
    *,
    precision: float = 1e-6,
    every: int = 10,
) -> EstimatedNoise:
    """Diagonal noise from as many trials as it takes for the variances to stop changing.

    For comparison only: the change of an estimate says nothing about its error. An event that no
    trial has shown yet leaves the estimate unmoved, the rule stops, and a coordinate that only
    this event moves gets no noise at all.

    Parameters
    ----------
    outputs : iterable of array-likes of shape (d,)
        Outputs of independent trials; read until the rule stops or they end.
    budget : float
        Nats that the rule claims to keep.
    precision : float, default=1e-6
        Largest change of any variance at which the rule stops, in squared output units.
    every : int, default=10
        Trials between two looks.

    Returns
    -------
    EstimatedNoise

    Raises
    ------
    ValueError
        When the outputs end before the estimate has settled.

    Notes
    -----
    Source: pac-private-algorithms, section 7 (the rule) and Algorithm 1 (the noise:
    ``sqrt(v_i) * sum_j sqrt(v_j) / (2 budget)``). Assumes that the variances are exact.
    """
    budget = check_budget(budget=budget)
    every = check_integer(name="every", value=every, minimum=2)
    n_trials, mean, scatter = 0, np.zeros(1), np.zeros(1)
    fresh: list[ArrayLike] = []
    previous: Floats | None = None
    for output in outputs:
        fresh.append(output)
        if len(fresh) < every:
            continue
        rows = np.asarray(fresh, dtype=np.float64).reshape(every, -1)
        # Means and sums of squares of the looks before and of the fresh trials, put together.
        shift = rows.mean(axis=0) - mean
        share = every / (n_trials + every)
        scatter = scatter + rows.var(axis=0) * every + shift**2 * n_trials * share
        mean = mean + shift * share
        n_trials += every
        fresh = []
        variances = scatter / (n_trials - 1)
        if previous is not None and np.all(np.abs(variances - previous) <= precision):
            deviations = np.sqrt(variances)
            return EstimatedNoise(
                covariance=np.diag(deviations * deviations.sum() / (2 * budget)),
                claimed=budget,
                n_trials=n_trials,
                rule="variance_converged",
                assumption="the variances are known exactly once they have stopped changing",
                source="pac-private-algorithms, section 7 and Algorithm 1",
            )
        previous = variances
    raise ValueError(
        f"outputs ended after {n_trials + len(fresh)} trials before any two looks agreed to "
        f"precision={precision!r}; give more trials or a larger precision."
    )
