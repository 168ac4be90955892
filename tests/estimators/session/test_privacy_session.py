"""A session: one secret, one belief, one account."""

from __future__ import annotations

import copy
import math
import pickle
import secrets
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import Membership, Nats, PACPrivate, Subsets
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.exceptions import BudgetError, BudgetExhaustedError, SubsetFitError
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.plugins import NoiseBackend
from pacsklearn.priors import Range
from pacsklearn.secrets import SecretSpace, balanced_space
from tests.inside import account_of

M = 8
ALL = 10.0  # far above ln(8)


class CountedRidge(Ridge):
    fits: ClassVar[int] = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CountedRidge:
        CountedRidge.fits += 1
        return super().fit(X, y, sample_weight)


class FailingRidge(Ridge):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FailingRidge:
        raise RuntimeError(f"row {X[0]} is bad")


class Recording(NoiseBackend):
    """The default backend, remembering its laws."""

    laws: ClassVar[list[NoiseLaw]]  # of the class: each calibration is by a copy

    def __init__(self) -> None:
        type(self).laws = []

    def calibrate(self, support: Any, target: Any, metric: Any) -> NoiseLaw:
        self.laws.append(LogdetBackend().calibrate(support, target, metric))
        return self.laws[-1]


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    generator = np.random.default_rng(3)
    X = generator.normal(size=(60, 3))
    return X, X @ [1.0, 2.0, 3.0] + generator.normal(size=60)


@pytest.fixture(scope="module")
def space(rows: Any) -> SecretSpace:
    return balanced_space(60, n_subsets=M)


@pytest.fixture
def session(rows: Any, space: SecretSpace) -> PrivacySession:
    return PrivacySession(*rows, secret=space, budget=Nats(ALL, allow_exact=True))


def candidate(released: Any, rows: Any, space: SecretSpace) -> int:
    """Which candidate's exact model was released."""
    X, y = rows
    fitted = [type(released)().fit(X[space.rows(i)], y[space.rows(i)]) for i in range(M)]
    (found,) = np.flatnonzero([np.allclose(f.coef_, released.coef_, rtol=1e-7) for f in fitted])
    return int(found)


def test_two_releases_use_one_secret(rows: Any, space: SecretSpace) -> None:
    drawn = []
    for _ in range(20):
        session = PrivacySession(*rows, secret=space, budget=Nats(ALL, allow_exact=True))
        first = session.release(Ridge(), budget=3.0)
        second = session.release(LinearRegression())
        drawn.append(candidate(first.value, rows, space))
        assert candidate(second.value, rows, space) == drawn[-1]
    # Twenty uniform draws of eight are all equal once in 10^17 runs.
    assert len(set(drawn)) > 1


def test_once_the_secret_is_known_nothing_costs_anything(
    session: PrivacySession, rows: Any, space: SecretSpace
) -> None:
    first = session.release(Ridge(), budget=3.0)
    assert first.event.charge == first.guarantee.spent == pytest.approx(math.log(M))
    assert first.guarantee.noiseless
    second = session.release(LinearRegression(), budget=1e-6)
    assert second.event.charge == 0.0
    assert session.ledger.spent == first.event.charge
    assert candidate(second.value, rows, space) == candidate(first.value, rows, space)
    # It cost nothing more, but whoever sees it knows the secret: the promise must say so.
    assert second.guarantee.metered == first.event.charge
    assert second.guarantee.spent == ALL
    assert second.guarantee.posterior_identification == 1.0
    assert second.guarantee.posterior_membership == 1.0
    assert second.guarantee.status.kind == "hides nothing"


def test_the_promise_covers_all_releases_so_far(rows: Any, space: SecretSpace) -> None:
    session = PrivacySession(*rows, secret=space, budget=Nats(1.0))
    releases = [session.release(Ridge(alpha), budget=1 / 16) for alpha in (1.0, 2.0, 3.0)]
    total = math.fsum(release.event.charge for release in releases)
    assert session.ledger.spent == total
    assert [r.guarantee.n_releases for r in releases] == [1, 2, 3]
    # One release's bound is known beforehand. Later charges depend on what was released before,
    # so their sum on one path bounds nothing; the ceiling does.
    assert releases[0].guarantee.spent == releases[0].event.charge
    assert releases[0].guarantee.budget == 1 / 16
    assert [r.guarantee.spent for r in releases[1:]] == [1.0, 1.0]
    assert releases[-1].guarantee.budget == 1.0
    assert releases[-1].guarantee.metered == total
    assert session.guarantee_.spent == 1.0
    assert "all 3 releases of this session so far" in releases[-1].guarantee.promise
    assert "Whoever sees this release," in releases[0].guarantee.promise
    bounds = [r.guarantee.posterior_membership for r in releases]
    assert bounds == sorted(bounds)
    assert all(0 < r.event.charge <= 1 / 16 for r in releases)
    assert session.ledger.events == tuple(r.event for r in releases)


def test_the_ceiling_is_respected_before_anything_is_fitted(
    rows: Any, space: SecretSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = PrivacySession(*rows, secret=space, budget=0.25)
    session.release(Ridge(), budget=0.2)
    before, spent = session.ledger.events, session.ledger.spent
    monkeypatch.setattr(CountedRidge, "fits", 0)
    with pytest.raises(BudgetExhaustedError) as caught:
        session.release(CountedRidge(), budget=0.06)
    assert CountedRidge.fits == 0
    assert session.ledger.events == before
    assert (caught.value.spent, caught.value.asked, caught.value.ceiling) == (spent, 0.06, 0.25)
    session.release(CountedRidge())  # what remains
    assert CountedRidge.fits == M + 1  # one is fitted twice, to see that the fit repeats itself
    assert session.ledger.spent <= 0.25


@pytest.mark.parametrize("budget", [0, -1, math.nan, math.inf, "much", None])
def test_a_ceiling_is_a_number(budget: Any, rows: Any, space: SecretSpace) -> None:
    with pytest.raises(BudgetError, match="budget"):
        PrivacySession(*rows, secret=space, budget=budget)


def test_a_failing_fit_costs_nothing_and_tells_nothing(
    session: PrivacySession, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    monkeypatch.setattr(SecureSampler, "index", lambda *_: drawn.append(1))
    with pytest.raises(SubsetFitError, match="RuntimeError") as caught:
        session.release(FailingRidge())
    assert "row" not in str(caught.value).replace("rows", "")
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert session.ledger.events == ()
    assert not drawn


def test_a_crash_loses_an_answer_never_a_charge(
    session: PrivacySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: Any) -> Any:
        raise OSError("no entropy")

    monkeypatch.setattr(SecureSampler, "noise", crash)
    with pytest.raises(OSError, match="entropy"):
        session.release(Ridge(), budget=1 / 8)
    assert session.ledger.spent > 0.12


def test_the_noise_drawn_is_the_noise_released(
    session: PrivacySession, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, drawn, observed = Recording(), [], []
    noise, observe = SecureSampler.noise, NoiseLaw.observe
    index, indices = SecureSampler.index, []

    def spy_noise(self: Any, size: int) -> Any:
        drawn.append(noise(self, size))
        return drawn[-1]

    def spy_observe(self: NoiseLaw, *args: Any) -> Any:
        observed.append(observe(self, *args))
        return observed[-1]

    def spy_index(self: Any, weights: Any) -> int:
        indices.append(index(self, weights))
        return indices[-1]

    monkeypatch.setattr(SecureSampler, "noise", spy_noise)
    monkeypatch.setattr(SecureSampler, "index", spy_index)
    monkeypatch.setattr(NoiseLaw, "observe", spy_observe)
    values = [
        session.release(LinearRegression(), budget=0.1, noise=backend).value,
        session.release(Ridge(), budget=0.2, noise=backend).value,
    ]
    assert len(indices) == 1
    for law, drawn_noise, integers, value in zip(
        backend.laws, drawn, observed, values, strict=True
    ):
        assert law.scale == LATTICE_SCALE
        assert drawn_noise.shape == (law.dimension,) == (4,)
        assert integers.dtype == drawn_noise.dtype == np.int64
        np.testing.assert_array_equal(integers - law.centres[indices[0]], drawn_noise)
        # What is published is the public function of the integers, to the last bit.
        np.testing.assert_array_equal(law.decode(integers)[:3], value.coef_)
        assert law.decode(integers)[3] == value.intercept_
    # An independent look at the first law (its belief is uniform): the scale is not too small.
    variances = backend.laws[0].centres.var(axis=0) / LATTICE_SCALE**2
    assert 0.5 * np.sum(np.log1p(variances)) <= 0.1
    assert 0.5 * np.sum(np.log1p(variances)) > 0.0999


def test_the_secret_comes_from_the_operating_system(
    rows: Any, space: SecretSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def third(n: int) -> int:
        asked.append(n)
        return 3 * n // M  # the first ticket of candidate 3

    monkeypatch.setattr(secrets, "randbelow", third)
    session = PrivacySession(*rows, secret=space, budget=Nats(ALL, allow_exact=True))
    first = session.release(Ridge(), budget=3.0)
    session.release(LinearRegression())
    assert len(asked) == 1
    assert asked[0] % M == 0
    assert candidate(first.value, rows, space) == 3


def test_threads_share_one_secret(session: PrivacySession, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def slow(self: Any, weights: Any) -> int:
        time.sleep(0.05)
        drawn.append(len(drawn))
        return drawn[-1]

    monkeypatch.setattr(SecureSampler, "index", slow)
    threads = [
        threading.Thread(target=session.release, args=(Ridge(),), kwargs={"budget": 0.1})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == 1
    assert len(session.ledger.events) == 4


@pytest.mark.parametrize("duplicate", [pickle.dumps, joblib.hash, copy.copy, copy.deepcopy])
def test_a_session_stays_where_it_is(duplicate: Any, session: PrivacySession) -> None:
    with pytest.raises(TypeError, match="holds"):
        duplicate(session)
    session.release(Ridge(), budget=0.1)
    with pytest.raises(TypeError, match="holds"):
        duplicate(session)


def test_a_session_shows_nothing(session: PrivacySession, rows: Any) -> None:
    session.release(Ridge(), budget=0.5)
    shown = repr(session) + str(session)
    expected = "PrivacySession(n_rows=60, n_subsets=8, spent=0.5, ceiling=10)"
    assert shown == 2 * expected
    assert not [name for name in vars(session) if not name.startswith("_")]
    assert "PrivacySession" not in repr(vars(session.ledger))


def test_any_estimator_may_be_next(rows: Any, space: SecretSpace) -> None:
    X, y = rows
    labels = (y > 0).astype(int)
    session = PrivacySession(X, labels, secret=space, budget=Nats(1.0))
    scaler = session.release(StandardScaler(), budget=0.25)
    svm = session.release(LinearSVC(), budget=0.25, noise="isotropic")
    assert scaler.value.transform(X).shape == X.shape
    assert svm.value.predict(X).shape == (60,)
    assert svm.guarantee.noise == "isotropic"


@pytest.mark.parametrize("y", [np.arange(5) % 2, np.linspace(0, 1, 5), np.zeros((5, 2))])
def test_rows_and_targets_must_match(rows: Any, y: Any) -> None:
    with pytest.raises(ValueError, match="y"):
        PrivacySession(rows[0], y, budget=Nats(1.0), secret=Subsets(M))


@pytest.mark.parametrize("budget", [math.log(8), 8.0, 55.0])
def test_a_budget_that_hides_nothing_has_to_be_meant(
    rows: Any, budget: float, tmp_path: Path
) -> None:
    """The exact model was published, and nobody had to say so."""
    founded = tmp_path / "ledger.db"
    options: Any = {"budget": Nats(budget), "ledger": f"sqlite:///{founded}"}
    with pytest.raises(BudgetError, match="allow_exact"):
        PrivacySession(*rows, secret=Subsets(8), **options)
    with pytest.raises(BudgetError, match="allow_exact"):
        PrivacySession.over(range(8), **options)
    with pytest.raises(BudgetError, match="allow_exact=True"):
        PACPrivate(Ridge(), secret=Subsets(8), **options).fit(*rows)
    assert not founded.exists()
    exact = PACPrivate(Ridge(), secret=Subsets(8), budget=Nats(budget, allow_exact=True)).fit(*rows)
    guarantee = exact.guarantee_
    assert guarantee.status.kind == "hides nothing"
    assert guarantee.released == ()
    assert "coef_, without noise" in guarantee.public
    assert "released with noise    nothing" in str(guarantee)
    with PrivacySession.over(range(8), budget=Nats(budget, allow_exact=True)) as session:
        session.release_function(float)
        assert session.guarantee_.released == ()
        assert session.guarantee_.noiseless
        assert "1 release(s), without noise" in session.guarantee_.public


def test_just_below_the_entropy_there_is_noise(rows: Any) -> None:
    model = PACPrivate(Ridge(), secret=Subsets(8), budget=Nats(2.0)).fit(*rows)
    assert "coef_" in model.guarantee_.released
    assert not model.guarantee_.noiseless


def test_a_guarantee_before_the_first_release_states_the_ceiling(rows: Any) -> None:
    """It said 'at most 50.00 %' and '-0.000-DP', of nothing."""
    session = PrivacySession(*rows, budget=0.25, secret=Subsets(8))
    answering = PACPrivate(KNeighborsClassifier(), budget=0.25, secret=Subsets(8)).fit(
        rows[0], rows[1] > np.median(rows[1])
    )
    for guarantee in (session.guarantee_, answering.guarantee_):
        assert guarantee.spent == 0.25
        assert guarantee.metered == 0.0
        assert guarantee.n_releases == 0
        assert "all that this session may release" in guarantee.promise
        assert guarantee.posterior_membership == pytest.approx(0.83789, abs=1e-5)
        assert "-0.000" not in str(guarantee)
    capped = PrivacySession(*rows, budget=Membership(0.6), secret=Subsets(8)).guarantee_
    assert capped.spent == capped.posterior_membership == 0.6
    assert capped.information == pytest.approx(math.log(8))


def test_after_its_with_block_a_session_releases_nothing(rows: Any) -> None:
    with PrivacySession(*rows, budget=0.5, secret=Subsets(8)) as session:
        session.release(Ridge(), budget=0.1)
        responder = session.responder(
            Ridge(), query_budget=0.01, prior=Range(-20.0, 20.0), answers="values"
        )
        stored = responder.predict(rows[0][:2])
    spent = session.ledger.spent
    attempts = [
        lambda: session.release(Ridge(), budget=0.1),
        lambda: session.release_function(lambda X, y: y.mean(), budget=0.1),
        lambda: session.release_function(lambda X, y: len(y), noise="one_sided", budget=0.1),
        lambda: session.respond(
            Ridge(alpha=2.0), rows[0][:2], query_budget=0.01, prior=Range(-20.0, 20.0)
        ),
        lambda: responder.predict(rows[0][2:9]),
        lambda: account_of(session).charge(session.ledger.events[0]),
    ]
    for attempt in attempts:
        with pytest.raises(RuntimeError, match="closed"):
            attempt()
    assert session.ledger.spent == spent
    np.testing.assert_array_equal(responder.predict(rows[0][:2]), stored)
    assert session.guarantee_.metered == spent


@pytest.mark.parametrize("rows", [None, 3.5, "rows.csv"])
def test_a_session_is_about_rows(rows: Any) -> None:
    with pytest.raises(TypeError, match="X must be the rows"):
        PrivacySession(rows, budget=0.25)
