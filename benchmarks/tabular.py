"""Mixed tables at three equal bounds on membership success: ours, DP-EBM, diffprivlib, DP descent.

    python -m venv /tmp/ebmvenv && /tmp/ebmvenv/bin/pip install interpret-core pandas
    PACSKLEARN_DATA=... python benchmarks/tabular.py "breast cancer" rice --seeds 2 \
        --ebm-python /tmp/ebmvenv/bin/python --dp-python /tmp/dpvenv/bin/python \
        --results /tmp/tabular --seconds 600

``--results`` keeps a file a table, after every cell; what is in it is not run again. ``--show``
prints what is there and runs nothing. A cell that takes longer than ``--seconds`` stays empty.

Families, penalties and defaults were fixed while looking at the tables of ``FIXED_ON``; the others
had no part in that, and are what the figures stand for.

Accuracy (numbers: 1 - SSE / SSE of a constant), AUC and log loss (natural logarithm, probabilities
of at least 1e-6) on rows nobody fits on; means, standard errors, and paired differences to rivals.
Rows of the table printed: releases that pass rule 4 (auto, direct), then what holds what all
candidates agree on (students, answers) *counted apart*, then differential privacy with all rows.
Ours: m = 128, rate 1/2, families and penalties as shipped, none chosen here. Differential privacy
is a worst-case promise and holds against more knowledge; it is compared at the membership success
that it implies, (epsilon, 1e-5) by ``dp_epsilon``.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from tabular_data import TABLES, Table  # beside this file

from pacsklearn import (
    Answers,
    AutoPrivateClassifier,
    AutoPrivateRegressor,
    Membership,
    PACPrivate,
    Parameters,
    Student,
)
from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.priors import Expected
from pacsklearn.tabular import Schema, SchemaEncoder, SchemaQueries
from pacsklearn.tabular.choosing.families import teacher

BUDGETS = (1 / 64, 1 / 16, 1 / 4)
DELTA = 1e-5
N_PUBLIC = 200
FIXED_ON = ("adult", "breast cancer", "rice", "cleveland", "student", "magic", "white wine")
STEPS, RATE_OF_DESCENT, CLIP = 60, 1.0, 1.0
LEAST = 1e-6
SCORES = ("accuracy", "AUC", "log loss")
RIVALS = ("DP-EBM", "best of diffprivlib", "DP gradient descent", "constant")
# At each bound, the scores of a method.
Bounds = list[list[float]]
HERE = Path(__file__).parent


class OutOfTime(KeyboardInterrupt):
    """A cell took too long; a fit lets interrupts through, and nothing else."""


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", choices=[[], *TABLES])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, help="Use so many rows at most.")
    parser.add_argument("--ebm-python")
    parser.add_argument("--dp-python")
    parser.add_argument(
        "--skip", default="", help="Rows to leave out, by their first words; separated by ;."
    )
    parser.add_argument("--results", type=Path, help="Folder that keeps what was measured.")
    parser.add_argument("--seconds", type=int, default=0, help="Longest time for a cell.")
    parser.add_argument("--show", action="store_true", help="Run nothing.")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, out_of_time)
    found: dict[str, dict[str, dict[str, Bounds]]] = {}
    for name in given.tables or TABLES:
        table, kept = TABLES[name](), Kept(given.results, name, given.rows)
        for seed in range(0 if given.show else given.seeds):
            one_split(table, seed, given, kept)
        if kept.scores:
            scores = kept.by_method()
            shown(name, table, scores, kept.n_rows or len(table.y))
            if table.ends is None and "DP-EBM, default" in scores:
                found[name] = scores
    if len(found) > 1:
        standing(found)


def out_of_time(*_: Any) -> None:
    raise OutOfTime


class Kept:
    """Scores of one table, by split and method; on disk after every cell.

    Parameters
    ----------
    folder : Path or None
    name : str
    n_rows : int or None
        Scores of samples of another size are not continued.
    """

    def __init__(self, folder: Path | None, name: str, n_rows: int | None) -> None:
        self.n_rows, self.path = n_rows, None
        self.scores: dict[str, dict[str, Bounds | None]] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self.path = folder / f"{name.replace(' ', '_')}.json"
        if self.path is not None and self.path.exists():
            read = json.loads(self.path.read_text())
            if n_rows is not None and read["rows"] != n_rows:
                raise SystemExit(f"{self.path} holds samples of {read['rows']} rows; move it away.")
            self.n_rows, self.scores = read["rows"], read["scores"]

    def cell(self, seed: int, method: str, run: Callable[[], Bounds], seconds: int) -> None:
        """Run one method on one split, unless that was done."""
        split = self.scores.setdefault(str(seed), {})
        if method in split:
            return
        start = time.perf_counter()
        signal.alarm(seconds)
        try:
            split[method] = run()
        except OutOfTime:
            split[method] = None
        finally:
            signal.alarm(0)
        took = time.perf_counter() - start
        print(f"  split {seed}, {method}: {split[method]}, {took:.0f} s", file=sys.stderr)
        if self.path is not None:
            beside = self.path.with_suffix(".new")
            beside.write_text(json.dumps({"rows": self.n_rows, "scores": self.scores}, indent=1))
            beside.replace(self.path)

    def by_method(self) -> dict[str, dict[str, Bounds]]:
        """Scores of the splits that each method was run on, by split."""
        found: dict[str, dict[str, Bounds]] = {}
        for seed, split in self.scores.items():
            for method, row in split.items():
                if row is not None:
                    found.setdefault(method, {})[seed] = row
        return found


def one_split(table: Table, seed: int, given: Any, kept: Kept) -> None:
    """Accuracy of every method at every bound on one split."""
    rows = np.arange(len(table.y))
    if given.rows and given.rows < rows.size:
        rows = np.sort(np.random.default_rng(seed).choice(rows, given.rows, replace=False))
    X, y = table.X.iloc[rows].reset_index(drop=True), table.y[rows]
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.25, stratify=None if table.ends else y, random_state=seed
    )
    public, rest = X_test.iloc[:N_PUBLIC], slice(min(N_PUBLIC, len(X_test) // 2), None)
    public = public.iloc[: rest.start]
    data = (X, y, X_test.iloc[rest], y_test[rest])
    scored = partial(score, data=data, table=table)
    others = table.X.drop(index=table.X.index[rows])
    counted = marginals(table, public if others.empty else others)
    own, rows_asked = SchemaQueries(table.schema, "private"), f"{N_PUBLIC} public rows"
    nats = dict

    def student(of: Any, queries: Any, promise: Any) -> Callable[[float], list[float]]:
        asked = partial(PACPrivate, of(table), release=Student(queries=queries))
        return lambda budget: scored(asked(**promise(budget=budget)))

    methods: dict[str, Callable[[float], list[float]]] = {
        "auto, nats": lambda budget: auto(table, data, budget=budget),
        "auto, cap": lambda budget: auto(table, data, **cap(budget)),
        f"direct, nats ({type(direct(table)[-1]).__name__}())": lambda budget: scored(
            PACPrivate(
                direct(table),
                budget=budget,
                release=Parameters(
                    certify=False, prior=Expected(table.constant) if table.ends else None
                ),
            )
        ),
        "DP gradient descent": lambda budget: descended(table, data, budget, seed),
        f"student, {rows_asked}": student(boosted, public, nats),
        f"student by cap, {rows_asked}": student(boosted, public, cap),
        f"student of an SVM by cap, {rows_asked}": student(smooth, public, cap),
        "student, public marginals": student(boosted, counted, nats),
        "student by cap, public marginals": student(boosted, counted, cap),
        "student, private marginals": student(boosted, own, nats),
        "answers of boosted trees": lambda budget: scored(
            PACPrivate(boosted(table), release=Answers(len(data[3])), budget=budget)
        ),
    }
    values = np.unique(y)
    dummy = DummyRegressor(strategy="constant", constant=table.constant)
    same: dict[str, Callable[[], list[float]]] = {
        "constant": lambda: scored(dummy if table.ends else DummyClassifier()),
        f"not private: {'linear' if table.ends else 'logistic'}": lambda: scored(direct(table)),
        "not private: boosted": lambda: scored(boosted(table)),
        "not private: SVM": lambda: scored(smooth(table)),
    }
    if table.ends:  # the others are about classes
        methods, _ = dict(list(methods.items())[:3]), same.popitem()
    skipped = tuple(filter(None, given.skip.split(";")))
    wanted = lambda name: not (skipped and name.startswith(skipped))  # noqa: E731 - one expression
    for name, once in same.items():
        run = lambda once=once: [once()] * len(BUDGETS)  # noqa: E731
        kept.cell(seed, name, run, given.seconds)
    if given.ebm_python and (table.ends or values.size == 2):
        both = cache(partial(ebm, given.ebm_python, table, data))
        for name in ("default", "learning_rate=.1"):
            run = lambda name=name: both()[name]  # noqa: E731
            kept.cell(seed, f"DP-EBM, {name}", run, given.seconds)
    if given.dp_python:
        kept.cell(
            seed,
            "best of diffprivlib",
            lambda: diffprivlib(given.dp_python, table, data),
            given.seconds,
        )
    for name, method in methods.items():
        if wanted(name):
            run = lambda method=method: [method(budget) for budget in BUDGETS]  # noqa: E731
            kept.cell(seed, name, run, given.seconds)


def direct(table: Table) -> Any:
    """What a user tries first, with public encodings."""
    last = LinearRegression() if table.ends else LogisticRegression(max_iter=1000)
    return make_pipeline(SchemaEncoder(table.schema), last)


def cap(budget: float) -> dict[str, Any]:
    """Cap on membership success that a budget implies."""
    return {"budget": Membership(posterior_success(budget))}


def marginals(table: Table, rows: Any) -> SchemaQueries:
    """Queries by public shares of every column: of rows outside the sample, or the public ones."""
    used = [column for column in table.schema if column.kind != "ignored"]
    shares = {each.name: SchemaQueries(Schema([each])).measured(rows) for each in used}
    return SchemaQueries(table.schema, shares)


def smooth(table: Table) -> Any:
    """Another teacher, for many classes."""
    return make_pipeline(SchemaEncoder(table.schema), SVC(C=4.0))


def boosted(table: Table) -> Any:
    """Teacher of students and answers."""
    return teacher(table.schema, n_classes=2 if table.ends is None else None)


def score(model: Any, data: Any, table: Table) -> list[float]:
    """Scores on rows that nobody fitted on."""
    X, y, X_test, y_test = data
    model.fit(X, y)
    predicted = model.predict(X_test)
    if table.ends:
        return [table.score(y_test, predicted)]
    proba = model.predict_proba(X_test) if hasattr(model, "predict_proba") else None
    return figures(y_test, predicted, proba, model.classes_)


def figures(y_test: Any, predicted: Any, proba: Any, classes: Any) -> list[float]:
    """Accuracy, AUC of two classes, log loss; nan where a model gives no probabilities."""
    accuracy = float(np.mean(predicted == y_test))
    if proba is None:
        return [accuracy, np.nan, np.nan]
    shares = np.clip(proba, LEAST, None)
    shares /= shares.sum(axis=1, keepdims=True)
    held = np.searchsorted(classes, y_test)
    area = roc_auc_score(held, shares[:, 1]) if len(classes) == 2 else np.nan
    return [accuracy, float(area), float(-np.log(shares[np.arange(len(held)), held]).mean())]


def auto(table: Table, data: Any, **promise: Any) -> list[float]:
    """Scores of the best of our list; what it is and its price go to standard error."""
    if table.ends:
        model = AutoPrivateRegressor(schema=table.schema, prior=Expected(table.constant), **promise)
    else:
        model = AutoPrivateClassifier(schema=table.schema, **promise)
    start = time.process_time()
    scores = score(model, data, table)
    took, kind = time.process_time() - start, model.best_estimator_
    print(
        f"    {promise}: {', '.join(f'{each:.4f}' for each in scores)}, {took:.1f} CPU s, "
        f"{'a constant' if kind is None else kind[-1] if hasattr(kind, 'steps') else kind!r}",
        file=sys.stderr,
        flush=True,
    )
    return scores


def encoded(table: Table, data: Any) -> tuple[Any, ...]:
    """Rows in [0, 1] by the codebook, labels as numbers."""
    X, y, X_test, y_test = data
    encoder = SchemaEncoder(table.schema).fit(X)
    if table.ends:
        return encoder.transform(X), y, encoder.transform(X_test), y_test
    classes, codes = np.unique(y, return_inverse=True)
    return encoder.transform(X), codes, encoder.transform(X_test), np.searchsorted(classes, y_test)


def descent_scale(budget: float) -> float:
    """Standard deviation of the noise on each sum of clipped gradients.

    All steps together are one Gaussian mechanism whose shift is ``mu`` standard deviations, and the
    best membership test of that is right ``Phi(mu / 2)`` of the time.
    """
    mu = 2 * norm.ppf(posterior_success(budget))
    return float(CLIP * np.sqrt(STEPS) / mu)


def descended(table: Table, data: Any, budget: float, seed: int) -> list[float]:
    """Logistic regression by noisy gradients of all rows, at the same membership success."""
    X, y, X_test, y_test = encoded(table, data)
    generator = np.random.default_rng([seed, 7])
    X, X_test = (np.column_stack([part, np.ones(len(part))]) for part in (X, X_test))
    n_classes = int(y.max()) + 1
    weights = np.zeros((X.shape[1], n_classes))
    targets = np.eye(n_classes)[y]
    sizes = np.linalg.norm(X, axis=1)[:, None]
    scale = descent_scale(budget)
    for _ in range(STEPS):
        wrong = expit(X @ weights) - targets
        clipped = wrong / np.maximum(1, np.linalg.norm(wrong, axis=1)[:, None] * sizes / CLIP)
        noise = scale * generator.normal(size=weights.shape)
        weights -= RATE_OF_DESCENT * (X.T @ clipped + noise) / len(X)
    shares = expit(X_test @ weights)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    return figures(y_test, shares.argmax(axis=1), shares, np.arange(n_classes))


def ebm(python: str, table: Table, data: Any) -> dict[str, Bounds]:
    """DP-EBM by its defaults and with a larger learning rate; means of three fits."""
    X, y, X_test, y_test = data
    columns = [column for column in table.schema if column.kind != "ignored"]
    names = [column.name for column in columns]
    numbers = [column.kind in ("number", "date") for column in columns]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "train.csv", Path(folder) / "test.csv"]
        for path, part, labels in zip(paths, (X, X_test), (y, y_test), strict=True):
            part[names].assign(label=labels).to_csv(path, index=False)
        task = {
            "train": str(paths[0]),
            "test": str(paths[1]),
            "kinds": ["continuous" if number else "nominal" for number in numbers],
            "bounds": {
                column.name: column.bounds
                for column, number in zip(columns, numbers, strict=True)
                if number
            },
            "epsilons": [dp_epsilon(posterior_success(budget), DELTA) for budget in BUDGETS],
            "delta": DELTA,
            "ends": table.ends,
            "fits": 3,
        }
        found = worked(python, "ebm_worker.py", task)
    return {
        name: [np.mean(fits, axis=0).tolist() for fits in by_bound]
        for name, by_bound in found.items()
    }


def diffprivlib(python: str, table: Table, data: Any) -> Bounds:
    """Best of diffprivlib's classifiers at each bound, by its mean accuracy of three fits."""
    names = ("X", "y", "X_test", "y_test")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, **dict(zip(names, encoded(table, data), strict=True)))
        epsilons = [dp_epsilon(posterior_success(budget)) for budget in BUDGETS]
        task = {
            "data": str(path),
            "epsilons": epsilons,
            "seeds": 3,
            "models": ["logistic regression", "Gaussian NB", "random forest"],
            "probabilities": True,
            "ends": table.ends,
        }
        if table.ends:
            task["models"] = ["linear regression"]
        found = worked(python, "diffprivlib_worker.py", task)
    means = np.array([np.mean(found[name], axis=1) for name in task["models"]])
    best: Bounds = means[means[:, :, 0].argmax(axis=0), np.arange(len(BUDGETS))].tolist()
    return best


def worked(python: str, worker: str, task: dict[str, Any]) -> dict[str, Any]:
    """What a worker answers with its own interpreter."""
    ran = subprocess.run(
        [python, str(HERE / worker)],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise SystemExit(f"{python} could not run {worker}:\n{ran.stderr[-1000:]}")
    result: dict[str, Any] = json.loads(ran.stdout)
    return result


def shown(name: str, table: Table, scores: dict[str, dict[str, Bounds]], n_rows: int) -> None:
    """Print means and standard errors over splits, and Auto's differences to its rivals."""
    looked_at = "; defaults were fixed on this table" if name in FIXED_ON else ""
    print(f"\n{name}: {min(n_rows, len(table.y)):,} of {len(table.y):,} rows{looked_at}")
    bounds = "".join(f"{posterior_success(budget):>16.1%}" for budget in BUDGETS)
    print(f"{'membership at most':<38}{bounds}")
    for number, title in enumerate(SCORES[:1] if table.ends else SCORES):
        print("R2 of a constant" if table.ends else title)
        for method, by_split in scores.items():
            print_cells(method, [[row[number] for row in each] for each in by_split.values()])
        for ours in ("auto, nats", "auto, cap"):
            own = scores.get(ours, {})
            for rival, theirs in scores.items():
                both = own.keys() & theirs.keys()
                if rival.startswith(RIVALS) and both:
                    apart = np.subtract(
                        *([each[split] for split in both] for each in (own, theirs))
                    )
                    print_cells(f"{ours} less {rival}", apart[:, :, number].tolist())


def standing(tables: dict[str, dict[str, dict[str, Bounds]]]) -> None:
    """Print how Auto stands beside the best rival of each of the tables of two classes and bounds.

    The rival with the best mean of the same splits, chosen in hindsight; positive is better.
    """
    for ours in ("auto, nats", "auto, cap"):
        for number, title in enumerate(SCORES):
            sign, cells, behind = (-1 if title == "log loss" else 1), {}, []
            for name, scores in tables.items():
                own = scores[ours]
                for bound, budget in enumerate(BUDGETS):
                    apart = {
                        rival: np.array([
                            sign * (own[split][bound][number] - theirs[split][bound][number])
                            for split in own.keys() & theirs.keys()
                        ])
                        for rival, theirs in scores.items()
                        if rival.startswith(RIVALS)
                    }  # fmt: skip
                    best, cell = min(apart.items(), key=lambda each: each[1].mean())
                    error = cell.std(ddof=1) / np.sqrt(cell.size)
                    cells.setdefault(name, []).append((cell.mean(), error))
                    if cell.mean() < -2 * error:
                        behind.append(
                            f"{name}, {posterior_success(budget):.1%}, {best}: "
                            f"{cell.mean():+.3f} ±{error:.3f}"
                        )
            means, errors = np.array(list(cells.values())).transpose(2, 0, 1)
            by_table = means.mean(axis=1)
            error = by_table.std(ddof=1) / np.sqrt(by_table.size)
            print(f"\n{ours}, {title}, {len(tables)} tables: {by_table.mean():+.3f} ±{error:.3f}")
            print(
                f"  ahead or level in {np.sum(means >= 0)} of {means.size}; behind by more than "
                f"3 s.e. in {np.sum(means < -3 * errors)}, by more than 2 in {len(behind)}"
            )
            print(*(f"  {line}" for line in behind), sep="\n")


def print_cells(title: str, rows: list[list[float]]) -> None:
    """Print means of splits at each bound, with their standard errors."""
    means, n_splits = np.mean(rows, axis=0), len(rows)
    if np.isnan(means).all():
        return
    errors = np.std(rows, axis=0, ddof=1) / np.sqrt(n_splits) if n_splits > 1 else means * np.nan
    cells = "".join(f"{m:>+9.3f} ±{e:.3f}" for m, e in zip(means, errors, strict=True))
    print(f"  {title:<42}{cells}  {n_splits} splits", flush=True)


if __name__ == "__main__":
    main()
