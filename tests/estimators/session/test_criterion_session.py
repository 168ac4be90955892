"""Sessions that cap what an adversary achieves, and what they tell about single rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from pacsklearn_publish import publish
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import (
    Guarantee,
    NoiseBackend,
    PACPrivate,
    PrivacySession,
    SecretSpace,
)
from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    BundleError,
    LedgerMismatchError,
    UnknownNameError,
)
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion, k_of_n
from pacsklearn.kernel.ledger.sqlite_ledger import SQLiteLedger
from pacsklearn.kernel.noise.criterion import CriterionBackend
from pacsklearn.kernel.noise.lattice import EigenBackend
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric

X, Y = load_iris(return_X_y=True)
QUICK = CriterionBackend(n_draws=512, n_certificate=1024)
LDA = LinearDiscriminantAnalysis()


def session(criterion="membership", budget=0.6, **options) -> PrivacySession:
    return PrivacySession(X, Y, budget=budget, criterion=criterion, n_subsets=16, **options)


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
        with pytest.raises(BudgetExhaustedError):
            capped.release(LDA, noise=QUICK)


def test_successes_and_nats_are_never_added(tmp_path: Path) -> None:
    ledger = SQLiteLedger.found(f"sqlite:///{tmp_path}/nats.db", 1.0).uri
    with PrivacySession(X, Y, budget=1.0, n_subsets=16, ledger=ledger) as nats:
        nats.release(LDA, budget=0.5)
    with pytest.raises(LedgerMismatchError):
        session(ledger=ledger).release(LDA, noise=QUICK)


def test_a_capped_session_is_saved_with_its_criterion(tmp_path: Path) -> None:
    ledger = SQLiteLedger.found(
        f"sqlite:///{tmp_path}/success.db", 1.0, unit="success at membership"
    )
    with session(ledger=ledger.uri) as capped:
        capped.release(LDA, noise=QUICK)
        capped.save(tmp_path / "session", key="a long passphrase of tests")
    again = PrivacySession.load(tmp_path / "session", key="a long passphrase of tests")
    assert again.guarantee_.criterion == "membership"
    with pytest.raises(BudgetExhaustedError):
        again.release(LDA, noise=QUICK)


@pytest.mark.parametrize(
    ("criterion", "budget", "name"),
    [
        ("identification", 0.2, "identification"),
        ("70_of_n", 0.3, "70-of-150"),
        (partial(k_of_n, k=72), 0.3, "72-of-150"),
        (GuessCriterion(np.eye(16), "naming", "name it"), 0.3, "naming"),
    ],
)
def test_other_criteria(criterion, budget: float, name: str) -> None:
    guarantee = session(criterion, budget).release(LDA, noise=QUICK).guarantee
    assert guarantee.criterion == name
    assert guarantee.spent <= budget


@pytest.mark.parametrize(
    ("criterion", "budget", "error", "message"),
    [
        ("membership", 0.5, BudgetError, "guessing blindly has 0.5"),
        ("membership", 1.0, BudgetError, "give a cap between that and 1"),
        ("identification", 0.01, BudgetError, "guessing blindly has 0.0625"),
        ("memberships", 0.6, UnknownNameError, "No criterion is called 'memberships'"),
        (3, 0.6, ValueError, "criterion must be None, one of 'identification', 'k_of_n'"),
        (lambda _: 3, 0.6, TypeError, "criterion must return a Criterion"),
    ],
)
def test_bad_criteria(criterion, budget: float, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        session(criterion, budget)


def test_answers_have_no_criterion() -> None:
    with pytest.raises(ValueError, match="do not add up over them"):
        session().respond(KNeighborsClassifier(), X[:2])
    fitted = PACPrivate(KNeighborsClassifier(), criterion="membership", budget=0.6, n_subsets=16)
    with pytest.raises(ValueError, match="do not add up over them"):
        fitted.fit(X, Y)


def test_membership_means_nothing_for_arbitrary_candidates() -> None:
    with pytest.raises(TypeError):
        PrivacySession.over(range(4), budget=0.5, criterion="membership")  # type: ignore[call-arg]


def test_far_less_noise_for_the_same_promise_about_membership() -> None:
    nats = PACPrivate(LDA, budget=1 / 64, n_subsets=16).fit(X, Y)
    promised = nats.guarantee_.posterior_membership
    capped = PACPrivate(LDA, criterion="membership", budget=promised, noise=QUICK, n_subsets=16)
    capped.fit(X, Y)
    assert capped.guarantee_.posterior_membership <= promised
    assert capped.guarantee_.information > 4 * nats.guarantee_.information


def test_default_noise_follows_the_criterion() -> None:
    assert PACPrivate(LDA, n_subsets=4).fit(X, Y).guarantee_.noise == "logdet"
    capped = PACPrivate(LDA, criterion="identification", budget=0.6, n_subsets=4).fit(X, Y)
    assert capped.guarantee_.noise == "criterion"
    with pytest.raises(ValueError, match="give criterion='membership'"):
        PACPrivate(LDA, noise="criterion", n_subsets=4).fit(X, Y)


class Doubtful(NoiseBackend):
    """A proof that is held to be a certificate of the given confidence."""

    def __init__(self, confidence: float) -> None:
        self.confidence = confidence

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        law = EigenBackend().calibrate(support, target, metric)
        return replace(law, confidence=self.confidence)


def test_confidences_of_releases_add_their_doubts() -> None:
    """Of 3, 4 and 0 percent: all bounds hold together with 93 percent at least, not with 93.12."""
    with PrivacySession(X, Y, budget=1.0, n_subsets=16) as many:
        for confidence, together in ((0.97, 0.97), (0.96, 0.93), (1.0, 0.93)):
            last = many.release(LDA, budget=0.25, noise=Doubtful(confidence))
            assert last.event.confidence == confidence
            assert last.guarantee.confidence == pytest.approx(together, abs=1e-12)
            assert many.guarantee_.confidence == pytest.approx(together, abs=1e-12)


class TestIndividual:
    def test_reported_where_asked_for(self) -> None:
        with PrivacySession(X, Y, budget=1.0, n_subsets=16) as one:
            plain = one.release(LDA, budget=0.25)
            asked = one.release(LDA, budget=0.25, individual=True)
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
        with PrivacySession(X, Y, budget=10.0, n_subsets=4, allow_exact=True) as open_book:
            told = open_book.release(LDA, individual=True).individual
        assert told is not None
        np.testing.assert_allclose(told.values, np.log(2), atol=1e-6)


def test_residual_figures_of_r_pac() -> None:
    guarantee = PACPrivate(LDA, budget=0.25, n_subsets=16).fit(X, Y).guarantee_
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
        with session(blunt) as capped:
            with pytest.raises(BudgetError, match="allow_exact=True"):
                capped.release(LDA)
            assert not capped.ledger.events
        with pytest.raises(BudgetError, match="allow_exact=True"):
            PACPrivate(LDA, criterion=blunt, budget=0.6, n_subsets=16).fit(X, Y)
        meant = PACPrivate(LDA, criterion=blunt, budget=0.6, n_subsets=16, allow_exact=True)
        exact = meant.fit(X, Y)
        assert exact.guarantee_.noiseless
        assert exact.guarantee_.status.kind == "hides nothing"
        assert exact.guarantee_.information == pytest.approx(np.log(16), rel=1e-9)
        with pytest.raises(BundleError, match="HIDES NOTHING"):
            publish(exact, tmp_path / "model.pac")

    def test_a_single_membership_is_enough(self) -> None:
        """One bit of at most four: the subset is not named, the row is known all the same."""
        with session(blunt) as capped, pytest.raises(BudgetError, match="membership of one unit"):
            capped.release_function(lambda rows, _: float((rows == X[7]).all(axis=1).any()))
        with PrivacySession(X, Y, budget=2.7, n_subsets=16) as nats:
            release = nats.release_function(lambda rows, _: rows[:, 0].mean(), budget=1.0)
        assert release.guarantee.certified_membership < 0.9999  # and so it needs no consent
        assert release.guarantee.status.kind == "proved"

    @pytest.mark.parametrize("short_of", [1e-5, 1e-4])
    def test_a_budget_just_under_the_entropy_is_caught(self, short_of: float) -> None:
        budget = float(np.log(16)) - short_of
        with PrivacySession.over(range(16), budget=budget) as nats:
            with pytest.raises(BudgetError, match="allow_exact=True"):
                nats.release_function(float)
            assert not nats.ledger.events
            assert nats.release_function(float, budget=1.0).guarantee.status.kind == "proved"
        nats = PrivacySession(X, Y, budget=budget, n_subsets=16)
        with nats, pytest.raises(BudgetError, match="allow_exact=True"):
            nats.responder(KNeighborsClassifier(), max_answers=9)

    @pytest.mark.parametrize("criterion", ["membership", "identification", blunt])
    def test_what_all_candidates_agree_on_needs_no_consent(self, criterion) -> None:
        with session(criterion) as capped:
            release = capped.release_function(lambda rows, labels: 3.0)
        assert (release.value, release.guarantee.information) == (3.0, 0.0)
        assert release.guarantee.status.kind == "proved"

    def test_an_exact_value_that_keeps_the_cap_needs_no_consent(self) -> None:
        """One pair of six is told from the others: memberships are right in 4 of 6 cases."""
        rows = np.arange(4.0)[:, None]
        pairs = SecretSpace.from_subsets(list(combinations(range(4), 2)), n_rows=4)
        options = {"space": pairs, "criterion": "membership", "budget": 0.7}
        with PrivacySession(rows, **options) as capped:
            guarantee = capped.release_function(lambda x: float(x.sum() == 1)).guarantee
        assert guarantee.noiseless
        assert guarantee.spent == pytest.approx(4 / 6, rel=1e-9)
        told = (np.log(6) + 5 * np.log(6 / 5)) / 6  # entropy of one in six
        assert guarantee.information == pytest.approx(told, rel=1e-9)
        assert guarantee.status.kind == "proved"

    def test_consent_is_kept_in_a_file(self, tmp_path: Path) -> None:
        ledger = SQLiteLedger.found(f"sqlite:///{tmp_path}/a.db", 9.0).uri
        with PrivacySession(X, Y, budget=9.0, n_subsets=8, allow_exact=True, ledger=ledger) as one:
            one.save(tmp_path / "session", key="a key of the curator")
        again = PrivacySession.load(tmp_path / "session", key="a key of the curator")
        assert again.release(LDA, budget=3.0).guarantee.status.kind == "hides nothing"
