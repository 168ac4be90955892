"""A search pays for all its fits before the first one, or does not start."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from pacsklearn import PACPrivate, Parameters, Subsets
from pacsklearn.estimators.private_search import PrivateGridSearchCV
from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    BudgetWarning,
    ForeignProcessError,
    LedgerError,
)
from pacsklearn.kernel.ledger.event import LatticeNoise
from pacsklearn.kernel.ledger.ledger import MemoryLedger, Reservation
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn.upkeep.verification import verify_ledger

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] + 0.1 * X[:, 1] > 0).astype(int)


class Stub(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Charges ``share`` of its budget, appends a line to ``log``, then fits."""

    def __init__(
        self,
        estimator: Any,
        budget: float = 0.125,
        ledger: Any = None,
        share: float = 1.0,
        log: str | None = None,
        fails: bool = False,
        answers: bool = False,
    ) -> None:
        self.estimator = estimator
        self.budget = budget
        self.ledger = ledger
        self.share = share
        self.log = log
        self.fails = fails
        self.answers = answers

    def fit(self, X: Any, y: Any) -> Stub:
        charge = self.share * self.budget
        ledger = open_ledger(self.ledger, ceiling=self.budget)
        ledger.charge(LatticeNoise("parameters", charge, "nats", "stub", charge, 8, 5, 4))
        if self.log:
            with Path(self.log).open("a") as file:
                file.write("fit\n")
        if self.fails:
            raise ZeroDivisionError("on purpose")
        self.fitted_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.fitted_.classes_
        if self.answers:
            self.answers_given_ = 0
            self.remaining_budget_ = self.budget - charge
        return self

    def predict(self, X: Any) -> Any:
        return self.fitted_.predict(X)


@pytest.fixture
def ledger(tmp_path: Path) -> SharedLedger:
    return SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", ceiling=4.0)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "fits"


GRID = {"estimator__alpha": [0.1, 1.0, 10.0]}


def search_for(ledger: Any, *, grid: Any = None, **options: Any) -> PrivateGridSearchCV:
    stub = Stub(RidgeClassifier(), **options.pop("stub", {}))
    return PrivateGridSearchCV(stub, grid or GRID, ledger=ledger, **{"cv": 3} | options)


# What needs worker processes comes first, and an error ends them: all share one pool.
class TestWorkers:
    def test_all_charge_one_reservation(self, ledger: SharedLedger) -> None:
        search = search_for(ledger, n_jobs=2).fit(X, Y)
        events = search.reservation_.events
        assert len([event for event in events if event.kind == "parameters"]) == 10
        assert len({event.key for event in events}) == len(events)
        assert ledger.spent == 1.25
        assert verify_ledger(ledger).sequence == 13
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.product(only=1)
@pytest.mark.skipif(
    "ledger" not in inspect.signature(PACPrivate).parameters, reason="PACPrivate takes no ledger"
)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_over_a_private_estimator(ledger: SharedLedger, n_jobs: int | None) -> None:
    private = PACPrivate(RidgeClassifier(), release=Parameters(certify=False), secret=Subsets(8))
    grid = {"budget": [0.25, 0.5], "estimator__alpha": [0.1, 1.0]}
    search = PrivateGridSearchCV(private, grid, ledger=ledger, cv=2, n_jobs=n_jobs).fit(X, Y)
    assert search.reserved_ == 2 * 2 * 0.75 + 0.5
    charges = [event for event in search.reservation_.events if event.kind == "parameters"]
    assert len(charges) == 9
    assert ledger.spent == pytest.approx(sum(event.charge for event in charges))
    assert ledger.spent <= search.reserved_
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.guarantee_.spent <= search.best_params_["budget"]
    verify_ledger(ledger)


class TestExhaustion:
    @pytest.mark.parametrize("place", ["database", "memory", "own account"])
    def test_nothing_is_fitted_when_it_does_not_fit(
        self, place: str, tmp_path: Path, log: Path
    ) -> None:
        uri = SharedLedger.found(f"sqlite:///{tmp_path}/small.db", 1.0).uri
        where = {
            "database": {"ledger": uri, "budget": 1.0},
            "memory": {"ledger": MemoryLedger(1.0)},
            "own account": {"ledger": None, "budget": 1.0},
        }[place]
        search = search_for(stub={"log": str(log)}, **where)
        with pytest.raises(BudgetExhaustedError) as caught:
            search.fit(X, Y)
        assert (caught.value.spent, caught.value.asked, caught.value.ceiling) == (0, 1.25, 1.0)
        assert not log.exists()
        if place == "database":
            assert SharedLedger(uri).events == ()

    def test_it_counts_what_others_spent(self, ledger: SharedLedger, log: Path) -> None:
        ledger.charge(LatticeNoise("parameters", 3.0, "nats", "stub", 3.0, 8, 5, 4))
        with pytest.raises(BudgetExhaustedError):
            search_for(ledger, stub={"log": str(log)}).fit(X, Y)
        assert not log.exists()
        assert ledger.spent == 3.0

    @pytest.mark.product(only=1)
    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_it_never_becomes_nan(self, ledger: SharedLedger, n_jobs: int | None) -> None:
        # A stub that charges more than it says runs into the reservation's ceiling.
        search = search_for(ledger, stub={"share": 1.5}, n_jobs=n_jobs)
        with pytest.raises(BudgetExhaustedError) as caught:
            search.fit(X, Y)
        assert caught.value.ceiling == 1.25
        assert not hasattr(search, "cv_results_")
        assert ledger.spent == 6 * 0.1875
        assert ledger.reservations == ()
        verify_ledger(ledger)

    def test_errors_of_a_fit_end_the_search(self, ledger: SharedLedger, log: Path) -> None:
        search = search_for(ledger, stub={"fails": True, "log": str(log)})
        with pytest.raises(ZeroDivisionError) as caught:
            search.fit(X, Y)
        assert log.read_text() == "fit\n"
        assert ledger.spent == 0.125
        assert "were charged 0.125 of the 1.25 nats" in caught.value.__notes__[0]

    def test_an_interrupted_search_says_what_it_was_charged(self, ledger: SharedLedger) -> None:
        calls = iter([0.0, 0.0])

        def score(*_: Any) -> float:
            try:
                return next(calls)
            except StopIteration:
                raise KeyboardInterrupt from None

        with pytest.raises(KeyboardInterrupt) as caught:
            search_for(ledger, scoring=score).fit(X, Y)
        assert ledger.spent == 0.375
        assert "were charged 0.375 of the 1.25 nats" in caught.value.__notes__[0]

    def test_a_grid_without_candidates(self, ledger: SharedLedger) -> None:
        search = PrivateGridSearchCV(Stub(RidgeClassifier()), [], ledger=ledger, cv=3)
        with pytest.raises(ValueError, match="param_grid must list at least one candidate"):
            search.fit(X, Y)

    @pytest.mark.parametrize("fails", [False, True])
    def test_a_refund_that_fails_takes_neither_the_model_nor_the_error(
        self, ledger: SharedLedger, monkeypatch: pytest.MonkeyPatch, *, fails: bool
    ) -> None:
        def full(reservation: Reservation) -> float:
            raise LedgerError("The ledger cannot be used: disk I/O error.")

        monkeypatch.setattr(Reservation, "release_unspent", full)
        search = search_for(ledger, stub={"fails": fails})
        ended: Any = pytest.raises(ZeroDivisionError) if fails else nullcontext()
        with pytest.warns(BudgetWarning, match="disk I/O error"), ended:
            search.fit(X, Y)
        assert hasattr(search, "best_estimator_") is not fails
        assert len(ledger.reservations) == 1

    def test_error_score_is_no_choice(self) -> None:
        assert "error_score" not in inspect.signature(PrivateGridSearchCV).parameters
        assert search_for(None).error_score == "raise"

    @pytest.mark.product(only=1)
    @pytest.mark.parametrize("kind", [PrivateGridSearchCV, GridSearchCV])
    def test_a_ledger_in_memory_cannot_be_sent_to_them(self, kind: type) -> None:
        ledger = MemoryLedger(4.0)
        search = search_for(ledger, n_jobs=2)
        if kind is GridSearchCV:
            private = search.estimator.set_params(ledger=ledger)
            grid = {"estimator__alpha": [1.0, 2.0]}
            search = GridSearchCV(private, grid, n_jobs=2, error_score="raise")
        with pytest.raises(ForeignProcessError, match=r"n_jobs.*sqlite"):
            search.fit(X, Y)
        assert ledger.spent == 0


class TestWhatIsReserved:
    def test_every_fold_and_the_refit(self, ledger: SharedLedger) -> None:
        search = search_for(ledger).fit(X, Y)
        assert search.reserved_ == 10 * 0.125
        assert ledger.spent == 10 * 0.125
        assert ledger.events[0].kind == "reservation"
        assert search.reservation_.is_closed
        assert len([e for e in search.reservation_.events if e.kind == "parameters"]) == 10

    def test_budgets_of_the_grid(self, ledger: SharedLedger) -> None:
        grid = [{"budget": [0.0625, 0.25]}, {"estimator__alpha": [1.0, 2.0]}]
        search = search_for(ledger, grid=grid)
        expected = 3 * (0.0625 + 0.25 + 2 * 0.125) + 0.25
        assert search.total_budget(X, Y) == expected
        assert ledger.spent == 0
        search.fit(X, Y)
        assert search.reserved_ == expected
        assert ledger.spent == 3 * (0.0625 + 0.25 + 2 * 0.125) + search.best_estimator_.budget

    def test_without_a_refit(self, ledger: SharedLedger) -> None:
        search = search_for(ledger, refit=False)
        assert search.total_budget(X, Y) == 9 * 0.125
        search.fit(X, Y)
        assert ledger.spent == 9 * 0.125
        assert not hasattr(search, "best_estimator_")

    def test_sums_are_exact(self) -> None:
        search = search_for(None, budget=1.0, stub={"budget": 0.1})
        assert search.total_budget(X, Y) == 1.0
        search.fit(X, Y)
        assert search.reservation_.spent == 1.0

    def test_splitters_that_need_the_data(self, ledger: SharedLedger) -> None:
        groups = np.arange(60) % 4
        search = search_for(ledger, cv=LeaveOneGroupOut())
        assert search.total_budget(X, Y, groups) == 13 * 0.125
        search.fit(X, Y, groups=groups)
        assert ledger.spent == 13 * 0.125

    def test_splits_that_can_be_read_once(self, ledger: SharedLedger) -> None:
        splits = StratifiedKFold(4).split(X, Y)
        search = search_for(ledger, cv=splits).fit(X, Y)
        assert search.n_splits_ == 4
        assert ledger.spent == 13 * 0.125

    def test_what_was_not_used_comes_back(self, ledger: SharedLedger) -> None:
        search = search_for(ledger, stub={"share": 0.5}).fit(X, Y)
        assert search.reserved_ == 1.25
        assert ledger.spent == search.reservation_.spent == 0.625
        with pytest.raises(LedgerError, match="reservation"):
            search.best_estimator_.fit(X, Y)

    def test_answers_may_still_be_charged(self, ledger: SharedLedger) -> None:
        search = search_for(ledger, stub={"share": 0.5, "answers": True}).fit(X, Y)
        assert not search.reservation_.is_closed
        assert ledger.spent == 1.25
        search.best_estimator_.ledger.charge(
            LatticeNoise("responses", 0.0625, "nats", "stub", 0.0625, 8, 5, 4)
        )
        search.reservation_.release_unspent()
        assert ledger.spent == 0.625 + 0.0625


class TestIsAGridSearch:
    def test_results(self, ledger: SharedLedger) -> None:
        search = search_for(ledger).fit(X, Y)
        assert search.score(X, Y) > 0.9
        assert search.predict(X).shape == (60,)
        assert set(search.best_params_) == {"estimator__alpha"}
        assert len(search.cv_results_["params"]) == 3
        assert list(search.classes_) == [0, 1]
        assert search.estimator.ledger is None
        assert search.best_estimator_.ledger == search.reservation_

    def test_parameters_and_clone(self, ledger: SharedLedger) -> None:
        search = search_for(ledger)
        copied = clone(search)
        assert copied.ledger == ledger
        assert copied.get_params(deep=False).keys() == search.get_params(deep=False).keys()
        copied.set_params(estimator__budget=0.0625).fit(X, Y)
        assert ledger.spent == 10 * 0.0625

    def test_a_pipeline_that_holds_a_private_step(self, ledger: SharedLedger) -> None:
        pipeline = make_pipeline(Normalizer(), Stub(RidgeClassifier()))
        search = PrivateGridSearchCV(
            pipeline, {"stub__budget": [0.125, 0.25], "normalizer": ["passthrough"]}, ledger=ledger
        )
        search.fit(X, Y)
        assert search.reserved_ == 5 * 0.375 + 0.25

    def test_an_address(self, tmp_path: Path) -> None:
        uri = f"sqlite:///{tmp_path}/new.db"
        with pytest.raises(LedgerError, match="ledger"):
            search_for(uri, budget=2.0).fit(X, Y)
        SharedLedger.found(uri, 2.0)
        search_for(uri).fit(X, Y)
        assert SharedLedger(uri).spent == 1.25


class TestWhatCouldGoUncharged:
    @pytest.fixture(autouse=True)
    def _nothing_is_charged(self, ledger: SharedLedger) -> Iterator[None]:
        yield
        assert ledger.events == ()

    @pytest.mark.parametrize(
        "grid",
        [
            {"ledger": [None]},
            {"ledger": [MemoryLedger(1.0)]},
        ],
    )
    def test_another_ledger(self, ledger: SharedLedger, grid: Any) -> None:
        with pytest.raises(ValueError, match="ledger"):
            search_for(ledger, grid=grid).fit(X, Y)

    @pytest.mark.parametrize(
        "step",
        ["passthrough", RidgeClassifier(), Stub(GaussianNB()), BaggingClassifier(Stub(None))],
    )
    def test_another_estimator(self, ledger: SharedLedger, step: Any) -> None:
        pipeline = make_pipeline(Normalizer(), Stub(RidgeClassifier()))
        with pytest.raises(ValueError, match="replace"):
            PrivateGridSearchCV(pipeline, {"stub": [step]}, ledger=ledger).fit(X, Y)

    def test_a_hidden_private_estimator(self, ledger: SharedLedger) -> None:
        pipeline = make_pipeline(BaggingClassifier(Stub(GaussianNB())), Stub(RidgeClassifier()))
        with pytest.raises(ValueError, match="steps"):
            PrivateGridSearchCV(pipeline, {"stub__budget": [1.0]}, ledger=ledger).fit(X, Y)

    @pytest.mark.parametrize("estimator", [RidgeClassifier(), BaggingClassifier(Stub(None))])
    def test_no_private_estimator(self, ledger: SharedLedger, estimator: Any) -> None:
        with pytest.raises(TypeError, match="private"):
            PrivateGridSearchCV(estimator, {}, ledger=ledger).fit(X, Y)

    def test_two_ledgers(self, ledger: SharedLedger) -> None:
        with pytest.raises(ValueError, match="PrivateGridSearchCV"):
            search_for(ledger, stub={"ledger": ledger}).fit(X, Y)

    @pytest.mark.parametrize("budget", [0, math.nan, None])
    def test_budgets_that_are_none(self, ledger: SharedLedger, budget: Any) -> None:
        with pytest.raises(BudgetError):
            search_for(ledger, grid={"budget": [0.125, budget]}).fit(X, Y)

    def test_an_account_without_a_ceiling(self) -> None:
        with pytest.raises(BudgetError, match="budget"):
            search_for(None).fit(X, Y)
