"""Figures of a table are about the worst of all its units, in the sample or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pacsklearn_bigdata import Table
from pacsklearn_bigdata.exceptions import TableError
from pacsklearn_bigdata.hashed_design import HashedDesign
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import (
    AutoPrivateClassifier,
    AutoPrivateRegressor,
    Membership,
    PACPrivate,
    Parameters,
    PrivacySession,
    Subsets,
    Tuned,
)
from pacsklearn.priors import Range
from pacsklearn.secrets import SecretSpace
from tests.inside import procedure_of

N, ODD = 20_000, 12_345
"""Rows of one batch, of which every second or third is sampled: the odd one is not."""


def rows_with(odd: float, n: int = N) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(3)
    rows = generator.normal(size=(n, 4))
    rows[:, 3] = rows[:, 0] - rows[:, 1] + generator.logistic(size=n) > 0
    rows[min(ODD, n - 1), :3] *= odd
    return rows


def table_with(odd: float, **options: Any) -> Table:
    return Table(lambda: iter([rows_with(odd)]), batch_rows=N, **options)


def listed(n: int) -> SecretSpace:
    """Return the very candidates of a table with the public seed 0, in memory."""
    packed = HashedDesign.of(0).members(np.arange(n, dtype=np.uint64)).packed
    return SecretSpace(packed, 128, np.full(128, 1 / 128))


def test_the_certified_figure_is_that_of_the_rows_in_memory() -> None:
    table = table_with(1.0, target=3)
    model = PACPrivate(Ridge(), budget=1 / 4, secret=Subsets(seed=0)).fit(table)
    X, y = rows_with(1.0)[:, :3], rows_with(1.0)[:, 3]
    with PrivacySession(X, y, budget=1 / 4, secret=listed(N)) as session:
        known = session.release(Ridge()).guarantee.certified_membership
    found = model.guarantee_.certified_membership
    # Looks at a few units, with many draws, are for rows in memory: theirs is the closer bound.
    assert known - 1e-3 <= found <= known + 0.02
    assert not np.isin(ODD, table.profile.sample.names)


def test_a_unit_outside_of_the_sample_decides() -> None:
    """Nearly all that candidates differ by is whether they hold the odd row."""
    plain, odd = (
        PACPrivate(PCA(1), budget=1 / 4, secret=Subsets(seed=0))
        .fit(table_with(size, features=[0, 1, 2]))
        .guarantee_
        for size in (1.0, 1e4)
    )
    assert plain.certified_membership < 0.62
    assert odd.certified_membership > plain.certified_membership + 0.05


def test_a_cap_holds_for_a_unit_outside_of_the_sample() -> None:
    """Whoever knows the laws of all candidates, and draws releases herself, stays under the cap."""
    cap, table = 0.60, table_with(1e4, features=[0, 1, 2])
    with PrivacySession(table, budget=Membership(cap), secret=Subsets(seed=0)) as session:
        release = session.release(StandardScaler())
        law = procedure_of(session).certificate.laws[0]
    assert release.guarantee.success <= cap
    held = HashedDesign.of(0).members(np.array([ODD], dtype=np.uint64)).membership()[0]
    generator = np.random.default_rng(0)
    drawn = generator.integers(128, size=4000)
    noisy = law.centres[drawn] + law.scale * generator.standard_normal((4000, law.dimension))
    logs = -((noisy[:, None] - law.centres) ** 2).sum(axis=2) / (2.0 * law.scale**2)
    posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    guess = posterior @ held > 0.5
    success = np.mean(guess == held[drawn])
    assert success <= cap + 4 * np.sqrt(0.25 / 4000)
    # The cap is used: the row is the reason for the noise.
    assert success > cap - 0.06


@pytest.mark.soak
def test_groups_count_once() -> None:
    def batches() -> Iterator[Any]:
        rows = rows_with(1.0)
        yield np.column_stack([rows[:, :3], np.arange(N) // 4])[:, :4].astype(np.int64)

    model = PACPrivate(PCA(1), budget=Membership(0.6)).fit(Table(batches, unit=3))
    assert f"{N // 4:,} target(s)" in model.guarantee_.bound


MODEL = make_pipeline(StandardScaler(), LogisticRegression())


@pytest.mark.soak
def test_a_choice_a_plan_and_auto_by_a_cap() -> None:
    table = table_with(1.0, target=3, classes=[0, 1])
    budget, secret = Membership(0.6), Subsets(32)
    grid = {"logisticregression__C": [1e-6, 1.0]}
    chosen = PACPrivate(Tuned(MODEL, grid), budget=budget, secret=secret).fit(table)
    assert chosen.best_params_ == {"logisticregression__C": 1.0}
    assert chosen.guarantee_.success <= 0.6
    plan = PACPrivate(MODEL, budget=budget, secret=secret).plan(table, alternatives=False)
    X, y = rows_with(1.0)[:, :3], rows_with(1.0)[:, 3]
    assert plan.verdict.beats_reference
    auto = AutoPrivateClassifier(budget=budget, secret=secret).fit(table)
    assert auto.score(X, y) > 0.7
    assert auto.n_features_in_ == 3
    assert any("kind" in option.why_not for option in auto.verdict_.options)
    scores = {option.name: option.mean for option in auto.verdict_.options if not option.why_not}
    assert plan.verdict.expected.mean == pytest.approx(max(scores.values()), abs=0.05)


@pytest.mark.soak
def test_a_regressor_that_nothing_helps() -> None:
    table = table_with(1.0, target=2, features=[0, 1])
    with pytest.warns(UserWarning, match="constant"):
        auto = AutoPrivateRegressor(budget=1 / 64, prior=Range(-3, 3)).fit(table)
    assert auto.best_estimator_ is None
    assert auto.guarantee_.success == 0.5 or auto.guarantee_.spent == 0
    with_scaler = make_pipeline(StandardScaler(), Ridge())
    model = PACPrivate(with_scaler, release=Parameters(prior=Range(-3, 3))).fit(
        table_with(1.0, target=0, features=[1, 3])
    )
    assert np.isfinite(model.predict(rows_with(1.0)[:5, [1, 3]])).all()


def test_candidates_that_coincide_are_refused() -> None:
    rows = np.random.default_rng(0).normal(size=(6, 2))
    people = pd.DataFrame(np.repeat(rows, 3, axis=0)).assign(person=np.arange(18) // 3)
    with pytest.raises(TableError, match="are the same"):
        PACPrivate(PCA(1)).fit(Table(rows))
    with pytest.raises(TableError, match="are the same"):
        PACPrivate(PCA(1)).fit(Table(people, unit="person"))
