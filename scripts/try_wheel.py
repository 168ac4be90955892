"""Use the installed wheel as a stranger would: the console, a model, a ledger in a database."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacsklearn

SOURCE = Path(__file__).resolve().parents[1]


def console(*words: str) -> str:
    return subprocess.run(
        ["pacsklearn", *words], check=True, capture_output=True, text=True, timeout=300
    ).stdout


home = Path(pacsklearn.__file__).resolve()
assert SOURCE not in home.parents, f"{home} is the source, not the wheel"
assert version("pacsklearn") == pacsklearn.__version__
assert "release" in console("--help")
assert "at most 67.5" in console("budget", "--nats", "1/16")

X, y = load_breast_cancer(return_X_y=True)
with tempfile.TemporaryDirectory() as folder:
    # A new database takes the schema from the migrations, which must be inside the wheel.
    ledger = f"sqlite:///{folder}/clinic.db"
    console("ledger", "found", ledger, "--ceiling", "1")
    model = pacsklearn.PACPrivate(
        make_pipeline(StandardScaler(), RidgeClassifier(alpha=10)), budget=1 / 4, ledger=ledger
    ).fit(X, y)
    assert model.guarantee_.for_release
    assert 0.5 < model.guarantee_.posterior_membership < 0.84
    assert model.score(X, y) > 0.7
    assert "rows are as they were written" in console("ledger", "verify", ledger)
    assert type(model.released_estimator_.predict(X[:1])[0]) is type(y[0])

print(
    f"pacsklearn {pacsklearn.__version__} works from its wheel on Python {sys.version.split()[0]}"
)
