"""A second release about one table in a process warns: a guarantee is about its release alone."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB

from pacsklearn import Membership, PACPrivate, PrivacySession, SRPPPrivate, Subsets
from pacsklearn.estimators.released_tables import RELEASED, ReleasedTables
from pacsklearn.exceptions import BudgetExhaustedError, RepeatedReleaseWarning
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.srpp import SRPPSGDClassifier
from pacsklearn.srpp.scenarios.group_scenario import GroupScenario

X, Y = load_iris(return_X_y=True)
MODEL = PACPrivate(GaussianNB(), budget=1 / 8, secret=Subsets(16))


def warned(work: Callable[[], Any]) -> list[str]:
    """What is said about repeated releases while something is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [str(w.message) for w in caught if w.category is RepeatedReleaseWarning]


def test_a_second_fit_on_a_table_states_the_sum() -> None:
    assert warned(lambda: MODEL.fit(X, Y)) == []
    (said,) = warned(lambda: MODEL.fit(X, Y))
    assert "release 2 about one table" in said
    assert "0.25 nats" in said
    (said,) = warned(lambda: PACPrivate(GaussianNB(), budget=1 / 2, secret=Subsets(16)).fit(X, Y))
    assert "release 3" in said
    assert "0.75 nats" in said


def test_the_line_that_released_is_the_one_that_is_named() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RepeatedReleaseWarning)
        for _ in range(2):
            MODEL.fit(X, Y)
    (one,) = [w for w in caught if w.category is RepeatedReleaseWarning]
    assert Path(one.filename).name == Path(__file__).name


@pytest.mark.product(only=2)
@pytest.mark.parametrize(
    "same",
    [X.copy(), np.asfortranarray(X), pd.DataFrame(X), X.tolist()],
    ids=["copy", "order of bytes", "frame", "list"],
)
def test_a_table_is_known_by_its_values(same: Any) -> None:
    MODEL.fit(X, Y)
    assert len(warned(lambda: MODEL.fit(same, Y))) == 1
    other = X.copy()
    other[0, 0] += 1e-9
    assert warned(lambda: MODEL.fit(other, Y)) == []


def test_other_kinds_of_tables_have_names() -> None:
    names = ReleasedTables()
    texts = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    assert names.name(texts) == names.name(texts.copy()) == names.name(texts.to_numpy())
    assert names.name(texts) != names.name(texts.assign(b=[12, 2]))
    assert names.name(texts) != names.name(texts.assign(a=["x", "z"]))
    rows = sparse.random_array((20, 5), density=0.3, random_state=np.random.default_rng(0))
    assert names.name(rows.tocsr()) == names.name(rows.tocsc())
    assert names.name(rows.tocsr()) != names.name(rows.tocsr() * 2)


def test_a_search_is_warned_about_once() -> None:
    """Folds are tables of their own: crossing them alone releases about each only once."""
    assert warned(lambda: cross_val_score(MODEL, X, Y, cv=3)) == []
    grid = {"estimator__var_smoothing": [1e-9, 1e-6, 1e-3, 1e-2]}
    search = GridSearchCV(PACPrivate(GaussianNB(), budget=1 / 8, secret=Subsets(8)), grid, cv=3)
    assert len(warned(lambda: search.fit(X, Y))) == 1


def test_what_one_session_releases_is_covered_by_its_guarantee() -> None:
    def work() -> None:
        with PrivacySession(X, Y, budget=1 / 4, secret=Subsets(16)) as session:
            for _ in range(3):
                session.release(GaussianNB(), budget=1 / 16)

    assert warned(work) == []
    assert len(warned(work)) == 1


def test_a_ledger_adds_up_and_silences(tmp_path: Path) -> None:
    ledger = SharedLedger.found(f"sqlite:///{tmp_path / 'ledger.db'}", 1 / 4)
    charged = PACPrivate(GaussianNB(), budget=1 / 8, secret=Subsets(16), ledger=ledger)
    assert warned(lambda: charged.fit(X, Y).fit(X, Y)) == []
    with pytest.raises(BudgetExhaustedError):
        charged.fit(X, Y)
    # One beside it is told of those that the ledger has.
    (said,) = warned(lambda: MODEL.fit(X, Y))
    assert "release 3" in said


def test_successes_and_other_units_do_not_add() -> None:
    capped = PACPrivate(GaussianNB(), budget=Membership(0.7), secret=Subsets(16))
    MODEL.fit(X, Y)
    (said,) = warned(lambda: capped.fit(X, Y))
    assert "do not add" in said
    (said,) = warned(lambda: capped.fit(X, Y))
    assert "do not add" in said


def test_releases_about_a_column_and_runs_count() -> None:
    column = np.where(np.arange(len(X)) % 2, "a", "b")
    sliced = SRPPPrivate(LogisticRegression(), budget=1.0, scenario=GroupScenario(n_draws=1))

    def release() -> None:
        sliced.fit(X, Y, secret=column, realized="a")

    def descend() -> None:
        SRPPSGDClassifier(budget=1.0, epochs=1).fit(X, Y)

    assert warned(release) == []
    (said,) = warned(release)
    assert re.search(r"[\d.]+ nats of Renyi divergence", said)
    (said,) = warned(descend)  # another unit
    assert "release 3" in said
    assert "do not add" in said


def test_an_error_made_of_the_warning_comes_before_the_charge() -> None:
    ledger = MemoryLedger(1.0)
    session = PrivacySession(X, Y, budget=1 / 4, secret=Subsets(16))
    MODEL.fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedReleaseWarning)
        with pytest.raises(RepeatedReleaseWarning):
            session.release(GaussianNB())
    assert session.ledger.events == ledger.events == ()


def test_nothing_of_a_table_is_kept() -> None:
    """A digest under a key of this process: no guess of the rows can be compared with it."""
    MODEL.fit(X, Y)
    assert ReleasedTables().name(X) != RELEASED.name(X)
    with pytest.raises(TypeError):
        pickle.dumps(RELEASED)  # it holds a lock: neither the key nor the names leave
