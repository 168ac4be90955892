"""Compiled functions are read from the disk by the next process, and need no disk."""

import subprocess
import sys

from pacsklearn.kernel.bounds.compiled import compiled

MODULE = """
from pacsklearn.kernel.bounds.compiled import compiled

@compiled(fastmath={"contract"})
def twice(x):
    return 2.0 * x

assert twice(1.5) == 3.0
print(sum(twice.stats.cache_hits.values()), sum(twice.stats.cache_misses.values()))
"""


def test_a_second_process_does_not_compile_again(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(MODULE)
    words = [sys.executable, "-c", "import kernel"]
    runs = [
        subprocess.run(  # noqa: S603 - our own interpreter
            words, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert [run.split() for run in runs] == [["0", "1"], ["1", "0"]]


def test_where_no_folder_can_hold_a_cache_functions_are_compiled_without_one():
    names: dict = {}
    exec("def twice(x):\n    return 2 * x", names)  # noqa: S102 - in no file
    assert compiled()(names["twice"])(3) == 6
