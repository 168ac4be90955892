"""Write docs/estimators.md: what of every scikit-learn estimator is released, and how.

    python scripts/estimator_table.py            # write
    python scripts/estimator_table.py --check    # exit 1 if the committed table is out of date

Each estimator is wrapped, fitted on a few rows and asked; nothing in the table is written by hand.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import is_classifier, is_clusterer, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators, get_tags

from pacsklearn import Answers, PACPrivate, Subsets
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.plugins import registry
from pacsklearn.priors import Range

TABLE = Path(__file__).parents[1] / "docs" / "estimators.md"

# Fitted by whoever made it, on rows that nobody drew: there is nothing to make private.
NOT_FITTED_HERE = {"FrozenEstimator"}

_CATEGORIES = [[0.0, 1.0]] * 4
_CLASSIFIERS = [("a", LogisticRegression()), ("b", LogisticRegression(C=0.1))]
_REGRESSORS = [("a", Ridge()), ("b", Ridge(alpha=9.0))]

# Parameters without which an estimator cannot be made, or learns what cannot be noised.
PARAMETERS: dict[str, dict[str, Any]] = {
    "BisectingKMeans": {"n_clusters": 3},
    "CCA": {"n_components": 1},
    "CategoricalNB": {"min_categories": 2},
    "ColumnTransformer": {"transformers": [("scale", StandardScaler(), [0, 1])]},
    "CountVectorizer": {"vocabulary": ["a", "b"]},
    "FeatureUnion": {"transformer_list": [("scale", StandardScaler())]},
    "GaussianRandomProjection": {"n_components": 2},
    "GridSearchCV": {"param_grid": {"C": [0.1, 1.0]}},
    "HalvingGridSearchCV": {"param_grid": {"C": [0.1, 1.0]}, "min_resources": 20},
    "HalvingRandomSearchCV": {"param_distributions": {"C": [0.1, 1.0]}, "min_resources": 20},
    "HashingVectorizer": {"n_features": 4},
    "KBinsDiscretizer": {"n_bins": 3, "strategy": "uniform"},
    "NMF": {"n_components": 2, "max_iter": 2000},
    "IsotonicRegression": {"out_of_bounds": "clip"},
    "MiniBatchNMF": {"n_components": 2},
    "OneHotEncoder": {"categories": _CATEGORIES},
    "OrdinalEncoder": {"categories": _CATEGORIES},
    "OrthogonalMatchingPursuitCV": {"max_iter": 2},
    "PLSCanonical": {"n_components": 1},
    "Pipeline": {"steps": [("scale", StandardScaler()), ("model", LogisticRegression())]},
    "QuadraticDiscriminantAnalysis": {"reg_param": 0.1},
    "QuantileTransformer": {"n_quantiles": 10},
    "RadiusNeighborsClassifier": {"radius": 10.0},
    "RandomizedSearchCV": {"param_distributions": {"C": [0.1, 1.0]}, "n_iter": 2},
    "SelfTrainingClassifier": {"estimator": LogisticRegression()},
    "SparseCoder": {"dictionary": np.eye(4)},
    "SparseRandomProjection": {"n_components": 2},
    "SplineTransformer": {"knots": [[0.0] * 4, [8.0] * 4]},
    "StackingClassifier": {
        "estimators": _CLASSIFIERS,
        "cv": 2,
    },
    "StackingRegressor": {"estimators": _REGRESSORS, "cv": 2},
    "TfidfTransformer": {"use_idf": False},
    "TfidfVectorizer": {"vocabulary": ["a", "b"], "use_idf": False},
    "TheilSenRegressor": {"max_subpopulation": 20},
    "VotingClassifier": {"estimators": _CLASSIFIERS},
    "VotingRegressor": {"estimators": _REGRESSORS},
}
# Which of them a reader has to know.
TOLD = {
    "BisectingKMeans": "with few `n_clusters`",
    "CategoricalNB": "with `min_categories` given",
    "CountVectorizer": "on a column of a `ColumnTransformer`, with `vocabulary` given",
    "GaussianRandomProjection": "with `n_components` given",
    "HashingVectorizer": "on a column of a `ColumnTransformer`, with few `n_features`",
    "IsotonicRegression": 'with `out_of_bounds="clip"`',
    "KBinsDiscretizer": "with as many bins in every subset",
    "OneHotEncoder": "with `categories` given",
    "OrdinalEncoder": "with `categories` given",
    "QuantileTransformer": "with fewer `n_quantiles` than a subset has rows",
    "RBFSampler": "with a number for `gamma`",
    "SparseRandomProjection": "with `n_components` given",
    "SplineTransformer": "with `knots` given, or a `schema`",
    "TfidfTransformer": "with `use_idf=False`",
    "TfidfVectorizer": (
        "on a column of a `ColumnTransformer`, with `vocabulary` given and `use_idf=False`"
    ),
}
# Given to whatever has the parameter: a few rows need no more.
SMALL = {"n_estimators": 3, "max_iter": 200, "max_subpopulation": 20, "cv": 2, "n_init": 1}
SMALL |= {"Cs": 2, "thresholds": 5}
SLOW = {"MLPClassifier": 20, "MLPRegressor": 20, "HistGradientBoostingClassifier": 3}
SLOW |= {"HistGradientBoostingRegressor": 3, "MiniBatchSparsePCA": 10, "TSNE": 250}
ONE_FEATURE = {"IsotonicRegression"}
TWO_CLASSES = {"FixedThresholdClassifier", "TunedThresholdClassifierCV"}
TEXTS = {"CountVectorizer", "HashingVectorizer", "TfidfVectorizer"}
BITS = {"CategoricalNB", "OneHotEncoder", "OrdinalEncoder"}


@dataclass(frozen=True)
class Row:
    """What is released of one estimator."""

    name: str
    family: str
    release: str
    noised: str
    public: str

    def __str__(self) -> str:
        return f"| `{self.name}` | {self.release} | {self.noised} | {self.public} |"


@cache
def estimators() -> dict[str, type]:
    """Every estimator of the installed scikit-learn."""
    return {name: cls for name, cls in all_estimators() if name not in NOT_FITTED_HERE}


def make(name: str) -> Any:
    """Unfitted instance that fits a few rows in moments."""
    cls, given = estimators()[name], dict(PARAMETERS.get(name, {}))
    # Chains have a default that scikit-learn itself refuses, in 1.7.
    required = _required(cls) | ({"estimator"} if name.endswith("Chain") else set())
    for part in {"estimator", "base_estimator"} & (required - given.keys()):
        given[part] = Ridge() if "Regressor" in name else LogisticRegression()
    made = cls(**given)
    known = made.get_params(deep=False)
    small = {key: value for key, value in SMALL.items() if key in known and key not in given}
    if name in SLOW and "max_iter" in known:
        small["max_iter"] = SLOW[name]
    if not isinstance(known.get("cv"), (int, type(None))):
        small.pop("cv", None)
    made.set_params(**small)
    return ColumnTransformer([("text", made, "text")]) if name in TEXTS else made


@cache
def row(name: str) -> Row:
    """Wrap the estimator, fit it, ask it, and say what came out."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _row(name, make(name))


def _row(name: str, estimator: Any) -> Row:
    X, y = rows_for(name, estimator)
    settings: dict[str, Any] = {}
    if is_regressor(estimator):
        try:
            registry().canonicalizer_for(estimator)
        except NoCanonicalizerError:
            settings["release"] = Answers(prior=Range(0.0, 3.0))
    private = PACPrivate(estimator, budget=1.0, secret=Subsets(4), **settings)
    family = _family(estimator)
    try:
        private.fit(X, y)
    except NoCanonicalizerError as error:
        return Row(name, family, "none", "", _reason(error))
    except ValueError as error:
        if "Private answers need one target" not in str(error):
            raise
        return Row(name, family, "none", "", "it answers several targets with classes")
    asked = [method for method in private.released_methods_ if hasattr(private, method)]
    method = next(one for one in ("predict", "transform", "score_samples") if one in asked)
    assert np.shape(getattr(private, method)(X[:5]))[0] == 5
    guarantee = private.guarantee_
    always = ("hyper-parameters", "public seeds")
    learned = [fact for fact in guarantee.public if fact not in always]
    if not hasattr(private, "released_estimator_"):
        why = [_reason(_refusal(estimator)), *([TOLD[name]] if name in TOLD else [])]
        facts = ["`classes_`"] if is_classifier(estimator) else []
        return Row(name, family, "answers", ", ".join(guarantee.released), "; ".join(facts + why))
    public = ", ".join(f"`{fact}`" for fact in learned)
    if name in TOLD:
        public += f"; {TOLD[name]}"
    noised = ", ".join(guarantee.released) or "nothing: it learns nothing from the rows"
    return Row(name, family, "parameters", noised, public)


def rows_for(name: str, estimator: Any) -> tuple[Any, Any]:
    """A few rows and targets that the estimator can be fitted on."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    if name in TEXTS:
        return pd.DataFrame({"text": ["a", "b", "a b", ""] * 10}), None
    if name in BITS:
        return (np.median(X, axis=0) < X).astype(float), y
    if name in TWO_CLASSES:
        return X[y < 2], y[y < 2]
    if is_regressor(estimator):
        tags, target = get_tags(estimator).target_tags, X[:, 3]
        X = X[:, :1] if name in ONE_FEATURE else X[:, :3]
        several = not tags.single_output or "MultiOutput" in name or "Chain" in name
        return X, np.column_stack([target, target[::-1]]) if several else target
    if "MultiOutput" in name or "Chain" in name:
        return X, np.column_stack([y, y[::-1]])
    return X, y


def table() -> str:
    """The whole page."""
    parts = [HEAD.format(version=sklearn.__version__)]
    found = [row(name) for name in estimators()]
    for family in ("Classifiers", "Regressors", "Clusterers", "Transformers", "Others"):
        parts.append(f"\n## {family}\n")
        parts.append("| estimator | release | what is noised | what is public, or why |")
        parts.append("|---|---|---|---|")
        parts += [str(one) for one in found if one.family == family]
    return "\n".join(parts) + "\n"


def written_with() -> str:
    """Version of scikit-learn that the committed table was made with."""
    text = TABLE.read_text(encoding="utf-8")
    return text.partition("scikit-learn ")[2].partition(",")[0]


HEAD = """\
<!-- Written by scripts/estimator_table.py; do not edit. -->
# Every estimator of scikit-learn

What `PACPrivate(estimator)` releases, with scikit-learn {version}, as it comes or with the
parameters named.

* **parameters**: a canonicalizer knows the estimator; `released_estimator_` is a plain fitted
  estimator whose numbers came out of the noise. What needs numbers that are not listed fails:
  `transform` of `LinearDiscriminantAnalysis`, `score_samples` of `PCA`.
* **answers**: the model stays a black box and its answers to queries are noised
  (`release=Answers()`); the last column says why its parameters cannot be released.
* **none**: `fit` raises an error that gives the reason, the one in the last column.

Hyper-parameters, public seeds and the number and names of features are always public. An estimator
that is fitted already (`FrozenEstimator`) is refused: what it holds was learned outside of any
subset."""


def _family(estimator: Any) -> str:
    if is_classifier(estimator):
        return "Classifiers"
    if is_regressor(estimator):
        return "Regressors"
    if is_clusterer(estimator):
        return "Clusterers"
    return "Transformers" if hasattr(estimator, "transform") else "Others"


def _required(cls: type) -> set[str]:
    parameters = inspect.signature(cls).parameters.values()
    return {one.name for one in parameters if one.default is one.empty}


def _refusal(estimator: Any) -> NoCanonicalizerError:
    try:
        registry().canonicalizer_for(estimator)
    except NoCanonicalizerError as error:
        return error
    raise AssertionError(f"{type(estimator).__name__} has a canonicalizer and answers")


def _reason(error: NoCanonicalizerError) -> str:
    """The reason in the error's text; an error that gives none is a defect."""
    text = str(error)
    _, found, reason = text.partition("cannot be released privately: ")
    assert found, f"no reason is given: {text}"
    return reason.partition(".")[0]


def main(arguments: list[str]) -> int:
    """Write the table, or say whether it is out of date."""
    os.environ["PACSKLEARN_PLUGINS"] = ""  # what is installed beside pacsklearn is not in the table
    text = table()
    if "--check" in arguments:
        fresh = TABLE.exists() and TABLE.read_text(encoding="utf-8") == text
        print("up to date" if fresh else f"{TABLE} is out of date; run {sys.argv[0]}")
        return 0 if fresh else 1
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE} written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
