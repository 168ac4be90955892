"""Published rules come through the plugin door, and say that they prove nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.baselines.backends import registered_baselines
from benchmarks.baselines.variance_converged import variance_converged
from pacsklearn import PACPrivate, Subsets
from pacsklearn.exceptions import UnknownNameError
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import registry

OUTPUTS = np.random.default_rng(1).normal(size=(16, 3)) * [1.0, 3.0, 0.1]


def test_they_are_there_while_they_are_compared_and_gone_afterwards() -> None:
    with registered_baselines() as names:
        assert names == ("variance_converged", "confident_auto_pac")
        for name in names:
            assert name in {record.name for record in registry().registrations("noise_backend")}
    with pytest.raises(UnknownNameError):
        registry().noise_backend("variance_converged")


@pytest.mark.product(only=1)
@pytest.mark.parametrize("name", ["variance_converged", "confident_auto_pac"])
def test_a_release_under_one_is_marked_as_estimated(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    with registered_baselines():
        model = PACPrivate(LinearDiscriminantAnalysis(), noise=name, secret=Subsets(32)).fit(X, y)
    guarantee = model.guarantee_
    assert guarantee.status.kind == "estimated"
    assert guarantee.confidence == 0
    assert "ESTIMATED" in guarantee.bound


def test_the_noise_is_the_rules_own() -> None:
    support = Support(OUTPUTS)
    with registered_baselines():
        backend = registry().noise_backend("variance_converged")
        law = backend.calibrate(support, Target(0.25), IdentityMetric())
    span = support.span(IdentityMetric())
    drawn = np.random.default_rng(0).choice(16, size=2000, p=support.weights)
    trials = span.coordinates[drawn]
    rule = variance_converged(trials, 0.25, precision=trials.var(axis=0).max() / 100)
    assert law.noise_power == pytest.approx(rule.noise_power)
    # Covariance of the released noise, in the rule's coordinates.
    directions = law.axes @ np.linalg.pinv(span.mixing @ support.deviations)
    spread = (law.step * law.scale)[:, None] * directions
    assert spread.T @ spread == pytest.approx(rule.covariance, abs=1e-9 * rule.noise_power)
