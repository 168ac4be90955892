"""Private values of arbitrary functions: rows, candidates, integrity."""

from __future__ import annotations

import functools
import re
import warnings

import numpy as np
import pytest
from joblib import Memory
from sklearn.linear_model import LinearRegression

from pacsklearn import Guarantee, Nats, PrivacySession, SampledSubsets, Subsets
from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    DesignError,
    FunctionError,
    NonDeterministicError,
    PrivacyLeakWarning,
)
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Support, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.release.function import FunctionPlan
from pacsklearn.padding.least_padding import channel_information
from pacsklearn.padding.one_sided_law import OneSidedBackend
from pacsklearn.secrets import CandidateSpace, PoissonSubsets, release_sampled
from tests.inside import account_of, is_drawn, secret_of


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)), rng.integers(0, 2, 60)


def seeded(*args, **kwargs):
    with pytest.warns(PrivacyLeakWarning):
        return PrivacySession.over(*args, random_state=0, **kwargs)


def popcount(key):
    return key.bit_count()


class TestRows:
    def test_a_function_of_the_rows(self, rows):
        X, y = rows
        with PrivacySession(X, y, budget=Nats(1.0), secret=Subsets(16)) as session:
            release = session.release_function(lambda A, b: A[b == 1].mean(axis=0), budget=0.5)
            assert release.value.shape == (3,)
            assert release.event.kind == "function"
            assert release.event.charge <= 0.5
            assert "any one row was used" in release.guarantee.promise

    def test_without_y_the_function_gets_the_rows_alone(self, rows):
        with PrivacySession(rows[0], budget=Nats(1.0), secret=Subsets(16)) as session:
            assert isinstance(session.release_function(lambda A: A.mean()).value, float)

    def test_s_only(self, rows):
        X, y = rows
        seen = []
        with PrivacySession(X, y, budget=Nats(1.0), secret=Subsets(16)) as session:
            session.release_function(lambda A, b: seen.append((A.copy(), b.copy())) or A.mean())
            space = session.space
        assert len(seen) == 17
        for index, (A, b) in enumerate(seen[:16]):
            assert np.array_equal(A, X[space.rows(index)])
            assert np.array_equal(b, y[space.rows(index)])

    def test_the_universe_is_not_touched(self, rows):
        X = rows[0].copy()
        with PrivacySession(X, budget=Nats(1.0), secret=Subsets(16)) as session:

            def spoil(A):
                mean = A.mean()
                A[:] = 0
                return mean

            session.release_function(spoil)
        assert np.array_equal(X, rows[0])

    def test_functions_and_models_share_the_belief_and_the_ledger(self, rows):
        X, y = rows
        with PrivacySession(X, y, budget=Nats(1.0), secret=Subsets(16)) as session:
            session.release_function(lambda A, b: A.mean(axis=0), budget=0.25)
            belief = secret_of(session).belief
            assert belief.max() > 1 / 16
            session.release(LinearRegression(), budget=0.25)
            assert not np.array_equal(secret_of(session).belief, belief)
            assert session.ledger.spent == pytest.approx(0.5, rel=1e-6)
            with pytest.raises(BudgetExhaustedError):
                session.release_function(lambda A, b: 1 / 0, budget=0.6)

    def test_shape_of_the_value(self, rows):
        with PrivacySession(rows[0], budget=Nats(1.0), secret=Subsets(16)) as session:
            release = session.release_function(lambda A: np.cov(A.T), budget=0.5)
            assert release.value.shape == (3, 3)
            assert release.event.n_outputs == 9

    def test_the_noise_scale_handed_over_is_the_law_s(self, rows, monkeypatch):
        drawn = []
        original = SeededSampler.noise
        monkeypatch.setattr(
            SeededSampler, "noise", lambda self, size: drawn.append(size) or original(self, size)
        )
        with pytest.warns(PrivacyLeakWarning):
            session = PrivacySession(rows[0], budget=Nats(1.0), secret=Subsets(16), random_state=0)
        release = session.release_function(lambda A: A.mean(axis=0), budget=1 / 64)
        assert drawn == [3, 3]  # once on public numbers, before the charge
        truth = rows[0][session.space.rows(secret_of(session).index)].mean(axis=0)
        assert np.linalg.norm(release.value - truth) < 6 * np.sqrt(release.noise_power)
        assert release.noise_power > 0
        assert LATTICE_SCALE == 2**20


class TestCandidates:
    def test_gaussian_noise(self):
        session = seeded(range(64), budget=0.5)
        release = session.release_function(popcount)
        assert isinstance(release.value, float)
        assert release.guarantee.secret.unit == "candidate"

    def test_one_sided_noise(self):
        session = seeded(range(64), budget=0.5, secret=0b101)
        release = session.release_function(popcount, noise="one_sided", budget=0.25)
        assert isinstance(release.value, int)
        assert 2 <= release.value <= 6
        assert release.event.backend == "one_sided"
        assert release.event.charge == pytest.approx(0.25, rel=1e-6)
        assert "on average" in str(release.guarantee)
        assert "rules out" in str(session.guarantee_)
        again = seeded(range(64), budget=0.5)
        assert again.release_function(popcount, noise=OneSidedBackend()).event.charge <= 0.5

    def test_the_same_question_again_costs_again_and_is_joint(self):
        # Two steps, the second calibrated to the belief after the first: the information of both
        # together, summed over all pairs of outcomes, is at most what was charged on average.
        weights = np.full(16, 1 / 16)
        backend = OneSidedBackend()
        outputs = np.array([[float(popcount(key))] for key in range(16)])
        first = backend.calibrate(Support(outputs, weights), Target(0.2))
        columns = []
        for level in range(first.padding.levels.size):
            likelihood = np.exp(first.log_likelihood(level))
            reach = weights @ likelihood
            if reach == 0:
                continue
            second = backend.calibrate(Support(outputs, weights * likelihood / reach), Target(0.2))
            columns.extend(
                likelihood * np.exp(second.log_likelihood(after))
                for after in range(second.padding.levels.size)
            )
        assert channel_information(weights, np.stack(columns, axis=1)) <= 0.4 + 1e-9

    def test_values_never_fall_below_the_truth(self):
        for key in range(0, 64, 7):
            session = seeded(range(64), budget=0.3, secret=key)
            assert session.release_function(popcount, noise="one_sided").value >= popcount(key)

    def test_charged_before_it_is_drawn(self, monkeypatch):
        session = seeded(range(8), budget=0.5)
        order = []
        charge, index = account_of(session).charge, secret_of(session).sampler.index
        monkeypatch.setattr(
            account_of(session), "charge", lambda event: order.append("charge") or charge(event)
        )
        monkeypatch.setattr(
            secret_of(session).sampler, "index", lambda p: order.append("draw") or index(p)
        )
        session.release_function(popcount, noise="one_sided")
        assert order == ["charge", "draw", "draw"]

    def test_weights_and_spaces(self):
        session = PrivacySession.over(CandidateSpace.of("ab", [3, 1]), budget=0.1)
        assert session.guarantee_.prior_identification == 0.75
        with pytest.raises(DesignError):
            PrivacySession.over("a", budget=0.1)
        with pytest.raises(BudgetError):
            PrivacySession.over("ab", budget=0)

    def test_the_whole_secret(self):
        session = PrivacySession.over(range(4), budget=Nats(5.0, allow_exact=True), secret=2)
        release = session.release_function(lambda key: key * 10, noise="one_sided")
        assert release.value == 20
        assert release.guarantee.status.kind == "hides nothing"

    def test_no_padding_is_no_full_disclosure_where_values_repeat(self):
        session = PrivacySession.over(range(16), budget=Nats(2.0), secret=3)
        release = session.release_function(popcount, noise="one_sided")
        assert release.value == 2
        assert release.guarantee.status.kind == "proved"
        assert release.guarantee.spent < np.log(16)

    def test_what_is_said_of_padding_is_what_was_calibrated(self, monkeypatch):
        laws = []
        calibrate = OneSidedBackend.calibrate

        def spied(self, *args):
            laws.append(calibrate(self, *args))
            return laws[-1]

        monkeypatch.setattr(OneSidedBackend, "calibrate", spied)
        session = seeded(range(64), budget=0.5)
        release = session.release_function(popcount, noise="one_sided", budget=0.25)
        (law,) = laws
        text = dict(release.guarantee.details)["padding"]
        found = [float(number) for number in re.findall(r"[\d.]+(?= on| with| up)", text)]
        expected = [law.expected_padding, law.bucket_padding, law.constant_padding]
        assert found == pytest.approx(expected, rel=1e-5)
        # Bit by bit of six: up to the largest is three more on average.
        assert law.constant_padding == pytest.approx(3.0)
        assert 0 < found[0] < found[1] + 1e-9 <= 3 + 1e-9
        assert release.noise_power == release.released_power == law.noise_power
        assert (release.guarantee.budget, release.guarantee.spent) == (0.25, law.bound)
        assert not release.guarantee.noiseless

    def test_estimators_need_rows(self):
        session = PrivacySession.over(range(4), budget=Nats(1.0))
        for ask in (session.release, session.responder):
            with pytest.raises(TypeError, match="release_function"):
                ask(LinearRegression())

    @pytest.mark.parametrize("secret", [-1, 4, 1.5, True, "x"])
    def test_a_secret_that_is_no_candidate_is_not_quoted(self, secret):
        with pytest.raises(ValueError, match="withheld") as caught:
            PrivacySession.over(range(4), budget=Nats(1.0), secret=secret)
        assert repr(secret) not in str(caught.value).replace("from 0 to 3", "")

    def test_saved_and_resumed(self, tmp_path):
        ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 1.0)
        with PrivacySession.over(
            range(64), budget=Nats(1.0), secret=7, ledger=ledger.uri
        ) as session:
            session.release_function(popcount, noise="one_sided", budget=0.25)
            belief = secret_of(session).log_belief
            session.save(tmp_path / "session")
        with PrivacySession.load(tmp_path / "session", trusted=True, ledger=ledger.uri) as again:
            assert np.array_equal(secret_of(again).log_belief, belief)
            assert again.release_function(popcount, noise="one_sided", budget=0.25).value >= 3
            assert len(again.ledger.events) == 2

    def test_repr_and_guarantee_hold_no_candidate(self):
        session = PrivacySession.over(["hunter2", "swordfish"], budget=0.1)
        release = session.release_function(len)
        for text in (repr(session), str(release.guarantee), release.guarantee.to_json()):
            assert "hunter2" not in text
        assert Guarantee.from_json(session.guarantee_.to_json()) == session.guarantee_


def test_a_plan_shows_nothing_of_what_was_computed():
    plan = FunctionPlan.of(
        lambda key: 271828.0 + key, CandidateSpace.of(range(4)), None, None, Target(0.1)
    )
    assert plan.values.vectors.min() == 271828.0
    assert "2718" not in repr(plan)


class TestBadFunctions:
    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda key: 1 / (key - 3), "ZeroDivisionError"),
            (lambda key: "secret text", "TypeError"),
            (lambda key: None, "TypeError"),
            (lambda key: [], "TypeError"),
            (lambda key: 1j, "TypeError"),
            (lambda key: np.ma.masked_array([1.0, 2.0], mask=[False, True]), "TypeError"),
            (lambda key: np.ma.masked, "TypeError"),
            (lambda key: float("nan"), "ArithmeticError"),
            (lambda key: 2**53 + 1, "OverflowError"),
            (lambda key: -(2**53) - 1, "OverflowError"),
            (lambda key: [0.0] * (1 + key % 2), "shape"),
        ],
    )
    def test_what_cannot_be_released(self, function, message):
        session = PrivacySession.over(range(8), budget=Nats(1.0))
        with pytest.raises(FunctionError, match=message):
            session.release_function(function)
        assert session.ledger.spent == 0
        assert not is_drawn(secret_of(session))

    def test_messages_are_withheld(self):
        def fail(key):
            raise RuntimeError(f"bad key {key}")

        session = PrivacySession.over([31337, 4711], budget=0.5)
        with pytest.raises(FunctionError) as caught:
            session.release_function(fail)
        assert "31337" not in str(caught.value)
        assert caught.value.__cause__ is None

    def test_warnings_are_told_once_without_their_words(self):
        def grumble(key):
            warnings.warn(f"key {key}", UserWarning, stacklevel=1)
            return key

        session = PrivacySession.over([31337, 4711], budget=0.5)
        with pytest.warns(UserWarning, match="candidates") as caught:
            session.release_function(grumble)
        assert all("31337" not in str(item.message) for item in caught)

    def test_randomness_and_state(self):
        session = PrivacySession.over(range(8), budget=Nats(1.0))
        calls = iter(range(100))
        with pytest.raises(NonDeterministicError):
            session.release_function(lambda key: key + next(calls))
        assert session.ledger.spent == 0

    def test_arguments(self):
        session = PrivacySession.over(range(8), budget=Nats(1.0))
        with pytest.raises(ValueError, match="metric"):
            session.release_function(popcount, noise="one_sided", metric=[1.0])
        with pytest.raises(ValueError, match="whole"):
            session.release_function(lambda key: key / 3, noise="one_sided")
        with pytest.raises(ValueError, match="noise"):
            session.release_function(popcount, noise="no such backend")
        assert session.ledger.spent == 0


def _size(key: int) -> int:
    return key.bit_count()


class _Method:
    @functools.cache  # noqa: B019 - that is the fault
    def size(self, key: int) -> int:
        return key.bit_count()


@pytest.mark.parametrize("kind", ["lru_cache", "cache", "joblib", "partial", "method", "wrapped"])
def test_a_cached_function_warns(kind: str, tmp_path) -> None:
    """A cache keeps every candidate's value, on disk with joblib, and answers faster."""
    cached = functools.lru_cache(maxsize=8)(_size)

    @functools.wraps(cached)
    def wrapped(key: int) -> int:
        return cached(key)

    function = {
        "lru_cache": cached,
        "cache": functools.cache(_size),
        "joblib": Memory(tmp_path, verbose=0).cache(_size),
        "partial": functools.partial(cached),
        "method": _Method().size,
        "wrapped": wrapped,
    }[kind]
    with (
        PrivacySession.over(range(8), budget=0.5) as session,
        pytest.warns(PrivacyLeakWarning, match="cached"),
    ):
        session.release_function(function)


def test_a_cached_function_warns_where_the_secret_is_sampled(tmp_path) -> None:
    """There its value of the secret alone would be left on disk."""
    mean = Memory(tmp_path, verbose=0).cache(np.mean)
    rows = np.random.default_rng(0).standard_normal((20, 2))
    with (
        PrivacySession(rows, budget=0.5, secret=SampledSubsets(10, 20)) as session,
        pytest.warns(PrivacyLeakWarning, match="cached"),
    ):
        session.release_function(mean)
    with pytest.warns(PrivacyLeakWarning, match="cached"):
        release_sampled(
            Memory(tmp_path, verbose=0).cache(np.mean),
            PoissonSubsets(20),
            budget=0.5,
            n_calibration=10,
            n_certificate=20,
        )
