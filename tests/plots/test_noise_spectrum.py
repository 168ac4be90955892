from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

from pacsklearn import Subsets
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plots.noise_spectrum import NoiseSpectrum, NoiseSpectrumDisplay
from pacsklearn.plugins import registry
from pacsklearn.universe.metrics import DiagonalMetric

OUTPUTS = np.random.default_rng(0).normal(size=(16, 4)) * (4, 2, 1, 0.5)
BACKENDS = ("logdet", "eigen", "diagonal", "isotropic")


def test_variances_are_the_eigenvalues_of_the_covariance():
    spectrum = NoiseSpectrum.of(OUTPUTS)
    expected = np.linalg.eigvalsh(np.cov(OUTPUTS.T, bias=True))[::-1]
    np.testing.assert_allclose(spectrum.variances, expected)


@pytest.mark.parametrize("metric", [None, np.array([1.0, 4.0, 9.0, 1.0])])
def test_noise_by_direction_is_that_of_the_law(metric):
    """Against the covariance of the noise, written out in full."""
    spectrum = NoiseSpectrum.of(OUTPUTS, budget=1 / 8, noise=BACKENDS, metric=metric)
    root = np.eye(4) if metric is None else np.diag(np.sqrt(metric))
    cost = IdentityMetric() if metric is None else DiagonalMetric(metric)
    _, directions = np.linalg.eigh(np.cov((OUTPUTS @ root).T, bias=True))
    for name, found, power in zip(BACKENDS, spectrum.noise_variances, spectrum.powers, strict=True):
        law = registry().noise_backend(name).calibrate(Support(OUTPUTS), Target(1 / 8), cost)
        covariance = (law.axes @ root).T @ np.diag((law.step * law.scale) ** 2) @ law.axes @ root
        expected = np.diag(directions.T @ covariance @ directions)[::-1]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert sum(found) == pytest.approx(power)
    assert spectrum.powers[0] <= spectrum.powers[1] <= spectrum.powers[2] <= spectrum.powers[3]


def test_axes_say_what_they_show():
    display = NoiseSpectrumDisplay.from_outputs(OUTPUTS)
    directions, powers = display.axes_
    assert directions.get_yscale() == "log"
    assert "variance" in directions.get_ylabel()
    assert "direction" in directions.get_xlabel()
    lines = {line.get_label(): line.get_ydata() for line in directions.get_lines()}
    np.testing.assert_allclose(lines["noise, logdet"], display.spectrum.noise_variances[0])
    assert [bar.get_width() for bar in powers.patches] == list(display.spectrum.powers)
    assert [tick.get_text() for tick in powers.get_yticklabels()] == list(BACKENDS)


def test_a_budget_that_needs_no_noise_is_drawn():
    display = NoiseSpectrumDisplay.from_outputs(OUTPUTS, budget=10)
    assert display.spectrum.powers == (0, 0, 0, 0)
    display.figure_.canvas.draw()


def test_an_estimator_is_fitted_on_its_candidates():
    X, y = load_iris(return_X_y=True)
    display = NoiseSpectrumDisplay.from_estimator(
        RidgeClassifier(), X, y, secret=Subsets(16), noise="eigen"
    )
    assert display.spectrum.noises == ("eigen",)
