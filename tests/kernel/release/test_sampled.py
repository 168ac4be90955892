"""Releases of secrets that can be sampled but not listed."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from pacsklearn import Guarantee, Nats, PACPrivate, PrivacySession
from pacsklearn.exceptions import (
    BudgetExhaustedError,
    FunctionError,
    NonDeterministicError,
    PrivacyLeakWarning,
)
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.release.function import Evaluations
from pacsklearn.sampled import confident
from pacsklearn.sampled.confident import SampledLaw
from pacsklearn.sampled.sampled_subsets import SampledSubsets
from pacsklearn.sampled.sampler_space import SamplerSpace
from pacsklearn.secrets import PoissonSubsets, release_sampled

X = np.random.default_rng(0).normal(size=(200, 3))
SUBSETS = PoissonSubsets(200)


def points_of(monkeypatch):
    """Lattice points of the secrets that are released from here on."""
    points, ordinary = [], SampledLaw.point
    monkeypatch.setattr(
        SampledLaw, "point", lambda *args: points.append(ordinary(*args)) or points[-1]
    )
    return points


def mean(rows):
    return X[rows].mean(axis=0)


def release(function=mean, sampler=SUBSETS, **options):
    options = {"budget": 0.25, "n_calibration": 50, "n_certificate": 200, **options}
    return release_sampled(function, sampler, **options)


def test_value_and_guarantee():
    found = release(gamma=1e-3)
    assert found.value.shape == (3,)
    assert np.linalg.norm(found.value - X.mean(axis=0)) < 8 * np.sqrt(found.noise_power) + 1
    guarantee = found.guarantee
    assert guarantee.confidence == 0.999
    assert guarantee.status.kind == "estimated"
    assert "sample access only" in guarantee.definition
    assert "q_max" in str(guarantee)
    assert found.event.charge == guarantee.spent <= 0.25
    assert Guarantee.from_json(guarantee.to_json()) == guarantee


def test_a_number():
    assert isinstance(release(lambda rows: X[rows].mean()).value, float)


def test_fresh_secrets_and_noise_unless_seeded():
    assert not np.array_equal(release().value, release().value)
    with pytest.warns(PrivacyLeakWarning):
        first = release(random_state=3)
    with pytest.warns(PrivacyLeakWarning):
        second = release(random_state=3)
    assert np.array_equal(first.value, second.value)
    assert not first.guarantee.for_release


def test_trials_have_public_seeds_and_the_secret_has_none(monkeypatch):
    seen = []

    def watched(generator):
        seen.append(generator.bit_generator.seed_seq.entropy)
        return SUBSETS(generator)

    release(sampler=watched, seed=5, n_certificate=202)
    trials, secret = seen[:-2], seen[-1]
    assert trials == [[5, number] for number in range(252)]
    assert seen[-2] == [5, 0]
    assert isinstance(secret, int)
    assert secret.bit_length() > 200


def test_charged_before_the_secret_is_drawn():
    ledger = MemoryLedger(0.3)
    seen = []

    def watched(generator):
        seen.append(ledger.spent)
        return SUBSETS(generator)

    release(sampler=watched, ledger=ledger)
    assert set(seen[:-1]) == {0.0}
    assert seen[-1] == ledger.spent > 0.2
    calls = len(seen)
    with pytest.raises(BudgetExhaustedError):
        release(sampler=watched, ledger=ledger)
    assert len(seen) == calls


def test_a_secret_on_which_the_function_fails_gives_the_centre(monkeypatch):
    points = points_of(monkeypatch)
    calls = iter(range(10_000))

    def brittle(rows):
        if next(calls) > 250:
            raise RuntimeError("row 17 is bad")
        return mean(rows)

    found = release(brittle)
    assert points[0].tolist() == [0, 0, 0]
    assert np.all(np.isfinite(found.value))


def test_a_far_secret_is_pulled_back():
    calls = iter(range(10_000))

    def late(rows):
        return mean(rows) * (1e9 if next(calls) > 250 else 1.0)

    found = release(late, budget=Nats(4.0, allow_exact=True))
    assert np.linalg.norm(found.value) < 10


def test_bad_functions():
    with pytest.raises(FunctionError, match="IndexError") as caught:
        release(lambda rows: X[rows[:1] + 1000])
    assert "1000" not in str(caught.value)
    calls = iter(range(10_000))
    with pytest.raises(NonDeterministicError):
        release(lambda rows: next(calls))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_certificate": 1}, "n_certificate"),
        ({"n_calibration": 1}, "n_calibration"),
        ({"gamma": 0.0}, "gamma"),
        ({"guard": 0.1}, "guard"),
        ({"budget": -1}, "budget"),
        ({"seed": -1}, "seed"),
    ],
)
def test_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        release(**options)


@pytest.mark.parametrize("name", ["function", "sampler"])
def test_what_cannot_be_called_is_named(name):
    with pytest.raises(TypeError, match="must be a function, got an object of type int"):
        release(**{name: 3})


def test_the_event_carries_the_confidence_of_its_certificate() -> None:
    ledger = MemoryLedger(1.0)
    found = release(gamma=0.01, ledger=ledger)
    assert found.event.confidence == found.guarantee.confidence == pytest.approx(0.99)
    assert ledger.events[0].confidence == found.event.confidence


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_the_vector_is_that_of_the_secret_s_own_value(shape: tuple[int, ...]) -> None:
    """Or none, where its value has another shape or there is none."""
    value = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    given = [0] * 9  # eight trials, and the first again

    def function(drawn):
        if drawn == 2:
            raise ValueError("on this secret")
        return np.ones(5) if drawn else value

    def sample(generator):
        return given.pop() if given else next(later)

    space = SamplerSpace(sample, SampledSubsets(4, 4), 0)
    values = space.outputs(Evaluations(function, None, None))
    later = iter(range(3))
    support = values.supported(values.vectors, np.ones(1))
    assert values.vectors.shape == (4, value.size)
    assert support.certificate.shape == (4, value.size)
    found = [support.vector(number) for number in range(3)]
    assert found[0].tolist() == value.ravel().tolist()
    assert found[1:] == [None, None]


def test_the_charge_and_the_guarantee_say_what_was_released(monkeypatch):
    laws = []
    original = confident.confident_law

    def spied(*args, **options):
        laws.append(original(*args, **options))
        return laws[-1]

    monkeypatch.setattr(confident, "confident_law", spied)
    # A number that is the same for every trial is one of the value, and none of the noise.
    found = release(lambda rows: np.append(mean(rows), 7.0).reshape(2, 2), guard=3.0, gamma=1e-3)
    (law,), event, guarantee = laws, found.event, found.guarantee
    assert found.value.shape == (2, 2)
    assert found.value[1, 1] == pytest.approx(7.0)
    assert (event.n_outputs, event.n_noisy, event.n_candidates) == (4, 3, 0)
    assert event.charge == event.bound == law.bound
    assert (event.kind, event.unit, event.confidence) == ("function", "nats", 0.999)
    assert (guarantee.budget, guarantee.spent) == (0.25, law.bound)
    assert not guarantee.noiseless
    details = dict(guarantee.details)
    assert details["trials"] == "50 for the shape, 200 for the size"
    assert details["guard"] == f"q_max = {law.span.q_max:.6g}, 3 times the farthest first trial"
    assert details["cost of certainty"].startswith(f"{law.enlargement:.4g} times the noise")
    assert (found.noise_power, found.released_power) == (law.noise_power, law.noise_power)
    assert found.noise_variances.shape == (4,)
    assert found.noise_variances.sum() == pytest.approx(law.noise_power)


def test_a_seeded_secret_is_drawn_from_four_numbers_that_are_no_trial_s():
    seen = []

    def watched(generator):
        seen.append(generator.bit_generator.seed_seq.entropy)
        return SUBSETS(generator)

    with pytest.warns(PrivacyLeakWarning):
        release(sampler=watched, random_state=3)
    secret = np.asarray(seen[-1])
    assert secret.shape == (4,)
    assert secret.min() >= 0
    assert secret.max() > 2**16


def test_another_structure_of_the_secret_gives_the_centre(monkeypatch):
    calls = iter(range(10_000))
    points = points_of(monkeypatch)
    release(lambda rows: mean(rows) if next(calls) <= 250 else mean(rows)[:2])
    assert points[0].tolist() == [0, 0, 0]


def test_what_changes_after_the_first_trials_is_refused():
    """A function that keeps something between calls: the noise is sized by trials of another."""
    calls = []

    def drifting(rows):
        calls.append(None)
        return rows.mean() + (len(calls) > 40)

    session = PrivacySession(X, budget=0.25, secret=SampledSubsets(20, 60))
    with pytest.raises(NonDeterministicError, match="state"):
        session.release_function(drifting)
    assert session.ledger.spent == 0.0


def test_an_estimator_that_changes_after_the_first_trials_is_refused():
    class Drifting(Ridge):
        fits: ClassVar[list[None]] = []

        def fit(self, X, y):
            self.fits.append(None)
            super().fit(X, y)
            self.coef_ = self.coef_ + (len(self.fits) > 60)
            return self

    private = PACPrivate(Drifting(), 0.25, secret=SampledSubsets(20, 60))
    with pytest.raises(NonDeterministicError, match="state"):
        private.fit(X, X[:, 0])
