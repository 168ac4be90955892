"""A question about one kind imports that kind alone."""

from __future__ import annotations

import subprocess
import sys


def test_a_noise_backend_needs_no_canonicalizer_attack_or_numba() -> None:
    program = (
        "import os, sys\n"
        "import sklearn.base\n"  # the oldest one imports pandas itself
        "before = set(sys.modules)\n"
        "os.environ['PACSKLEARN_PLUGINS'] = ''\n"  # installed plugins may import what they like
        "from pacsklearn.kernel.plugins.registry import registry\n"
        "assert registry().noise_backend('logdet')\n"
        "assert registry().names('budget')\n"
        "rooms = ('canonical', 'joint', 'attacks', 'trees', 'srpp', 'tabular')\n"
        "loaded = {tuple(name.split('.')[1:3]) for name in sys.modules if 'pacsklearn.' in name}\n"
        "found = {each for each in loaded if len(each) == 2 and each[0] in rooms}\n"
        "found -= {('srpp', 'parameters')}  # its budget\n"
        "assert {name for _, name in found} <= {'hooks'}, found\n"
        "assert not {'numba', 'opendp', 'pandas'} & (set(sys.modules) - before)\n"
    )
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
