"""Importing is cheap: no entry points, no heavy package, and no scikit-learn in this room."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> None:
    subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], check=True, capture_output=True, timeout=120
    )


def test_the_plugin_room_does_not_import_scikit_learn():
    # The package's own __init__ imports the estimators, so an empty one takes its place.
    run(
        "import importlib.util, os, sys, types\n"
        "os.environ['PACSKLEARN_PLUGINS'] = ''\n"  # installed plugins may import what they like
        "package = types.ModuleType('pacsklearn')\n"
        "package.__path__ = importlib.util.find_spec('pacsklearn').submodule_search_locations\n"
        "sys.modules['pacsklearn'] = package\n"
        "import pacsklearn.plugin as plugin\n"
        "assert plugin.registry().names('canonicalizer')\n"
        "heavy = {'sklearn', 'joblib', 'opendp', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )


def test_importing_loads_no_entry_point_and_no_optional_package():
    run(
        "import importlib.metadata as metadata, sys\n"
        "asked = []\n"
        "real = metadata.entry_points\n"
        "metadata.entry_points = lambda **kw: asked.append(kw.get('group')) or real(**kw)\n"
        "import pacsklearn, pacsklearn.plugin, pacsklearn.testing\n"
        "assert 'pacsklearn' not in asked, asked\n"
        "heavy = {'opendp', 'torch', 'xgboost', 'dask', 'fastapi'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
