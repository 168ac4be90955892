"""Success of the optimal adversary at many targets: estimated, and certified from above."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pacsklearn.information.mean_bound import upper_mean_bounds
from pacsklearn.information.mixture import GaussianMixture, posteriors

__all__ = ["certified_success", "estimated_success"]

Floats = NDArray[np.float64]
Targets = NDArray[np.intp]

# Entries of a table of successes that are held at once, and altogether in the second look.
_MOST_CELLS = 2**24
_SECOND_LOOK = 2**28
_MOST_LOOKED_AT = 4096


class _Success(Protocol):
    lowest: float

    @property
    def n_targets(self) -> int: ...

    def success(self, posterior: Floats, targets: Targets | None = None) -> Floats: ...


def estimated_success(
    mixture: GaussianMixture,
    criterion: _Success,
    n_draws: int,
    generator: np.random.Generator,
    targets: Targets | None = None,
) -> Floats:
    """Mean success at every target over ``n_draws`` simulated releases; shape (n_targets,)."""
    total, _ = _sums(mixture, criterion, n_draws, generator, targets)
    return np.asarray(total / n_draws)


def certified_success(
    mixture: GaussianMixture,
    criterion: _Success,
    n_draws: int,
    gamma: float,
    generator: np.random.Generator,
) -> float:
    """Upper bound on the success at the worst target that fails with probability ``gamma`` at most.

    Parameters
    ----------
    mixture : GaussianMixture
        Chosen without looking at the draws of this generator.
    criterion : Criterion
    n_draws : int
        Of the first look, at all targets. The second has more, at the targets that stand out.
    gamma : float
        Over all targets and both looks.
    generator : numpy Generator
        Fresh.

    Returns
    -------
    float

    Notes
    -----
    Success lies in ``[criterion.lowest, 1]``. Each look spends half of ``gamma``, split evenly
    over *all* targets, so which of them get the second look may depend on the first.
    """
    n_targets = criterion.n_targets
    share = gamma / 2 / n_targets
    sums = _sums(mixture, criterion, n_draws, generator, None)
    bounds = upper_mean_bounds(*sums, n_draws, criterion.lowest, 1.0, share)
    # Below the worst mean there is nothing to win by looking again.
    candidates = np.flatnonzero(bounds >= np.max(sums[0]) / n_draws)
    if candidates.size > _MOST_LOOKED_AT:
        order = np.argpartition(bounds[candidates], candidates.size - _MOST_LOOKED_AT)
        candidates = candidates[order[candidates.size - _MOST_LOOKED_AT :]]
    m = mixture.weights.size
    again = int(min(64 * n_draws, max(4 * n_draws, _SECOND_LOOK // max(candidates.size, m))))
    sums = _sums(mixture, criterion, again, generator, candidates)
    closer = upper_mean_bounds(*sums, again, criterion.lowest, 1.0, share)
    bounds[candidates] = np.minimum(bounds[candidates], closer)
    return float(bounds.max())


def _sums(
    mixture: GaussianMixture,
    criterion: _Success,
    n_draws: int,
    generator: np.random.Generator,
    targets: Targets | None,
) -> tuple[Floats, Floats]:
    """Sums and sums of squares of the success at every target."""
    size = criterion.n_targets if targets is None else targets.size
    total, squares = np.zeros(size), np.zeros(size)
    rows = max(1, _MOST_CELLS // max(size, 1))
    for draws in mixture.draws(n_draws, generator):
        posterior = posteriors(mixture, draws)
        for start in range(0, len(posterior), rows):
            success = criterion.success(posterior[start : start + rows], targets)
            np.maximum(success, criterion.lowest, out=success)
            total += success.sum(axis=0)
            squares += np.einsum("ij,ij->j", success, success)
    return total, squares
