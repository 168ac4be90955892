"""What lists of candidates in blocks of similar rows save, beside the list that deals all alike.

    python benchmarks/candidate_lists.py [--seeds 3] [--tables NAME ...] [--lists NAME ...]

Of every table, model and list: noise power at 1/64 nat and under a cap of 58.8 % on membership (as
ratios: unblocked over blocked), accuracy of releases at 1/64 nat on rows kept aside, certified
membership of the worst row, and the share of those rows on which all candidates' models agree.
Standard errors are over design seeds. Where a column is empty the cell was not asked.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from report import Figures, print_table
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pacsklearn.estimators.subsets import Subsets
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.release.certificate import certified_membership
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.plugins import registry
from pacsklearn.universe.design import candidates_over

FOLDER = Path(os.environ.get("PACSKLEARN_DATA", Path(__file__).parents[2] / "shared" / "data"))
NATS = 1 / 64
CAP = posterior_success(NATS, 0.5)
ROWS, RELEASES = 1000, 30
LISTS = {
    "unblocked": {"blocks": None},
    "blocks of 8": {"blocks": 8, "balance": None},
    "walk": {"blocks": 8},
}
CLASSIFIERS = {
    "logistic .01": make_pipeline(StandardScaler(), LogisticRegression(C=0.01)),
    "logistic 1": make_pipeline(StandardScaler(), LogisticRegression()),
    "LDA": make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
    "naive Bayes": GaussianNB(),
}
REGRESSORS = {
    "ridge 10": make_pipeline(StandardScaler(), Ridge(10)),
    "ridge 300": make_pipeline(StandardScaler(), Ridge(300)),
}
TREE = DecisionTreeClassifier(max_depth=5, random_state=0)
CAPPED = ("logistic .01", "naive Bayes", "ridge 10")


class Table(NamedTuple):
    """Rows, targets, and the unit of privacy of each row."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None = None


class Cell(NamedTuple):
    """What one list gives one model."""

    power: float
    capped: float
    accuracy: float
    worst: float
    agreed: float


def from_file(
    name: str,
    target: Any,
    *,
    header: Any = 0,
    drop: tuple[Any, ...] = (),
    numbers: bool = False,
) -> Table:
    """A sample of a public table; words become columns."""
    frame = pd.read_csv(FOLDER / name, header=header)
    frame = frame.sample(min(len(frame), ROWS), random_state=0).drop(columns=list(drop))
    y = frame.pop(target)
    y = y.to_numpy(float) if numbers else pd.factorize(y)[0]
    return Table(pd.get_dummies(frame).to_numpy(dtype=float), y)


def made(name: str) -> Table:
    """Tables on which a design could fail."""
    generator = np.random.default_rng(len(name))
    X = generator.normal(size=(600, 8))
    score = X @ np.array([1.5, -1, 0.5, 0, 0, 0, 0.2, 0]) + generator.normal(size=600)
    y = (score > 0).astype(int)
    if name == "5 % positive":
        y = (score > np.quantile(score, 0.95)).astype(int)
    elif name == "17 positive":
        y = (score >= np.sort(score)[-17]).astype(int)
    elif name == "skewed":
        X = np.exp(1.5 * X)
    elif name == "heavy tails":
        X = X * np.sqrt(2 / generator.chisquare(2, size=(600, 1)))
    elif name == "outliers":
        X[:6] *= 100
    elif name == "p > n":
        X = np.hstack([X[:60], generator.normal(size=(60, 300))])
        y = y[:60]
    elif name == "categories":
        X = np.eye(4)[generator.integers(4, size=(600, 3))].reshape(600, 12)
        y = (X @ generator.normal(size=12) + generator.normal(size=600) > 0).astype(int)
    elif name == "rows twice":
        X[300:], y[300:] = X[:300], y[:300]
    groups = np.sort(generator.integers(200, size=600)) if name == "groups" else None
    return Table(X, y, groups)


MADE = (
    "5 % positive", "17 positive", "skewed", "heavy tails", "outliers", "p > n", "categories",
    "rows twice", "groups",
)  # fmt: skip
TABLES: dict[str, Callable[[], Table]] = {
    "breast cancer": lambda: Table(*load_breast_cancer(return_X_y=True)),
    "wine": lambda: Table(*load_wine(return_X_y=True)),
    "magic": lambda: from_file("magic04.csv.gz", "class"),
    "spambase": lambda: from_file("spambase.csv.gz", 57, header=None),
    "rice": lambda: from_file("rice.csv", pd.read_csv(FOLDER / "rice.csv", nrows=1).columns[-1]),
    "taiwan": lambda: from_file("taiwan_credit_card.csv.gz", "target", drop=("_is_test", "id")),
    "german": lambda: from_file("german_credit.csv", "target", drop=("_is_test",)),
    "adult": lambda: from_file("adult.csv.gz", "income"),
    "cleveland": lambda: from_file("cleveland_heart.csv", "num"),
    "diabetes": lambda: Table(*load_diabetes(return_X_y=True)),
    "student": lambda: from_file("student_mat.csv", "G3", drop=("G1", "G2"), numbers=True),
    "white wine": lambda: from_file(
        "winequality_white.csv", "quality", drop=("type",), numbers=True
    ),
    **{name: (lambda name=name: made(name)) for name in MADE},
}


def agreement(models: Iterator[Any], X: np.ndarray) -> float:
    """Share of rows for which all models give one label."""
    labels = np.stack([model.predict(X) for model in models])
    return float((labels == labels[0]).all(axis=0).mean())


def measured(model: Any, name: str, train: Table, test: Table, space: SecretSpace) -> Cell:
    """All figures of a model on a list."""
    outputs = candidates_over(model, train.X, train.y, space).outputs(
        registry().canonicalizer_for(model)
    )
    support, cost = Support(outputs.vectors), outputs.metric()
    law = registry().noise_backend("logdet").calibrate(support, Target(NATS), cost)
    sampler, scores = SeededSampler(np.random.default_rng(1)), []
    for release in range(RELEASES):
        index = release * 4 % space.n_candidates
        released = outputs.decode(law.decode(law.draw(index, sampler)))
        scores.append(max(released.score(test.X, test.y), -1.0))
    certified = certified_membership(law, space, space.weights)
    capped, agreed = np.nan, np.nan
    if name in CAPPED:
        target = Target(CAP, MembershipCriterion(space))
        capped = registry().noise_backend("criterion").calibrate(support, target, cost).noise_power
    if name in CLASSIFIERS:
        agreed = agreement((outputs.decode(vector) for vector in outputs.vectors), test.X)
    worst = np.nan if certified is None else certified.success
    return Cell(law.noise_power, capped, float(np.mean(scores)), worst, agreed)


def of_tree(train: Table, test: Table, space: SecretSpace) -> Cell:
    """Answers of trees, which nothing is released of."""
    rows = (space.rows(index) for index in range(space.n_candidates))
    models = (TREE.fit(train.X[each], train.y[each]) for each in rows)
    return Cell(np.nan, np.nan, np.nan, np.nan, agreement(models, test.X))


def study(
    table: Table, seeds: int, lists: list[str], *, small: bool
) -> dict[tuple[str, str], np.ndarray]:
    """Figures of each model and list; shape (seeds, 5)."""
    kept = train_test_split(np.arange(len(table.y)), test_size=0.3, random_state=0)
    parts = [Table(*(None if each is None else each[rows] for each in table)) for rows in kept]
    numbers = table.y.dtype.kind == "f"
    models = REGRESSORS if numbers else CLASSIFIERS
    chosen = {name: models[name] for name in models if not small or name in CAPPED}
    found: dict[tuple[str, str], list[Cell]] = {}
    for seed in range(seeds):
        for title in lists:
            design = Subsets(seed=seed, **LISTS[title]).design(parts[0].groups)
            space = design.space(parts[0].X, parts[0].y, classifies=not numbers)
            for name, model in chosen.items():
                cell = measured(model, name, parts[0], parts[1], space)
                found.setdefault((name, title), []).append(cell)
            if not numbers:
                found.setdefault(("tree", title), []).append(of_tree(*parts, space))
    return {key: np.array(cells) for key, cells in found.items()}


def compared(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log ratios of powers and differences of the rest, with their standard errors."""
    apart = np.hstack([np.log(before[:, :2] / after[:, :2]), after[:, 2:] - before[:, 2:]])
    return apart.mean(axis=0), apart.std(axis=0, ddof=1) / np.sqrt(len(apart))


def shown(value: float, error: float, *, ratio: bool) -> str:
    if np.isnan(value):
        return ""
    if ratio:
        return f"{np.exp(value):.2f} ({np.exp(value) * error:.2f})"
    return f"{value:+.3f} ({error:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--lists", nargs="*", default=list(LISTS)[1:], choices=list(LISTS)[1:])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # distances to convergence do not matter here
    columns = ("power saved", "under cap", "accuracy", "worst row", "unanimous")
    rows: list[tuple[str, ...]] = []
    cells: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for table in arguments.tables:
        lists = ["unblocked", *arguments.lists]
        found = study(TABLES[table](), arguments.seeds, lists, small=table in MADE)
        for name, title in found:
            if title == "unblocked":
                continue
            value, error = compared(found[name, "unblocked"], found[name, title])
            kind = "made" if table in MADE else "public"
            cells.setdefault(f"{kind} tables, {title}", []).append((value, error))
            texts = [shown(value[i], error[i], ratio=i < 2) for i in range(len(columns))]
            rows.append((table, name, title, *texts))
            print(*rows[-1], sep=" | ", flush=True)
    print_table(
        "against the unblocked list (standard errors)", ("data", "model", "list", *columns), rows
    )
    figures = Figures()
    for title, pairs in cells.items():
        value, error = (np.array(each) for each in zip(*pairs, strict=True))
        median = np.exp(np.nanmedian(value, axis=0))
        figures.at_least(f"{title}: power saved, median", 1.5, median[0], "times")
        figures.at_least(f"{title}: under a cap, median", 1.2, median[1], "times")
        losing = (value[:, :3] < -3 * np.maximum(error[:, :3], 1e-3)).any(axis=1)
        figures.at_most(f"{title}: cells worse by more than 3 standard errors", 0, losing.sum())
        figures.at_most(f"{title}: worst row up by", 0.01, np.nanmax(value[:, 3]))
        figures.at_least(
            f"{title}: unanimous answers, mean change", 0, 100 * np.nanmean(value[:, 4])
        )
    figures.show()


if __name__ == "__main__":
    main()
