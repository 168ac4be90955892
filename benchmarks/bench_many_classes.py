"""What noise by nats costs with many classes: where its power goes, and what lowers it.

    python benchmarks/bench_many_classes.py [--releases 20] [--tables NAME ...]

Of each table, model and number of candidates: numbers released, directions that are paid for,
noise power over the power of the mean weights at 1/16 nat, and accuracy on a quarter of the rows.
A direction is paid for by its spread among candidates ``s``: at small budgets the noise's power is
about proportional to ``(sum s)^2 = D sum s^2``, and ``D`` counts directions, at most one less than
the candidates. One split; releases are simulated with the law of a fit.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from report import print_table  # beside this file
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import Subsets
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.tabular import AdditiveClassifier, StepwiseClassifier

BUDGETS = (1 / 64, 1 / 16, 1 / 4)
MODELS = {
    "logistic, C=1": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "logistic, C=0.001": make_pipeline(StandardScaler(), LogisticRegression(C=1e-3)),
    "additive, straight": AdditiveClassifier(feature_range=(-8, 16), ridge=400, smoothness=4e4),
    "nearest centroid": make_pipeline(StandardScaler(), NearestCentroid()),
    "8 columns": make_pipeline(StandardScaler(), StepwiseClassifier(8)),
    "shrunken, ridge=1": make_pipeline(StandardScaler(), StepwiseClassifier(0, ridge=1)),
    "shrunken, ridge=10": make_pipeline(StandardScaler(), StepwiseClassifier(0, ridge=10)),
}


def made(n_classes: int) -> tuple[Any, Any]:
    """Rows of 16 columns, 8 of which tell the classes apart."""
    return make_classification(
        3000, 16, n_informative=8, n_classes=n_classes, n_clusters_per_class=1, random_state=0
    )


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "made, 7 classes": lambda: made(7),
    "digits, 10 classes": lambda: load_digits(return_X_y=True),
    "made, 26 classes": lambda: made(26),
}


def line(model: Any, data: list[Any], n_candidates: int, n_releases: int) -> list[str]:
    """Figures of one model and number of candidates."""
    X, X_test, y, y_test = data
    candidates = Subsets(n_candidates, seed=0).design().candidates(model, X, y)
    cells: list[str] = []
    for budget in BUDGETS:
        plan = ParameterPlan.of(model, lambda: candidates, Target(budget), ReleaseChoices())
        law = plan.calibrate(opening_belief(plan.space.weights))
        vectors = plan.cost.root(plan.outputs.vectors)  # as the noise counts them
        mean = vectors.mean(axis=0)
        if not cells:
            spread = np.linalg.svd(vectors - mean, compute_uv=False)
            directions = spread.sum() ** 2 / np.square(spread).sum()
            cells = [str(vectors.shape[1]), f"{directions:.0f}"]
        if budget == BUDGETS[1]:
            cells.insert(2, f"{law.noise_power / np.square(mean).sum():.2f}")
        sampler, scores = SeededSampler(np.random.default_rng(7)), []
        for index in range(n_releases):
            released = plan.value(law, law.draw(index, sampler))
            scores.append(released.score(X_test, y_test))
        error = np.std(scores, ddof=1) / np.sqrt(n_releases)
        cells.append(f"{np.mean(scores):.3f} ± {error:.3f}")
    exact = [plan.outputs.decode(vector) for vector in plan.outputs.vectors[:8]]
    return [*cells, f"{np.mean([one.score(X_test, y_test) for one in exact]):.3f}"]


def main() -> None:
    """Print a table of models for each table of rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--releases", type=int, default=20)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    asked = parser.parse_args()
    for name in asked.tables:
        X, y = TABLES[name]()
        data = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
        rows = [
            [title, n, *line(model, data, n, asked.releases)]
            for title, model in MODELS.items()
            for n in (128, 32)
        ]
        header = ("model", "candidates", "numbers", "directions", "noise/weights at 1/16")
        print_table(name, (*header, "1/64 nat", "1/16", "1/4", "no noise"), rows)


if __name__ == "__main__":
    main()
