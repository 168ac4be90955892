"""A public prior, and released numbers drawn toward it by public functions of the noise."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.core.metric import IdentityMetric, MatrixMetric
from pacsklearn.core.public_prior import Constant, PublicPrior
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.noise.logdet import LogdetBackend
from pacsklearn.noise.sampler import SeededSampler


def test_what_a_user_states() -> None:
    assert PublicPrior.of(None, None) is None
    assert PublicPrior.of(None, (10, 40)) == PublicPrior(25.0, 5.0)
    assert PublicPrior.of(20, (10, 40)) == PublicPrior(20.0, 5.0)
    assert PublicPrior.of(150, None) == PublicPrior(150.0, 50.0)
    assert PublicPrior.of(-3, None) == PublicPrior(-3.0, 1.0)


@pytest.mark.parametrize(
    ("mean", "ends", "message"),
    [
        (0, None, r"prior_mean=0 .* give value_range"),
        (np.nan, None, "finite number"),
        ("much", None, "finite number"),
        (None, (3, 1), "increasing"),
        (None, 7, "two numbers"),
    ],
)
def test_what_cannot_be_meant(mean: object, ends: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PublicPrior.of(mean, ends)


def test_a_number_is_drawn_as_far_as_its_noise_asks_for() -> None:
    prior = PublicPrior(10.0, 2.0)
    drawn = prior.drawn(np.full(3, 16.0), np.array([0.0, 4.0, 1e12]))
    assert drawn == pytest.approx([16.0, 13.0, 10.0])


def test_a_vector_is_drawn_to_its_posterior_mean() -> None:
    """Against the normal equations of the same prior and noise, in all coordinates at once."""
    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(30, 4)) @ draw.normal(size=(4, 4))
    root = draw.normal(size=(4, 4))
    metric = MatrixMetric(root @ root.T)
    law = LogdetBackend().calibrate(Support(vectors), Target(0.5), metric)
    noise = SeededSampler(draw).noise(law.dimension)
    vector = law.decode(law.observe(3, noise))
    constant = Constant(np.array([0.0, 0.0, 0.0, 5.0]), slope=2.0)
    drawn = PublicPrior(5.0, 3.0).draw(vector, law, metric, constant)
    # Prior of the vector: covariance G^-1 (spread / slope)^2 / k; noise: A' diag(e) A.
    precision = metric.matrix * 4 / (3.0 / 2.0) ** 2
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
