"""Scale and intercepts against an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from pacsklearn.tabular.stepwise.classifier import calibrated


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_scale_and_intercepts_are_the_likelihoods_maximum(n_classes):
    generator = np.random.default_rng(n_classes)
    codes = generator.integers(n_classes, size=300)
    scores = 0.3 * np.eye(n_classes)[codes] + 0.2 * generator.normal(size=(300, n_classes))
    apart = scores[:, 1:] - scores[:, :1]
    size = np.sqrt(np.mean((apart - apart.mean(axis=0)) ** 2))

    def loss(w):
        logits = w[0] * scores / size + np.concatenate([[0.0], w[1:]])
        return -log_softmax(logits, axis=1)[np.arange(300), codes].sum() + 0.01 * w[0] ** 2 / 2

    best = minimize(loss, np.zeros(n_classes), method="BFGS", options={"gtol": 1e-8}).x
    scale, shift = calibrated(scores, codes)
    np.testing.assert_allclose(scale, best[0] / size, rtol=1e-4)
    np.testing.assert_allclose(shift[1:] - shift[0], best[1:], atol=1e-3)


def test_scores_that_part_the_classes_have_a_finite_scale():
    codes = np.repeat([0, 1], 20)
    scale, shift = calibrated(np.eye(2)[codes] * 1e-6, codes)
    assert np.isfinite(scale)
    assert scale > 0
    assert np.all(np.isfinite(shift))


def test_without_a_direction_the_intercepts_are_the_shares_of_the_classes():
    codes = np.repeat([0, 1], [30, 10])
    scale, shift = calibrated(np.zeros((40, 2)), codes)
    assert scale == 0
    np.testing.assert_allclose(shift[1] - shift[0], np.log(1 / 3), rtol=1e-9)
