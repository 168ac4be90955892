"""What ``plan`` says of a fit beside what real releases of it achieve on rows kept aside.

    python benchmarks/bench_plans.py [--splits 4] [--releases 10]

Each table is split into three quarters of private rows and a quarter of test rows. ``plan`` sees
the private rows alone; the releases, each with a secret of its own, are scored on the test rows.
Accuracy of classifiers, R2 of regressors; means over splits, and the standard error of the mean
difference.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from report import Figures, print_table
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import Membership, Nats, PACPrivate, Parameters
from pacsklearn.priors import Expected
from pacsklearn.tabular import FixedStructureForestClassifier

BUDGETS = (Nats(1 / 16), Nats(1 / 4), Membership(0.6))
CLASSIFIERS = (
    make_pipeline(StandardScaler(), LogisticRegression()),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.9),
    GaussianNB(),
    FixedStructureForestClassifier(),
)
CASES = {
    "breast cancer": (load_breast_cancer, CLASSIFIERS),
    "iris": (load_iris, CLASSIFIERS[:3]),
    "wine": (load_wine, CLASSIFIERS[:3]),
    "digits": (load_digits, CLASSIFIERS[1:2]),
    "diabetes": (load_diabetes, (Ridge(), make_pipeline(StandardScaler(), Ridge(100.0)))),
}


def main() -> None:
    """Print a row for each table, model and budget."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--releases", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, figures = [], Figures()
    for table, (load, estimators) in CASES.items():
        X, y = load(return_X_y=True)
        for estimator in estimators:
            prior = None if is_classifier(estimator) else Expected(150.0)
            scoring = "accuracy" if is_classifier(estimator) else "r2"
            for budget in BUDGETS:
                planned, scores = [], []
                for seed in range(given.splits):
                    X_own, X_test, y_own, y_test = train_test_split(
                        X, y, test_size=0.25, random_state=seed
                    )
                    asked = PACPrivate(estimator, budget=budget, release=Parameters(prior=prior))
                    plan = asked.plan(X_own, y_own, scoring=scoring, alternatives=False)
                    planned.append(plan.expected.mean)
                    released = [
                        clone(asked).fit(X_own, y_own).score(X_test, y_test)
                        for _ in range(given.releases)
                    ]
                    scores.append(np.mean(released))
                apart = np.array(planned) - scores
                error = apart.std(ddof=1) / np.sqrt(apart.size)
                name = getattr(estimator, "steps", [(0, estimator)])[-1][1]
                title = f"{table}, {type(name).__name__}, {budget}"
                means = (np.mean(planned), np.mean(scores), apart.mean(), error)
                rows.append((title, *(f"{mean:.3f}" for mean in means)))
                figures.add(title, "<= 0.03", f"{apart.mean():+.3f}", abs(apart.mean()) <= 0.03)
    print_table(
        f"plan beside {given.releases} releases on each of {given.splits} splits",
        ("", "plan", "releases", "difference", "s.e."),
        rows,
    )
    figures.show()


if __name__ == "__main__":
    main()
