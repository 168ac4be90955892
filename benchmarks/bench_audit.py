"""Audit of a released LinearSVC on breast cancer, and of broken ones: time and verdict."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from report import Figures
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import PACPrivate
from pacsklearn.audit import run_audit
from pacsklearn.plots import privacy_report
from pacsklearn.plugins import NoiseBackend, registry

ATTACKS = ("optimal_membership", "lira")
MORE = (*ATTACKS, "identification", "low_order_bits", "reconstruction", "canaries")


class Quiet(NoiseBackend):
    """Noise scaled by 0.05."""

    def calibrate(self, support: Any, target: Any, metric: Any) -> Any:
        law = registry().noise_backend("logdet").calibrate(support, target, metric)
        return replace(law, centres=law.centres * 20, step=law.step / 20)


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), LinearSVC(C=0.01))
    model = PACPrivate(estimator, budget=1 / 16).fit(X, y)
    figures = Figures()

    start = time.perf_counter()
    audit = run_audit(model, X, y, attacks=ATTACKS, n_trials=1000)
    figures.at_most("optimal membership + LiRA", 60, time.perf_counter() - start, "s")
    figures.add("sound mechanism", "not violated", str(audit.passed), audit.passed)

    start = time.perf_counter()
    full = run_audit(model, X, y, attacks=MORE, n_trials=1000)
    figures.note("six attacks", f"{time.perf_counter() - start:.1f} s")
    print(full)

    leaky = PACPrivate(estimator, budget=1 / 16, noise=Quiet()).fit(X, y)
    found = run_audit(leaky, X, y, attacks=ATTACKS, n_trials=1000)
    print(found)
    figures.add(
        "noise scaled by 0.05", "violated", str(not found.passed), len(found.violations) == 2
    )
    size = len(privacy_report(model, audit=full).to_html().encode()) / 1e6
    figures.at_most("report page", 2, size, "MB")
    figures.show()


if __name__ == "__main__":
    main()
