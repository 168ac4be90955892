"""The calls of the golden record, as data: names of tables and models, and numbers.

Nothing here knows how pacsklearn spells a call; ``adapter.py`` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple


class Call(NamedTuple):
    """One seeded call.

    ``tolerance`` is how far figures of the stored record may be from those of this machine,
    relative to their size: solvers that iterate stop elsewhere with another BLAS. ``searched`` is
    whether the noise is found by an iterated search, which ends elsewhere with other instructions
    of the processor: only ``make golden`` holds such a call there.
    """

    name: str
    kind: str
    arguments: dict[str, Any]
    tolerance: float = 1e-9
    searched: bool = False


CLOSED_FORM = {
    "ridge": "numbers",
    "lda": "classes",
    "gaussian_nb": "classes",
    "nearest_centroid": "classes",
    "standard_scaler": "classes",
    "pca": "classes",
    "scaler_ridge": "numbers",
    "ridge_classifier": "classes",
}
ITERATED = {
    "logistic": "classes",
    "scaler_logistic": "binary",
    "linear_svc": "binary",
    "linear_svr": "numbers",
    "lasso": "numbers",
    "elastic_net": "numbers",
    "huber": "numbers",
    "poisson": "counts",
    "kmeans": "classes",
    "gaussian_mixture": "classes",
    "qda": "classes",
    "mlp": "binary",
    "fixed_forest": "classes",
    "fixed_forest_regressor": "numbers",
    "voting": "binary",
    "stacking": "binary",
    "one_vs_rest": "classes",
    "column_transformer": "binary",
    "search": "binary",
    "quantile_transformer": "numbers",
    "imputed": "gaps",
    "nmf": "positive",
}
BACKENDS = ("isotropic", "diagonal", "eigen", "logdet", "residual")
NATS = (1 / 64, 1 / 16, 1 / 4, 1.0)
CAPS = (("membership", 0.55), ("membership", 0.7), ("identification", 0.25))


def calls() -> Iterator[Call]:
    """Yield every call of the record."""
    yield from _models()
    yield from _sessions()
    yield from _answers()
    yield from _functions()
    yield from _pufferfish()
    yield from _descent()
    yield from _sampled()
    yield from _tables()
    yield from _choices()
    yield from _bundles()


def _models() -> Iterator[Call]:
    for models, tolerance in ((CLOSED_FORM, 1e-9), (ITERATED, 1e-5)):
        for model, table in models.items():
            for nats in (1 / 16, 1.0):
                yield _model(model, table, tolerance, budget=nats)
    for backend, nats in product(BACKENDS, NATS):
        yield _model("lda", "binary", budget=nats, noise=backend)
        yield _model("ridge", "numbers", budget=nats, noise=backend)
    yield from _caps()
    yield from _blocks()
    for metric in ("auto", None):
        yield _model("pca", "classes", budget=0.25, metric=metric)
        yield _model("ridge", "numbers", budget=0.25, metric=metric)
    for fast, model in product(
        (True, False), ("ridge", "lda", "pca", "gaussian_nb", "standard_scaler")
    ):
        yield _model(model, CLOSED_FORM[model], 1e-7, budget=0.25, fast_fit=fast)
    yield from _spaces()
    for prior in ({"value_range": (-300.0, 300.0)}, {"prior_mean": 50.0}):
        yield _model("ridge", "numbers", budget=1 / 64, **prior)
    yield _model("ridge", "doubled", budget=1e-9)
    yield _model("lda", "doubled", budget=1e-9)
    yield _model("ridge", "numbers", budget=10.0, allow_exact=True)


def _caps() -> Iterator[Call]:
    for criterion, cap in CAPS:
        for model, table in (("lda", "binary"), ("gaussian_nb", "classes"), ("ridge", "numbers")):
            yield _model(model, table, 1e-6, budget=cap, criterion=criterion)
    for model, table, k in (("lda", "binary", 90), ("ridge", "numbers", 75)):
        yield _model(model, table, 1e-6, budget=0.75, criterion=f"{k}_of_n")


def _blocks() -> Iterator[Call]:
    """Lists as they are dealt unless a call says otherwise: all others deal without blocks."""
    for model, table in {**CLOSED_FORM, "scaler_logistic": "binary", "imputed": "gaps"}.items():
        yield _model(model, table, 1e-5, budget=1 / 16, blocks=8)
    for more in ({"balance": None}, {"groups": "households"}, {"n_subsets": 64, "rate": 0.25}):
        yield _model("lda", "binary", budget=0.25, blocks=8, **more)
    yield _model("lda", "binary", 1e-6, budget=0.55, criterion="membership", blocks=8)
    yield _model("ridge", "doubled", budget=1e-9, blocks=8)
    yield Call(
        "answers of svc on binary, in blocks",
        "answers",
        {"model": "svc", "table": "binary", "budget": 1 / 16, "max_answers": 200, "blocks": 8},
        1e-6,
    )


def _spaces() -> Iterator[Call]:
    for space in (
        {"n_subsets": 16},
        {"n_subsets": 64, "rate": 0.25},
        {"stratify": False},
        {"groups": "households"},
        {"subset_seed": 7},
        {"certify": False},
    ):
        yield _model("lda", "binary", budget=0.25, **space)
        yield _model("ridge", "numbers", budget=0.25, **space)


def _model(model: str, table: str, tolerance: float = 1e-9, **arguments: Any) -> Call:
    shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return Call(
        f"{model} of {table}: {shown}",
        "model",
        {"model": model, "table": table, **arguments},
        tolerance,
    )


def _sessions() -> Iterator[Call]:
    scripts: dict[str, list[dict[str, Any]]] = {
        "two models": [
            {"release": "standard_scaler", "budget": 1 / 8},
            {"release": "lda", "budget": 1 / 8},
        ],
        "model and functions": [
            {"function": "mean", "budget": 1 / 16},
            {"release": "gaussian_nb", "budget": 1 / 8},
            {"function": "count", "budget": 1 / 16},
        ],
        "answers after a model": [
            {"release": "lda", "budget": 1 / 8},
            {"answers": "svc", "most": 100},
        ],
        "planned": [{"planned": ["gaussian_nb", "mean", "lda"]}],
        "planned shares": [{"planned": ["mean", "lda"], "budgets": [1 / 16, 1 / 8]}],
        "together": [{"together": "svc"}],
        "five functions": [{"function": "mean", "budget": 1 / 20}] * 5,
    }
    for name, script in scripts.items():
        for table in ("binary", "classes"):
            yield Call(
                f"session of {table}: {name}",
                "session",
                {"table": table, "budget": 0.25, "script": script},
                1e-6,
            )
    yield Call(
        "session of binary under a cap: together",
        "session",
        {
            "table": "binary",
            "budget": 0.7,
            "criterion": "membership",
            "script": [{"together": "svc"}],
        },
        1e-6,
    )


def _answers() -> Iterator[Call]:
    for model, table in (
        ("svc", "binary"),
        ("svc", "classes"),
        ("forest", "classes"),
        ("knn", "binary"),
        ("tree", "binary"),
        ("boosting", "binary"),
        ("svr", "numbers"),
        ("forest_regressor", "numbers"),
    ):
        ranges = {"value_range": (-300.0, 300.0)} if table == "numbers" else {}
        for nats in (1 / 16, 1.0):
            yield Call(
                f"answers of {model} on {table}, {nats} nats",
                "answers",
                {"model": model, "table": table, "budget": nats, "max_answers": 200, **ranges},
                1e-6,
            )
    for more in ({"answers": "probabilities"}, {"query_budget": 1 / 500}, {"stabilize": 5}):
        most = {} if "query_budget" in more else {"max_answers": 200}
        yield Call(
            f"answers of tree on binary, {more}",
            "answers",
            {"model": "tree", "table": "binary", "budget": 0.25, **most, **more},
            1e-6,
        )


def _functions() -> Iterator[Call]:
    for candidates, function in (("keys", "bits"), ("keys", "scaled"), ("words", "length")):
        for noise in ("auto", "one_sided", *BACKENDS):
            if noise == "one_sided" and function == "scaled":
                continue
            for weights in (None, "uneven"):
                yield Call(
                    f"{function} of {candidates}, {noise}, weights {weights}",
                    "over",
                    {
                        "candidates": candidates,
                        "function": function,
                        "noise": noise,
                        "weights": weights,
                        "budget": 0.5,
                    },
                    1e-6,
                    searched=noise == "residual" and weights is not None,
                )


def _pufferfish() -> Iterator[Call]:
    for scenario in ("prevalence", "shares", "group", "reference", "simulator"):
        for released in ("mean", "ridge"):
            for aggregation in ("full", "joint", "average"):
                if scenario in ("reference", "simulator") and aggregation != "full":
                    continue
                yield Call(
                    f"{released}, {scenario}, {aggregation}",
                    "pufferfish",
                    {
                        "released": released,
                        "scenario": scenario,
                        "aggregation": aggregation,
                        "epsilon": 1.0,
                        "n_slices": 50,
                    },
                    1e-6,
                )
    for epsilon in (0.1, 4.0):
        for noise in ("isotropic", "anisotropic"):
            yield Call(
                f"mean, prevalence, {noise}, epsilon {epsilon}",
                "pufferfish",
                {
                    "released": "mean",
                    "scenario": "prevalence",
                    "aggregation": "joint",
                    "noise": noise,
                    "epsilon": epsilon,
                    "n_slices": 50,
                },
                1e-5,
                searched=noise == "anisotropic",
            )
    for order in (1.5, 8.0):
        yield Call(
            f"mean, prevalence, order {order}",
            "pufferfish",
            {"released": "mean", "scenario": "prevalence", "epsilon": 1.0, "order": order},
            1e-6,
        )


def _descent() -> Iterator[Call]:
    for rows in (1, 20):
        for sampling in ("poisson", "without-replacement", "with-replacement"):
            for accounting in ("secret-batches", "subsampling-aware", "worst-case"):
                yield Call(
                    f"descent, {rows} rows, {sampling}, {accounting}",
                    "descent",
                    {
                        "rows": rows,
                        "sampling": sampling,
                        "accounting": accounting,
                        "epsilon": 2.0,
                        "loss": "log_loss",
                    },
                    1e-6,
                )
    for loss in ("hinge", "squared_error", "huber"):
        for model in ("classifier", "regressor"):
            if (model, loss) == ("regressor", "hinge"):
                continue
            yield Call(
                f"descent, {model}, {loss}",
                "descent",
                {"rows": 2, "model": model, "epsilon": 4.0, "loss": loss},
                1e-6,
            )


def _sampled() -> Iterator[Call]:
    for function in ("mean", "count"):
        for nats in (1 / 16, 1.0):
            yield Call(
                f"sampled {function}, {nats} nats",
                "sampled",
                {"function": function, "budget": nats},
                1e-6,
            )
    for model, table in (("lda", "binary"), ("ridge", "numbers")):
        for kind in ("sampled", "sampled-large"):
            yield _model(model, table, 1e-6, budget=0.25, secret_space=kind)


def _tables() -> Iterator[Call]:
    for model in ("ridge", "standard_scaler", "gaussian_nb"):
        for nats in (1 / 16, 1.0):
            yield Call(
                f"{model} of batches, {nats} nats",
                "batches",
                {"model": model, "budget": nats},
                1e-6,
            )
    for model in ("additive", "stepwise", "encoded_logistic"):
        for nats in (1 / 16, 1.0):
            yield Call(
                f"{model} by a codebook, {nats} nats",
                "codebook",
                {"model": model, "budget": nats},
                1e-5,
            )


def _choices() -> Iterator[Call]:
    for nats in (1e-9, 1 / 4):
        for proba in (None, (1, 3)):
            yield Call(
                f"automatic classifier, {nats} nats, proba {proba}",
                "automatic",
                {"table": "binary", "budget": nats, "expected": proba},
                1e-5,
            )
    yield Call(
        "automatic regressor",
        "automatic",
        {"table": "numbers", "budget": 1 / 4, "expected": (-10.0, 10.0)},
        1e-5,
    )
    for nats in (1 / 16, 1.0):
        yield _model("scaler_logistic", "binary", 1e-5, budget=nats, tune=(1e-3, 1e-2, 1.0))
    for queries in ("public", "codebook"):
        yield Call(
            f"student of {queries} rows",
            "student",
            {"queries": queries, "budget": 1 / 4},
            1e-5,
        )


def _bundles() -> Iterator[Call]:
    for model, table in (("lda", "binary"), ("ridge", "numbers"), ("pca", "classes")):
        yield Call(f"bundle of {model}", "bundle", {"model": model, "table": table}, 1e-9)
