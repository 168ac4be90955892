"""Importing pacsklearn is cheap: nothing optional, no entry point, little of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAVY = (
    "opendp",
    "matplotlib",
    "pandas",
    "torch",
    "xgboost",
    "rich",
    "dask",
    "fastapi",
    "uvicorn",
    "cryptography",
    "joserfc",
    "prometheus_client",
    "polars",
    "typer",
    "sqlite3",
)
SKLEARN = (
    "import sklearn.base, sklearn.linear_model, sklearn.decomposition, sklearn.pipeline\n"
    "import sklearn.discriminant_analysis, sklearn.feature_selection, sklearn.metrics\n"
    "import sklearn.model_selection, sklearn.preprocessing, sklearn.cluster\n"
)


def run(code: str) -> str:
    """Output of a fresh interpreter."""
    root = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def imported() -> dict[str, Any]:
    """What one import after scikit-learn's loads, asks for and costs, and the fits after it."""
    # scikit-learn itself imports pandas and rich since 1.9, when they are installed.
    found = run(
        "import importlib.metadata as metadata, json, sys, time\n"
        f"{SKLEARN}"
        "before = set(sys.modules)\n"
        "real, groups = metadata.entry_points, []\n"
        "metadata.entry_points = lambda **kw: groups.append(kw.get('group')) or real(**kw)\n"
        "start = time.process_time()\n"
        "import pacsklearn\n"
        "seconds = time.process_time() - start\n"
        "import pacsklearn.plugins, pacsklearn.testing\n"
        "from sklearn.svm import LinearSVC\n"
        "model = pacsklearn.PACPrivate(LinearSVC())\n"
        "loaded = sorted(set(sys.modules) - before)\n"
        "facts = {'loaded': loaded, 'groups': groups[:], 'seconds': seconds}\n"
        "import numpy as np\n"
        "from sklearn.linear_model import Ridge\n"
        "from pacsklearn import Nats, PACPrivate, Subsets\n"
        "X = np.arange(20.0).reshape(10, 2) % 7\n"
        "for fit, budget in (('exact', Nats(9.0, allow_exact=True)), ('noised', 0.5)):\n"
        "    PACPrivate(Ridge(), budget, secret=Subsets(4)).fit(X, X[:, 0])\n"
        "    facts[fit] = 'opendp' in sys.modules\n"
        "print(json.dumps(facts))\n"
    )
    facts = json.loads(found)
    assert isinstance(facts, dict)
    return facts


def test_nothing_optional_is_imported(imported: dict[str, Any]) -> None:
    assert not set(HEAVY) & set(imported["loaded"])


@pytest.mark.soak
def test_everything_optional_may_be_missing() -> None:
    run(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {HEAVY!r}:\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import pacsklearn\n"
        "import pacsklearn.plots.privacy_utility\n"
        "from sklearn.svm import LinearSVC\n"
        "model = pacsklearn.PACPrivate(LinearSVC())\n"
        "assert model.get_params()['budget'] == 1 / 16\n"
        "repr(model)\n"
    )


def test_no_entry_point_is_taken_before_the_first_question(imported: dict[str, Any]) -> None:
    assert "pacsklearn" not in imported["groups"]


def test_opendp_waits_for_the_first_noise(imported: dict[str, Any]) -> None:
    assert not imported["exact"]
    assert imported["noised"]


def test_a_fit_loads_no_ring_that_it_has_no_use_for() -> None:
    run(
        "import os, sys\n"
        "os.environ['PACSKLEARN_PLUGINS'] = ''\n"
        "import numpy as np\n"
        "from sklearn.linear_model import Ridge\n"
        "from pacsklearn import PACPrivate, Subsets\n"
        "X = np.arange(20.0).reshape(10, 2) % 7\n"
        "PACPrivate(Ridge(), secret=Subsets(4), budget=0.5).fit(X, X[:, 0])\n"
        "rooms = ('pacsklearn.audit.', 'pacsklearn.srpp.')\n"
        "loaded = {name for name in sys.modules if name.startswith(rooms)}\n"
        "assert loaded == {'pacsklearn.audit.hooks', 'pacsklearn.srpp.hooks'}, loaded\n"
    )


def test_its_own_modules_load_fast(imported: dict[str, Any]) -> None:
    # Processor time above scikit-learn's: about 0.1 s, so a limit of 1 s does not flake.
    assert imported["seconds"] < 1.0
