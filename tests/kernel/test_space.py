"""A kind of table brings its own secret space, and a space says what it cannot serve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from pacsklearn import Answers, PACPrivate, PrivacySession, SampledSubsets, Subsets
from pacsklearn.estimators.table_space import TableSpace
from pacsklearn.kernel.secret.space import Space, Work
from pacsklearn.plugins import register, unregister
from pacsklearn.secrets import CandidateSpace, SecretSpace, balanced_space

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(200, 2))
Y = X @ [1.0, -1.0] + GENERATOR.normal(size=200)


@dataclass
class Diary:
    """A table of a kind of its own."""

    rows: Any
    values: Any


class DiarySpace(TableSpace):
    """Balanced subsets of a diary's rows."""

    name, estimators = "diary", (Diary,)

    def __init__(self, diary: Diary, inner: SecretSpace) -> None:
        self.diary, self.inner, self.weights = diary, inner, inner.weights

    @classmethod
    def over(cls, X: Any, y: Any, design: Any) -> Self:
        return cls(X, design.space(X.rows))

    @classmethod
    def sample_of(cls, X: Any) -> Any:
        return X.rows, X.values

    @classmethod
    def check_fits(cls, estimator: Any) -> None:
        del estimator

    @property
    def n_candidates(self) -> int:
        return self.inner.n_candidates

    @property
    def size(self) -> str:
        return f"n_pages={len(self.diary.rows)}"

    def has_candidates_of(self, other: Space) -> bool:
        return self.inner.has_candidates_of(other)

    def outputs(self, work: Any) -> Any:
        return replace(work, X=self.diary.rows, y=self.diary.values).of_rows(self.inner)

    def stated(self) -> Any:
        return self.inner.stated()

    def listed(self) -> SecretSpace:
        return self.inner

    def row_subsets(self) -> SecretSpace:
        return self.inner


@pytest.fixture
def diary() -> Iterator[Diary]:
    register(DiarySpace)
    yield Diary(X, Y)
    unregister(DiarySpace)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_whoever_gives_such_a_table_gets_its_space(diary: Diary) -> None:
    seeded: dict[str, Any] = {"budget": 0.5, "secret": Subsets(16, seed=0), "random_state": 0}
    with PrivacySession(diary, **seeded) as session:
        assert "n_pages=200" in repr(session)
        there = session.release(Ridge()).value
    with PrivacySession(X, **(seeded | {"secret": session.space.row_subsets()})) as rows:
        mean = rows.release_function(lambda part: part.mean(axis=0)).value
    with PrivacySession(diary, **seeded) as session:
        assert np.array_equal(session.release_function(lambda r, _: r.mean(axis=0)).value, mean)
    model = PACPrivate(Ridge(), **seeded).fit(diary)
    assert np.array_equal(model.released_estimator_.coef_, there.coef_)
    with pytest.raises(ValueError, match="Diary"):
        PACPrivate(Ridge(), release=Answers()).fit(diary)


def test_rows_in_memory_are_claimed_by_nobody(diary: Diary) -> None:
    with PrivacySession(X, Y, budget=0.5, secret=Subsets(16)) as session:
        assert type(session.space) is SecretSpace


class RowCounts(Work):
    def of_rows(self, space: SecretSpace) -> list[int]:
        return [space.rows(i).size for i in range(space.n_candidates)]


def test_work_is_given_rows_or_refused() -> None:
    assert balanced_space(40, n_subsets=8).outputs(RowCounts()) == [20] * 8
    with pytest.raises(TypeError, match="release_function"):
        CandidateSpace.of("ab").outputs(RowCounts())


def test_a_model_needs_rows() -> None:
    with PrivacySession.over("abcd", budget=0.5) as session:
        with pytest.raises(TypeError, match="release_function"):
            session.release(GaussianNB())
        assert session.ledger.spent == 0


def test_a_drawn_secret_has_no_list() -> None:
    with PrivacySession(X, Y, budget=0.5, secret=SampledSubsets()) as session:
        assert "n_rows=200" in repr(session)
        for call in (session.space.listed, session.space.row_subsets):
            with pytest.raises(ValueError, match="no list of candidates"):
                call()
        with pytest.raises(ValueError, match="no list of candidates"):
            session.space.outputs(RowCounts())
