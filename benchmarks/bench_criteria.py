"""Criteria and ``residual`` at interactive speed, and what more candidates save.

1. CPU time, one thread, of ``criterion`` at a membership cap of 58.8 % and of ``residual`` at one
   nat; beside an older tree's with ``--old FOLDER`` (a checkout; the same outputs, in the same
   run), stopped after two minutes a case.
2. Noise power under the cap with 32 to 2,048 candidates.
3. Implied, certified and measured membership of released models.

``python benchmarks/bench_criteria.py [--old FOLDER]``; MAGIC and Adult where the files are.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from pacsklearn_papers.residual import ResidualBackend
from report import Figures, print_table
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from pacsklearn.capping.criterion import CriterionBackend
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.balanced_space import balanced_space
from pacsklearn.universe.listed_space import listed_space

_SHARED = Path(os.environ.get("PACSKLEARN_DATA", Path(__file__).parents[2] / "shared" / "data"))
_CAP = posterior_success(1 / 64, 0.5)
_SECONDS = 120
_GOALS = {"iris": 1, "breast cancer": 1, "Adult": 20, "50,000 units": 60}


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Standardised features and classes."""
    found = {
        name: load(return_X_y=True)
        for name, load in (
            ("iris", load_iris),
            ("breast cancer", load_breast_cancer),
            ("wine", load_wine),
        )
    }
    for name, file, target in (
        ("MAGIC", "magic04.csv.gz", "class"),
        ("Adult", "adult.csv.gz", "income"),
    ):
        if not (_SHARED / file).exists():
            print(f"{name} is skipped: no {file} in {_SHARED}. Name a folder in PACSKLEARN_DATA.")
            continue
        table = pd.read_csv(_SHARED / file)
        y = table.pop(target).astype("category").cat.codes.to_numpy()
        found[name] = pd.get_dummies(table).to_numpy(dtype=float), y
    return {
        name: (StandardScaler().fit_transform(X), np.asarray(y)) for name, (X, y) in found.items()
    }


def ridge(X: np.ndarray, y: np.ndarray, space: SecretSpace) -> np.ndarray:
    """Coefficients of a ridge classifier on every candidate; shape (m, d)."""
    A = np.column_stack([X, np.ones(len(X))])
    codes = np.eye(y.max() + 1)[y][:, 1:] * 2 - 1
    outputs = []
    for index in range(space.n_subsets):
        rows = space.rows(index)
        gram = A[rows].T @ A[rows] + np.eye(A.shape[1])
        outputs.append(np.linalg.solve(gram, A[rows].T @ codes[rows]).ravel())
    return np.array(outputs)


def many_units(n: int = 50_000, m: int = 1024, d: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Memberships and outputs of a mean of heavy-tailed influences."""
    generator = np.random.default_rng(0)
    members = balanced_space(n, n_subsets=m).membership()
    outputs = np.zeros((m, d))
    for start in range(0, n, 4096):
        part = members[start : start + 4096]
        outputs += part.T.astype(float) @ generator.standard_t(3, size=(len(part), d))
    return members, outputs / n


def work(path: str, backend: str) -> None:
    """One calibration; prints CPU seconds, noise power and the certified figure."""
    with np.load(path) as stored:
        packed, n, outputs = stored["packed"], int(stored["n"]), stored["outputs"]
    members = np.unpackbits(packed, axis=1, count=len(outputs)).astype(bool)
    space = listed_space(list(members.T), n)
    support = Support(outputs)
    started = time.process_time()
    if backend == "criterion":
        target = Target(_CAP, MembershipCriterion(space))
        law = CriterionBackend().calibrate(support, target, IdentityMetric())
    else:
        law = ResidualBackend().calibrate(support, Target(1.0), IdentityMetric())
    print(time.process_time() - started, law.noise_power, law.bound)


def timed(path: str, backend: str, tree: str | None) -> tuple[float, float] | None:
    """CPU seconds and noise power in a process of its own; None when it took too long."""
    environment = dict(os.environ)
    if tree is not None:
        environment["PYTHONPATH"] = tree
    command = [sys.executable, __file__, "--work", path, backend]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True,
            timeout=None if tree is None else _SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    seconds, power, _ = map(float, done.stdout.split()[-3:])
    return seconds, power


def times(data: dict, figures: Figures, old: str | None) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, goal in _GOALS.items():
            if name == "50,000 units":
                members, outputs = many_units()
            elif name in data:
                X, y = data[name]
                space = balanced_space(len(X), strata=y, seed=0)
                members, outputs = space.membership(), ridge(X, y, space)
            else:
                continue
            path = str(Path(folder) / "case.npz")
            packed = np.packbits(members, axis=1)
            np.savez(path, packed=packed, n=len(members), outputs=outputs)
            for backend in ("criterion", "residual"):
                now = timed(path, backend, None)
                before = timed(path, backend, old) if old else None
                assert now is not None
                figures.at_most(f"{backend}, {name}", goal, now[0], "s")
                then = f"> {_SECONDS}" if old else "not run"
                ratio = ""
                if before is not None:
                    then, ratio = f"{before[0]:.2f}", f"{now[1] / before[1]:.3f}"
                size = f"{len(members):,} x {len(outputs):,} x {outputs.shape[1]}"
                rows.append((f"{name}, {backend}", size, f"{now[0]:.2f}", then, ratio))
    header = ("case", "units x candidates x numbers", "s", "s, old tree", "noise power / old")
    print_table("CPU time, one thread", header, rows)


def candidates(data: dict) -> None:
    rows = []
    for name in ("breast cancer", "wine", "MAGIC"):
        if name not in data:
            continue
        X, y = data[name]
        first = None
        for m in (32, 128, 512, 2048):
            space = balanced_space(len(X), n_subsets=m, strata=y, seed=0)
            support = Support(ridge(X, y, space))
            started = time.process_time()
            target = Target(_CAP, MembershipCriterion(space))
            law = CriterionBackend().calibrate(support, target, IdentityMetric())
            took = time.process_time() - started
            gaussian = LogdetBackend().calibrate(support, Target(1 / 64), IdentityMetric())
            first = first or gaussian.noise_power
            rows.append(
                (
                    name, m, f"{law.noise_power / first:.3f}",
                    f"{gaussian.noise_power / first:.3f}", f"{took:.1f}",
                )
            )  # fmt: skip
    header = ("data", "candidates", "capped at 58.8 %", "1/64 nat", "s")
    print_table("Noise power, 1/64 nat with 32 candidates = 1", header, rows)


def stated(data: dict) -> None:
    from pacsklearn.capping.criterion import estimated_success
    from pacsklearn.kernel.bounds.mixture import GaussianMixture
    from pacsklearn.kernel.release.certificate import certified_membership

    rows = []
    for name in ("breast cancer", "MAGIC"):
        if name not in data:
            continue
        X, y = data[name]
        X, y = (X[::2], y[::2]) if name == "MAGIC" else (X, y)
        space = balanced_space(len(X), strata=y, seed=0)
        support = Support(ridge(X, y, space))
        criterion = MembershipCriterion(space)
        for label, budget in (("1/64", 1 / 64), ("1/4", 1 / 4), ("1", 1.0)):
            law = LogdetBackend().calibrate(support, Target(budget), IdentityMetric())
            started = time.process_time()
            certified = certified_membership(law, space, space.weights)
            took = time.process_time() - started
            assert certified is not None
            mixture = GaussianMixture(law.centres, space.weights, float(law.scale))
            found = estimated_success(mixture, criterion, 2**13, np.random.default_rng(1))
            worst = np.argsort(found)[-20:]
            found = estimated_success(mixture, criterion, 50_000, np.random.default_rng(2), worst)
            implied = posterior_success(law.bound, 0.5)
            shown = (f"{100 * value:.2f} %" for value in (implied, certified.success, found.max()))
            rows.append((f"{name}, {len(X):,} rows", label, *shown, f"{took:.2f}"))
    header = ("data", "nats", "implied", "certified", "optimal attack, worst row", "s")
    print_table("Success at the membership of one row", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--old", help="folder of an older checkout to compare with")
    parser.add_argument("--work", nargs=2)
    asked = parser.parse_args()
    if asked.work:
        work(*asked.work)
        return
    data, figures = tables(), Figures()
    stated(data)
    candidates(data)
    times(data, figures, asked.old)
    figures.show()


if __name__ == "__main__":
    main()
