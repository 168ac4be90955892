"""What a law releases, how it is read, and what an adversary learns from it."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.universe.metrics import DiagonalMetric, MatrixMetric


def make_law(scale: int = LATTICE_SCALE, **changes: Any) -> NoiseLaw:
    facts: dict[str, Any] = {
        "centres": np.array([[0, 5], [2**21, -7], [-(2**20), 2**22]]),
        "step": np.array([0.5, 1e-6]),
        "axes": np.array([[1.0, 0.0, 2.0], [0.0, 3.0, -1.0]]),
        "origin": np.array([10.0, 20.0, 30.0]),
        "scale": scale,
        "bound": 0.1,
        "proof": "none",
        "backend": "test",
        "noise_power": 1.0,
        "released_power": 1.0,
    }
    return NoiseLaw(**facts | changes)


def test_the_release_is_the_centre_plus_the_noise() -> None:
    law = make_law()
    noise = np.array([-3, 4])
    assert law.observe(1, noise).tolist() == [2**21 - 3, -3]
    assert law.observe(1, noise).dtype == np.int64


def test_decode_is_the_affine_map_of_the_integers() -> None:
    law = make_law()
    assert law.decode(np.zeros(2, dtype=np.int64)).tolist() == [10.0, 20.0, 30.0]
    assert law.decode(np.array([4, 10**6])) == pytest.approx([12.0, 23.0, 33.0])


def test_log_likelihood_is_that_of_the_discrete_gaussian() -> None:
    # Brute force: p(w | i) = prod_j exp(-(w_j - z_ij)^2 / (2 sigma^2)) / Z, Z the same for all.
    law = make_law()
    observed = np.array([12_345, -2_000_000])
    direct = [
        -sum((int(w) - int(z)) ** 2 for w, z in zip(observed, row, strict=True))
        / (2 * LATTICE_SCALE**2)
        for row in law.centres
    ]
    assert law.log_likelihood(observed) == pytest.approx(direct, rel=1e-14)


def test_posterior_is_bayes_rule_even_far_out() -> None:
    law = make_law(centres=np.array([[2**50], [2**50 + 3 * 2**20]]), axes=np.ones((1, 1)))
    likelihood = law.log_likelihood(np.array([2**50 + 2**20]))
    posterior = likelihood - logsumexp(likelihood)
    assert posterior[0] - posterior[1] == pytest.approx((4 - 1) / 2, rel=1e-12)


def test_without_noise_the_output_names_the_candidates_that_have_it() -> None:
    law = make_law(0, centres=np.array([[1, 2], [1, 3], [1, 2]]))
    assert law.is_noiseless
    assert law.log_likelihood(np.array([1, 2])).tolist() == [0.0, -np.inf, 0.0]


def test_without_coordinates_nothing_is_learnt() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    empty = np.zeros((3, 0), dtype=np.int64)
    law = make_law(0, centres=empty, step=np.ones(0), axes=np.ones((0, 3)))
    assert law.dimension == 0
    assert law.decode(nothing).tolist() == [10.0, 20.0, 30.0]
    assert law.log_likelihood(nothing).tolist() == [0.0, 0.0, 0.0]


def test_centres_and_axes_are_not_in_the_repr() -> None:
    assert not any(name in repr(make_law()) for name in ("centres", "axes", "origin", "step"))


@pytest.mark.parametrize("budget", [1, 1 / 64, Fraction(1, 64), np.float32(0.5), 1e-15, 1e300])
def test_budgets(budget: float) -> None:
    target = Target(budget)
    assert type(target.budget) is float
    assert target.budget == float(budget)


@pytest.mark.parametrize(
    "budget", [0, -1, np.nan, np.inf, "1", None, True, 1j, [1.0], np.array([1.0])]
)
def test_everything_else(budget: object) -> None:
    with pytest.raises(BudgetError, match="budget"):
        Target(budget)  # type: ignore[arg-type]


Floats = NDArray[np.float64]
IDENTITY = IdentityMetric()


def axes_of(support: Support, metric: Metric = IDENTITY) -> tuple[Floats, Floats, Floats]:
    span = support.span(metric)
    return span.coordinates, span.variances, span.mixing @ support.deviations


def weighted_covariance(support: Support) -> Floats:
    centred = support.outputs - support.weights @ support.outputs
    return centred.T @ (centred * support.weights[:, None])


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 4, 5, 6, 7, 8], [1, 0, 0, 2, 3, 1, 1, 1]])
def test_the_span_reproduces_every_deviation(
    generator: np.random.Generator, weights: list[float] | None
) -> None:
    outputs = generator.normal(size=(8, 5)) * [1, 10, 0.1, 3, 1e-4] + 7
    support = Support(outputs) if weights is None else Support(outputs, np.array(weights))
    coordinates, variances, axes = axes_of(support)
    assert coordinates @ axes == pytest.approx(support.deviations, abs=1e-9)
    eigenvalues = np.linalg.eigvalsh(weighted_covariance(support))[::-1]
    assert variances == pytest.approx(eigenvalues, rel=1e-7)
    gram = coordinates.T @ (coordinates * support.weights[:, None])
    assert gram == pytest.approx(np.diag(variances), abs=1e-10)
    assert axes @ axes.T == pytest.approx(np.eye(5), abs=1e-9)


def test_a_candidate_of_no_or_vanishing_weight_keeps_its_coordinates(
    generator: np.random.Generator,
) -> None:
    outputs = generator.normal(size=(9, 3))
    support = Support(outputs, np.array([1, 1, 0, 1, 1e-300, 1, 1e-140, 1, 1]))
    coordinates, _, axes = axes_of(support)
    assert coordinates @ axes == pytest.approx(support.deviations, abs=1e-9)


@pytest.mark.parametrize(("m", "d", "rank"), [(10, 4, 4), (10, 4, 2), (6, 30, 5), (6, 30, 2)])
def test_the_rank_is_exact(generator: np.random.Generator, m: int, d: int, rank: int) -> None:
    outputs = generator.normal(size=(m, rank)) @ generator.normal(size=(rank, d))
    coordinates, variances, axes = axes_of(Support(outputs))
    assert variances.size == rank
    assert coordinates @ axes == pytest.approx(outputs - outputs.mean(axis=0), abs=1e-12)


def test_duplicated_candidates_add_no_dimension(generator: np.random.Generator) -> None:
    outputs = np.repeat(generator.normal(size=(3, 8)), 4, axis=0)
    assert Support(outputs).span(IDENTITY).variances.size == 2


@pytest.mark.parametrize("value", [0.0, 0.1, -1e300, 1e-310])
def test_equal_outputs_have_no_span_and_an_exact_mean(value: float) -> None:
    support = Support(np.full((7, 3), value), np.arange(1.0, 8.0))
    assert support.span(IDENTITY).variances.size == 0
    assert np.array_equal(support.mean, np.full(3, value))
    assert not support.deviations.any()


def test_outputs_on_which_all_agree_deviate_by_exactly_zero(generator: np.random.Generator) -> None:
    outputs = generator.normal(size=(11, 3))
    outputs[:, 1] = 0.1
    support = Support(outputs, generator.uniform(1, 2, 11))
    assert not support.deviations[:, 1].any()
    assert support.mean[1] == 0.1
    assert not axes_of(support)[2][:, 1].any()


def test_many_outputs_never_form_a_square_matrix(generator: np.random.Generator) -> None:
    outputs = generator.normal(size=(32, 20_000))
    tracemalloc.start()
    try:
        coordinates, _, axes = axes_of(Support(outputs))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 * outputs.nbytes  # 61 MB; d x d would be 3.2 GB
    assert np.allclose(coordinates @ axes, outputs - outputs.mean(axis=0), atol=1e-10)


@pytest.mark.parametrize("factor", [1e-150, 1e-3, 1e150])
def test_the_span_knows_no_absolute_size(generator: np.random.Generator, factor: float) -> None:
    outputs = generator.normal(size=(6, 4))
    plain, scaled = Support(outputs).span(IDENTITY), Support(outputs * factor).span(IDENTITY)
    assert scaled.variances / factor**2 == pytest.approx(plain.variances, rel=1e-12)


def test_a_metric_changes_the_coordinates_not_the_outputs(generator: np.random.Generator) -> None:
    support = Support(generator.normal(size=(9, 3)))
    root = generator.normal(size=(3, 3))
    coordinates, variances, axes = axes_of(support, MatrixMetric(root.T @ root))
    assert coordinates @ axes == pytest.approx(support.deviations, abs=1e-10)
    costs = np.linalg.eigvalsh(root @ weighted_covariance(support) @ root.T)[::-1]
    assert variances == pytest.approx(costs, rel=1e-9)


def test_a_direction_of_no_cost_is_predicted_from_the_others(
    generator: np.random.Generator,
) -> None:
    outputs = generator.normal(size=(12, 3))
    support = Support(outputs)
    coordinates, _, axes = axes_of(support, DiagonalMetric(np.array([1.0, 4.0, 0.0])))
    assert coordinates.shape[1] == 2
    told = coordinates @ axes
    assert told[:, :2] == pytest.approx(support.deviations[:, :2], abs=1e-12)
    fit = np.linalg.lstsq(support.deviations[:, :2], support.deviations[:, 2], rcond=None)[0]
    assert told[:, 2] == pytest.approx(support.deviations[:, :2] @ fit, abs=1e-12)


@pytest.mark.parametrize("outputs", [np.zeros((4, 0)), np.ones((4, 2))])
@pytest.mark.parametrize("metric", [IDENTITY, DiagonalMetric(np.zeros(2))])
def test_nothing_to_span(outputs: Floats, metric: Metric) -> None:
    support = Support(outputs)
    if outputs.shape[1] == 2 or metric is IDENTITY:
        assert support.span(metric).coordinates.shape == (4, 0)


@settings(max_examples=30, derandomize=True)
@given(
    m=st.integers(2, 7),
    d=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
    exponent=st.integers(-6, 6),
)
def test_any_support_is_reproduced(m: int, d: int, seed: int, exponent: int) -> None:
    generator = np.random.default_rng(seed)
    outputs = generator.integers(-3, 4, size=(m, d)) * 10.0**exponent
    support = Support(outputs, generator.integers(1, 5, size=m).astype(float))
    coordinates, variances, axes = axes_of(support)
    assert np.allclose(coordinates @ axes, support.deviations, atol=1e-12 * 10.0**exponent)
    assert np.all(variances > 0)
    assert variances.size == np.linalg.matrix_rank(support.outputs - support.outputs[0])


def test_entropy_of_the_belief() -> None:
    assert Support(np.zeros((4, 1))).entropy == pytest.approx(np.log(4))
    assert Support(np.zeros((4, 1)), np.array([3.0, 1, 0, 0])).entropy == pytest.approx(
        -0.75 * np.log(0.75) - 0.25 * np.log(0.25)
    )


@pytest.mark.parametrize(
    ("outputs", "weights", "message"),
    [
        ([1.0, 2.0], None, "n_outputs"),
        ([[[1.0]], [[2.0]]], None, "n_outputs"),
        ([[1.0, 2.0]], None, "n_candidates"),
        ([[1.0], [np.nan]], None, "outputs must be finite"),
        ([[1.0], [np.inf]], None, "outputs must be finite"),
        ([[1.0], [2.0]], [1.0, 1.0, 1.0], "finite"),
        ([[1.0], [2.0]], [1.0, -1.0], "finite"),
        ([[1.0], [2.0]], [0.0, 0.0], "finite"),
        ([[1.0], [2.0]], [1.0, np.nan], "finite"),
        ([[1.0], [2.0]], [1.0, np.inf], "finite"),
    ],
)
def test_errors_name_the_argument(outputs: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Support(outputs) if weights is None else Support(outputs, weights)


def test_outputs_are_not_in_the_repr() -> None:
    assert repr(Support(np.array([[1.25], [2.5]]))) == "Support()"
