"""Sessions that cap what an adversary achieves, and what they tell about single rows."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pacsklearn_publish import publish
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import (
    Guarantee,
    Identification,
    KOfN,
    Membership,
    Nats,
    PACPrivate,
    PrivacySession,
    Subsets,
)
from pacsklearn.capping.criterion import CriterionBackend
from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    BundleError,
    LedgerError,
    SessionFileError,
)
from pacsklearn.kernel.bounds.posterior_success import mutual_information_for_success
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion, k_of_n
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.plugins import NoiseBackend, Success
from pacsklearn.shaping.closed_forms import EigenBackend
from pacsklearn.universe.balanced_space import balanced_space
from pacsklearn.universe.listed_space import listed_space

X, Y = load_iris(return_X_y=True)
QUICK = CriterionBackend(n_draws=512, n_certificate=1024)
LDA = LinearDiscriminantAnalysis()


SIXTY = Membership(0.6)


def session(budget: Budget = SIXTY, **options: Any) -> PrivacySession:
    return PrivacySession(X, Y, budget=budget, secret=Subsets(16), **options)


def test_one_release_under_a_cap() -> None:
    with session() as capped:
        release = capped.release(LDA, noise=QUICK)
        guarantee = release.guarantee
        assert 0.5 < guarantee.spent <= 0.6
        assert guarantee.posterior_membership <= guarantee.spent
        assert guarantee.criterion == "membership"
        assert guarantee.confidence == 1 - 1e-6
        assert guarantee.information > 0
        assert guarantee.unit == "success at membership"
        assert release.event.bound == guarantee.information
        assert capped.ledger.unit == "success at membership"
        assert capped.guarantee_.spent == guarantee.spent
        assert Guarantee.from_json(guarantee.to_json()) == guarantee
        for text in ("the cap being 60.00 %", "criterion membership", "Other aims"):
            assert text in str(guarantee)
        assert "nats" not in str(guarantee).split("mutual information")[0]
        # A success is no number of nats of which some are left.
        with pytest.raises(BudgetExhaustedError, match="a cap allows one release"):
            capped.release(LDA, noise=QUICK)


def test_a_shared_ledger_is_charged_what_the_cap_reveals(tmp_path: Path) -> None:
    """A cap had to have a ledger of its own: its successes add up with nothing."""
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/nats.db", 1.0)
    with PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(16), ledger=ledger.uri) as nats:
        first = nats.release(LDA, budget=0.5).event
    with session(ledger=ledger.uri) as capped:
        event = capped.release(LDA, noise=QUICK).event
        assert (event.unit, capped.ledger.unit) == ("success at membership", event.unit)
    (_, shared) = ledger.events
    assert (shared.unit, shared.charge) == ("nats", event.bound)
    assert ledger.spent == pytest.approx(first.charge + event.bound, abs=1e-15)
    full = SharedLedger.found(f"sqlite:///{tmp_path}/full.db", event.bound / 2)
    with session(ledger=full.uri) as refused, pytest.raises(BudgetExhaustedError):
        refused.release(LDA, noise=QUICK)
    assert full.spent == 0
    assert not refused.ledger.events


def test_a_ledger_of_successes_is_refused(tmp_path: Path) -> None:
    other = SharedLedger.found(f"sqlite:///{tmp_path}/a.db", 1.0, unit="success at membership")
    with pytest.raises(LedgerError):
        session(ledger=other.uri)
    with pytest.raises(LedgerError):
        session(ledger=MemoryLedger(1.0, "success at membership"))


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "budget",
    [Membership(0.6), Success(GuessCriterion(np.eye(16), "naming", "name it"), 0.3)],
    ids=["membership", "naming"],
)
def test_a_capped_session_is_saved_with_its_budget(tmp_path: Path, budget: Budget) -> None:
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/nats.db", 1.0)
    with session(budget, ledger=ledger.uri) as capped:
        capped.release(LDA, noise=QUICK)
        promised = capped.guarantee_.criterion
        capped.save(tmp_path / "session", key="a long passphrase of tests")
    again = PrivacySession.load(tmp_path / "session", key="a long passphrase of tests")
    assert again.guarantee_.criterion == promised
    with pytest.raises(BudgetExhaustedError):
        again.release(LDA, noise=QUICK)


def test_a_budget_that_is_code_is_not_saved(tmp_path: Path) -> None:
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/nats.db", 1.0)
    coded = session(Success(partial(k_of_n, k=72), 0.3), ledger=ledger.uri)
    with coded, pytest.raises(SessionFileError, match="Success"):
        coded.save(tmp_path / "session", key="a long passphrase of tests")


@pytest.mark.product(only=2)
@pytest.mark.parametrize(
    ("budget", "name", "aim"),
    [
        (Identification(0.2), "identification", "naming the subset"),
        (KOfN(70, 0.3), "70-of-150", "naming the subset"),
        (KOfN(58, 0.6), "58-of-150", "58-of-150"),
        (Success(partial(k_of_n, k=72), 0.3), "72-of-150", "naming the subset"),
        (Success(GuessCriterion(np.eye(16), "naming", "name it"), 0.3), "naming", "naming the sub"),
    ],
)
def test_other_criteria_are_capped_and_their_success_is_promised(
    budget: Any, name: str, aim: str
) -> None:
    guarantee = session(budget).release(LDA, noise=QUICK).guarantee
    assert guarantee.criterion == name
    assert guarantee.spent <= budget.cap
    assert f"Capped is success at {aim}" in guarantee.promise


def test_a_cap_on_what_the_promise_is_about_is_not_repeated() -> None:
    assert "Capped" not in session(Membership(0.6)).release(LDA, noise=QUICK).guarantee.promise
    with PrivacySession.over(range(4), budget=Identification(0.7)) as keys:
        assert "Capped" not in keys.release_function(float, noise=QUICK).guarantee.promise


def test_answers_are_refused_and_nats_of_the_same_success_offered() -> None:
    nats = mutual_information_for_success(0.6, 0.5)
    with pytest.raises(BudgetError, match=re.escape(f"Nats({nats:.3g})")):
        session().respond(KNeighborsClassifier(), X[:2])
    fitted = PACPrivate(KNeighborsClassifier(), budget=Membership(0.6), secret=Subsets(16))
    with pytest.raises(BudgetError, match="Nats"):
        fitted.fit(X, Y)


def test_membership_means_nothing_for_arbitrary_candidates() -> None:
    with pytest.raises(ValueError, match="membership"):
        PrivacySession.over(range(4), budget=Membership(0.7))
    with PrivacySession.over(range(4), budget=Identification(0.7)) as keys:
        keys.release_function(float, noise=QUICK)
        assert 0.25 < keys.guarantee_.spent <= 0.7


def test_far_less_noise_for_the_same_promise_about_membership() -> None:
    nats = PACPrivate(LDA, budget=1 / 64, secret=Subsets(16)).fit(X, Y)
    promised = nats.guarantee_.posterior_membership
    capped = PACPrivate(LDA, budget=Membership(promised), noise=QUICK, secret=Subsets(16))
    capped.fit(X, Y)
    assert capped.guarantee_.posterior_membership <= promised
    assert capped.guarantee_.information > 4 * nats.guarantee_.information


def test_default_noise_follows_the_criterion() -> None:
    assert PACPrivate(LDA, secret=Subsets(4)).fit(X, Y).guarantee_.noise == "logdet"
    capped = PACPrivate(LDA, budget=Identification(0.6), secret=Subsets(4)).fit(X, Y)
    assert capped.guarantee_.noise == "criterion"
    with pytest.raises(ValueError, match="criterion"):
        PACPrivate(LDA, noise="criterion", secret=Subsets(4)).fit(X, Y)


class Doubtful(NoiseBackend):
    """A proof that is held to be a certificate of the given confidence."""

    def __init__(self, confidence: float) -> None:
        self.confidence = confidence

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        law = EigenBackend().calibrate(support, target, metric)
        return replace(law, confidence=self.confidence)


def test_confidences_of_releases_add_their_doubts() -> None:
    """Of 3, 4 and 0 percent: all bounds hold together with 93 percent at least, not with 93.12."""
    with PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(16)) as many:
        for confidence, together in ((0.97, 0.97), (0.96, 0.93), (1.0, 0.93)):
            last = many.release(LDA, budget=0.25, noise=Doubtful(confidence))
            assert last.event.confidence == confidence
            assert last.guarantee.confidence == pytest.approx(together, abs=1e-12)
            assert many.guarantee_.confidence == pytest.approx(together, abs=1e-12)


class TestIndividual:
    def test_reported_where_asked_for(self) -> None:
        with PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(16)) as one:
            # First, so that what is told follows from the list alone and not from another draw.
            asked = one.release(LDA, budget=0.25, individual=True)
            plain = one.release(LDA, budget=0.25)
        assert plain.individual is None
        told = asked.individual
        assert told is not None
        assert told.values.shape == (150,)
        assert 0 < told.worst <= 0.25
        assert told.confidence == 1 - 1e-6
        assert "at confidence 0.999999;" in " ".join(str(asked.guarantee).split())
        assert told.posterior_membership < asked.guarantee.posterior_membership
        assert "about any one row" in str(asked.guarantee)

    def test_a_release_without_noise_tells_what_the_outputs_tell(self) -> None:
        with PrivacySession(
            X, Y, budget=Nats(10.0, allow_exact=True), secret=Subsets(4)
        ) as open_book:
            told = open_book.release(LDA, individual=True).individual
        assert told is not None
        np.testing.assert_allclose(told.values, np.log(2), atol=1e-6)


def test_residual_figures_of_r_pac() -> None:
    guarantee = PACPrivate(LDA, budget=0.25, secret=Subsets(16)).fit(X, Y).guarantee_
    entropy = np.log(16)
    assert guarantee.remaining_entropy == pytest.approx(entropy - guarantee.spent)
    assert guarantee.intrinsic_privacy == 0.0
    assert guarantee.residual_privacy == pytest.approx(-guarantee.spent)
    assert guarantee.to_dict()["residual_privacy"] == guarantee.residual_privacy
    assert "remains unknown" in str(guarantee)


def blunt(space) -> GuessCriterion:
    """Half right whatever is guessed: a cap of .6 on it asks for no noise at all."""
    return GuessCriterion(np.full((1, space.n_candidates), 0.5), "blunt", "do better than half")


class TestHidingNothing:
    """Consent is asked by what the law hides, whichever criterion or budget was stated."""

    def test_a_criterion_is_no_other_door(self, tmp_path: Path) -> None:
        """The exact model was released without consent, and published."""
        with session(Success(blunt, 0.6)) as capped:
            with pytest.raises(BudgetError, match="allow_exact=True"):
                capped.release(LDA)
            assert not capped.ledger.events
        with pytest.raises(BudgetError, match="allow_exact=True"):
            PACPrivate(LDA, budget=Success(blunt, 0.6), secret=Subsets(16)).fit(X, Y)
        meant = PACPrivate(LDA, budget=Success(blunt, 0.6, allow_exact=True), secret=Subsets(16))
        exact = meant.fit(X, Y)
        assert exact.guarantee_.noiseless
        assert exact.guarantee_.status.kind == "hides nothing"
        assert exact.guarantee_.information == pytest.approx(np.log(16), rel=1e-9)
        with pytest.raises(BundleError, match="NOTHING"):
            publish(exact, tmp_path / "model.pac")

    def test_a_single_membership_is_enough(self) -> None:
        """One bit of at most four: the subset is not named, the row is known all the same."""
        with session(Success(blunt, 0.6)) as capped, pytest.raises(BudgetError, match="membership"):
            capped.release_function(lambda rows, _: float((rows == X[7]).all(axis=1).any()))
        with PrivacySession(X, Y, budget=Nats(2.7), secret=Subsets(16)) as nats:
            release = nats.release_function(lambda rows, _: rows[:, 0].mean(), budget=1.0)
        assert release.guarantee.certified_membership < 0.9999  # and so it needs no consent
        assert release.guarantee.status.kind == "proved"

    @pytest.mark.parametrize("short_of", [1e-5, 1e-4])
    def test_a_budget_just_under_the_entropy_is_caught(self, short_of: float) -> None:
        budget = float(np.log(16)) - short_of
        with PrivacySession.over(range(16), budget=Nats(budget)) as nats:
            with pytest.raises(BudgetError, match="allow_exact=True"):
                nats.release_function(float)
            assert not nats.ledger.events
            assert nats.release_function(float, budget=1.0).guarantee.status.kind == "proved"
        nats = PrivacySession(X, Y, budget=Nats(budget), secret=Subsets(16))
        with nats, pytest.raises(BudgetError, match="allow_exact=True"):
            nats.responder(KNeighborsClassifier(), max_answers=9)

    @pytest.mark.parametrize(
        "budget",
        [Membership(0.6), Identification(0.6), Success(blunt, 0.6)],
        ids=["membership", "identification", "blunt"],
    )
    def test_what_all_candidates_agree_on_needs_no_consent(self, budget: Budget) -> None:
        with session(budget) as capped:
            release = capped.release_function(lambda rows, labels: 3.0)
        assert (release.value, release.guarantee.information) == (3.0, 0.0)
        assert release.guarantee.status.kind == "proved"

    def test_an_exact_value_that_keeps_the_cap_needs_no_consent(self) -> None:
        """One pair of six is told from the others: memberships are right in 4 of 6 cases."""
        rows = np.arange(4.0)[:, None]
        pairs = listed_space(list(combinations(range(4), 2)), n_rows=4)
        with PrivacySession(rows, secret=pairs, budget=Membership(0.7)) as capped:
            guarantee = capped.release_function(lambda x: float(x.sum() == 1)).guarantee
        assert guarantee.noiseless
        assert guarantee.spent == pytest.approx(4 / 6, rel=1e-9)
        told = (np.log(6) + 5 * np.log(6 / 5)) / 6  # entropy of one in six
        assert guarantee.information == pytest.approx(told, rel=1e-9)
        assert guarantee.status.kind == "proved"

    def test_consent_is_kept_in_a_file(self, tmp_path: Path) -> None:
        ledger = SharedLedger.found(f"sqlite:///{tmp_path}/a.db", 9.0).uri
        with PrivacySession(
            X, Y, budget=Nats(9.0, allow_exact=True), secret=Subsets(8), ledger=ledger
        ) as one:
            one.save(tmp_path / "session", key="a key of the curator")
        again = PrivacySession.load(tmp_path / "session", key="a key of the curator")
        assert again.release(LDA, budget=3.0).guarantee.status.kind == "hides nothing"


BUDGETS = Nats(0.25), Membership(0.6), Identification(0.6), Identification(0.3)


@pytest.mark.parametrize("mine", BUDGETS, ids=str)
@pytest.mark.parametrize("other", BUDGETS, ids=str)
def test_a_plan_under_another_cap_is_refused(mine: Budget, other: Budget) -> None:
    """A success of .9 was charged as .9 nats, and .25 nats stated as a success of 25 %."""
    space = balanced_space(len(X), n_subsets=8, seed=0)
    plan = PrivacySession(X, Y, secret=space, budget=other).prepare(LDA)
    with PrivacySession(X, Y, secret=space, budget=mine) as own:
        if mine is other and isinstance(mine, Nats):  # counted alike, and charged by its own law
            assert own.take(plan).guarantee.spent <= 0.25
            return
        with pytest.raises(ValueError, match="under another cap"):
            own.take(plan)
        assert own.ledger.spent == 0


@pytest.mark.parametrize("noise", ["logdet", "diagonal", "eigen", "isotropic"])
def test_noise_that_bounds_nats_keeps_no_cap(noise: str) -> None:
    """Its 0.6 nats were stated as a success of 60 %, proved."""
    with session() as capped, pytest.raises(ValueError, match=r"noise=.* give noise='auto'"):
        capped.release(LDA, noise=noise)
    assert not capped.ledger.events
    model = PACPrivate(LDA, SIXTY, noise=noise, secret=Subsets(16))
    for begun in (model.fit, model.plan):
        with pytest.raises(ValueError, match=r"noise=.* give noise='auto'"):
            begun(X, Y)
