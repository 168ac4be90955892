"""A private fit in passes is the private fit of the same rows in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pacsklearn_bigdata import Table, table_profile
from pacsklearn_bigdata.exceptions import TableError
from pacsklearn_bigdata.hashed_design import HashedDesign
from pacsklearn_bigdata.hashed_space import HashedSpace
from pacsklearn_bigdata.table_candidates import TableCandidates
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import (
    Answers,
    Identification,
    KOfN,
    Nats,
    PACPrivate,
    PrivacySession,
    SampledSubsets,
    Subsets,
    Tuned,
    config_context,
)
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace
from pacsklearn.universe.design import candidates_over

N, P, M = 6000, 4, 16


def made() -> dict[str, Any]:
    generator = np.random.default_rng(5)
    X = generator.normal(size=(N, P)) * [1, 3, 0.5, 2] + [0, 5, -1, 2]
    score = X @ [1.0, 0.3, -1.0, 0.2] - 2
    return {
        "X": X,
        "label": np.where(score + generator.logistic(size=N) > 0, "yes", "no"),
        "three": np.digitize(score + generator.normal(size=N), [-1, 1]),
        "number": score + generator.normal(size=N),
        "count": generator.poisson(np.exp(np.clip(score / 4, -2, 2))),
    }


DATA = made()

CASES = {
    "pca": (PCA(2), None, 1),
    "scaler": (StandardScaler(), None, 1),
    "scaled pca": (make_pipeline(StandardScaler(), PCA(2)), None, 1),
    "least squares": (LinearRegression(), "number", 1),
    "ridge": (Ridge(), "number", 1),
    "lda": (LinearDiscriminantAnalysis(), "three", 1),
    "naive bayes": (GaussianNB(), "three", 1),
    "centroids": (NearestCentroid(), "label", 1),
    "logistic": (LogisticRegression(tol=1e-8, max_iter=1000), "label", 12),
    "softmax": (LogisticRegression(tol=1e-8, max_iter=1000), "three", 14),
    "weighed logistic": (
        LogisticRegression(tol=1e-8, max_iter=1000, class_weight="balanced"),
        "three",
        14,
    ),
    "weighed ridge classifier": (RidgeClassifier(class_weight="balanced"), "three", 1),
    "scaled logistic": (
        make_pipeline(StandardScaler(), LogisticRegression(C=0.1, tol=1e-8)),
        "label",
        12,
    ),
    "svc": (LinearSVC(tol=1e-8, max_iter=10**5), "label", 25),
    "poisson": (PoissonRegressor(tol=1e-8, max_iter=1000), "count", 14),
}


def table_of(target: str | None, **options: Any) -> Table:
    columns = [*DATA["X"].T] + ([] if target is None else [DATA[target]])
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = [f"x{i}" for i in range(P)] + ([] if target is None else ["y"])
    if target in ("label", "three"):
        options.setdefault("classes", np.unique(DATA[target]))
    return Table(frame, target=None if target is None else "y", batch_rows=700, **options)


def assert_alike(estimator: Any, table: Table, frame: Any, y: Any) -> None:
    """Compare the candidates of a table with those of its rows, fitted one by one."""
    design = HashedDesign.of(7, M)
    space = HashedSpace(design, table, is_listed=True)
    canonicalizer = registry().canonicalizer("auto", estimator)
    mine = TableCandidates.prepare(estimator, None, space, FitOptions()).outputs(canonicalizer)
    packed = design.members(np.arange(N, dtype=np.uint64)).packed
    listed = SecretSpace(packed, M, np.full(M, 1 / M))
    rows = candidates_over(estimator, frame, y, listed, FitOptions(fast_fit=False))
    theirs = rows.outputs(canonicalizer)
    assert not mine.layout.differences(theirs.layout)
    size = np.abs(theirs.vectors).max()
    assert np.abs(mine.vectors - theirs.vectors).max() <= 2e-5 * size


@pytest.mark.product(only=1)
@pytest.mark.parametrize("name", CASES)
def test_the_candidates_are_those_of_rows_in_memory(name: str) -> None:
    estimator, target, passes = CASES[name]
    table = table_of(target)
    frame = pd.DataFrame(DATA["X"], columns=[f"x{i}" for i in range(P)])
    assert_alike(estimator, table, frame, None if target is None else DATA[target])
    assert table.n_passes <= passes


@pytest.mark.parametrize("nearly", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        Lasso(0.1, tol=1e-10),
        PCA(2),
        make_pipeline(StandardScaler(), PoissonRegressor(tol=1e-8, max_iter=1000)),
    ],
    ids=repr,
)
def test_a_column_of_one_number(
    estimator: Any, nearly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_profile, "_OF_A_BATCH", 64)
    frame = pd.DataFrame(DATA["X"], columns=[f"x{i}" for i in range(P)]).assign(one=0.1)
    # One row in two thousand, none of those that the sample holds.
    frame.loc[1::2000, "one"] -= nearly * 3
    named = {"Ridge": "number", "Lasso": "number", "Pipeline": "count"}
    y = DATA.get(named.get(type(estimator).__name__, ""))
    rows = frame if y is None else frame.assign(y=y)
    target = None if y is None else "y"
    assert_alike(estimator, Table(rows, target=target, batch_rows=700), frame, y)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("name", ["logistic", "softmax", "scaled logistic", "svc", "svc of three"])
def test_batches_need_not_show_every_class(name: str) -> None:
    """Rows sorted by class, whose batches then counted for nothing or for another loss."""
    estimator, target, _ = (CASES | {"svc of three": (LinearSVC(), "three", 0)})[name]
    frame = pd.DataFrame(DATA["X"], columns=[f"x{i}" for i in range(P)])
    frame["y"], frame["person"] = DATA[target], np.arange(N)
    canonicalizer, found = registry().canonicalizer("auto", estimator), []
    for rows in (frame, frame.sort_values("y")):
        table = Table(rows, target="y", unit="person", classes=np.unique(frame.y), batch_rows=700)
        space = HashedSpace(HashedDesign.of(7, M), table, is_listed=True)
        prepared = TableCandidates.prepare(estimator, None, space, FitOptions())
        found.append(prepared.outputs(canonicalizer).vectors)
    assert np.abs(found[0] - found[1]).max() <= 1e-6 * np.abs(found[0]).max()


def test_a_fit_from_a_folder(tmp_path: Path) -> None:
    frame = pd.DataFrame(DATA["X"], columns=[f"x{i}" for i in range(P)])
    frame["y"], frame["person"] = DATA["label"], np.arange(N) // 2
    frame.iloc[:2500].to_parquet(tmp_path / "a.parquet")
    frame.iloc[2500:].to_parquet(tmp_path / "b.parquet")
    table = Table(tmp_path, target="y", unit="person", batch_rows=1000)
    model = PACPrivate(LogisticRegression(C=0.01), budget=0.5).fit(table)
    assert model.score(frame[["x0", "x1", "x2", "x3"]], frame["y"]) > 0.7
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    assert model.classes_.tolist() == ["no", "yes"]
    secret = model.guarantee_.secret
    assert (secret.n_rows, secret.n_units, secret.unit, secret.n_candidates) == (
        N,
        N // 2,
        "group",
        128,
    )
    assert not secret.is_listed
    assert "without blocks" in " ".join(str(model.guarantee_).split())
    assert model.guarantee_.for_release
    assert model.guarantee_.spent == pytest.approx(0.5)
    # One to look the classes up, one for counts, then gradients; one for the certified figure.
    assert table.n_passes <= 11


def test_what_a_fit_in_passes_tells_the_curator(capsys: pytest.CaptureFixture[str]) -> None:
    table = table_of("label")
    model = PACPrivate(LogisticRegression(), secret=Subsets(M), budget=Nats(1.0), verbose=2).fit(
        table
    )
    shown = capsys.readouterr().err
    for number in range(1, table.n_passes + 1):  # those of the solver as well
        assert f"pass {number}: 6,000 rows" in shown
    report = model.fit_report_
    assert (report.together, report.one_by_one) == (M, 0)
    assert f"{M} candidates fitted together" in shown
    assert report.processor["fits"] > report.processor["canonical form"] > 0


def test_a_table_that_shrinks_while_it_is_fitted() -> None:
    calls = []

    def shrinking() -> Any:
        calls.append(1)
        rows = DATA["X"], DATA["three"]
        whole = np.column_stack([rows[0], rows[1] > 0])
        return iter([whole if len(calls) < 4 else whole[:-100]])

    with pytest.raises(TableError, match="pass"):
        PACPrivate(LogisticRegression(), secret=Subsets(M)).fit(Table(shrinking, target=-1))


@pytest.mark.soak
def test_one_session_and_budget() -> None:
    table = table_of("number")
    with PrivacySession(table, budget=0.5, secret=Subsets(seed=1)) as session:
        session.release(StandardScaler(), budget=0.25)
        session.release(Ridge())
        spent = session.ledger.spent
        assert spent == pytest.approx(0.5)
        assert "n_rows=6000" in repr(session)
        for call in (
            lambda: session.responder(Ridge()),
            lambda: session.release_function(np.mean),
            lambda: session.release_planned([np.mean]),
            lambda: session.release(Ridge(), individual=True),
        ):
            with pytest.raises((TableError, RuntimeError)):
                call()
        assert session.ledger.spent == spent
    with PrivacySession(table, budget=0.5) as session:
        scaler, _ = session.release_planned([StandardScaler(), Ridge()])
        assert session.ledger.spent == scaler.event.charge == pytest.approx(0.5)
    with (
        PrivacySession(table_of(None), budget=0.5) as session,
        pytest.raises(TableError, match="pass"),
    ):
        session.release(PCA(2), individual=True)


@pytest.mark.parametrize(
    ("estimator", "options", "fit", "words"),
    [
        (DecisionTreeClassifier(), {}, {}, "Table|canonicalizer"),
        (LinearSVR(loss="epsilon_insensitive"), {}, {}, "passes"),
        (Ridge(), {"budget": Identification(0.7)}, {}, "Table"),
        (Ridge(), {"budget": KOfN(10, 0.7)}, {}, "Table"),
        (Ridge(), {"schema": "codebook.yaml"}, {}, "schema must be None"),
        (Ridge(), {"release": Answers()}, {}, "release"),
        (Tuned(Ridge(), {"solver": ["svd", "sag"]}), {}, {}, "passes"),
        (Ridge(), {"secret": SampledSubsets()}, {}, "Subsets"),
        (Ridge(), {"secret": Subsets(stratify=True)}, {}, "stratify"),
        (Ridge(), {"secret": Subsets(blocks=4)}, {}, "blocks must be None"),
        (Ridge(), {}, {"groups": [1]}, "groups"),
        (Ridge(), {}, {"y": [1]}, "y"),
        (Ridge(), {}, {"sample_weight": [1]}, "sample_weight"),
    ],
)
def test_what_a_table_cannot_serve_is_refused(
    estimator: Any, options: dict[str, Any], fit: dict[str, Any], words: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        PACPrivate(estimator, **options).fit(table_of("number"), **fit)


def test_fits_one_after_the_other_are_refused() -> None:
    with config_context(fast_fit=False), pytest.raises(TableError, match="fast_fit"):
        PACPrivate(Ridge()).fit(table_of("number"))


def test_a_target_is_asked_for() -> None:
    with pytest.raises(TableError, match="needs"):
        PACPrivate(Ridge()).fit(table_of(None))
    with pytest.raises(TableError, match="classes"):
        PACPrivate(GaussianNB()).fit(table_of("three", classes=[0, 1]))
    with pytest.raises(TableError, match="classes"):  # texts, where the table holds numbers
        PACPrivate(GaussianNB()).fit(table_of("three", classes=["0", "1", "2"]))


def test_the_secret_stays_out_of_pickles() -> None:
    import pickle

    model = PACPrivate(PCA(2)).fit(table_of(None))
    kept = pickle.dumps(model)
    assert all(row.tobytes() not in kept for row in DATA["X"][:50])
    assert b"HashedSpace" not in kept
    assert b"Table" not in kept
