"""Steps along slices, as published: against the worst pair of clipped gradients, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_papers import sliced_step_cost
from pacsklearn_papers.sliced_step import slice_reaches

from pacsklearn.srpp import SliceProfile
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.divergence.lattice_smoothing import smoothing_excess
from pacsklearn.srpp.divergence.step_divergence import shift_divergence

CAP = DiscrepancyCap.differing(50_000, 20, 512)
BLOCKS = GradientClipping((1.0, 0.25, 3.0), (2, 1, 4))


def test_layers_cost_as_published_along_slices() -> None:
    clipping = GradientClipping((1.0, 3.0), (4, 2))
    profile = SliceProfile.uniform(6, n_slices=7)
    accountant = SRPPSGDAccountant(CAP, clipping, 16.0, "worst-case")
    found = dict(
        zip(("average", "joint"), sliced_step_cost(accountant, 50.0, profile), strict=True)
    )
    parts = [profile.directions[:, :4], profile.directions[:, 4:]]
    lengths = np.stack([np.linalg.norm(part, axis=1) for part in parts], axis=1) * [1.0, 3.0]
    ratios = (2 * 20 / 50.0) ** 2 * lengths.sum(axis=1) ** 2 / (lengths**2).sum(axis=1)
    assert found["joint"] == pytest.approx(8 * ratios.max(), rel=1e-4)
    assert found["average"] == pytest.approx(8 * ratios.mean(), rel=1e-4)
    each = [
        shift_divergence(16.0, 20, reach, clipping.slack)
        for reach in slice_reaches(clipping, 50.0, 512, profile)
    ]
    for aggregation, exact in (("joint", max(each)), ("average", np.mean(each))):
        assert found[aggregation] - smoothing_excess(6, 16.0) > exact * (1 + 5e-10)
    assert found["joint"] <= accountant.cost(50.0)


def test_one_row_moves_a_slice_as_far_as_the_worst_pair_of_clipped_gradients() -> None:
    """Every block at its norm along the slice's own part of it, and then the other way round."""
    profile = SliceProfile.uniform(7, n_slices=30)
    reaches = slice_reaches(BLOCKS, 0.5, 8, profile)
    for direction, found in zip(profile.directions, reaches, strict=True):
        parts = np.split(direction, [2, 3])
        worst = np.concatenate(
            [
                norm * part / np.linalg.norm(part)
                for norm, part in zip(BLOCKS.norms, parts, strict=True)
            ]
        )
        deviation = np.linalg.norm(0.5 * BLOCKS.radii * direction)
        exact = 2 * direction @ worst / deviation
        assert exact <= found < exact * (1 + 1e-12)


@pytest.mark.parametrize("dimension", [6, 8])
def test_slices_of_another_length_are_refused(dimension: int) -> None:
    with pytest.raises(ValueError, match=rf"in {dimension} dimensions, and the gradient has 7"):
        slice_reaches(BLOCKS, 1.0, 8, SliceProfile.uniform(dimension, n_slices=3))
