"""Importing this room needs no scikit-learn."""

from __future__ import annotations

import subprocess
import sys


def test_the_plugin_room_does_not_import_scikit_learn():
    # The package's own __init__ imports the estimators, so an empty one takes its place.
    program = (
        "import importlib.util, os, sys, types\n"
        "os.environ['PACSKLEARN_PLUGINS'] = ''\n"  # installed plugins may import what they like
        "package = types.ModuleType('pacsklearn')\n"
        "package.__path__ = importlib.util.find_spec('pacsklearn').submodule_search_locations\n"
        "sys.modules['pacsklearn'] = package\n"
        "import pacsklearn.plugins as plugin\n"
        "assert plugin.registry().names('canonicalizer')\n"
        "heavy = {'sklearn', 'joblib', 'opendp', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", program], check=True, capture_output=True, timeout=120
    )
