"""Success of the optimal adversary at many targets: estimated, and certified from above."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pacsklearn.information.arrays import MOST_CELLS, Floats
from pacsklearn.information.mean_bound import upper_mean_bounds
from pacsklearn.information.mixture import GaussianMixture, MixtureDraws, posteriors
from pacsklearn.information.screened_success import PRODUCTS, screened_success, second_look

Targets = NDArray[np.intp]

_MOST_LOOKED_AT = 4096


class _Success(Protocol):
    lowest: float

    @property
    def n_targets(self) -> int: ...

    @property
    def sets(self) -> NDArray[np.bool_] | None: ...

    @property
    def distinct(self) -> Targets: ...

    def success(self, posterior: Floats, targets: Targets | None = None) -> Floats: ...


def estimated_success(
    mixture: GaussianMixture,
    criterion: _Success,
    n_draws: int,
    generator: np.random.Generator,
    targets: Targets | None = None,
) -> Floats:
    """Mean success at every target over ``n_draws`` simulated releases; shape (n_targets,)."""
    total, _ = success_sums(mixture, criterion, mixture.draws(n_draws, generator), targets)
    return np.asarray(total / n_draws)


def certified_success(
    mixture: GaussianMixture,
    criterion: _Success,
    n_draws: int,
    gamma: float,
    generator: np.random.Generator,
    products: int = PRODUCTS,
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
    products : int
        As for :func:`~pacsklearn.information.screened_success.screened_success`.

    Returns
    -------
    float

    Notes
    -----
    Success lies in ``[criterion.lowest, 1]``. Each look spends half of ``gamma``, split evenly
    over *all* targets, so which of them get the second look may depend on the first. Targets that
    are the same set of candidates are one target.

    Where a target asks whether the secret is in a set of candidates, see
    :func:`~pacsklearn.information.screened_success.screened_success`.
    """
    everything = criterion.distinct
    if criterion.sets is not None:
        return screened_success(
            mixture, criterion.sets[everything], n_draws, gamma, generator, products
        )
    share = gamma / 2 / everything.size
    sums = success_sums(mixture, criterion, mixture.draws(n_draws, generator), everything)
    bounds = upper_mean_bounds(*sums, n_draws, criterion.lowest, 1.0, share)
    # Below the worst mean there is nothing to win by looking again.
    chosen = np.flatnonzero(bounds >= np.max(sums[0]) / n_draws)
    if chosen.size > _MOST_LOOKED_AT:
        order = np.argpartition(bounds[chosen], chosen.size - _MOST_LOOKED_AT)
        chosen = chosen[order[chosen.size - _MOST_LOOKED_AT :]]
    again = second_look(mixture.weights.size, n_draws, chosen.size, products)
    sums = success_sums(mixture, criterion, mixture.draws(again, generator), everything[chosen])
    closer = upper_mean_bounds(*sums, again, criterion.lowest, 1.0, share)
    bounds[chosen] = np.minimum(bounds[chosen], closer)
    return float(bounds.max())


def success_sums(
    mixture: GaussianMixture,
    criterion: _Success,
    blocks: Iterable[MixtureDraws],
    targets: Targets | None,
) -> tuple[Floats, Floats]:
    """Sums and sums of squares of the success at every target over some draws."""
    size = criterion.n_targets if targets is None else targets.size
    total, squares = np.zeros(size), np.zeros(size)
    rows = max(1, MOST_CELLS // size)
    for draws in blocks:
        posterior = posteriors(mixture, draws)
        for start in range(0, len(posterior), rows):
            success = criterion.success(posterior[start : start + rows], targets)
            np.maximum(success, criterion.lowest, out=success)
            total += success.sum(axis=0)
            squares += np.einsum("ij,ij->j", success, success)
    return total, squares
