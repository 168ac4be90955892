"""Loops: compiled once, for later processes too; by their references where numba is not used."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacsklearn.kernel.bounds.compiled import compiled, exponentials, summed

PROGRAM = """
import sys, types, warnings
{prelude}
import numpy as np
from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.bounds.compiled import Loop
Loop.__call__ = lambda loop, *arguments: loop.running(*arguments)  # however few the numbers
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as caught:
    for _ in range(2):
        codes, belief = np.array([[0, 1]], np.uint8), np.log([.5, .5])
        step = LabelEngine().answer(codes, 1, belief, .1, np.array([7]))
print(step.charges[0].hex(), [str(one.message) for one in caught])
"""
SVML = "import numba; numba.config.USING_SVML = True"
OLD = (
    "class Finder:\\n"
    "    def find_spec(self, name, *_):\\n"
    "        if name == 'numba': raise ImportError('Numba needs NumPy 1.26 or less')\\n"
    "sys.meta_path.insert(0, Finder())"
).replace("\\n", "\n")


def run(prelude: str) -> str:
    program = PROGRAM.format(prelude=prelude)
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.soak
def test_who_runs_changes_no_number_and_only_surprises_are_told() -> None:
    with_numba = run("")
    assert with_numba.endswith(" []\n")
    assert run("sys.modules['numba'] = None") == with_numba
    charge = with_numba.split()[0]
    for prelude, reason in ((SVML, "NUMBA_DISABLE_INTEL_SVML=1"), (OLD, "NumPy 1.26 or less")):
        told = run(prelude)
        assert told.startswith(charge)
        assert told.count("numba is installed and not used") == 1
        assert reason in told


@given(st.lists(st.floats(-1e200, 1e200), min_size=1, max_size=40))
def test_sums_are_taken_one_after_the_other(numbers: list[float]) -> None:
    total = 0.0
    for number in numbers:
        total += number
    assert np.float64(total).tobytes() == np.float64(summed(np.array(numbers))).tobytes()


def test_exponentials_are_those_of_the_c_library() -> None:
    numbers = np.random.default_rng(0).uniform(-745, 700, 500)
    assert exponentials(numbers).tolist() == [math.exp(number) for number in numbers]
    assert exponentials(np.array([-np.inf, 0.0])).tolist() == [0.0, 1.0]
    with pytest.raises(OverflowError):
        exponentials(np.array([710.0]))


MODULE = """
from pacsklearn.kernel.bounds.compiled import compiled

@compiled(worth=0, fastmath={"contract"})
def twice(x):
    return 2.0 * x

assert twice(1.5) == 3.0
stats = twice.running.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.mark.soak
def test_a_second_process_does_not_compile_again(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(MODULE)
    words = [sys.executable, "-c", "import kernel"]
    runs = [
        subprocess.run(  # noqa: S603 - our own interpreter
            words, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert [run.split() for run in runs] == [["0", "1"], ["1", "0"]]


def test_a_loop_is_compiled_once_it_has_read_enough_numbers() -> None:
    ran: list[str] = []
    loop = compiled(worth=10)(lambda _: ran.append("compiled"))
    loop.__dict__["running"] = loop.reference
    loop.in_numpy(lambda _: ran.append("reference"))
    for _ in range(4):
        loop(np.zeros(4))
    assert ran == ["reference", "reference", "compiled", "compiled"]


def test_where_no_folder_can_hold_a_cache_functions_are_compiled_without_one() -> None:
    names: dict[str, Any] = {}
    exec("def twice(x):\n    return 2 * x", names)  # noqa: S102 - in no file
    assert compiled(worth=0)(names["twice"])(3) == 6
