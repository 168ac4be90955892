"""Private gradient descent in two worlds that differ in prevalence: srpp, figures 2(i)-(l).

Adult with a linear model (20 labels differ) and scikit-learn's digits with a small convolutional
network (4 labels differ), at two sampling rates each. For every budget at Renyi order 16 the noise
is calibrated by each accounting, and a model is trained with it. Then the overfitted regime: a
network learns 200 digits by heart, and the loss-threshold attack tries to tell them from others.

    python benchmarks/srpp_sgd.py [--figures FOLDER] [--data adult digits overfitted]

The accountings, all for the same secret:

* SRPP: the worst batch. It is also the tight group-DP bound for so many rows with known batches.
* sa-SRPP: the mean over batches, which may be known.
* secret batches: a divergence of the release, when nobody learns the (Poisson) batches.
* group-DP: the divergence for one row, turned into one for groups by the rule that holds for every
  mechanism (Mironov, 2017); with known batches, and with DP-SGD's amplification for secret ones.

Unlike the paper's, the noise is calibrated to where it is added, the mean gradient: the step size
is not a factor of the cap. And the paper's group-DP takes groups of the root of E[K^2], rounded up:
a single row here, which does not protect the secret; its noise is shown for comparison only.
"""

from __future__ import annotations

import argparse
import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from baselines.group_divergence import group_divergence, sampled_gaussian_divergence
from report import Figures, print_table
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from pacsklearn.datasets import load_adult
from pacsklearn.srpp import (
    Batches,
    DifferingRows,
    DiscrepancyCap,
    LearningRate,
    NoiseMultiplier,
    Renyi,
    SRPPSGDClassifier,
)
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ORDER = 16
LINES = ("sa-SRPP", "secret batches", "SRPP", "group-DP", "group-DP, amplified")


@dataclass(frozen=True)
class Study:
    """Rows in two parts, how a model of them is made, and what the secret changes."""

    name: str
    X: Any
    X_test: Any
    y: np.ndarray
    y_test: np.ndarray
    model: Callable[..., Any]
    n_differing: int
    batches: tuple[int, int]
    epochs: int
    dimension: int
    epsilons: tuple[float, ...]
    n_runs: int


def adult() -> Study | None:
    folder = os.environ.get("PACSKLEARN_DATA", str(_SHARED))
    try:
        X, y = load_adult(return_X_y=True, data_home=folder, download=False)
    except OSError as error:
        print(f"Adult is skipped: {error} Name its folder in PACSKLEARN_DATA.")
        return None
    ranges = {"age": 90, "education-num": 16, "hours-per-week": 99}
    columns = [np.asarray(X[name], dtype=float) / top for name, top in ranges.items()]
    columns += [np.asarray(X[name], dtype=float) > 0 for name in ("capital-gain", "capital-loss")]
    for name in ("workclass", "marital-status", "occupation", "relationship", "race", "sex"):
        values = np.asarray(X[name], dtype=str)
        columns += [values == value for value in np.unique(values)]
    rows = np.column_stack(columns).astype(float)
    parts = train_test_split(rows, np.asarray(y), test_size=0.2, random_state=0)
    return Study(
        "Adult, linear",
        *parts,
        model=SRPPSGDClassifier,
        n_differing=20,
        batches=(math.ceil(0.01 * len(parts[0])), math.ceil(0.02 * len(parts[0]))),
        epochs=10,
        dimension=rows.shape[1] + 1,
        epsilons=(0.5, 1, 2, 4, 8, 14, 20, 40, 80, 300, 1000),
        n_runs=2,
    )


def network() -> Any:
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.GroupNorm(2, 8),
        nn.ELU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


def deep(**options: Any) -> Any:
    from pacsklearn_torch import SRPPTorchClassifier

    return SRPPTorchClassifier(network, **options)


def digits() -> Study | None:
    try:
        import pacsklearn_torch  # noqa: F401
        import torch
    except ImportError as error:
        print(f"digits are skipped: {error}. Install plugins/pacsklearn-torch.")
        return None
    torch.set_num_threads(1)
    X, y = load_digits(return_X_y=True)
    images = (X / 16).reshape(-1, 1, 8, 8).astype(np.float32)
    parts = train_test_split(images, y, test_size=0.2, random_state=0)
    return Study(
        "digits, network",
        *parts,
        model=deep,
        n_differing=4,
        batches=(72, 144),  # so few rows need larger batches than the paper's
        epochs=8,
        dimension=sum(p.numel() for p in network().parameters()),
        epsilons=(1, 4, 8, 20, 40, 80, 300, 1000, 3000),
        n_runs=2,
    )


def multiplier(study: Study, batch: int, epsilon: float, line: str) -> float:
    """Noise that a budget asks for, by one of the accountings."""
    n_rows, n_steps = len(study.y), study.epochs * -(-len(study.y) // batch)
    names = {
        "SRPP": "worst-case",
        "sa-SRPP": "subsampling-aware",
        "secret batches": "secret-batches",
    }
    if line in names:
        cap = DiscrepancyCap.differing(n_rows, study.n_differing, batch, sampling(line))
        clipping = GradientClipping((1.0,), (study.dimension,))
        return SRPPSGDAccountant(cap, clipping, ORDER, names[line]).noise_multiplier(
            epsilon, n_steps
        )

    def cost(noise: float) -> float:
        if line == "group-DP":
            return group_divergence(lambda a: a / 2 * (2 / noise) ** 2, ORDER, study.n_differing)
        rows = 2 * study.n_differing if line == "group-DP, amplified" else 2
        return group_divergence(
            lambda a: sampled_gaussian_divergence(a, batch / n_rows, noise), ORDER, rows
        )

    low, high = 1e-2, 1e9
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if n_steps * cost(middle) > epsilon else (low, middle)
    return high


def sampling(line: str) -> str:
    secret = line in ("secret batches", "group-DP, amplified")
    return "poisson" if secret else "without-replacement"


def accuracy(study: Study, batch: int, noise: float, line: str = "SRPP") -> float:
    scores = []
    for seed in range(study.n_runs):
        rate = LearningRate(0.2, momentum=0.9)
        if study.model is SRPPSGDClassifier:
            rate = LearningRate(1.0)
        model = study.model(
            budget=NoiseMultiplier(noise, ORDER),
            scenario=DifferingRows(study.n_differing),
            batches=Batches(batch, sampling(line), "worst-case"),
            learning_rate=rate,
            epochs=study.epochs,
            random_state=seed,
        )
        scores.append(model.fit(study.X, study.y).score(study.X_test, study.y_test))
    return 100 * float(np.mean(scores))


def curves(study: Study, figures: Figures) -> dict[tuple[int, str], list[tuple[float, ...]]]:
    found: dict[tuple[int, str], list[tuple[float, ...]]] = {}
    base = 100 * np.unique(study.y_test, return_counts=True)[1].max() / len(study.y_test)
    for batch in study.batches:
        rate = batch / len(study.y)
        rows = []
        for epsilon in study.epsilons:
            cells = [f"{epsilon:g}"]
            for line in LINES:
                noise = multiplier(study, batch, epsilon, line)
                score = accuracy(study, batch, noise, line)
                found.setdefault((batch, line), []).append((epsilon, noise / batch, score))
                cells += [f"{noise / batch:.3g}", f"{score:.1f}"]
            published = multiplier(study, batch, epsilon, "published group")
            rows.append((*cells, f"{published / batch:.3g}"))
        header = [f"{line}: {what}" for line in LINES for what in ("sigma", "acc")]
        print_table(
            f"{study.name}, {study.n_differing} of {len(study.y):,} rows differ, sampling rate "
            f"{rate:.3f}, {study.epochs} epochs; majority {base:.1f} %, no noise "
            f"{accuracy(study, batch, 0):.1f} %",
            ("eps", *header, "one row, DP-SGD: sigma"),
            rows,
        )
        means = {line: np.mean([point[2] for point in found[batch, line]]) for line in LINES}
        for weaker in ("group-DP", "group-DP, amplified"):
            ordered = means["sa-SRPP"] > means["SRPP"] > means[weaker]
            figures.add(
                f"{study.name}, rate {rate:.2f}: mean accuracy sa-SRPP > SRPP > {weaker}",
                "in this order",
                " / ".join(f"{means[each]:.1f}" for each in ("sa-SRPP", "SRPP", weaker)),
                ordered,
            )
    return found


def overfitted(figures: Figures) -> list[tuple[float, ...]]:
    """Losses of members and others, and the attack's area under the curve (W.3)."""
    study = digits()
    if study is None:
        return []
    images, y = np.concatenate([study.X, study.X_test]), np.append(study.y, study.y_test)
    kept = np.random.default_rng(0).permutation(len(y))[:400]
    inside, outside = kept[:200], kept[200:]
    rows, points = [], []
    for epsilon in (2, 8, 20, 50, 70, 100, 200, 300, 500, math.inf):
        budget = (
            NoiseMultiplier(0.0) if epsilon == math.inf else Renyi(epsilon, ORDER, allow_exact=True)
        )
        areas, losses, scores = [], [], []
        for seed in range(2):
            model = deep(
                budget=budget,
                scenario=DifferingRows(1),
                batches=Batches(50, accounting="subsampling-aware"),
                learning_rate=LearningRate(0.2, momentum=0.9),
                epochs=100,
                clipping=5.0,
                random_state=seed,
            ).fit(images[inside], y[inside])
            pair = []
            for part in (inside, outside):
                shares = model.predict_proba(images[part])
                own = np.take_along_axis(shares, y[part][:, None], axis=1)[:, 0]
                pair.append(-np.log(np.maximum(own, np.finfo(np.float64).tiny)))
            areas.append(roc_auc_score(np.repeat([1, 0], 200), -np.concatenate(pair)))
            losses.append([np.median(each) for each in pair])
            scores.append([100 * model.score(images[part], y[part]) for part in (inside, outside)])
        loss, score = np.mean(losses, axis=0), np.mean(scores, axis=0)
        points.append((float(epsilon), float(np.mean(areas)), *loss, *score))
        shown = (f"{loss[0]:.3g}", f"{loss[1]:.3g}", f"{score[0]:.1f}", f"{score[1]:.1f}")
        rows.append((f"{epsilon:g}", f"{np.mean(areas):.3f}", *shown))
    print_table(
        "overfitted digits: 200 rows, 100 epochs, sa-SRPP for one row",
        ("eps", "AUC", "member loss", "other loss", "train acc", "test acc"),
        rows,
    )
    figures.add(
        "attack on overfitted digits: AUC at the least budget, and without noise",
        "grows",
        f"{points[0][1]:.3f} / {points[-1][1]:.3f}",
        points[0][1] < points[-1][1],
    )
    return points


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--figures", type=Path, help="folder for the figures")
    options.add_argument("--data", nargs="+", default=["adult", "digits", "overfitted"])
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    figures = Figures()
    for name, make in (("adult", adult), ("digits", digits)):
        study = make() if name in chosen.data else None
        if study is not None:
            found = curves(study, figures)
            if chosen.figures is not None:
                draw(study, found, chosen.figures)
    if "overfitted" in chosen.data:
        points = overfitted(figures)
        if chosen.figures is not None and points:
            draw_attack(points, chosen.figures)
    figures.show()


def draw(study: Study, found: dict[tuple[int, str], list[tuple[float, ...]]], folder: Path) -> None:
    """Noise, and accuracy, against the budget; one row of panels a sampling rate."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7))
    for row, batch in enumerate(study.batches):
        for line in LINES:
            epsilons, sigmas, scores = zip(*found[batch, line], strict=True)
            axes[row, 0].loglog(epsilons, sigmas, marker=".", label=line)
            axes[row, 1].semilogx(epsilons, scores, marker=".", label=line)
        axes[row, 0].set_ylabel(f"noise on the mean gradient, B = {batch}")
        axes[row, 1].set_ylabel("test accuracy (%)")
    for axis in axes[1]:
        axis.set_xlabel("epsilon (order 16)")
    axes[0, 0].legend(fontsize="small", loc="lower left")
    figure.suptitle(f"{study.name}: {study.n_differing} rows differ")
    save(figure, folder / f"srpp_sgd_{study.name.split(',')[0].lower()}.png")


def draw_attack(points: list[tuple[float, ...]], folder: Path) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
    epsilons, areas, low, high, train, test = zip(*points[:-1], strict=True)
    left.semilogx(epsilons, train, marker=".", label="members")
    left.semilogx(epsilons, test, marker=".", label="others")
    left.set_ylabel("accuracy (%)")
    right.loglog(epsilons, low, marker=".", label="loss of members")
    right.loglog(epsilons, high, marker=".", label="loss of others")
    twin = right.twinx()
    twin.semilogx(epsilons, areas, "C2", marker=".", label="AUC")
    twin.axhline(points[-1][1], color="C2", lw=0.8, ls="--")
    twin.set_ylim(0.45, 1)
    for axis in (left, right, twin):
        axis.legend(fontsize="small")
        axis.set_xlabel("epsilon (order 16)")
    figure.suptitle("overfitted digits; dashed: AUC without noise")
    save(figure, folder / "srpp_sgd_attack.png")


def save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
