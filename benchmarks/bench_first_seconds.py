"""The first seconds of a fresh process: processor time, one thread.

Each figure is that of a process of its own whose folder of compiled code is empty, as in a new
container. The floor is what importing the scikit-learn modules of the same model takes there.

    python benchmarks/bench_first_seconds.py --repeats 3
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory

import numpy as np
from report import Figures, print_table

PROGRAM = """
import time, warnings
import sklearn.{module}
from sklearn.datasets import load_breast_cancer
X, y = load_breast_cancer(return_X_y=True)
imported = time.process_time()
warnings.simplefilter("ignore")
from pacsklearn import PACPrivate
model = PACPrivate(sklearn.{module}.{model}()).fit(X, y)
{then}
print([imported, time.process_time() - imported])
"""
COMMAND = """
import sys, time
from pacsklearn.cli.__main__ import main
sys.argv = ["pacsklearn", "budget", "--nats", "1/4"]
try:
    main()
except SystemExit:
    pass
print([0, time.process_time()])
"""
CASES = {
    "parameters": (PROGRAM.format(module="linear_model", model="LogisticRegression", then=""), 1.5),
    "answers": (PROGRAM.format(module="svm", model="SVC", then="model.predict(X)"), 4.0),
    "budget --nats": (COMMAND, 0.5),
}


def seconds(program: str) -> list[float]:
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1"},
            check=True,
            capture_output=True,
            text=True,
        )
    measured: list[float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    figures, rows = Figures(), []
    for name, (program, goal) in CASES.items():
        runs = [seconds(program) for _ in range(arguments.repeats)]
        floor, own = np.median(runs, axis=0)
        rows.append((name, f"{floor:.2f}", f"{own:.2f}", f"{goal:g}"))
        figures.at_most(f"{name}, seconds", goal, float(own))
    print_table(
        f"First seconds, CPU time; medians of {arguments.repeats} fresh processes",
        ("", "scikit-learn s", "pacsklearn s", "goal"),
        rows,
    )
    figures.show()


if __name__ == "__main__":
    main()
