"""A distribution outside adds one of every public kind; one made for other hooks is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge

from pacsklearn.exceptions import PluginWarning
from pacsklearn.plugins import API, Registry
from pacsklearn.secrets import CandidateSpace

HOOKS = """
from pacsklearn.plugins import hookimpl

pacsklearn_api = {api}

@hookimpl
def pacsklearn_canonicalizers():
    yield "{module}_classes:Shares"

@hookimpl
def pacsklearn_batch_predictors():
    yield "{module}_classes:Together"

@hookimpl
def pacsklearn_subset_fitters():
    yield "{module}_classes:Jointly"

@hookimpl
def pacsklearn_noise_backends():
    from {module}_classes import Even
    return [Even]

@hookimpl
def pacsklearn_budgets():
    yield "{module}_classes:Halves"

@hookimpl
def pacsklearn_ledger_schemes():
    yield "{module}_classes:Elsewhere"

@hookimpl
def pacsklearn_scenarios():
    yield "{module}_classes:Coins"

@hookimpl
def pacsklearn_attacks():
    yield "{module}_classes:Guessing"
"""
CLASSES = """
import numpy as np
from sklearn.linear_model import Ridge

from pacsklearn.plugins import GuessCriterion
from pacsklearn.srpp import Scenario
from pacsklearn.kernel.ledger.sqlite_log import SQLiteLog
from pacsklearn.kernel.noise.lattice import ClosedFormBackend
from pacsklearn.plugins import (
    Attack, AttackResult, BatchPredictor, Canonicalizer, Cap, Encoding, Layout, SubsetFitter,
)

class Odd(Ridge):
    pass

class Shares(Canonicalizer):
    name = "{module}_shares"
    estimators = "sklearn.dummy.DummyClassifier"

    def encode(self, estimator, X):
        return Encoding(estimator.class_prior_, Layout.of({{"shares": estimator.class_prior_}}))

    def decode(self, vector, layout, template):
        return template

class Together(BatchPredictor):
    name, estimators = "{module}_together", (Odd,)

    @classmethod
    def of(cls, models):
        return None

    def predict(self, X):
        return np.zeros((1, len(X)))

class Jointly(SubsetFitter):
    name, estimators = "{module}_jointly", (Odd,)

    @classmethod
    def for_estimator(cls, estimator, resolve):
        return cls()

    def fit_all(self, estimator, X, y, space):
        return [None] * space.n_candidates

class Even(ClosedFormBackend):
    name, proof = "{module}_even", "linear bound"

    def variances(self, signal, budget):
        return signal * signal.size / (2 * budget)

class Halves(Cap):
    name = "{module}_halves"

    def __init__(self, cap, allow_exact=False):
        self.cap, self.allow_exact = cap, allow_exact

    def against(self, space):
        gains = np.eye(2)[np.arange(space.n_candidates) % 2].T
        return GuessCriterion(gains, "halves", "tell the half")

class Elsewhere(SQLiteLog):
    name = "{module}_elsewhere"
    description = "a file under another name"

class Coins(Scenario):
    name = "{module}_coins"
    protects, releases, description = "a coin", "its side", "Coins()"

    def worlds(self, X, y, secret):
        raise NotImplementedError

class Guessing(Attack):
    name, description = "{module}_guessing", "guesses"

    def run(self, game, n_trials, seed):
        return AttackResult(self.name, "guessing", n_trials, 0, 0.5, None)
"""
ADDED = {
    "canonicalizer": "shares",
    "batch_predictor": "together",
    "subset_fitter": "jointly",
    "noise_backend": "even",
    "budget": "halves",
    "ledger_scheme": "elsewhere",
    "scenario": "coins",
    "attack": "guessing",
}


def install(folder: Path, module: str, api: object) -> None:
    """Put a distribution of one plugin into a folder of ``sys.path``."""
    name = module.replace("_", "-")
    info = folder / f"{module}-3.4.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 3.4\n")
    (info / "entry_points.txt").write_text(f"[pacsklearn]\n{module} = {module}_hooks\n")
    (folder / f"{module}_hooks.py").write_text(HOOKS.format(module=module, api=api))
    (folder / f"{module}_classes.py").write_text(CLASSES.format(module=module))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PACSKLEARN_PLUGINS", "acme-now,acme-old,acme-new")
    return tmp_path


def test_one_of_every_kind_and_two_of_other_hooks(folder: Path) -> None:
    install(folder, "acme_now", API)
    install(folder, "acme_old", API - 1)
    install(folder, "acme_new", API + 1)
    plugins = Registry()
    with pytest.warns(PluginWarning, match=r"acme-(old|new)") as caught:
        added = {kind: plugins.provenance(kind, f"acme_now_{ADDED[kind]}") for kind in ADDED}
    assert len(caught) == 2
    refused = {each.distribution: each.message for each in plugins.failures}
    assert refused.keys() == {"acme-old", "acme-new"}
    assert f"made for API {API - 1}" in refused["acme-old"]
    assert f"made for API {API + 1}" in refused["acme-new"]
    assert set(plugins.kinds()) - set(added) == {"secret_space", "stated_secret", "unsupported"}
    assert {(each.distribution, each.version) for each in added.values()} == {("acme-now", "3.4")}
    assert {each.target.partition(":")[0] for each in added.values()} == {"acme_now_classes"}
    assert not any("acme_old" in name for kind in plugins.kinds() for name in plugins.names(kind))


def test_what_it_adds_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACSKLEARN_PLUGINS", "acme-now")
    install(folder, "acme_now", API)
    plugins = Registry()
    odd: Any = plugins.load("batch_predictor", "acme_now_together").estimators[0]
    assert type(plugins.canonicalizer_for(DummyClassifier())).__name__ == "Shares"
    assert plugins.batch_predictors_for(odd())[0].__name__ == "Together"
    assert type(plugins.subset_fitter_for(odd())).__name__ == "Jointly"
    assert "Together" not in [each.__name__ for each in plugins.batch_predictors_for(Ridge())]
    assert type(plugins.noise_backend("acme_now_even")).__name__ == "Even"
    space = CandidateSpace.of("abcd")
    assert plugins.load("budget", "acme_now_halves")(0.8).criterion(space).name == "halves"
    assert plugins.make("scenario", "acme_now_coins").protects == "a coin"
    assert plugins.make("attack", "acme_now_guessing").run(None, 3, 0).n_trials == 3
