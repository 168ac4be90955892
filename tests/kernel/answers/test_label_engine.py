"""The compiled engine against the plain definition, and both against exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacsklearn.kernel.answers.engine import StepAnswers
from pacsklearn.kernel.answers.label_engine import LARGEST_CENTRE, LabelEngine
from pacsklearn.kernel.answers.value_engine import LARGEST_OFFSET, TINIEST_STEP
from pacsklearn.kernel.bounds.belief import belief_entropy, uniform_belief
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from tests.kernel.answers import label_oracle
from tests.kernel.answers.label_oracle import label_law

answer_labels, contested_rows = LabelEngine().answer, LabelEngine().contested


@dataclass
class Problem:
    codes: NDArray[Any]
    secret: int
    log_belief: NDArray[np.float64]
    step_budget: float
    noise: NDArray[np.int64]
    scale: int

    def ask(self, engine: Any) -> StepAnswers:
        told = engine(
            self.codes,
            self.secret,
            self.log_belief,
            self.step_budget,
            self.noise,
            scale=self.scale,
        )
        assert isinstance(told, StepAnswers)
        return told


def random_belief(rng: np.random.Generator, m: int) -> NDArray[np.float64]:
    skew = rng.choice([0.0, 0.5, 5.0, 60.0, 5000.0])
    belief = -skew * rng.random(m) ** rng.choice([1, 4])
    if rng.random() < 0.4:
        belief[rng.random(m) < 0.3] = -np.inf
    belief[rng.integers(m)] = 0.0
    return np.asarray(belief - np.logaddexp.reduce(belief))


def random_problem(rng: np.random.Generator) -> Problem:
    m = int(rng.choice([2, 3, 4, 8, 33, 128], p=[0.2, 0.2, 0.2, 0.2, 0.15, 0.05]))
    n, classes = int(rng.integers(1, 8)), int(rng.integers(2, 13))
    shares = rng.dirichlet(np.full(classes, rng.choice([0.1, 1.0])), size=n)
    codes = np.array([rng.choice(classes, size=m, p=p) for p in shares])
    belief = random_belief(rng, m)
    scale = int(rng.choice([8, 64, LATTICE_SCALE], p=[0.1, 0.1, 0.8]))
    budget = 2.0 ** rng.uniform(-40, 2)
    return Problem(
        codes=codes.astype(rng.choice([np.uint8, np.int16, np.int32])),
        secret=int(rng.choice(np.flatnonzero(belief > -np.inf))),
        log_belief=belief,
        step_budget=budget,
        noise=np.rint(rng.normal(0, scale, int(rng.integers(0, 40)))).astype(np.int64),
        scale=scale,
    )


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.soak] if seed > 1 else []) for seed in range(8)]
)
def test_kernel_equals_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    finished = set()
    for _ in range(500):
        problem = random_problem(rng)
        before = problem.log_belief.copy()
        fast, slow = problem.ask(answer_labels), problem.ask(label_oracle.answer_labels)
        np.testing.assert_array_equal(fast.answers, slow.answers)
        assert fast.answers.dtype == problem.codes.dtype
        assert fast.noise_used == slow.noise_used
        np.testing.assert_allclose(fast.charges, slow.charges, rtol=1e-12)
        np.testing.assert_allclose(fast.margins, slow.margins, rtol=1e-12)
        np.testing.assert_allclose(fast.log_belief, slow.log_belief, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(problem.log_belief, before)
        assert np.all(fast.charges <= problem.step_budget)
        assert np.all(fast.charges >= 0)
        assert fast.noise_used <= problem.noise.size
        assert np.logaddexp.reduce(fast.log_belief) == pytest.approx(0.0, abs=1e-12)
        finished.add(len(fast.answers) == len(problem.codes))
    assert finished == {True, False}


def test_unanimous_rows_are_free_and_leave_the_belief_alone() -> None:
    belief = np.log([0.5, 0.3, 0.2, 1e-300])
    belief[3] = -np.inf
    codes = np.array([[7, 7, 7, 1], [2, 2, 2, 2]], dtype=np.uint8)
    told = answer_labels(codes, 2, belief, 0.1, np.empty(0, dtype=np.int64))
    np.testing.assert_array_equal(told.answers, [7, 2])
    np.testing.assert_array_equal(told.charges, 0.0)
    np.testing.assert_array_equal(told.margins, np.inf)
    np.testing.assert_array_equal(told.log_belief, belief)
    np.testing.assert_array_equal(contested_rows(codes, belief), False)
    np.testing.assert_array_equal(contested_rows(codes, uniform_belief(4)), [True, False])


@pytest.mark.parametrize("secret", range(4))
def test_a_budget_that_covers_the_entropy_buys_the_exact_label(secret: int) -> None:
    codes, belief = np.array([[1, 1, 0, 2]], dtype=np.int16), np.log([0.4, 0.3, 0.2, 0.1])
    entropy = belief_entropy(np.log([0.7, 0.2, 0.1]))
    told = answer_labels(codes, secret, belief, entropy * (1 + 1e-9), np.empty(0, dtype=np.int64))
    assert told.answers[0] == codes[0, secret]
    assert told.margins[0] == np.inf
    assert told.charges[0] == pytest.approx(entropy, rel=1e-9)
    agree = codes[0] == codes[0, secret]
    expected = np.where(agree, np.exp(belief), 0.0)
    np.testing.assert_allclose(np.exp(told.log_belief), expected / expected.sum(), rtol=1e-12)
    assert np.all(told.log_belief[~agree] == -np.inf)


def test_a_doubt_below_the_smallest_double_is_kept() -> None:
    belief, codes = np.array([0.0, -5000.0]), np.array([[0, 1]], dtype=np.uint8)
    nothing = np.empty(0, dtype=np.int64)
    assert contested_rows(codes, belief)[0]
    told = answer_labels(codes, 1, belief, 2.0**-40, nothing)
    assert told.answers[0] == 1
    np.testing.assert_array_equal(told.log_belief, [-np.inf, 0.0])


def test_ties_go_to_the_smaller_code() -> None:
    two, budget = np.array([[5, 3]], dtype=np.uint8), 1.01 * 2.0**-31
    (a,) = label_law([5, 3], uniform_belief(2).tolist(), budget).centres
    assert a == 64
    for noise, answer in ((32, 3), (33, 5)):
        told = answer_labels(two, 1, uniform_belief(2), budget, np.array([noise]))
        assert told.answers[0] == answer
    three = np.array([[6, 2, 4]], dtype=np.uint8)
    a = label_law([6, 2, 4], uniform_belief(3).tolist(), 2.0**-8).centres[0]
    for noise, answer in (([a, a, 0], 2), ([a, a + 1, 0], 4), ([a - 1, a, 0], 4)):
        told = answer_labels(three, 0, uniform_belief(3), 2.0**-8, np.array(noise))
        assert told.answers[0] == answer


def test_many_contested_rows_keep_bayes() -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (3000, 16)).astype(np.uint8)
    noise = np.rint(rng.normal(0, LATTICE_SCALE, 9000)).astype(np.int64)
    told = answer_labels(codes, 4, uniform_belief(16), 2.0**-6, noise)
    assert len(told.answers) == 3000
    assert told.log_belief[4] == pytest.approx(0.0, abs=1e-6), "the secret is found in the end"
    assert told.log_belief.min() < -30
    again = answer_labels(codes, 4, told.log_belief, 2.0**-6, noise)
    assert np.all(again.charges <= 2.0**-6)


def test_coordinates_that_say_nothing_still_have_noise() -> None:
    codes, noise = np.array([[0, 1, 2]], dtype=np.uint8), np.array([3, 9, 5])
    told = answer_labels(codes, 0, uniform_belief(3), 2.0**-60, noise)
    assert told.answers[0] == 1, "the noise alone decides"
    assert told.charges[0] == 0.0
    assert told.margins[0] == -np.inf
    assert told.noise_used == 3
    np.testing.assert_allclose(told.log_belief, uniform_belief(3), rtol=1e-15)


def test_stops_before_the_row_that_does_not_fit() -> None:
    codes = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 2], [0, 0, 0]], dtype=np.uint8)
    belief, noise = uniform_belief(3), np.array([10, 20, 30, 40])
    whole = answer_labels(codes, 0, belief, 1e-3, noise)
    assert (len(whole.answers), whole.noise_used) == (4, 4)
    first = answer_labels(codes, 0, belief, 1e-3, noise[:3])
    assert (len(first.answers), first.noise_used) == (2, 1)
    rest = answer_labels(codes[2:], 0, first.log_belief, 1e-3, noise[1:])
    np.testing.assert_array_equal([*first.answers, *rest.answers], whole.answers)
    np.testing.assert_array_equal(rest.log_belief, whole.log_belief)


def test_what_is_charged_and_asked_of_the_noise_does_not_depend_on_the_secret() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        problem = random_problem(rng)
        problem.codes = problem.codes[:1]
        seen = set()
        for secret in np.flatnonzero(problem.log_belief > -np.inf).tolist():
            told = replace(problem, secret=secret).ask(answer_labels)
            seen.add((told.charges.tobytes(), told.noise_used, len(told.answers)))
        assert len(seen) == 1


@pytest.mark.parametrize("m", [1, 2])
def test_one_candidate_and_no_rows(m: int) -> None:
    nothing = np.empty(0, dtype=np.int64)
    told = answer_labels(np.empty((0, m), dtype=np.int32), 0, uniform_belief(m), 1.0, nothing)
    assert told.answers.shape == (0,)
    told = answer_labels(np.full((2, m), 9, dtype=np.int32), 0, uniform_belief(m), 1.0, nothing)
    np.testing.assert_array_equal(told.answers, [9, 9])


@pytest.mark.parametrize(
    "change",
    [
        {"predictions": np.zeros((1, 2), dtype=np.int64)},
        {"predictions": np.zeros(2, dtype=np.uint8)},
        {"predictions": np.full((1, 2), -1, dtype=np.int16)},
        {"predictions": np.full((1, 2), 2**24, dtype=np.int32)},
        {"log_belief": [0.0]},
        {"log_belief": [0.0, np.nan]},
        {"log_belief": [-np.inf, -np.inf]},
        {"log_belief": [-np.inf, 0.0]},
        {"secret": 2},
        {"secret": -1},
        {"step_budget": 0.0},
        {"step_budget": math.nan},
        {"noise": np.zeros(3)},
        {"noise": np.zeros((3, 1), dtype=np.int64)},
    ],
)
def test_bad_arguments(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "predictions": np.zeros((1, 2), dtype=np.uint8),
        "secret": 0,
        "log_belief": uniform_belief(2),
        "step_budget": 0.5,
        "noise": np.zeros(3, dtype=np.int64),
    }
    answer_labels(**good)
    with pytest.raises((TypeError, ValueError)) as caught:
        answer_labels(**(good | change))
    assert "inf" not in str(caught.value) or "log_belief" in str(caught.value)


def test_the_ends_of_what_is_taken() -> None:
    """The largest code, the least budget: one more, or one bit less, is refused."""
    codes = np.array([[0, 2**24 - 1]], dtype=np.int32)
    told = answer_labels(codes, 1, uniform_belief(2), 1.0, np.empty(0, dtype=np.int64))
    assert told.answers.tolist() == [2**24 - 1]
    for bad in (codes + np.array([0, 1], dtype=np.int32), codes - np.array([1, 0], dtype=np.int32)):
        with pytest.raises(ValueError, match="between"):
            contested_rows(bad, uniform_belief(2))
    noise = np.zeros(1, dtype=np.int64)
    assert answer_labels(codes, 1, uniform_belief(2), 1e-250, noise).charges[0] <= 1e-250
    with pytest.raises(ValueError, match="least"):
        answer_labels(codes, 1, uniform_belief(2), math.nextafter(1e-250, 0), noise)
    for bad_belief in (np.log([0.5, 0.3, 0.2]), np.zeros((1, 2)), [0.0, np.inf], np.empty(0)):
        with pytest.raises(ValueError, match="log_belief"):
            contested_rows(codes, bad_belief)
    for shape in ((1, 0), (2,), (1, 2, 1)):
        with pytest.raises(ValueError, match="m >= 1"):
            contested_rows(np.zeros(shape, dtype=np.uint8), uniform_belief(2))
    for kind in (np.int8, np.uint16, np.int64, np.float64):
        with pytest.raises(TypeError, match="uint8"):
            contested_rows(np.zeros((1, 2), dtype=kind), uniform_belief(2))


def test_every_code_that_occurs_has_a_place_of_its_own() -> None:
    for kind in (np.uint8, np.int16, np.int32):
        codes = np.array([[0, 255, 254], [255, 0, 1]], dtype=kind)
        noise = np.zeros(6, dtype=np.int64)
        for engine in (answer_labels, label_oracle.answer_labels):
            told = engine(codes, 1, uniform_belief(3), 0.5, noise)
            assert told.answers.tolist() == [255, 0]


def test_caps_are_what_they_are_said_to_be() -> None:
    """64 noise scales: noise passes half of them in one release of exp(500); all stay exact."""
    assert LARGEST_CENTRE == 64 * LATTICE_SCALE
    assert (LARGEST_CENTRE / LATTICE_SCALE) ** 2 / 8 > 500
    furthest = LARGEST_CENTRE * (2 * (LARGEST_CENTRE + 100 * LATTICE_SCALE) + LARGEST_CENTRE)
    assert furthest < 2**63
    assert 2 * LARGEST_CENTRE * LARGEST_CENTRE <= 2**53
    assert LARGEST_OFFSET * LATTICE_SCALE * 64 <= 2.0**66
    assert np.finfo(np.float64).tiny == TINIEST_STEP


def test_repr_tells_no_answers() -> None:
    told = answer_labels(
        np.zeros((1, 2), dtype=np.uint8), 0, uniform_belief(2), 0.5, np.zeros(1, dtype=np.int64)
    )
    assert repr(told) == "StepAnswers(noise_used=0)"
