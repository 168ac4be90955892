"""Adult by nats with few columns: accuracy and AUC on a quarter of the rows, mean over releases.

    PACSKLEARN_DATA=... python benchmarks/bench_stepwise.py [--releases 40]

One split, one list of 128 candidates as by default, releases simulated with the law of a fit; the
codebook of ``public_data.adult_schema`` written by hand, thermometer bounds and one-hot categories.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from tabular_data import TABLES  # beside this file

from pacsklearn import Subsets
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.release.account import opening_belief
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.tabular import SchemaEncoder, StepwiseClassifier

BUDGETS = (1 / 64, 1 / 16, 1 / 4)
MODELS = (
    StepwiseClassifier(2),
    StepwiseClassifier(4),
    StepwiseClassifier(4, ridge=0.3),
    StepwiseClassifier(4, ridge=0.1),
    StepwiseClassifier(0, ridge=1.0),
)


def main() -> None:
    """Print a line for each model and budget."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--releases", type=int, default=40)
    n_releases = parser.parse_args().releases
    table = TABLES["adult"]()
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=0.25, stratify=table.y, random_state=0
    )
    encoder = SchemaEncoder(table.schema, numbers="thermometer", missing="ignore").fit(X)
    X, X_test = encoder.transform(X), encoder.transform(X_test)
    for model in MODELS:
        candidates = Subsets(seed=0).design().candidates(model, X, y)
        for budget in BUDGETS:
            plan = ParameterPlan.of(
                model, lambda kept=candidates: kept, Target(budget), ReleaseChoices()
            )
            scores = released(plan, X_test, y_test, n_releases)
            means = np.mean(scores, axis=0)
            error = np.std(scores, axis=0, ddof=1) / np.sqrt(n_releases)
            print(
                f"{model!r:40} {budget:.4f} nats: accuracy {means[0]:.4f} +- {error[0]:.4f}, "
                f"AUC {means[1]:.4f} +- {error[1]:.4f}",
                flush=True,
            )


def released(plan: ParameterPlan, X: Any, y: Any, n_releases: int) -> list[tuple[float, float]]:
    """Accuracy and AUC of releases of different candidates."""
    law = plan.calibrate(opening_belief(plan.space.weights))
    sampler = SeededSampler(np.random.default_rng(7))
    scores = []
    for index in range(n_releases):
        model = plan.value(law, law.draw(index, sampler))
        positive = y == model.classes_[1]
        scores.append(
            (float(model.score(X, y)), float(roc_auc_score(positive, model.decision_function(X))))
        )
    return scores


if __name__ == "__main__":
    main()
