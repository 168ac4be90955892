"""Private answers at a budget of 1/16 and 10,000 allowed: accuracy, with and without ``stabilize``.

Models are fitted once for each row of the table; the accuracy is the mean over fresh secrets and
noise, each answering all test rows. The rows on which all candidates agree are free and exact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bench_adult import BOOSTER, Recorded, adult, responder
from report import Figures, print_table
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pacsklearn.estimators import StabilizedClassifier
from pacsklearn.estimators.answer_kinds import answer_kind
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.universe.design import Design, candidates_over

BUDGET, ANSWERS, N_SUBSETS, N_SECRETS = 1 / 16, 10_000, 128, 40


def private_accuracy(estimator: object, data: tuple[np.ndarray, ...]) -> tuple[float, ...]:
    """Per cent of rows that are unanimous; accuracy without noise, with it, and its error."""
    X, X_test, y, y_test = data
    space = Design(N_SUBSETS).space(X, y)
    kind = answer_kind(estimator, y, "labels", None)
    models = candidate_models(candidates_over(estimator, X, y, space, FitOptions(n_jobs=2)))
    labels = models.labels(X_test, kind.classes)
    recorded = replace(models, stacked=Recorded(X_test, labels))
    found = []
    for _ in range(N_SECRETS):
        answers = responder(recorded, space, kind, BUDGET / ANSWERS, len(X_test))
        found.append(np.mean(answers.predict(X_test) == y_test))
    return tuple(
        100 * float(value)
        for value in (
            np.mean(np.all(labels == labels[:, :1], axis=1)),
            np.mean(kind.classes[labels] == y_test[:, None]),
            np.mean(found),
            np.std(found) / np.sqrt(N_SECRETS),
        )
    )


def bench(figures: Figures) -> None:
    svc = make_pipeline(StandardScaler(), SVC())
    cases = [
        (name, train_test_split(*load(return_X_y=True), test_size=0.3, stratify=y, random_state=0))
        for name, load in (("breast cancer", load_breast_cancer), ("digits", load_digits))
        for y in [load(return_X_y=True)[1]]
    ]
    rows, accuracy = [], {}
    for name, data in cases:
        for label, estimator in (("plain", svc), ("stabilize=True", StabilizedClassifier(svc))):
            *shares, error = private_accuracy(estimator, data)
            accuracy[name, label] = shares[-1]
            rows.append(
                (f"{name}, SVC", label, *(f"{share:.1f}" for share in shares), f"{error:.2f}")
            )
    rows += adult_rows()
    print_table(
        f"Private answers at {BUDGET} nats, {ANSWERS:,} allowed, mean of {N_SECRETS} secrets (%)",
        ("data, model", "", "unanimous", "no noise", "private", "std error"),
        rows,
    )
    figures.at_least("breast cancer, SVC", 92.0, accuracy["breast cancer", "plain"])
    figures.at_least("digits, SVC", 91.0, accuracy["digits", "plain"])
    for name in ("breast cancer", "digits"):
        gain = accuracy[name, "stabilize=True"] - accuracy[name, "plain"]
        figures.at_least(
            f"{name}: points gained by stabilize", 1.0 if name == "digits" else 0.0, gain
        )


def adult_rows() -> list[tuple[str, ...]]:
    """Boosters on Adult, plain and ten of them on random features."""
    data = adult()
    if data is None:
        return []
    try:
        from xgboost import XGBClassifier
    except ImportError:
        return []
    X, X_test, y, y_test = data
    booster = XGBClassifier(**{**BOOSTER, "n_estimators": 60}, n_jobs=1, random_state=0)
    rows = []
    for label, estimator in (
        ("plain", booster),
        ("10 members", StabilizedClassifier(booster, n_members=10, max_features=0.6)),
    ):
        *shares, error = private_accuracy(estimator, (X, X_test, y, y_test))
        rows.append(
            ("Adult, boosters", label, *(f"{share:.1f}" for share in shares), f"{error:.2f}")
        )
    return rows


if __name__ == "__main__":
    collected = Figures()
    bench(collected)
    collected.show()
