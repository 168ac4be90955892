"""The example that hides a running time keeps its promises."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "hide_running_time.py"


def test_it_runs_and_is_cheaper_than_constant_time(capsys):
    names = runpy.run_path(str(EXAMPLE))
    names["main"]()
    printed = capsys.readouterr().out
    rows = re.findall(r"^ +(0\.\d+|1\.000) +([\d.]+) +([\d.]+) +([\d.]+) ", printed, re.MULTILINE)
    assert len(rows) == 4
    for _, random_delay, buckets, constant in rows:
        assert float(random_delay) < float(constant) == 160.0
        assert float(random_delay) < float(buckets)
    assert len(re.findall(r"leaves after \d+ microseconds", printed)) == 3
    assert "names the one that was used" in " ".join(printed.split())
    # What docs/functions.md says.
    assert list(rows[2][1:3]) == ["56.0", "82.8"]


def test_the_counted_time_is_the_one_of_the_page():
    running_time = runpy.run_path(str(EXAMPLE))["running_time"]
    assert all(running_time(key) == 40 * (8 + key.bit_count()) for key in range(256))
