"""R-PAC accounting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pacsklearn_papers.information_estimate import mixture_information
from pacsklearn_papers.rpac_accounting import (
    composed_remaining_entropy,
    intrinsic_privacy,
    joint_remaining_entropy,
    residual_privacy,
)

from pacsklearn.kernel.bounds.mixture import GaussianMixture


def test_intrinsic_privacy_is_minus_a_divergence() -> None:
    p, r = np.array([0.5, 0.25, 0.25]), np.array([0.2, 0.3, 0.5])
    expected = -sum(a * math.log(a / b) for a, b in zip(p, r, strict=True))
    assert intrinsic_privacy(p, r) == pytest.approx(expected)
    entropy = -sum(a * math.log(a) for a in p)
    assert intrinsic_privacy(p) == pytest.approx(entropy - math.log(3))
    assert intrinsic_privacy(np.full(128, 1 / 128)) == 0.0


def test_decomposition_into_what_is_lost_and_what_remains() -> None:
    weights = np.array([0.5, 0.3, 0.2])
    assert residual_privacy(0.4, weights) + 0.4 == pytest.approx(intrinsic_privacy(weights))


def test_composition_is_below_the_joint_value() -> None:
    generator = np.random.default_rng(0)
    signals = [0.8 * generator.standard_normal((16, 2)) for _ in range(3)]
    weights = np.full(16, 1 / 16)
    single = [
        math.log(16) - mixture_information(GaussianMixture(part, weights), 50_000, generator).nats
        for part in signals
    ]
    joint = joint_remaining_entropy(signals, weights, 50_000, generator)
    composed = composed_remaining_entropy(single, math.log(16))
    assert composed == pytest.approx(sum(single) - 2 * math.log(16))
    assert 0 < composed < joint.nats - 4 * joint.standard_error
    assert joint.nats < min(single)


def test_composition_never_goes_below_nothing() -> None:
    assert composed_remaining_entropy([0.1, 0.1], 1.0) == 0.0
    assert composed_remaining_entropy([], 1.5) == 1.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: intrinsic_privacy([0.5, 0.6]), "weights"),
        (lambda: intrinsic_privacy([0.5, 0.5], [1.0, 0.0]), "reference"),
        (lambda: residual_privacy(-1.0, [1.0]), "information"),
        (lambda: composed_remaining_entropy([2.0], 1.0), "remaining"),
        (lambda: composed_remaining_entropy([], math.nan), "entropy"),
        (lambda: joint_remaining_entropy([], [0.5, 0.5], 10, np.random.default_rng(0)), "signals"),
        (
            lambda: joint_remaining_entropy([np.eye(3)], [1.0], 10, np.random.default_rng(0)),
            "signals",
        ),
        (lambda: joint_remaining_entropy([[[1.0]]], [1.0], 0, np.random.default_rng(0)), "n_draws"),
    ],
)
def test_bad_input(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_reference_below_the_least_quotient() -> None:
    """0.5 / 1e-320 is no double; its logarithm is one."""
    expected = -(math.log(0.5) - math.log(1e-320) / 2)
    assert intrinsic_privacy([0.5, 0.5], [1e-320, 1.0]) == pytest.approx(expected)


def test_no_release_tells_more_than_the_secret_holds() -> None:
    weights = np.array([0.5, 0.25, 0.25])
    entropy = -sum(w * math.log(w) for w in weights)
    assert residual_privacy(50.0, weights) == pytest.approx(-math.log(3))
    assert residual_privacy(entropy / 2, weights) == pytest.approx(entropy / 2 - math.log(3))
    # Equation 12 with another reference: the divergence from it, less what is told.
    reference = np.array([0.2, 0.3, 0.5])
    assert residual_privacy(50.0, weights, reference) == pytest.approx(
        intrinsic_privacy(weights, reference) - entropy
    )
