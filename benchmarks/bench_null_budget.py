"""At a budget of 1e-9 nats a released model knows nothing: built-in canonicalizers by examples.

Chance means:

* classifiers: balanced accuracy of 1 / number of classes;
* regressors: R² of 0, what a constant scores;
* clusterers: adjusted Rand index of 0 against the true labels and against the clusters found
  without privacy;
* PCA: error of the reconstruction by random subspaces through the true mean; for the released
  model, and for its components alone with the true mean put back;
* scalers: R² of 0 of the scaled values against the true ones.

The shape of the noise is a public function of the universe, and a shape alone can score a little
beside chance. So the same noise is also drawn around zero, without any fitted model below it
("noise alone"). A release passes when its mean score is at most the larger of the two, with an
allowance of four standard errors of the difference.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from public_data import Split, breast_cancer, iris
from report import Figures, print_table
from sklearn.base import clone, is_classifier
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import adjusted_rand_score, check_scoring, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.plugins import Registry, registry
from pacsklearn.universe.balanced_space import balanced_space
from pacsklearn.universe.design import candidates_over

BUDGET = 1e-9
N_RELEASES = 300
N_SUBSPACES = 400
LOGISTIC = LogisticRegression(max_iter=500)

Case = tuple[str, str, Any, Split, Any, float]
Scores = NDArray[np.float64]


def classifiers() -> list[Case]:
    cases = []
    for name, data in (("Iris", iris()), ("breast cancer", breast_cancer())):
        chance = 1 / len(set(data.y))
        models = {
            "linear_classifier": [LinearSVC(), RidgeClassifier(), LinearDiscriminantAnalysis()],
            "pipeline": [
                make_pipeline(StandardScaler(), LOGISTIC),
                make_pipeline(MinMaxScaler(), PolynomialFeatures(2), RidgeClassifier()),
            ],
            "search": [GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 10]}, cv=2)],
        }
        for canonicalizer, members in models.items():
            cases += [(canonicalizer, name, m, data, "balanced_accuracy", chance) for m in members]
    return cases


def regressors() -> list[Case]:
    data = Split(*load_diabetes(return_X_y=True), 300)
    return [
        ("linear_regressor", "diabetes", LinearRegression(), data, None, 0.0),
        ("linear_regressor", "diabetes", Ridge(), data, None, 0.0),
        ("pipeline", "diabetes", make_pipeline(StandardScaler(), Ridge()), data, None, 0.0),
    ]


def clusterers() -> list[Case]:
    cases = []
    for name, data in (("Iris", iris()), ("breast cancer", breast_cancer())):
        k = len(set(data.y))
        for canonicalizer, model in (
            ("kmeans", KMeans(k, random_state=0)),
            ("kmeans", MiniBatchKMeans(k, random_state=0)),
            ("pipeline", make_pipeline(StandardScaler(), KMeans(k, random_state=0))),
        ):
            found = clone(model).fit(data.X)

            def against_clusters(released: Any, X: Any, _y: Any, found: Any = found) -> float:
                return adjusted_rand_score(found.predict(X), released.predict(X))

            def against_labels(released: Any, X: Any, y: Any) -> float:
                return adjusted_rand_score(y, released.predict(X))

            cases += [
                (canonicalizer, name, model, data, against_labels, 0.0),
                (canonicalizer, name, model, data, against_clusters, 0.0),
            ]
    return cases


def scalers() -> list[Case]:
    data, cases = breast_cancer(), []
    for scaler in (StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler()):
        fitted = clone(scaler).fit(data.X)

        def likeness(released: Any, X: Any, _y: Any, fitted: Any = fitted) -> float:
            with np.errstate(all="ignore"):
                scaled = np.clip(np.nan_to_num(released.transform(X)), -1e10, 1e10)
            return r2_score(fitted.transform(X), scaled)

        cases.append(("scaler", "breast cancer", scaler, data, likeness, 0.0))
    return cases


def subspaces() -> list[Case]:
    cases = []
    for name, data in (("Iris", iris()), ("breast cancer", breast_cancer())):
        X = data.test[0]
        for model in (PCA(2), TruncatedSVD(2)):
            origin = X.mean(axis=0) if isinstance(model, PCA) else np.zeros(X.shape[1])
            chance = -random_subspace_error(X, origin)

            def whole(released: Any, X: Any, _y: Any) -> float:
                rebuilt = released.inverse_transform(released.transform(X))
                return -float(np.sqrt(np.mean((X - rebuilt) ** 2)))

            def components(released: Any, X: Any, _y: Any, origin: Any = origin) -> float:
                return -subspace_error(X - origin, released.components_)

            cases += [
                ("pca", name, model, data, whole, chance),
                ("pca", name, model, data, components, chance),
            ]
    return cases


def subspace_error(centred: Any, axes: Any) -> float:
    return float(np.sqrt(np.mean((centred - centred @ axes.T @ axes) ** 2)))


def random_subspace_error(X: Any, origin: Any) -> float:
    generator = np.random.default_rng(0)
    axes = (np.linalg.qr(generator.normal(size=(X.shape[1], 2)))[0].T for _ in range(N_SUBSPACES))
    return float(np.mean([subspace_error(X - origin, found) for found in axes]))


def measure(case: Case) -> tuple[float, Scores, Scores]:
    """Mean score without noise; scores at the null budget, and of the same noise around zero."""
    *_, model, data, scoring, _ = case
    X, y = data.train
    chosen = registry().canonicalizer_for(model)
    scorer = check_scoring(model, scoring)
    strata = y if is_classifier(model) else None
    outputs = candidates_over(model, X, y, balanced_space(len(X), strata=strata)).outputs(chosen)
    cost = outputs.metric()
    law = (
        registry().noise_backend("logdet").calibrate(Support(outputs.vectors), Target(BUDGET), cost)
    )
    alone = replace(law, centres=np.zeros_like(law.centres), origin=np.zeros_like(law.origin))
    draw = SeededSampler(np.random.default_rng(0))

    def score(vector: Any) -> float:
        released = chosen.decode(vector, outputs.layout, clone(outputs.form.template))
        return float(scorer(released, *data.test))

    def releases(law: NoiseLaw) -> Scores:
        indices = (draw.index(np.ones(law.centres.shape[0])) for _ in range(N_RELEASES))
        return np.array([score(law.decode(law.draw(index, draw))) for index in indices])

    return (
        float(np.mean([score(vector) for vector in outputs.vectors])),
        releases(law),
        releases(alone),
    )


def standard_error(scores: Scores) -> float:
    return float(np.std(scores, ddof=1) / np.sqrt(len(scores)))


def built_in_canonicalizers() -> list[str]:
    return list(Registry(list).names("canonicalizer"))


def title(model: Any) -> str:
    names = [type(step).__name__ for _, step in getattr(model, "steps", [("", model)])]
    return " + ".join(names)


def scoring_title(scoring: Any) -> str:
    return getattr(scoring, "__name__", scoring or "R²").replace("_", " ")


def main() -> None:
    warnings.simplefilter("ignore")  # distances to convergence do not matter here
    families: tuple[Callable[[], list[Case]], ...] = (
        classifiers,
        regressors,
        clusterers,
        subspaces,
        scalers,
    )
    figures, rows = Figures(), []
    verdicts: dict[str, list[bool]] = {name: [] for name in built_in_canonicalizers()}
    for case in (case for family in families for case in family()):
        canonicalizer, name, model, _, scoring, chance = case
        noiseless, released, alone = measure(case)
        mean, control = released.mean(), alone.mean()
        error = np.hypot(standard_error(released), standard_error(alone))
        at_chance = mean <= max(chance, control) + 4 * error
        verdicts[canonicalizer].append(bool(at_chance))
        numbers = [f"{value:.3g}" for value in (noiseless, chance, control, mean)]
        what = (canonicalizer, title(model), name, scoring_title(scoring))
        rows.append((*what, *numbers, f"{error:.2g}", "yes" if at_chance else "NO"))
    header = (
        "canonicalizer",
        "model",
        "data",
        "score",
        "no noise",
        "chance",
        "noise alone",
        "released",
        "s.e.",
        "at chance",
    )
    print_table(f"mean score of {N_RELEASES} releases at a budget of 1e-9 nats", header, rows)
    for name, found in verdicts.items():
        if name == "stateless":
            figures.note("null budget: stateless", "releases no number that depends on rows")
            continue
        measured = f"{sum(found)} of {len(found)} at chance" if found else "no example here"
        met = all(found) if found else None
        figures.add(f"null budget: {name}", "all at chance", measured, met)
    figures.show()


if __name__ == "__main__":
    main()
