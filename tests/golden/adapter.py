"""How pacsklearn spells the calls of the golden record, and which figures a call gives.

Figures are numbers only: words may be said better without changing what is promised.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from pacsklearn_bigdata import Table
from pacsklearn_publish import load_bundle, publish
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.decomposition import NMF, PCA
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info

import pacsklearn as ps
from pacsklearn import plugins, secrets, srpp, tabular

SEEDED = {"random_state": 0}
_FEW = 12

MODELS: dict[str, Callable[[], Any]] = {
    "ridge": Ridge,
    "lda": LinearDiscriminantAnalysis,
    "gaussian_nb": GaussianNB,
    "nearest_centroid": NearestCentroid,
    "standard_scaler": StandardScaler,
    "pca": partial(PCA, n_components=2),
    "scaler_ridge": lambda: make_pipeline(StandardScaler(), Ridge()),
    "ridge_classifier": RidgeClassifier,
    "logistic": partial(LogisticRegression, C=0.1),
    "scaler_logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(C=0.01)),
    "linear_svc": partial(LinearSVC, C=0.01),
    "linear_svr": partial(LinearSVR, loss="squared_epsilon_insensitive", dual=False, C=0.01),
    "lasso": Lasso,
    "elastic_net": ElasticNet,
    "huber": partial(HuberRegressor, max_iter=1000),
    "poisson": PoissonRegressor,
    "kmeans": partial(KMeans, n_clusters=3, n_init=2),
    "gaussian_mixture": partial(GaussianMixture, n_components=2, covariance_type="diag"),
    "qda": QuadraticDiscriminantAnalysis,
    "mlp": partial(MLPClassifier, hidden_layer_sizes=(3,), max_iter=20, solver="lbfgs"),
    "fixed_forest": partial(tabular.FixedStructureForestClassifier, n_estimators=3, depth=2),
    "fixed_forest_regressor": partial(
        tabular.FixedStructureForestRegressor, n_estimators=3, depth=2
    ),
    "voting": lambda: VotingClassifier(
        [("a", LinearDiscriminantAnalysis()), ("b", GaussianNB())], voting="soft"
    ),
    "stacking": lambda: StackingClassifier(
        [("a", LinearDiscriminantAnalysis())], LogisticRegression(C=0.1), cv=3
    ),
    "one_vs_rest": lambda: OneVsRestClassifier(LogisticRegression(C=0.1)),
    "column_transformer": lambda: make_pipeline(
        ColumnTransformer([("first", StandardScaler(), slice(0, 2))], remainder="passthrough"),
        LinearDiscriminantAnalysis(),
    ),
    "search": lambda: GridSearchCV(RidgeClassifier(), {"alpha": [1.0, 10.0]}, cv=2),
    "quantile_transformer": partial(QuantileTransformer, n_quantiles=5),
    "imputed": lambda: make_pipeline(SimpleImputer(), Ridge()),
    "nmf": partial(NMF, n_components=2, max_iter=2000),
    "svc": SVC,
    "svr": partial(SVR, C=100.0),
    "forest": partial(RandomForestClassifier, n_estimators=10),
    "forest_regressor": partial(RandomForestRegressor, n_estimators=10),
    "knn": KNeighborsClassifier,
    "tree": partial(DecisionTreeClassifier, max_depth=3),
    "boosting": partial(HistGradientBoostingClassifier, max_iter=5),
}


def ranges(X: Any) -> list[tabular.Column]:
    return [tabular.Column(f"x{i}", low=-5.0, high=5.0) for i in range(X.shape[1])]


CODEBOOK_MODELS: dict[str, Callable[[Any], Any]] = {
    "additive": tabular.AdditiveClassifier,
    "stepwise": lambda schema: make_pipeline(
        tabular.SchemaEncoder(schema), tabular.StepwiseClassifier(n_terms=2)
    ),
    "encoded_logistic": lambda schema: make_pipeline(
        tabular.SchemaEncoder(schema), LogisticRegression(C=0.1)
    ),
}


@cache
def table(name: str) -> tuple[Any, Any]:
    """Rows and targets; made of whole numbers of thousandths, the same on every machine."""
    if name in ("binary", "gaps"):
        X, y = load_breast_cancer(return_X_y=True)
        X = np.round((X - X.mean(0)) / X.std(0), 3)[:240, :5]
        y = y[:240]
        if name == "gaps":
            X[::7, 1], y = np.nan, X[:, 0] * 2.0
    elif name in ("classes", "positive"):
        X, y = load_iris(return_X_y=True)
    else:
        X, y = load_diabetes(return_X_y=True)
        X, y = np.round(X[:200, :4], 3), y[:200] - 150.0
        if name == "counts":
            y = np.abs(y) // 20
        if name == "doubled":
            X, y = np.repeat(X[:80], 2, axis=0), np.repeat(y[:80] > 0, 2).astype(int)
    return X, y


def _mean(X: Any, y: Any) -> Any:
    return X.mean(axis=0)


def _count(X: Any, y: Any) -> float:
    return float((X[:, 0] > 0).sum())


FUNCTIONS = {"mean": _mean, "count": _count}


def processor() -> dict[str, list[str]]:
    """What rounds otherwise elsewhere: the linear algebra's kernels, instructions of NumPy."""
    known = {str(each["architecture"]) for each in threadpool_info() if "architecture" in each}
    built = np.show_config(mode="dicts")
    simd, blas = built["SIMD Extensions"], built["Build Dependencies"]["blas"]
    kernels = [*sorted(known), str(blas["version"])]
    return {"kernels": kernels, "instructions": [*simd["baseline"], *simd.get("found", [])]}


def taken(call: Any) -> dict[str, Any]:
    """Figures of one call, by name: numbers and lists of numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(_KINDS[call.kind](**call.arguments))


Figures = Iterator[tuple[str, Any]]


def _numbers(prefix: str, value: Any) -> Figures:
    """Numbers inside a document, by their path; words are left out."""
    if isinstance(value, Mapping):
        for name, inside in value.items():
            yield from _numbers(f"{prefix}.{name}", inside)
    elif isinstance(value, (bool, int, float)) or value is None:
        yield prefix, value
    elif isinstance(value, list):
        if any(isinstance(one, Mapping) for one in value):
            for number, inside in enumerate(value):
                yield from _numbers(f"{prefix}.{number}", inside)
        elif not _has_words(value):
            yield prefix, value


def _has_words(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(map(_has_words, value)))


def _promise(guarantee: Any) -> Figures:
    yield from _numbers("guarantee", json.loads(guarantee.to_json()))


def _array(name: str, value: Any) -> Figures:
    """Numbers of an array; of a long one the first few, and sums that any other would change."""
    flat = np.asarray(value, dtype=np.float64).ravel()
    yield name, flat[:_FEW].tolist()
    if flat.size > _FEW:
        places = np.arange(1, flat.size + 1)
        yield f"{name}.sums", [flat.size, float(np.abs(flat).sum()), float(flat @ places)]


def _learned(model: Any) -> Figures:
    """Numbers that a released estimator learned, through its parts."""
    for step, part in getattr(model, "steps", None) or [("", model)]:
        for name, value in sorted(vars(part).items()):
            if name.endswith("_") and not name.startswith("_"):
                array = np.asarray(value) if not isinstance(value, (list, dict)) else None
                if array is not None and array.dtype.kind in "fiu":
                    yield from _array(f"released.{step}.{name}", array)


def _charged(events: Any) -> Figures:
    for number, event in enumerate(events):
        yield f"event.{number}.charge", event.charge
        yield f"event.{number}.bound", event.bound
        yield (
            f"event.{number}.sizes",
            [event.n_candidates, event.n_outputs, event.n_noisy],
        )


def _released(release: Any) -> Figures:
    yield from _promise(release.guarantee)
    yield from _charged([release.event])
    yield "noise_power", release.noise_power
    yield "released_power", release.released_power
    if release.noise_variances is not None:
        yield from _array("noise_variances", release.noise_variances)
    if hasattr(release.value, "get_params"):
        yield from _learned(release.value)
    else:
        yield from _array("value", release.value)


def _budget(amount: float, criterion: Any = None, allow_exact: bool = False) -> Any:
    """Budget as users spell it; calls name the criterion, and say where nothing is hidden."""
    if criterion is None:
        return ps.Nats(amount, allow_exact=allow_exact)
    if not isinstance(criterion, str):
        return plugins.Success(criterion, amount)
    caps = {"membership": ps.Membership, "identification": ps.Identification}
    if criterion in caps:
        return caps[criterion](amount)
    return ps.KOfN(int(criterion.partition("_")[0]), amount)


def _model(model: str, table: str, **params: Any) -> Figures:
    X, y = _table(table)
    if params.get("groups") is not None:
        params.pop("groups")
        fit_params: dict[str, Any] = {"groups": np.arange(X.shape[0]) // 2}
    else:
        fit_params = {}
    stated = {name: params.pop(name) for name in ("criterion", "allow_exact") if name in params}
    budget = _budget(params.pop("budget", 1 / 16), **stated)
    estimator = MODELS[model]()
    if "tune" in params:
        estimator = ps.Tuned(estimator, {"logisticregression__C": list(params.pop("tune"))})
    with ps.config_context(fast_fit=params.pop("fast_fit", True)):
        secret = _secret(params)
        release = ps.Parameters(prior=_prior(params), **_taken(params, "metric", "certify"))
        private = ps.PACPrivate(
            estimator, budget, release=release, secret=secret, **SEEDED, **params
        ).fit(X, y, **fit_params)
    yield from _promise(private.guarantee_)
    yield from _array("noise_variances", private.noise_variances_)
    yield from _learned(private.released_estimator_)


def _taken(params: dict[str, Any], *names: str) -> dict[str, Any]:
    """Arguments of these names, which are taken out."""
    return {name: params.pop(name) for name in names if name in params}


def _secret(params: dict[str, Any]) -> Any:
    """How the secret is drawn, as users spell it; calls name each number."""
    drawn, seed = params.pop("secret_space", None), params.pop("subset_seed", 0)
    if drawn is not None:
        sizes = {"sampled": (), "sampled-large": (500, 5000)}[drawn]
        return ps.SampledSubsets(*sizes, seed=seed)
    given = {"blocks": None, **_taken(params, "rate", "stratify", "blocks", "balance")}
    return ps.Subsets(params.pop("n_subsets", 32), seed=seed, **given)


def _prior(params: dict[str, Any]) -> Any:
    """What is expected of targets, as users spell it."""
    if "prior_mean" in params:
        return ps.priors.Expected(params.pop("prior_mean"))
    return ps.priors.Range(*params.pop("value_range")) if "value_range" in params else None


def _table(name: str) -> tuple[Any, Any]:
    X, y = table(name)
    return X.copy(), y.copy()


def _session(
    table: str, budget: float, script: list[dict[str, Any]], criterion: Any = None
) -> Figures:
    X, y = _table(table)
    with ps.PrivacySession(
        X,
        y,
        budget=_budget(budget, criterion),
        secret=ps.Subsets(32, blocks=None, seed=0),
        **SEEDED,
    ) as session:
        for number, step in enumerate(script):
            for name, value in _step(session, X, step):
                yield f"{number}.{name}", value
        yield from _charged(session.ledger.events)
        yield "remaining", session.ledger.remaining


def _step(session: Any, X: Any, step: dict[str, Any]) -> Figures:
    if "release" in step:
        yield from _released(session.release(MODELS[step["release"]](), budget=step["budget"]))
    elif "function" in step:
        function = FUNCTIONS[step["function"]]
        yield from _released(session.release_function(function, budget=step["budget"]))
    elif "planned" in step:
        listed = [
            FUNCTIONS[each] if each in FUNCTIONS else MODELS[each]() for each in step["planned"]
        ]
        for number, release in enumerate(
            session.release_planned(listed, budgets=step.get("budgets"))
        ):
            for name, value in _released(release):
                yield f"{number}.{name}", value
    elif "together" in step:
        release, contested = session.respond_together(MODELS[step["together"]](), X[:40])
        yield "contested", contested
        yield from _released(release)
    else:
        responder = session.responder(MODELS[step["answers"]](), max_answers=step["most"])
        yield "answers", np.asarray(responder.predict(X[:60])).tolist()
        yield from _promise(session.guarantee_)


def _answers(model: str, table: str, **params: Any) -> Figures:
    X, y = _table(table)
    release = ps.Answers(
        params.pop("max_answers", None),
        of=params.pop("answers", "auto"),
        prior=_prior(params),
        **_taken(params, "query_budget", "stabilize"),
    )
    private = ps.PACPrivate(
        MODELS[model](), release=release, secret=_secret(params), **SEEDED, **params
    ).fit(X[:150], y[:150])
    rows = X[100:]
    answers = (
        private.predict_proba(rows) if release.of == "probabilities" else private.predict(rows)
    )
    yield "answers", np.asarray(answers).tolist()
    yield "remaining", private.remaining_budget_
    yield from _promise(private.guarantee_)


CANDIDATES: dict[str, list[Any]] = {
    "keys": list(range(16)),
    "words": ["a", "bb", "ccc", "dddd", "eeeee"],
}
VALUES: dict[str, Callable[[Any], Any]] = {
    "bits": lambda key: key.bit_count(),
    "scaled": lambda key: np.array([key * 0.125, -key * 4.0]),
    "length": len,
}


def _over(candidates: str, function: str, noise: str, weights: Any, budget: float) -> Figures:
    listed = CANDIDATES[candidates]
    prior = (
        None if weights is None else np.arange(1, len(listed) + 1) / sum(range(1, len(listed) + 1))
    )
    with ps.PrivacySession.over(listed, prior, budget=_budget(budget), random_state=0) as session:
        yield from _released(session.release_function(VALUES[function], noise=noise))


def _simulated(share: float, prior: str, generator: np.random.Generator) -> tuple[Any, Any]:
    X = generator.normal(size=(60, 2))
    X[:, 0] += share
    return X, X @ [1.0, 2.0]


def _pufferfish(released: str, scenario: str, **params: Any) -> Figures:
    X, y = _table("binary")
    y = y.astype(float)
    secret = X[:, 0] > 0
    what = {
        "prevalence": lambda: srpp.PrevalenceScenario(shift=0.1),
        "shares": lambda: srpp.PrevalenceScenario(shares=(0.2, 0.3, 0.4), value=True),
        "group": lambda: srpp.GroupScenario(n_draws=4),
        "reference": lambda: srpp.PrevalenceScenario(
            shift=0.1, n_draws=100, size=len(X), reference=(X[::-1], y[::-1], secret[::-1])
        ),
        "simulator": lambda: srpp.SimulatorScenario(_simulated, (0.0, 0.1), n_draws=100),
    }[scenario]()
    if scenario == "simulator":
        X, y = _simulated(0.0, "", np.random.default_rng(1))
        secret = None
    if scenario == "reference":
        secret = None
    estimator = FUNCTIONS["mean"] if released == "mean" else Ridge()
    realized = {"realized": True} if scenario == "group" else {}
    params["budget"] = srpp.Renyi(params.pop("epsilon"), params.pop("order", 4.0))
    params["slices"] = srpp.Slices(
        params.pop("n_slices", 200), aggregation=params.pop("aggregation", "full")
    )
    private = ps.SRPPPrivate(estimator, scenario=what, random_state=0, **params).fit(
        X, y, secret=secret, **realized
    )
    yield from _promise(private.guarantee_)
    if released == "mean":
        yield from _array("value", private.released_value_)
    else:
        yield from _learned(private.released_estimator_)


def _descent(rows: int, loss: str, model: str = "classifier", **params: Any) -> Figures:
    X, y = _table("binary" if model == "classifier" else "numbers")
    kind = srpp.SRPPSGDClassifier if model == "classifier" else srpp.SRPPSGDRegressor
    more = {"classes": [0, 1]} if model == "classifier" else {}
    trained = kind(
        loss=loss,
        budget=params.pop("epsilon"),
        scenario=srpp.DifferingRows(rows),
        epochs=3,
        batches=srpp.Batches(32, **params),
        random_state=0,
        **more,
    ).fit(X, y if model == "classifier" else y / 100)
    yield from _promise(trained.guarantee_)
    yield from _array("coef", trained.coef_)
    yield from _array("intercept", trained.intercept_)


def _subset(generator: np.random.Generator) -> Any:
    X, y = _table("binary")
    chosen = generator.permutation(len(X))[: len(X) // 2]
    return X[chosen], y[chosen]


def _sampled(function: str, budget: float) -> Figures:
    yield from _released(
        secrets.release_sampled(
            lambda secret: FUNCTIONS[function](*secret),
            _subset,
            budget=_budget(budget, allow_exact=True),
            n_calibration=60,
            n_certificate=600,
            random_state=0,
        )
    )


def _batches(model: str, budget: float) -> Figures:
    X, y = _table("classes" if model == "gaussian_nb" else "numbers")
    rows = np.column_stack([X, y])
    table = Table(lambda: iter(np.array_split(rows, 3)), target=X.shape[1])
    private = ps.PACPrivate(
        MODELS[model](),
        budget=_budget(budget),
        secret=ps.Subsets(32, blocks=None, seed=0),
        **SEEDED,
    ).fit(table)
    yield from _promise(private.guarantee_)
    yield from _array("noise_variances", private.noise_variances_)
    yield from _learned(private.released_estimator_)


def _codebook(model: str, budget: float) -> Figures:
    import pandas as pd

    X, y = _table("binary")
    columns = ranges(X)
    frame = pd.DataFrame(X, columns=[column.name for column in columns])
    private = ps.PACPrivate(
        CODEBOOK_MODELS[model](tabular.Schema(columns)),
        budget=_budget(budget),
        secret=ps.Subsets(32, blocks=None, seed=0),
        **SEEDED,
    ).fit(frame, y)
    yield from _promise(private.guarantee_)
    yield from _array("noise_variances", private.noise_variances_)
    yield from _learned(private.released_estimator_)


def _automatic(table: str, budget: float, expected: Any) -> Figures:
    X, y = _table(table)
    classifies = table == "binary"
    kind = ps.AutoPrivateClassifier if classifies else ps.AutoPrivateRegressor
    models = ("lda", "scaler_logistic") if classifies else ("ridge", "scaler_ridge")
    prior = None
    if expected is not None:
        prior = ps.priors.Constant(expected) if classifies else ps.priors.Range(*expected)
    private = kind(
        families=[MODELS[each]() for each in models],
        budget=_budget(budget),
        prior=prior,
        secret=ps.Subsets(16, blocks=None, seed=0),
        **SEEDED,
    ).fit(X, y)
    yield from _promise(private.guarantee_)
    yield "scores", [score.mean for score in private.verdict_.options]
    yield from _learned(private.released_estimator_)


def _student(queries: str, budget: float) -> Figures:
    X, y = _table("binary")
    columns = ranges(X)
    private = ps.PACPrivate(
        MODELS["tree"](),
        release=ps.Student(
            student=LogisticRegression(C=0.1),
            queries=X[150:] if queries == "public" else tabular.Schema(columns),
        ),
        secret=ps.Subsets(16, blocks=None, seed=0),
        budget=_budget(budget),
        **SEEDED,
    ).fit(X[:150], y[:150])
    yield from _promise(private.guarantee_)
    yield from _learned(private.released_estimator_)


def _bundle(model: str, table: str) -> Figures:
    # Nothing that was seeded is published: statements are those of any noise.
    X, y = _table(table)
    private = ps.PACPrivate(
        MODELS[model](), budget=0.25, secret=ps.Subsets(32, blocks=None, seed=0)
    ).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = publish(private, Path(folder) / "model.pac", onnx="none")
        bundle = load_bundle(path, key=None)
    yield from _promise(bundle.guarantee)


_KINDS: dict[str, Callable[..., Figures]] = {
    "model": _model,
    "session": _session,
    "answers": _answers,
    "over": _over,
    "pufferfish": _pufferfish,
    "descent": _descent,
    "sampled": _sampled,
    "batches": _batches,
    "codebook": _codebook,
    "automatic": _automatic,
    "student": _student,
    "bundle": _bundle,
}
