"""Sliced mechanisms on summary statistics and models of groups, beside srpp's figures 2(a)-(h), 5.

The secret is the group whose rows a query was computed on: race in Adult, sex in Cleveland, the
quintile of the final mark in Student; with the groups' natural shares as the prior, and balanced.
Every group stands for data sets resampled from its rows. For each budget the noise is calibrated
on average, jointly and for the full view; the error is the noise's power, exactly, and the secret
is attacked by the prior-aware MAP attack of the paper and by Bayes' rule.

    python benchmarks/srpp_static.py [--figures FOLDER]

Unlike the paper's, balanced groups are equal samples of the true groups, not of hash values, and
features are scaled by public ranges, so that numbers of unlike units can share one noise.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from report import Figures, print_table
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from benchmarks.baselines.published_power import published_power, worst_case_power
from pacsklearn.audit.sliced_game import SlicedGame
from pacsklearn.datasets import load_adult, load_cleveland, load_student
from pacsklearn.plugins import registry
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_gaussian import SlicedTarget, sliced_law
from pacsklearn.srpp.laws.sliced_law import SlicedLaw
from pacsklearn.srpp.release.best_attack import bayes_success
from pacsklearn.srpp.release.calibrated_worlds import CalibratedWorlds
from pacsklearn.srpp.release.world_outputs import Query, WorldOutputs, world_outputs
from pacsklearn.srpp.scenarios.group_scenario import GroupScenario
from pacsklearn.srpp.scenarios.scenario import SecretColumn, Worlds

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ORDER = 4.0
N_SLICES = 200
N_DRAWS = 16
N_TRIALS = 1000
MOST_ROWS = 4000  # of a group, for the models
EPSILONS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 60.0)


@dataclass(frozen=True)
class Study:
    """Rows, labels and groups, and the numbers that statistics are taken of."""

    name: str
    statistics: np.ndarray
    features: np.ndarray
    y: np.ndarray
    groups: np.ndarray


@dataclass(frozen=True)
class Outputs:
    """A query's value on every world, and the prior over the secrets."""

    scenario: GroupScenario
    worlds: Worlds
    found: WorldOutputs
    prior: np.ndarray

    @property
    def vectors(self) -> np.ndarray:
        return self.found.vectors

    @property
    def profile(self) -> SliceProfile:
        return SliceProfile.uniform(self.vectors.shape[1], n_slices=N_SLICES)

    def published(self, epsilon: float, aggregation: str) -> float:
        target = SlicedTarget(epsilon, ORDER, aggregation, self.profile)
        return published_power(self.vectors, self.worlds, target)

    def worst_case(self, epsilon: float) -> float:
        target = SlicedTarget(epsilon, ORDER, "full", self.profile)
        return worst_case_power(self.vectors, self.worlds, target)

    def law(self, epsilon: float, aggregation: str, **options: Any) -> SlicedLaw:
        target = SlicedTarget(epsilon, ORDER, aggregation, self.profile, **options)
        return sliced_law(self.vectors, self.worlds, target)

    def game(self, law: SlicedLaw) -> SlicedGame:
        success = bayes_success(law, self.worlds, self.profile)
        calibrated = CalibratedWorlds(
            self.scenario, self.worlds, self.found, law, self.profile, success
        )
        return SlicedGame(calibrated, self.prior)


def adult(**where: Any) -> Study:
    X, y = load_adult(return_X_y=True, **where)
    age, education, hours = X["age"] / 90, X["education-num"] / 16, X["hours-per-week"] / 99
    gain, loss = X["capital-gain"] > 0, X["capital-loss"] > 0
    married = X["marital-status"] == "Married-civ-spouse"
    flags = (gain, loss, X["sex"] == "Male", married, X["workclass"] == "Private")
    native = X["native-country"] == "United-States"
    return Study(
        "Adult (race)",
        np.column_stack([age, education, hours, gain, loss, y]).astype(float),
        np.column_stack([age, education, hours, *flags, native]).astype(float),
        np.asarray(y),
        np.asarray(X["race"], dtype=str),
    )


def cleveland(**where: Any) -> Study:
    bunch = load_cleveland(**where)
    column = dict(zip(bunch.feature_names, np.asarray(bunch.data, dtype=float).T, strict=True))
    disease = (np.asarray(bunch.target) > 0).astype(int)
    age, pressure, chol = column["age"] / 80, column["trestbps"] / 200, column["chol"] / 600
    rest = ("cp", "fbs", "restecg", "exang", "oldpeak")
    features = [age, pressure, chol, column["thalach"] / 220, *(column[n] / 6 for n in rest)]
    high = (column["chol"] >= 240, column["trestbps"] >= 140)
    return Study(
        "Cleveland (sex)",
        np.column_stack([age, pressure, chol, *high, disease]).astype(float),
        np.column_stack(features),
        disease,
        np.where(column["sex"] == 1, "male", "female"),
    )


def student(**where: Any) -> Study:
    X, mark = load_student(return_X_y=True, **where)
    mark = np.asarray(mark, dtype=float)
    quintile = np.searchsorted(np.quantile(mark, [0.2, 0.4, 0.6, 0.8]), mark, side="left")
    flags = (X["studytime"] >= 3, X["failures"] > 0, X["absences"] > 10)
    names = ["age", "Medu", "Fedu", "studytime", "failures", "goout", "Dalc", "Walc", "absences"]
    ranges = np.array([22, 4, 4, 4, 4, 5, 5, 5, 93])
    return Study(
        "Student (grade group)",
        np.column_stack([X["G1"] / 20, X["G2"] / 20, mark / 20, *flags]).astype(float),
        np.asarray(X[names], dtype=float) / ranges,
        (X["activities"] == "yes").to_numpy().astype(int),
        np.char.add("G", (quintile + 1).astype(str)),
    )


def studies() -> Iterator[Study]:
    folder = os.environ.get("PACSKLEARN_DATA", str(_SHARED))
    for make in (adult, cleveland, student):
        try:
            yield make(data_home=folder, download=False)
        except OSError as error:
            print(f"{make.__name__} is skipped: {error} Name its folder in PACSKLEARN_DATA.")


def summary(X: np.ndarray) -> np.ndarray:
    """Means and deviations of three columns, rates of the other three."""
    return np.concatenate([X[:, :3].mean(axis=0), X[:, :3].std(axis=0), X[:, 3:].mean(axis=0)])


def logistic(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    model = LogisticRegression(max_iter=1000).fit(X, y)
    return np.append(model.coef_, model.intercept_)


def svm(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    model = LinearSVC(random_state=0).fit(X, y)
    return np.append(model.coef_, model.intercept_)


def forest(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    model = RandomForestClassifier(20, max_depth=6, random_state=0).fit(X, y)
    return model.feature_importances_


QUERIES: dict[str, Callable[..., np.ndarray]] = {
    "statistics": summary,
    "logistic": logistic,
    "SVM": svm,
    "forest": forest,
}


def outputs(study: Study, query: str, balanced: bool) -> Outputs:
    """Value of a query on every data set of every group."""
    rows = study.statistics if query == "statistics" else study.features
    counts = np.unique(study.groups, return_counts=True)[1]
    prior = np.full(counts.size, 1 / counts.size) if balanced else counts / counts.sum()
    kept = sampled(study.groups, counts.min() if balanced else None, query)
    X, y, groups = rows[kept], study.y[kept], study.groups[kept]
    scenario = GroupScenario(n_draws=N_DRAWS)
    worlds = scenario.worlds(X, y, SecretColumn(groups))
    found = world_outputs(Query.of_function(QUERIES[query]), worlds, X, y, {})
    return Outputs(scenario, worlds, found, prior)


def sampled(groups: np.ndarray, size: int | None, query: str) -> np.ndarray:
    """Rows of each group, at most ``size`` of them, and no more than a model needs."""
    most = min(size or groups.size, groups.size if query == "statistics" else MOST_ROWS)
    generator = np.random.default_rng(0)
    kept = [
        generator.permutation(np.flatnonzero(groups == group))[:most] for group in np.unique(groups)
    ]
    return np.sort(np.concatenate(kept))


def measured(found: Outputs, epsilon: float, aggregation: str) -> dict[str, float]:
    law = found.law(epsilon, aggregation)
    game = found.game(law)
    attacked = registry().make("attack", "map").run(game, N_TRIALS, seed=0)
    exact = registry().make("attack", "identification").run(game, N_TRIALS, seed=0)
    assert not attacked.violates()
    assert not exact.violates()
    return {
        "error": law.noise_power,
        "published": found.published(epsilon, aggregation),
        "accuracy": attacked.success,
        "exact": exact.success,
        "bound": attacked.bound,
        "full": law.costs.full,
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--figures", type=Path, help="folder for the figures")
    folder = options.parse_args().figures
    warnings.simplefilter("ignore")
    figures = Figures()
    for study in studies():
        curves: dict[tuple[str, str], list[Any]] = {}
        advantages: dict[str, list[float]] = {}
        for balanced in (True, False):
            kind = "balanced" if balanced else "natural"
            for query in QUERIES:
                found = outputs(study, query, balanced)
                base = float(found.prior.max())
                rows = []
                for epsilon in EPSILONS:
                    average = measured(found, epsilon, "average")
                    joint = measured(found, epsilon, "joint")
                    curves.setdefault((kind, query), []).append((epsilon, average, joint, base))
                    names = ("error", "accuracy", "exact", "full")
                    shown = [f"{each[n]:.4g}" for each in (average, joint) for n in names]
                    rows.append((f"{epsilon:g}", *shown))
                whole = measured(found, EPSILONS[0], "full")
                _, average, joint, _ = curves[kind, query][0]
                for calibrated, each in (("sliced", average), ("sliced", joint), ("full", whole)):
                    gained = max(each["exact"], each["accuracy"]) - base
                    advantages.setdefault(f"{kind}, {calibrated}", []).append(gained)
                heads = ("squared error", "MAP", "Bayes", "full view")
                print_table(
                    f"{study.name}, {kind} (prior {base:.3f}), {query}: average, then joint",
                    ("eps", *heads, *heads),
                    rows,
                )
        # Three standard errors of the success in so many trials.
        margin = 3 * 0.5 / N_TRIALS**0.5
        for kind, gained in advantages.items():
            figures.at_most(
                f"best attack's success over the prior at eps {EPSILONS[0]}: {study.name}, {kind}",
                round(margin, 3),
                max(gained),
            )
        if folder is not None:
            draw(study.name, curves, folder)
    figures.show()


def draw(name: str, curves: dict[tuple[str, str], list[Any]], folder: Path) -> None:
    """One row of panels a prior, one panel a query: error and attack accuracy against epsilon."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(QUERIES), figsize=(4 * len(QUERIES), 6.5))
    for row, kind in enumerate(("balanced", "natural")):
        for column, query in enumerate(QUERIES):
            left, points = axes[row, column], curves[kind, query]
            right = left.twinx()
            epsilons = [point[0] for point in points]
            for which, label, colour in ((1, "average", "C0"), (2, "joint", "C1")):
                errors = [point[which]["error"] for point in points]
                left.loglog(epsilons, errors, colour, label=f"{label}, error")
                accuracies = [point[which]["accuracy"] for point in points]
                right.semilogx(epsilons, accuracies, f"{colour}--", label=f"{label}, attack")
            right.axhline(points[0][3], color="0.6", lw=0.8)
            right.set_ylim(0, 1.02)
            left.set_title(f"{query}, {kind}")
            left.set_xlabel("epsilon")
            if column == 0:
                left.set_ylabel("mean squared error")
                left.legend(loc="lower left", fontsize="small")
            if column == len(QUERIES) - 1:
                right.set_ylabel("attack accuracy")
    figure.suptitle(name)
    figure.tight_layout()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"srpp_static_{name.split(maxsplit=1)[0].lower()}.png"
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
