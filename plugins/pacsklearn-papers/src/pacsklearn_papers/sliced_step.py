"""What a step of private SGD costs along slices, as published."""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.divergence.lattice_smoothing import smoothing_excess
from pacsklearn.srpp.laws.slice_profile import SliceProfile

# Covers rounding here.
_OUTWARD = 1 + 1e-9


def sliced_step_cost(
    accountant: SRPPSGDAccountant, noise_multiplier: float, profile: SliceProfile
) -> tuple[float, float]:
    """Return the Renyi divergence of one step along slices: their mean, and the largest.

    Parameters
    ----------
    accountant : SRPPSGDAccountant
    noise_multiplier : float
        Standard deviation of the noise on the sum of the gradients, over the clipping norm.
    profile : SliceProfile
        Of as many dimensions as the gradient has entries.

    Returns
    -------
    tuple of float
        In nats; never above the full view's where layers are clipped one by one, and the same where
        the whole gradient is clipped at once.

    Raises
    ------
    ValueError
        When the profile has another dimension.

    Notes
    -----
    Of one step. Training reacts to the whole of the last step, so that adding such prices up over
    steps, as published, has no proof. Source: srpp, appendix F.
    """
    reaches = slice_reaches(accountant.clipping, noise_multiplier, accountant.most_rows, profile)
    costs, inverse = np.unique(reaches, return_inverse=True)
    order, accounting = accountant.order, accountant.accounting
    each = np.array([accountant.divergence(order, float(r), accounting) for r in costs])[inverse]
    excess = smoothing_excess(accountant.clipping.dimension, order)
    return (
        float(each @ profile.weights) * _OUTWARD + excess,
        float(each.max()) * _OUTWARD + excess,
    )


def slice_reaches(
    clipping: GradientClipping, multiplier: float, batch_size: int, profile: SliceProfile
) -> Floats:
    """Return how far one differing row moves each slice's sum, in deviations; (n_slices,).

    Source: srpp, appendix F.3.
    """
    if profile.dimension != clipping.dimension:
        raise ValueError(
            f"slices are directions in {profile.dimension} dimensions, and the gradient has "
            f"{clipping.dimension} entries; give directions of that length."
        )
    parts = np.split(profile.directions, np.cumsum(clipping.sizes)[:-1], axis=1)
    norms = np.stack([np.linalg.norm(part, axis=1) for part in parts], axis=1)
    weighted = norms * np.asarray(clipping.norms)
    moved = weighted.sum(axis=1) / np.linalg.norm(weighted, axis=1)
    # Of one block; all of them together move by their root.
    one = clipping.reach(multiplier, batch_size) / np.sqrt(len(clipping.norms))
    return np.asarray(moved * one)
