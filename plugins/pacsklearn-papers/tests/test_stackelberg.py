"""The published game, played again by the formulas of its sources."""

from __future__ import annotations

from importlib import metadata

import numpy as np
import pytest
from numpy.typing import NDArray
from pacsklearn_papers import StackelbergBackend
from pacsklearn_papers.information_estimate import mixture_information
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from pacsklearn import PACPrivate, Subsets
from pacsklearn.kernel.bounds.lattice_bound import logdet_allocation
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.noise.lattice import generator_for
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.plugins import registry
from pacsklearn.universe.balanced_space import balanced_space
from pacsklearn.universe.metrics import DiagonalMetric

Floats = NDArray[np.float64]
METRIC = DiagonalMetric(np.array([4.0, 1.0, 9.0]))
WEIGHTS = np.array([0.3, 0.25, 0.2, 0.15, 0.1, 0.0])


def supported() -> Support:
    outputs = np.random.default_rng(0).standard_normal((6, 3)) * [5.0, 2.0, 1.0] + 3.0
    outputs[5] *= 1e6  # nobody believes in it
    return Support(outputs, WEIGHTS)


def adam(gradients: list[Floats], start: Floats, rate: float) -> Floats:
    """Kingma and Ba, Algorithm 1, with its sums written out."""
    value = start
    for t in range(1, len(gradients) + 1):
        ages = np.arange(t - 1, -1, -1).reshape(-1, *[1] * start.ndim)
        seen = np.array(gradients[:t])
        mean = 0.1 * np.sum(0.9**ages * seen, axis=0) / (1 - 0.9**t)
        square = 0.001 * np.sum(0.999**ages * seen**2, axis=0) / (1 - 0.999**t)
        value = value - rate * mean / (np.sqrt(square) + 1e-12)
    return value


def believed(outputs: Floats, weights: Floats, bias: Floats) -> Floats:
    scores = outputs @ weights + bias
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def played(
    support: Support,
    budget: float,
    rounds: int,
    steps: int,
    batch: int,
    penalty: float,
    rate: float,
) -> tuple[Floats, float]:
    """Noise variances along the principal axes and the information the decoder believes in."""
    span = support.span(METRIC)
    unit = np.sqrt(span.variances.sum())
    outputs = np.where(WEIGHTS[:, None] > 0, span.coordinates, 0.0) / unit
    generator = generator_for(support, "stackelberg")
    one_hot = np.eye(6)
    start = np.log(np.sqrt(logdet_allocation(span.variances / unit**2, budget)))
    first = np.vstack([np.zeros((3, 6)), [*np.log(WEIGHTS[:5]), -50.0]])
    leading: list[Floats] = []
    following: list[Floats] = []
    losses = []

    def drawn() -> tuple[NDArray[np.intp], Floats]:
        secrets = generator.choice(6, size=batch, p=WEIGHTS)
        return secrets, generator.standard_normal((batch, 3))

    for _ in range(rounds):
        deviations = np.exp(adam(leading, start, rate))
        for _ in range(steps):
            secrets, noise = drawn()
            released = outputs[secrets] + noise * deviations
            decoder = adam(following, first, rate)
            wrong = believed(released, decoder[:3], decoder[3]) - one_hot[secrets]
            slope = np.einsum("ni,nj->ij", released, wrong) / batch
            following.append(np.vstack([slope, wrong.mean(axis=0)]))
        secrets, noise = drawn()
        decoder = adam(following, first, rate)
        released = outputs[secrets] + noise * deviations
        share = believed(released, decoder[:3], decoder[3])
        losses.append(-np.mean(np.log(share[np.arange(batch), secrets])))
        # By the chain rule through the released value, whose slope in a log-deviation is the noise.
        by_value = (share - one_hot[secrets]) @ decoder[:3].T
        loss_slope = np.mean(by_value * noise * deviations, axis=0)
        power_slope = np.mean(2 * (noise * deviations) ** 2, axis=0)
        missing = losses[-1] - (support.entropy - budget)
        leading.append(power_slope + 2 * penalty * missing * loss_slope)
    deviations = np.exp(adam(leading, start, rate))
    return (deviations * unit) ** 2, support.entropy - float(np.mean(losses[-100:]))


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    ("budget", "rounds", "steps", "batch", "penalty", "rate"),
    [(0.9, 30, 2, 16, 3.0, 0.05), (0.75, 110, 1, 24, 50.0, 0.04), (1.2, 4, 1, 2, 0.5, 0.3)],
)
def test_the_game_is_that_of_the_paper(
    budget: float, rounds: int, steps: int, batch: int, penalty: float, rate: float
) -> None:
    support = supported()
    law = StackelbergBackend(
        n_iterations=rounds,
        n_decoder_steps=steps,
        batch_size=batch,
        penalty=penalty,
        learning_rate=rate,
    ).calibrate(support, Target(budget), METRIC)
    variances, information = played(support, budget, rounds, steps, batch, penalty, rate)
    np.testing.assert_allclose((law.step * LATTICE_SCALE) ** 2, variances, rtol=1e-7)
    assert law.noise_power == law.released_power == pytest.approx(variances.sum(), rel=1e-7)
    assert law.bound == pytest.approx(min(max(information, 0.0), budget), rel=1e-7, abs=1e-9)
    span = support.span(METRIC)
    np.testing.assert_array_equal(
        law.centres[:5], np.rint(span.coordinates / law.step).astype(np.int64)[:5]
    )
    np.testing.assert_array_equal(law.axes, span.mixing @ support.deviations)
    np.testing.assert_array_equal(law.origin, support.mean)


@pytest.mark.parametrize(
    "least",
    [
        {"n_iterations": 1},
        {"n_decoder_steps": 1},
        {"batch_size": 2},
    ],
)
def test_the_least_of_each_parameter(least: dict[str, int]) -> None:
    StackelbergBackend(**least)
    ((name, value),) = least.items()
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least {value}"):
        StackelbergBackend(**{name: value - 1})


@pytest.mark.parametrize("name", ["penalty", "learning_rate"])
def test_weights_are_positive_and_finite(name: str) -> None:
    for value in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match=f"{name} must be positive and finite"):
            StackelbergBackend(**{name: value})
    assert getattr(StackelbergBackend(**{name: 0.5}), name) == 0.5


@pytest.fixture(scope="module")
def means() -> Support:
    rows = np.random.default_rng(0).standard_normal((200, 5)) ** 3
    return Support(balanced_space(200, n_subsets=32).membership().T @ rows / 100)


@pytest.mark.soak
def test_the_published_algorithm_says_less_than_leaks(means: Support) -> None:
    """pitfalls.md 6: a learned decoder certifies nothing, and the law says so."""
    law = StackelbergBackend(n_iterations=300).calibrate(means, Target(0.1), IdentityMetric())
    found = mixture_information(
        GaussianMixture((law.centres - law.centres[0]) / LATTICE_SCALE, means.weights),
        20_000,
        np.random.default_rng(0),
    )
    assert law.confidence == 0.0
    assert "ESTIMATED" in law.proof
    assert found.nats - 4 * found.standard_error > law.bound
    assert found.nats > 0.11


def test_a_decoder_that_learns_nothing_believes_in_no_information(means: Support) -> None:
    """Its cross-entropy stays the entropy of the secret."""
    backend = StackelbergBackend(n_iterations=3, learning_rate=1e-12)
    law = backend.calibrate(means, Target(0.1), IdentityMetric())
    assert law.bound == pytest.approx(0, abs=1e-9)


@pytest.mark.soak
def test_estimates_promise_nothing_and_name_where_they_come_from() -> None:
    X, y = load_iris(return_X_y=True)
    model = PACPrivate(
        LinearDiscriminantAnalysis(), noise="stackelberg", secret=Subsets(4), budget=0.5
    )
    guarantee = model.fit(X, y).guarantee_
    assert guarantee.confidence == 0.0
    assert guarantee.status.kind == "estimated"
    provenance = registry().provenance("noise_backend", StackelbergBackend())
    assert provenance == registry().provenance("noise_backend", "stackelberg")
    assert provenance.target == "pacsklearn_papers:StackelbergBackend"
    assert provenance.distribution == "pacsklearn-papers"
    assert provenance.version == metadata.version("pacsklearn-papers")
