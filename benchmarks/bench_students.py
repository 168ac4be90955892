"""Students that keep every answer against students that keep the sure ones: accuracy and AUC.

    PACSKLEARN_DATA=... python benchmarks/bench_students.py [--seeds 2] [--budgets 0.015625 0.25]

Each table is split in halves of private rows, quarters of public ones and of test rows. A teacher
of boosted trees answers the public rows once; every student learns the same answers.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tabular_data import TABLES  # beside this file

from pacsklearn import PrivacySession
from pacsklearn.estimators.cost_preview import preview
from pacsklearn.tabular import SchemaEncoder
from pacsklearn.tabular.choosing.families import teacher
from pacsklearn.tabular.students.teaching import learned

ROWS = {"adult": 8000, "magic": 5000, "breast cancer": 569}
ALPHAS = (None, 0.1, 0.01)


def students(schema: Any) -> dict[str, Any]:
    """A linear one and a boosted one, behind the public codebook."""
    linear = LogisticRegression(max_iter=1000)
    boosted = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15)
    return {
        "logistic": make_pipeline(SchemaEncoder(schema), StandardScaler(), linear),
        "boosted": make_pipeline(SchemaEncoder(schema), boosted),
    }


def main() -> None:
    """Print a line for each table, budget, student and level."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--budgets", type=float, nargs="+", default=[1 / 64, 1 / 4])
    asked = parser.parse_args()
    for name, n_rows in ROWS.items():
        found: dict[tuple[float, str, Any], list[tuple[float, float, float]]] = {}
        for seed in range(asked.seeds):
            for budget in asked.budgets:
                one_split(name, n_rows, seed, budget, found)
        for (budget, student, alpha), scores in found.items():
            kept, accuracy, auc = np.mean(scores, axis=0)
            apart = np.ptp([each[2] for each in scores])
            print(
                f"{name:14s} {budget:.4f} {student:9s} alpha={alpha!s:5s} kept {kept:.3f} "
                f"accuracy {accuracy:.4f} AUC {auc:.4f} (range {apart:.4f})",
                flush=True,
            )


def one_split(name: str, n_rows: int, seed: int, budget: float, found: dict[Any, Any]) -> None:
    """Scores of all students of one teacher."""
    table = TABLES[name]()
    rows = np.random.default_rng(seed).permutation(len(table.y))[:n_rows]
    X, y = table.X.iloc[rows].reset_index(drop=True), table.y[rows]
    X, other, y, truth = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    asked, test, _, truth = train_test_split(
        other, truth, test_size=0.5, stratify=truth, random_state=seed
    )
    X, asked = X.reset_index(drop=True), asked.reset_index(drop=True)
    with PrivacySession(X, y, budget=budget) as session:
        model = teacher(table.schema, n_classes=2)
        contested = preview(session.responder(model, max_answers=len(asked)), asked).n_contested
        responder = session.responder(model, max_answers=max(contested, 1))
        answers = responder.answer(asked)
    for student, estimator in students(table.schema).items():
        for alpha in ALPHAS:
            fitted, kept = learned(
                lambda *_, student=estimator: student, asked, answers, responder.kind, alpha
            )
            scores = fitted.predict_proba(test)[:, 1]
            auc = roc_auc_score(truth == fitted.classes_[1], scores)
            found.setdefault((budget, student, alpha), []).append(
                (kept / len(asked), fitted.score(test, truth), float(auc))
            )


if __name__ == "__main__":
    main()
