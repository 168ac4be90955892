"""The compiled engine of real-valued responses against the plain definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacsklearn.kernel.answers.value_engine import ValueEngine
from pacsklearn.kernel.bounds.belief import belief_entropy, uniform_belief, update_belief
from pacsklearn.kernel.bounds.lattice_bound import linear_bound
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from tests.kernel.answers import value_oracle
from tests.kernel.answers.value_oracle import value_law

answer_values, contested_rows = ValueEngine().answer, ValueEngine().contested

NOTHING = np.empty(0, dtype=np.int64)


def random_arguments(rng: np.random.Generator) -> tuple[list[Any], dict[str, Any]]:
    m, n, d = int(rng.choice([2, 3, 5, 16, 64])), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    values = rng.normal(size=(n, m, d)) * 10.0 ** rng.uniform(-8, 8, size=d)
    if rng.random() < 0.5:
        values = np.round(values / np.abs(values).max(axis=(0, 1)) * 2) / 2
    values[:, :, rng.random(d) < 0.3] = 0.25
    belief = -rng.choice([0.0, 1.0, 30.0, 5000.0]) * rng.random(m)
    belief[rng.random(m) < 0.2] = -np.inf
    belief[0] = 0.0
    belief -= np.logaddexp.reduce(belief)
    budget = 2.0 ** rng.uniform(-40, 2)
    scale = int(rng.choice([16, LATTICE_SCALE]))
    noise = np.rint(rng.normal(0, scale, int(rng.integers(0, 25)))).astype(np.int64)
    secret = int(rng.choice(np.flatnonzero(belief > -np.inf)))
    options = {"scale": scale}
    return [values, secret, belief, budget, noise], options


@pytest.mark.product(only=2)
@pytest.mark.parametrize("seed", range(4))
def test_kernel_equals_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    finished = set()
    for _ in range(400):
        arguments, options = random_arguments(rng)
        before = arguments[2].copy()
        fast = answer_values(*arguments, **options)
        slow = value_oracle.answer_values(*arguments, **options)
        assert (fast.noise_used, len(fast.answers)) == (slow.noise_used, len(slow.answers))
        np.testing.assert_allclose(fast.answers, slow.answers, rtol=1e-12)
        np.testing.assert_allclose(fast.charges, slow.charges, rtol=1e-12)
        np.testing.assert_allclose(fast.deviations, slow.deviations, rtol=1e-12)
        assert len(fast.margins) == len(fast.answers)
        assert np.isnan(fast.margins).all()
        np.testing.assert_allclose(fast.log_belief, slow.log_belief, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(arguments[2], before)
        assert np.all(fast.charges <= arguments[3])
        finished.add(len(fast.answers) == len(arguments[0]))
    assert finished == {True, False}


def test_charge_is_the_linear_bound_and_noise_is_hardly_more_than_efficient_pac_asks() -> None:
    rng = np.random.default_rng(8)
    noisy = 0
    for _ in range(400):
        arguments, _ = random_arguments(rng)
        values, _, belief, budget, _ = arguments
        budget = max(budget, 2.0**-20)
        law = value_law(values[0].tolist(), belief.tolist(), budget)
        if not law.noisy:
            continue
        weights = np.exp(belief)
        bound = linear_bound(law.centres, weights, LATTICE_SCALE)
        assert law.charge == pytest.approx(bound, rel=1e-9)
        offsets = values[0] - values[0, np.argmax(weights)]
        offsets -= weights @ offsets
        spread = np.sqrt(weights @ offsets**2)
        exact = np.sqrt(spread * spread.sum() / (2 * budget))[law.noisy]
        reach = np.abs(offsets[belief > -np.inf]).max(axis=0)[law.noisy]
        capped = reach * 2.0**-20 > exact
        ratio = np.array(law.steps)[~capped] * LATTICE_SCALE / exact[~capped]
        assert np.all(ratio >= 1 - 1e-9)
        assert np.all(ratio <= 1 + 1e-2)
        noisy += 1
    assert noisy > 100


def test_coordinates_on_which_all_agree_are_exact_and_free() -> None:
    values = np.array([[[0.5, 1.0, -0.0], [0.5, 2.0, 0.0], [9.0, 3.0, 7.0]]])
    belief = np.array([math.log(0.5), math.log(0.5), -np.inf])
    told = answer_values(values, 0, belief, 0.01, np.array([5]))
    assert told.noise_used == 1
    np.testing.assert_array_equal(told.answers[0, [0, 2]], [0.5, 0.0])
    silent = answer_values(values, 0, belief, 0.01, np.array([0]))
    shift = (told.answers - silent.answers)[0, 1] * LATTICE_SCALE / 5
    assert shift == pytest.approx(0.5 / math.sqrt(2 * 0.01), rel=1e-4)
    same = answer_values(values[:, :, [0, 2]], 1, belief, 0.01, NOTHING)
    np.testing.assert_array_equal(same.charges, 0.0)
    np.testing.assert_array_equal(same.log_belief, belief)


def test_zero_has_no_sign_that_could_tell_candidates_apart() -> None:
    values = np.array([[[-0.0], [0.0], [1.0]]])
    told = {
        answer_values(values, secret, uniform_belief(3), 2.0, NOTHING).answers.tobytes()
        for secret in (0, 1)
    }
    assert told == {np.array([[0.0]]).tobytes()}


def test_a_budget_that_covers_the_entropy_buys_the_exact_answer() -> None:
    values = np.array([[[0.1, 0.2], [0.1, 0.3], [0.1, 0.2]]])
    belief = np.log([0.5, 0.25, 0.25])
    entropy = belief_entropy(np.log([0.75, 0.25]))
    told = answer_values(values, 2, belief, entropy * (1 + 1e-9), NOTHING)
    np.testing.assert_array_equal(told.answers, values[:, 2])
    assert told.charges[0] == pytest.approx(entropy, rel=1e-9)
    np.testing.assert_allclose(np.exp(told.log_belief), [2 / 3, 0, 1 / 3], rtol=1e-12)


def test_a_doubt_below_the_smallest_double() -> None:
    belief = np.array([math.log(0.5), math.log(0.5), -5000.0])
    values = np.array([[[0.0, 1.0], [1.0, 1.0], [0.0, 2.0]]])
    told = answer_values(values, 2, belief, 0.1, np.zeros(2, dtype=np.int64))
    assert told.answers[0, 1] == pytest.approx(2.0, abs=1e-5)
    assert told.log_belief[2] > -1e-9, "a capped coordinate still tells what it told"
    told = answer_values(values[:, :, 1:], 2, belief, 0.1, NOTHING)
    np.testing.assert_array_equal(told.log_belief, [-np.inf, -np.inf, 0.0])


def test_belief_is_bayes() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1, 6, 3))
    belief = np.log(rng.dirichlet(np.ones(6)))
    noise = np.rint(rng.normal(0, LATTICE_SCALE, 3)).astype(np.int64)
    told = answer_values(values, 3, belief, 0.2, noise)
    law = value_law(values[0].tolist(), belief.tolist(), 0.2)
    distances = (np.array(law.centres[3]) + noise - np.array(law.centres)) / LATTICE_SCALE
    expected = update_belief(belief, -np.sum(distances**2, axis=1) / 2)
    np.testing.assert_allclose(told.log_belief, expected, rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-150, 1e-20, 1.0, 1e20, 1e140])
def test_scale_free(unit: float) -> None:
    values = np.array([[[0.0, 1.0], [1.0, 3.0], [0.5, -2.0]]])
    noise = np.array([12345, -999])
    plain = answer_values(values, 0, uniform_belief(3), 0.01, noise)
    scaled = answer_values(values * unit, 0, uniform_belief(3), 0.01, noise)
    np.testing.assert_allclose(scaled.answers, plain.answers * unit, rtol=1e-6)
    np.testing.assert_allclose(scaled.charges, plain.charges, rtol=1e-5)


def test_tiny_budgets_end_in_noise_alone() -> None:
    values = np.arange(12.0).reshape(1, 4, 3)
    told = answer_values(values, 0, uniform_belief(4), 2.0**-200, np.zeros(3, dtype=np.int64))
    assert told.charges[0] == 0.0
    np.testing.assert_allclose(told.answers[0], values[0].mean(axis=0))
    noisy = answer_values(values, 0, uniform_belief(4), 2.0**-200, np.ones(3, dtype=np.int64))
    assert np.all((noisy.answers - told.answers) * LATTICE_SCALE > 1e6)
    np.testing.assert_allclose(told.log_belief, uniform_belief(4), rtol=1e-15)


def test_contested_rows() -> None:
    values = np.array([[[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0], [1.0, 2.5]]])
    np.testing.assert_array_equal(contested_rows(values, uniform_belief(2)), [False, True])
    np.testing.assert_array_equal(contested_rows(values, [0.0, -np.inf]), False)


@pytest.mark.parametrize(
    "values", [np.zeros((2, 2)), np.full((1, 2, 1), np.nan), np.full((1, 2, 1), np.inf)]
)
def test_bad_values(values: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match="values"):
        answer_values(values, 0, uniform_belief(2), 1.0, NOTHING)


def test_the_ends_of_what_is_taken() -> None:
    most = np.array([[[2.0**1010], [-(2.0**1010)]]])
    told = answer_values(most, 0, uniform_belief(2), 0.01, np.zeros(1, dtype=np.int64))
    assert np.isfinite(told.answers).all()
    assert contested_rows(most, uniform_belief(2))[0]
    with pytest.raises(ValueError, match="finite"):
        contested_rows(np.nextafter(most, most * 2), uniform_belief(2))
    for shape in ((1, 0, 1), (1, 2), (1, 2, 1, 1)):
        with pytest.raises(ValueError, match="m >= 1"):
            contested_rows(np.zeros(shape), uniform_belief(2))


def test_a_small_spread_around_a_large_number_is_not_swallowed() -> None:
    """The mean of answers at 2^45 and three steps of 2^-7 above is right to the last bit."""
    base, step = 2.0**45, 2.0**-7
    values = np.array([[[base], [base + step], [base + 3 * step]]])
    for weights in ([0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]):
        told = answer_values(values, 0, np.log(weights), 2.0**-200, np.zeros(1, dtype=np.int64))
        mean = float(np.dot(weights, [0.0, step, 3 * step]))
        assert told.answers[0, 0] - base == pytest.approx(mean, abs=step / 2)
    exact = answer_values(values, 0, np.log([0.5, 0.25, 0.25]), 0.01, np.zeros(1, dtype=np.int64))
    variance = np.var([0, 0, step, 3 * step]) / 0.02
    assert exact.deviations[0, 0] ** 2 == pytest.approx(variance, rel=1e-2)


def test_candidates_that_are_impossible_move_nothing() -> None:
    """However far away what they say is."""
    belief, noise = np.log([0.5, 0.5, 0.5]) - np.log(1.0), np.array([12345])
    belief[2] = -np.inf
    plain, far = (
        answer_values([[[0.0], [1.0], [own]]], 1, belief, 0.01, noise) for own in (0.5, 2.0**499)
    )
    for name in ("answers", "deviations", "charges", "log_belief"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(far, name))


def test_a_spread_below_the_doubles_is_hidden_too() -> None:
    """Unlikely candidates, and a number that is tiny beside another: noise wide enough is found."""
    values = np.array([[[0.0, 1e150], [1e-140, 1e150], [0.0, 1e150]]])
    belief = np.array([0.0, -301.4, -301.4])
    told = ValueEngine().answer(values, 0, belief, 2.0**-648, np.array([0, 5]))
    assert np.all(np.isfinite(told.answers))
    assert np.all(told.charges <= 2.0**-648)
