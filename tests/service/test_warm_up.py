"""What a standby loads before it leads."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
from pacsklearn.service.warm_up import warm_up
from pacsklearn.responses import label_engine, value_engine
assert "numba" not in sys.modules and "opendp.prelude" not in sys.modules
warm_up()
from pacsklearn.responses.label_kernel import answer_rows
from pacsklearn.responses.value_kernel import answer_rows as answer_values
assert "opendp.prelude" in sys.modules
assert answer_rows.signatures and answer_values.signatures
"""


def test_what_a_first_answer_needs_is_there() -> None:
    subprocess.run([sys.executable, "-c", LOADED], check=True)  # noqa: S603 - written above
