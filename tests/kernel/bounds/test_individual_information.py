"""What a release tells about single units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pacsklearn_papers.information_estimate import mixture_information
from scipy import integrate, stats
from scipy.optimize import brentq

from pacsklearn.estimators.individual_information import (
    _binary_divergence,
    individual_information,
)
from pacsklearn.kernel.bounds.mixture import GaussianMixture, posteriors
from pacsklearn.kernel.bounds.posterior_success import posterior_success


def test_against_quadrature() -> None:
    signals, weights = np.array([-1.0, 0.0, 2.0]), np.array([0.25, 0.5, 0.25])
    members = np.array([[1, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]], dtype=bool)

    def exact(unit: np.ndarray) -> float:
        rate = float(weights @ unit)

        def told(y: float) -> float:
            joint = weights * stats.norm.pdf(y - signals)
            inside, total = float(joint @ unit), float(joint.sum())
            result = 0.0
            for part, prior in ((inside, rate), (total - inside, 1 - rate)):
                if part > 0:
                    result += part * math.log(part / total / prior)
            return result

        return float(integrate.quad(told, -12, 12, limit=300)[0])

    found = individual_information(
        GaussianMixture(signals[:, None], weights),
        members,
        n_draws=100_000,
        gamma=1e-3,
        generator=np.random.default_rng(0),
    )
    expected = [exact(members[0]), exact(members[1]), 0.0, 0.0]
    np.testing.assert_allclose(found.values, expected, atol=4e-3)
    assert (found.bounds[:2] >= expected[:2]).all()
    assert (found.bounds[:2] <= found.values[:2] + 0.02).all()
    np.testing.assert_array_equal(found.bounds[2:], 0.0)
    assert found.worst == found.bounds.max()
    assert found.confidence == 1 - 1e-3
    assert found.posterior_membership >= posterior_success(max(expected), 0.75)
    assert "at most" in str(found)


def test_no_unit_is_told_more_than_the_secret() -> None:
    generator = np.random.default_rng(1)
    mixture = GaussianMixture(generator.standard_normal((16, 2)), np.full(16, 1 / 16))
    members = generator.random((40, 16)) < 0.5
    found = individual_information(
        mixture, members, n_draws=20_000, gamma=0.01, generator=np.random.default_rng(2)
    )
    whole = mixture_information(mixture, 20_000, np.random.default_rng(3))
    assert found.values.max() <= whole.nats + 4 * whole.standard_error
    assert (np.diff(found.quantiles()) >= 0).all()


def test_all_bounds_together_hold_with_the_stated_confidence() -> None:
    """Each unit spends its share of gamma on the least of eight bets, solved for here."""
    generator = np.random.default_rng(1)
    mixture = GaussianMixture(generator.standard_normal((16, 2)), np.full(16, 1 / 16))
    members = np.stack([np.roll(np.arange(16) < 8, shift) for shift in range(16)])
    n, gamma = 4096, 1e-6
    found = individual_information(
        mixture, members, n_draws=n, gamma=gamma, generator=np.random.default_rng(2)
    )
    draws = next(mixture.draws(n, np.random.default_rng(2)))
    inside = np.clip(posteriors(mixture, draws) @ members.T, 1e-300, 1 - 1e-16)
    told = np.log(2) + inside * np.log(inside) + (1 - inside) * np.log(1 - inside)
    needed = np.log(8 * 16 / gamma) / n

    def bound(values: Any) -> float:
        mean, variance = values.mean() / np.log(2), values.var() / np.log(2) ** 2
        distances = []
        for bet in 0.95 / 2.0 ** np.arange(8):
            psi = -np.log(1 - bet) - bet

            def excess(d: float, bet: float = bet, psi: float = psi) -> float:
                return bet * d - psi * (variance + d**2) - needed

            top = bet / (2 * psi)
            if excess(top) >= 0:
                distances.append(brentq(excess, 0, top, xtol=1e-14))
        return float((mean + min(distances)) * np.log(2))

    np.testing.assert_allclose(found.bounds, [bound(each) for each in told.T], rtol=1e-6)
    assert found.confidence == 1 - gamma


def test_units_that_everybody_holds_have_no_secret() -> None:
    """Weights that sum to one only up to rounding: 1 - 1e-16 is certain all the same."""
    weights = np.full(10, 0.1)
    weights[0] += 1 - weights.sum() - 1e-16
    mixture = GaussianMixture(np.arange(10.0)[:, None], weights)
    members = np.zeros((3, 10), dtype=bool)
    members[0], members[2, :5] = True, True
    found = individual_information(
        mixture, members, n_draws=100, gamma=0.01, generator=np.random.default_rng(0)
    )
    assert found.bounds[0] == found.bounds[1] == 0.0
    assert found.bounds[2] > 0.1


def test_posteriors_are_looked_at_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    of_module = individual_information.__globals__
    seen = []

    def divergence(posterior: np.ndarray, prior: np.ndarray) -> np.ndarray:
        seen.append(posterior.shape)
        return _binary_divergence(posterior, prior)

    monkeypatch.setitem(of_module, "_binary_divergence", divergence)
    members = np.random.default_rng(0).random((5, 6)) < 0.5
    mixture = GaussianMixture(np.arange(6.0)[:, None], np.full(6, 1 / 6))
    for cells, rows in ((32, 6), (3, 1)):
        monkeypatch.setitem(of_module, "MOST_CELLS", cells)
        seen.clear()
        individual_information(
            mixture, members, n_draws=20, gamma=0.1, generator=np.random.default_rng(0)
        )
        assert set(seen) <= {(rows, 5), (20 % rows, 5)}
        assert sum(n for n, _ in seen) == 20
