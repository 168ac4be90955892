"""The published contract, kept by every family's canonicalizer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import BisectingKMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import (
    NMF,
    FactorAnalysis,
    FastICA,
    IncrementalPCA,
    MiniBatchSparsePCA,
)
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDOneClassSVM
from sklearn.mixture import GaussianMixture
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from pacsklearn.plugins import registry
from pacsklearn.tabular import FixedStructureForestClassifier
from pacsklearn.testing import check_canonicalizer

FAMILIES = [
    GaussianNB(),
    MultinomialNB(),
    ComplementNB(),
    BernoulliNB(binarize=3.0),
    NearestCentroid(),
    QuadraticDiscriminantAnalysis(reg_param=0.01),
    GaussianMixture(3, covariance_type="diag"),
    GaussianMixture(2),
    BisectingKMeans(3),
    IncrementalPCA(2),
    NMF(2, max_iter=1000),
    FactorAnalysis(2),
    FastICA(2, whiten="unit-variance"),
    MiniBatchSparsePCA(2, max_iter=20),
    OneVsRestClassifier(LinearSVC()),
    OneVsOneClassifier(GaussianNB()),
    VotingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], voting="soft"),
    ColumnTransformer([("a", StandardScaler(), [0, 1])], remainder="passthrough"),
    FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())]),
    KBinsDiscretizer(4, encode="ordinal", strategy="uniform"),
    QuantileTransformer(n_quantiles=20),
    PowerTransformer(),
    PowerTransformer("box-cox"),
    SimpleImputer(),
    SGDOneClassSVM(),
    FixedStructureForestClassifier(),
    FixedStructureForestClassifier(thresholds="random", feature_range=(0, 8)),
    MLPClassifier((4,), max_iter=10, learning_rate_init=0.05),
    MLPClassifier((4, 3), activation="tanh", max_iter=10, learning_rate_init=0.05),
]


@pytest.mark.product(only=5)
@pytest.mark.parametrize("estimator", FAMILIES, ids=repr)
def test_the_contract(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    # Real numbers, so that the search for rows inside a pickle has something to find.
    X = X + np.random.default_rng(0).uniform(0, 0.01, X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        canonicalizer = registry().canonicalizer_for(estimator)
        check_canonicalizer(canonicalizer, estimator, X, y, n_subsets=6)


def test_the_contract_with_categories() -> None:
    X, y = load_iris(return_X_y=True)
    # Each category occurs in each class: noise goes where candidates differ, and a category that
    # is never there in one class would tell by its silence.
    generator = np.random.default_rng(0)
    X = (X + generator.normal(0, 2, X.shape) > np.median(X, axis=0)).astype(int)
    estimator = CategoricalNB(min_categories=2)
    check_canonicalizer(registry().canonicalizer_for(estimator), estimator, X, y, n_subsets=6)
