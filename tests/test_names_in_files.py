"""Whatever is written names what users import, so that moving a module changes no file."""

from __future__ import annotations

import importlib
import inspect
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pacsklearn_publish import load_bundle, publish
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import pacsklearn
from pacsklearn import Nats, PACPrivate, Parameters, PrivacySession, SRPPPrivate, Subsets
from pacsklearn.audit import run_audit
from pacsklearn.estimators.model_digest import model_digest
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.plugins import Registry, registry
from pacsklearn.priors import Range
from pacsklearn.secrets import release_sampled
from pacsklearn.tabular import (
    AdditiveClassifier,
    Column,
    FixedStructureForestClassifier,
    Schema,
    SchemaEncoder,
    StepwiseRegressor,
)

# Names with an inner module before them; pacsklearn.X and pacsklearn.tabular.X pass.
PUBLIC_ROOMS = rb"(?:audit|estimators|plots|secrets|srpp|tabular)\.[A-Z]"
INNER = re.compile(
    rb"pacsklearn\.(?!plugins:|"
    + PUBLIC_ROOMS
    + rb")[a-z_0-9]+[.:/][A-Za-z_]|pacsklearn\.plugins\."
)
KINDS = registry().kinds()
SCHEMA = Schema([Column("age", low=0, high=10), Column("ward", "category", categories=("a", "b"))])
WORDS = "a long passphrase"


def table() -> tuple[Any, Any]:
    dice = np.random.default_rng(0)
    X = pd.DataFrame({"age": dice.uniform(0, 10, 80), "ward": dice.choice(["a", "b"], 80)})
    return X, (X["age"].to_numpy() > 5).astype(int)


def inner_paths(content: bytes) -> list[bytes]:
    return INNER.findall(content)


def named(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_built_in_is_named_by_what_imports_it(kind: str, monkeypatch: Any) -> None:
    plugins = registry()
    for name in plugins.names(kind):
        stated = plugins.provenance(kind, name)
        if stated.distribution != "pacsklearn":
            continue
        assert not inner_paths(stated.target.encode()), stated.target
        built_in = named(stated.target)
        assert built_in is plugins.load(kind, name)
        if not isinstance(built_in, type):
            continue
        monkeypatch.setattr(built_in, "__module__", "pacsklearn.kernel.elsewhere")
        if kind == "canonicalizer":  # of an instance, as "auto" has one
            assert plugins.provenance(kind, object.__new__(built_in)) == stated


def test_what_no_name_chooses_is_named_too() -> None:
    plugins, listed = Registry(list), dir(pacsklearn.plugins)
    for kind in KINDS:
        for each in plugins.registrations(kind):
            assert getattr(pacsklearn.plugins, each.made.__name__) is each.made
            assert each.made.__name__ in listed
    with pytest.raises(AttributeError, match="attribute"):
        _ = pacsklearn.plugins.NoSuchThing


def unfitted() -> list[Any]:
    return [
        AdditiveClassifier(SCHEMA),
        FixedStructureForestClassifier(),
        StepwiseRegressor(),
        make_pipeline(SchemaEncoder(SCHEMA), StandardScaler(), LinearSVC()),
    ]


@pytest.mark.parametrize("model", unfitted(), ids=lambda model: type(model).__name__)
def test_a_digest_outlives_a_move(model: Any, monkeypatch: Any) -> None:
    before = model_digest(model)
    for one in (type(model), SchemaEncoder, Schema, Column, StandardScaler):
        root = one.__module__.partition(".")[0]
        public = {"pacsklearn": "pacsklearn.tabular", "sklearn": "sklearn.preprocessing"}[root]
        if type(model).__name__ != "Pipeline" or one is not type(model):
            monkeypatch.setattr(one, "__module__", f"{public}._elsewhere.deep")
    assert model_digest(model) == before


def test_functions_that_nobody_imports_have_digests_of_their_own() -> None:
    def made(number: float) -> Any:
        return lambda x: x * number

    functions = [made(1.0), made(2.0), lambda x: x, lambda x: x + 1, lambda x, y=1: x]
    assert len({model_digest({"f": each}) for each in functions}) == len(functions)
    assert model_digest(made(1.0)) == model_digest(made(1.0))
    assert model_digest(np.mean) != model_digest(np.median)


@pytest.mark.parametrize("model", unfitted(), ids=lambda model: type(model).__name__)
def test_bundles(model: Any, tmp_path: Path, monkeypatch: Any) -> None:
    pytest.importorskip("skops")
    X, y = table()
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    if not isinstance(model, (AdditiveClassifier,)) and not hasattr(model, "steps"):
        X = X[["age"]].to_numpy()
    private = PACPrivate(model, budget=1 / 4, secret=Subsets(16), ledger=ledger)
    if isinstance(model, StepwiseRegressor):
        private.set_params(release=Parameters(prior=Range(0, 1)))
    private.fit(X, y)
    path = publish(private, tmp_path / "model.pac")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, part in parts.items():
        assert not inner_paths(part), (name, inner_paths(part))
    assert not inner_paths(Path(tmp_path / "ledger.db").read_bytes())
    assert not inner_paths(private.guarantee_.to_json().encode())
    bundle = load_bundle(path, key=None)
    kind, released = bundle.manifest["model"]["class"], private.released_estimator_
    assert named(":".join(kind.rsplit(".", 1))) is type(released)
    assert type(bundle.model()) is type(released)
    if kind.startswith("pacsklearn"):  # as if the package had been rebuilt around the file
        monkeypatch.setattr(type(released), "__module__", "pacsklearn.tabular.elsewhere")
        assert type(bundle.model()) is type(released)


def test_session_files(tmp_path: Path) -> None:
    X, y = table()
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    session = PrivacySession(X, y, budget=Nats(2.0), secret=Subsets(8), ledger=ledger)
    session.release(AdditiveClassifier(SCHEMA), budget=1 / 4)
    model = make_pipeline(SchemaEncoder(SCHEMA), LogisticRegression())
    session.respond(model, X[:20], query_budget=1 / 64)
    session.save(tmp_path / "session", key=WORDS)
    session.save(tmp_path / "plain")
    for name in ("session", "plain", "ledger.db"):
        assert not inner_paths((tmp_path / name).read_bytes())


def test_a_stored_answer_outlives_a_move(tmp_path: Path, monkeypatch: Any) -> None:
    X, y = table()
    ledger = SharedLedger.found(f"sqlite:///{tmp_path}/ledger.db", 4.0)
    session = PrivacySession(X, y, budget=Nats(2.0), secret=Subsets(8), ledger=ledger)
    model = make_pipeline(SchemaEncoder(SCHEMA), LogisticRegression())
    told = session.respond(model, X[:20], query_budget=1 / 64)
    session.save(tmp_path / "session", key=WORDS)
    for one in (SchemaEncoder, Schema, Column):
        monkeypatch.setattr(one, "__module__", "pacsklearn.tabular.elsewhere")
    again = PrivacySession.load(tmp_path / "session", key=WORDS)
    spent = again.ledger.spent
    np.testing.assert_array_equal(again.respond(model, X[:20], query_budget=1 / 64), told)
    assert again.ledger.spent == spent


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_statements_of_every_kind() -> None:
    X, y = table()
    numbers = X[["age"]].to_numpy()
    private = PACPrivate(LinearSVC(), secret=Subsets(16)).fit(numbers, y)
    statements = [
        SRPPPrivate(LogisticRegression(), budget=1.0).fit(numbers, y).guarantee_.to_json(),
        run_audit(private, numbers, y, attacks=["identification"], n_trials=20).to_json(),
        release_sampled(
            lambda rows: rows.mean(axis=0), lambda generator: generator.normal(size=(5, 2)),
            budget=0.5,
        ).guarantee.to_json(),
    ]  # fmt: skip
    for statement in statements:
        assert not inner_paths(statement.encode()), inner_paths(statement.encode())


def test_every_canonicalizer_has_a_public_name() -> None:
    """Also those that another one makes."""
    known, waiting = set(), [Canonicalizer]
    named_here = dir(pacsklearn.plugins)
    for name in named_here:
        getattr(pacsklearn.plugins, name)
    while waiting:
        here = waiting.pop()
        waiting += here.__subclasses__()
        ours = here.__module__.startswith("pacsklearn.") and not inspect.isabstract(here)
        if ours and not here.__name__.startswith("_"):
            known.add(here.__name__)
    assert known - {"Canonicalizer"} <= set(named_here)
