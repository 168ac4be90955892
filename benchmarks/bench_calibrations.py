"""What exact computation saves over the Gaussian bound, and over differential privacy.

1. Noise power of ``residual`` relative to ``eigen`` and ``logdet``.
2. Noise power of ``criterion`` at the membership success that 1/64 nat promises, with the optimal
   attack measured on fresh samples.
3. Means of Iris and Rice against OpenDP's Laplace and Gaussian mechanisms at equal membership
   success. PAC and DP protect different things: equal is the success at membership, nothing else.
4. Time and memory of ``residual`` at its largest: 128 candidates in 127 dimensions; and of
   ``criterion`` with 50,000 records.
"""

from __future__ import annotations

import resource
import time
import warnings
from typing import Any

import numpy as np
import opendp.prelude as dp
from public_data import Split, breast_cancer, iris, rice
from report import Figures, print_table
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn.capping.criterion import estimated_success
from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.plugins import registry
from pacsklearn.universe.balanced_space import balanced_space
from pacsklearn.universe.design import candidates_over

BUDGETS = {"1/64": 1 / 64, "1/16": 1 / 16, "1/4": 1 / 4, "1": 1.0, "2": 2.0, "4": 4.0}
AGAINST_DP = (1 / 512, 1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2)
DELTA = 1e-5


def law(noise: str, support: Support, target: Target, metric: Any = None) -> NoiseLaw:
    return registry().noise_backend(noise).calibrate(support, target, metric or IdentityMetric())


def supports(data: Split) -> dict[str, tuple[Support, Any, SecretSpace]]:
    """Outputs of each algorithm over the secret space, with its default metric."""
    X, y = data.train
    space = balanced_space(len(X), strata=y)
    found = {}
    models = {
        "SVM": make_pipeline(StandardScaler(), LinearSVC(C=1)),
        "SVM min-max": make_pipeline(MinMaxScaler(), LinearSVC(C=1)),
        "KMeans": KMeans(len(set(y)), n_init=3),
        "PCA": PCA(2),
    }
    for name, model in models.items():
        chosen = registry().canonicalizer_for(model)
        outputs = candidates_over(model, X, y, space).outputs(chosen)
        metric = outputs.metric()
        found[name] = (Support(outputs.vectors), metric, space)
    found["means"] = (Support(means(X, space)), IdentityMetric(), space)
    return found


def means(X: np.ndarray, space: SecretSpace) -> np.ndarray:
    members = space.membership().T.astype(float)
    return (members @ np.asarray(X)) / members.sum(axis=1, keepdims=True)


def bench_residual(figures: Figures, data: dict[str, Split]) -> None:
    rows = []
    for name, split in data.items():
        for algorithm, (support, metric, _) in supports(split).items():
            relative = []
            for budget in BUDGETS.values():
                eigen, gaussian, exact = (
                    law(noise, support, Target(budget), metric).noise_power
                    for noise in ("eigen", "logdet", "residual")
                )
                relative.append((gaussian / eigen, exact / eigen))
            rows.append((f"{name}, {algorithm}", *(f"{g:.2f} / {r:.2f}" for g, r in relative)))
            worst = max(r / g for g, r in relative)
            figures.at_most(f"{name}, {algorithm}: residual / logdet, worst budget", 1.0, worst)
            figures.at_most(f"{name}, {algorithm}: residual / eigen at MI 4", 0.6, relative[-1][1])
    print_table(
        "Noise power relative to `eigen`: logdet / residual",
        ("", *(f"MI {label}" for label in BUDGETS)),
        rows,
    )


def bench_criterion(figures: Figures, data: dict[str, Split]) -> None:
    cap, rows = posterior_success(1 / 64, 0.5), []
    for name, split in data.items():
        for algorithm, (support, metric, space) in supports(split).items():
            criterion = MembershipCriterion(space)
            gaussian = law("logdet", support, Target(1 / 64), metric)
            capped = law("criterion", support, Target(cap, criterion), metric)
            ratio = gaussian.noise_power / capped.noise_power
            signals = (capped.centres - capped.centres[0]) / LATTICE_SCALE
            measured = estimated_success(
                GaussianMixture(signals, support.weights),
                criterion,
                50_000,
                np.random.default_rng(2024),
            ).max()
            rows.append(
                (
                    f"{name}, {algorithm}",
                    f"1/{ratio:.1f}",
                    f"{100 * measured:.2f}",
                    f"{100 * capped.bound:.2f}",
                    f"{100 * cap:.2f}",
                )
            )
            if algorithm.startswith("SVM"):
                figures.at_least(f"{name}, {algorithm}: logdet / criterion power", 10, ratio, "x")
            figures.at_most(f"{name}, {algorithm}: attack minus cap", 0.0, measured - cap)
    print_table(
        "Noise power of `criterion` over that of `logdet` at 1/64 nat; success at membership (%)",
        ("", "power", "optimal attack, 50,000 fresh draws", "certified", "cap"),
        rows,
    )


def dp_power(X: np.ndarray, n: int, epsilon: float) -> tuple[float, float]:
    """Power of OpenDP's Laplace (delta 0) and Gaussian (delta 1e-5) noise on the means of n rows.

    Bounds are the columns' own ranges, generously taken for public.
    """
    ranges = np.ptp(X, axis=0)
    dp.enable_features("contrib")
    vector = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    laplace = dp.binary_search_param(
        lambda scale: dp.m.make_laplace(vector, dp.l1_distance(T=float), scale),
        d_in=float(ranges.sum() / n),
        d_out=epsilon,
    )
    found = dp.binary_search_param(
        lambda scale: dp.c.make_fix_delta(
            dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(vector, dp.l2_distance(T=float), scale)),
            DELTA,
        ),
        d_in=float(np.linalg.norm(ranges) / n),
        d_out=(epsilon, DELTA),
    )
    return 2 * X.shape[1] * laplace**2, X.shape[1] * found**2


def bench_means(figures: Figures, data: dict[str, Split]) -> None:
    for name, split in data.items():
        X = np.asarray(split.train[0], dtype=float)
        space = balanced_space(len(X))
        support, criterion = Support(means(X, space)), MembershipCriterion(space)
        rows = []
        for budget in AGAINST_DP:
            cap = posterior_success(budget, 0.5)
            epsilon = dp_epsilon(cap)
            laplace, gaussian = dp_power(X, len(X) // 2, epsilon)
            ours = {
                "diagonal": law("diagonal", support, Target(budget)).noise_power,
                "logdet": law("logdet", support, Target(budget)).noise_power,
                "residual": law("residual", support, Target(budget)).noise_power,
                "criterion": law("criterion", support, Target(cap, criterion)).noise_power,
            }
            rows.append(
                (
                    f"1/{1 / budget:.3g}",
                    f"{100 * cap:.1f}",
                    f"{epsilon:.3f}",
                    *(f"{power:.3g}" for power in (laplace, gaussian, *ours.values())),
                )
            )
            figures.at_most(
                f"{name} means, {100 * cap:.1f} %: criterion / better DP",
                1.0,
                ours["criterion"] / min(laplace, gaussian),
            )
        print_table(
            f"{name}: noise power on the {X.shape[1]} means at equal success at membership",
            ("MI", "success %", "epsilon", "Laplace", f"Gauss {DELTA:g}", *ours),
            rows,
        )


def bench_largest(figures: Figures) -> None:
    generator = np.random.default_rng(0)
    outputs = generator.standard_normal((128, 300)) * np.geomspace(1, 0.01, 300)
    for budget in (1 / 16, 1.0, 4.0):
        started = time.perf_counter()
        found = law("residual", Support(outputs), Target(budget))
        seconds = time.perf_counter() - started
        figures.at_most(f"residual, k = {found.dimension}, MI {budget:g}", 30, seconds, "s")
    space = balanced_space(50_000)
    rows = generator.standard_normal((50_000, 30))
    support, criterion = Support(means(rows, space)), MembershipCriterion(space)
    started = time.perf_counter()
    law("criterion", support, Target(0.55, criterion))
    figures.at_most("criterion, 50,000 records, m = 128", 120, time.perf_counter() - started, "s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    figures.at_most("peak memory of the whole program", 1.0, peak, "GB")


def main() -> None:
    warnings.simplefilter("ignore")  # distances to convergence do not matter here
    figures = Figures()
    data = {
        name: split
        for name, split in (("Iris", iris()), ("Rice", rice()), ("breast cancer", breast_cancer()))
        if split is not None
    }
    bench_residual(figures, data)
    bench_criterion(figures, data)
    bench_means(figures, {name: data[name] for name in ("Iris", "Rice") if name in data})
    bench_largest(figures)
    figures.show()


if __name__ == "__main__":
    main()
