"""The published noise rule with a security parameter against estimation errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.baselines.estimated_noise import EstimatedNoise

__all__ = ["confident_auto_pac"]


def confident_auto_pac(
    outputs: ArrayLike, *, radius: float, security: float, spectral: float, slack: float
) -> EstimatedNoise:
    """Anisotropic noise from estimated eigenvalues, enlarged by a security parameter.

    For comparison only. The claim ``spectral + slack`` holds with the published confidence only
    when the number of trials is as large as its source demands for the chosen ``security``, and
    when no output is longer than ``radius``; neither is checked here, nor can be from the trials.

    Parameters
    ----------
    outputs : array-like of shape (m, d)
        Outputs of independent trials.
    radius : float
        Public bound ``r`` on the norm of every output.
    security : float
        The parameter ``c``.
    spectral, slack : float
        Nats ``v`` for the noise and ``beta'`` for the estimation error; the claim is their sum.

    Returns
    -------
    EstimatedNoise

    Notes
    -----
    Eigenvalues well separated (gaps of those above ``c`` larger than ``r sqrt(d c) + 2 c``):
    direction ``j`` gets ``sqrt(s_j) * sum_i sqrt(s_i) / (2 v)`` with ``s_j`` its eigenvalue plus
    ``10 c v / beta'``. Otherwise every direction gets ``(sum of eigenvalues + d c) / (2 v)``.
    Source: residual-pac, Algorithm 1.
    """
    rows = np.asarray(outputs, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[0] < 2:
        raise ValueError(f"outputs must have shape (m >= 2, d), got {rows.shape}.")
    for name, value in (
        ("radius", radius),
        ("security", security),
        ("spectral", spectral),
        ("slack", slack),
    ):
        if not 0 < value < np.inf:
            raise ValueError(f"{name} must be a positive, finite number, got {value!r}.")
    m, d = rows.shape
    centred = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / m)
    values = np.maximum(values, 0.0)
    gaps = np.abs(values[:, None] - values)
    np.fill_diagonal(gaps, np.inf)
    large = values > security
    if np.min(gaps[large], initial=np.inf) > radius * np.sqrt(d * security) + 2 * security:
        roots = np.sqrt(values + 10 * security * spectral / slack)
        covariance = (vectors * (roots * roots.sum() / (2 * spectral))) @ vectors.T
    else:
        covariance = np.eye(d) * ((values.sum() + d * security) / (2 * spectral))
    return EstimatedNoise(
        covariance=covariance,
        claimed=spectral + slack,
        n_trials=m,
        rule="confident_auto_pac",
        assumption=(
            "the trials are as many as the security parameter needs, and radius bounds every output"
        ),
        source="residual-pac, Algorithm 1",
    )
