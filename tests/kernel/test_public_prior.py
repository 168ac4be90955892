"""A public prior, and released numbers drawn toward it by public functions of the noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pacsklearn.canonical.block_metric import ScaledMetric
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.canonicalizer import Constant
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.priors import normal_prior
from pacsklearn.universe.metrics import DiagonalMetric, MatrixMetric
from pacsklearn.universe.public_prior import PublicPrior


def test_what_a_user_states() -> None:
    assert normal_prior(None, None) is None
    assert normal_prior(None, (10, 40)) == PublicPrior(25.0, 5.0)
    assert normal_prior(20, (10, 40)) == PublicPrior(20.0, 5.0)
    assert normal_prior(150, None) == PublicPrior(150.0, 50.0)
    assert normal_prior(-3, None) == PublicPrior(-3.0, 1.0)


@pytest.mark.parametrize(
    ("mean", "ends", "message"),
    [
        (0, None, "Expected"),
        (np.nan, None, "finite"),
        ("much", None, "finite"),
        (None, (3, 1), "increasing"),
        (None, (3, 3), "increasing"),
        (None, (-np.inf, 3), "finite"),
        (None, (3, np.inf), "finite"),
        (None, 7, "numbers"),
    ],
)
def test_what_cannot_be_meant(mean: object, ends: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        normal_prior(mean, ends)


def test_a_number_is_drawn_as_far_as_its_noise_asks_for() -> None:
    prior = PublicPrior(10.0, 2.0)
    drawn = prior.drawn(np.full(3, 16.0), np.array([0.0, 2.0, 1e200]))
    assert drawn == pytest.approx([16.0, 13.0, 10.0])


@pytest.mark.parametrize("size", [1.0, 9.0])
def test_a_vector_is_drawn_to_its_posterior_mean(size: float) -> None:
    """Against the normal equations of the same prior and noise, in all coordinates at once.

    Noise is shaped by one metric, and predictions may be measured in another unit.
    """
    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(30, 4)) @ draw.normal(size=(4, 4))
    root = draw.normal(size=(4, 4))
    metric = MatrixMetric(root @ root.T)
    law = LogdetBackend().calibrate(Support(vectors), Target(0.5), metric)
    noise = SeededSampler(draw).noise(law.dimension)
    vector = law.decode(law.observe(3, noise))
    constant = Constant(np.array([0.0, 0.0, 0.0, 5.0]), slope=2.0)
    drawn = PublicPrior(5.0, 3.0).draw(vector, law, ScaledMetric(size, metric), constant)
    # Prior of the vector: covariance G^-1 (spread / slope)^2 / k; noise: A' diag(e) A.
    precision = size * metric.matrix * 4 / (3.0 / 2.0) ** 2
    covariance = law.axes.T @ np.diag((law.step * law.scale) ** 2) @ law.axes
    deviation = vector - constant.vector
    expected = np.linalg.solve(
        precision + np.linalg.inv(covariance), np.linalg.solve(covariance, deviation)
    )
    assert drawn == pytest.approx(constant.vector + expected, rel=1e-6)


def test_numbers_without_a_prior_and_laws_without_noise_stay() -> None:
    vectors = np.random.default_rng(1).normal(size=(20, 3))
    law = LogdetBackend().calibrate(Support(vectors), Target(0.1), IdentityMetric())
    vector = law.decode(law.observe(0, np.zeros(3, dtype=np.int64)))
    drawn = PublicPrior(1.0, 1.0).draw(
        vector, law, IdentityMetric(), Constant(np.array([np.nan, 0.0, 0.0]))
    )
    assert drawn[0] == vector[0]
    assert np.linalg.norm(drawn[1:]) < np.linalg.norm(vector[1:])
    exact = LogdetBackend().calibrate(Support(vectors), Target(9.0), IdentityMetric())
    assert exact.is_noiseless
    same = PublicPrior(1.0, 1.0).draw(vector, exact, IdentityMetric(), Constant(np.zeros(3)))
    assert np.array_equal(same, vector)


def test_a_direction_that_changes_no_prediction_stays_as_released() -> None:
    """Two numbers with noise of their own, of which one predicts nothing."""
    vectors = np.random.default_rng(2).normal(size=(20, 2))
    law = LogdetBackend().calibrate(Support(vectors), Target(0.1), IdentityMetric())
    law = replace(law, axes=np.eye(2), step=np.full(2, law.step[0]))
    drawn = PublicPrior(0.0, 2.0).draw(
        np.array([5.0, 7.0]), law, DiagonalMetric(np.array([1.0, 0.0])), Constant(np.zeros(2))
    )
    noise = (law.step[0] * law.scale) ** 2
    assert drawn == pytest.approx([5.0 * 2.0 / (2.0 + noise), 7.0])  # spread^2 / 2 coordinates


def test_each_of_several_vectors_is_drawn_by_itself() -> None:
    vectors = np.random.default_rng(3).normal(size=(20, 3))
    law = LogdetBackend().calibrate(Support(vectors), Target(0.1), IdentityMetric())
    constant = Constant(np.zeros(2)).behind(1)
    assert np.array_equal(constant.vector, [np.nan, 0.0, 0.0], equal_nan=True)
    prior, known = PublicPrior(1.0, 1.0), (law, IdentityMetric(), constant)
    together = prior.draw(vectors, *known)
    assert np.array_equal(together[:, 0], vectors[:, 0])
    for one, alone in zip(together, vectors, strict=True):
        assert one == pytest.approx(prior.draw(alone, *known), abs=1e-12)


def test_predictions_are_expected_within_half_the_range() -> None:
    assert normal_prior(None, (10, 40)).reach == 15.0
    assert not normal_prior(None, (10, 40)).is_stated
    assert normal_prior(20, (10, 40)).is_stated
    assert normal_prior(20, None).is_stated
    assert not PublicPrior(20.0, 5.0).is_stated
