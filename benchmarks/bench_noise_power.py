"""Noise power of the built-in backends: isotropic >= diagonal >= eigen >= logdet."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

from baselines.backends import BASELINES, registered_baselines
from public_data import Split, breast_cancer, iris, rice
from report import Figures, print_table
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.plugins import registry
from pacsklearn.universe.balanced_space import balanced_space
from pacsklearn.universe.design import candidates_over

BACKENDS = ("isotropic", "diagonal", "eigen", "logdet")
BUDGETS = {"4": 4.0, "1": 1.0, "1/4": 1 / 4, "1/16": 1 / 16, "1/64": 1 / 64}
# The lattice may enlarge a law by a hair to meet its bound exactly.
HAIR = 1 + 1e-6


def models(data: Split) -> dict[str, Any]:
    n_classes = len(set(data.y))
    return {
        "SVM": make_pipeline(StandardScaler(), LinearSVC(C=1)),
        "KMeans": KMeans(n_classes, n_init=3),
        "PCA": PCA(2),
    }


def powers(
    model: Any, data: Split, metric: Metric | None, baselines: tuple[str, ...]
) -> dict[str, list[float]]:
    """Noise power of each backend at each budget."""
    X, y = data.train
    chosen = registry().canonicalizer_for(model)
    space = balanced_space(len(X), strata=y)
    outputs = candidates_over(model, X, y, space).outputs(chosen)
    cost, support = metric or outputs.metric(), Support(outputs.vectors)
    return {
        noise: [
            registry().noise_backend(noise).calibrate(support, Target(budget), cost).noise_power
            for budget in BUDGETS.values()
        ]
        for noise in (*BACKENDS, *baselines)
    }


def main() -> None:
    warnings.simplefilter("ignore")  # distances to convergence do not matter here
    figures, rows = Figures(), []
    data = {"Iris": iris(), "Rice": rice(), "breast cancer": breast_cancer()}
    for name, split in data.items():
        if split is None:
            figures.add(f"ordering on {name}", "", "no data", None)
            continue
        for kind, model in models(split).items():
            ordered = 0
            for named, metric in (("auto", None), ("identity", IdentityMetric())):
                with registered_baselines() as baselines:
                    found = powers(model, split, metric, baselines)
                for i, label in enumerate(BUDGETS):
                    four = [found[noise][i] for noise in BACKENDS]
                    ordered += all(HAIR * more >= less for more, less in pairwise(four))
                    all_of_them = [*four, *(found[noise][i] for noise in baselines)]
                    relative = [f"{power / found['eigen'][i]:.3f}" for power in all_of_them]
                    shown = (named, label, *relative, f"{found['eigen'][i]:.4g}")
                    rows.append((name, kind, *shown))
            total = 2 * len(BUDGETS)
            figures.add(
                f"isotropic >= diagonal >= eigen >= logdet: {name}, {kind}",
                f"{total} of {total}",
                f"{ordered} of {total}",
                ordered == total,
            )
    unproved = tuple(f"{rule.name} (no proof)" for rule in BASELINES)
    header = ("data", "model", "metric", "MI", *BACKENDS, *unproved, "eigen itself")
    print_table("noise power relative to eigen", header, rows)
    figures.show()


if __name__ == "__main__":
    main()
