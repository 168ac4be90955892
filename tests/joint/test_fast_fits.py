"""Fast fits are what scikit-learn's own fits are, attribute by attribute."""

from __future__ import annotations

import warnings
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from pacsklearn import Answers, PACPrivate, Subsets
from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace, balanced_space
from tests.joint.together import together

Floats = NDArray[np.float64]
M = 12

REGRESSORS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(),
    Ridge(alpha=0.01, fit_intercept=False),
    Ridge(alpha=100, solver="cholesky"),
    make_pipeline(StandardScaler(), Ridge()),
    make_pipeline(StandardScaler(), "passthrough", LinearRegression()),
    make_pipeline(StandardScaler(), PCA(3), Ridge()),
    make_pipeline(StandardScaler(with_mean=False), PCA(3, whiten=True), LinearRegression()),
]
CLASSIFIERS = [
    GaussianNB(),
    GaussianNB(var_smoothing=0.1),
    NearestCentroid(),
    NearestCentroid(priors="empirical"),
    make_pipeline(StandardScaler(), GaussianNB()),
    make_pipeline(StandardScaler(), NearestCentroid()),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3),
    make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
    make_pipeline(
        RBFSampler(gamma=0.1, n_components=9, random_state=0),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3),
    ),
    RidgeClassifier(),
    RidgeClassifier(0.1, fit_intercept=False),
    RidgeClassifier(class_weight="balanced"),
    RidgeClassifier(class_weight="balanced", fit_intercept=False),
    make_pipeline(StandardScaler(), RidgeClassifier()),
    make_pipeline(StandardScaler(with_mean=False), RidgeClassifier(class_weight="balanced")),
]
TRANSFORMERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    StandardScaler(with_mean=False, with_std=False),
    PCA(),
    PCA(3),
    PCA(2, whiten=True),
    PCA(2, svd_solver="covariance_eigh"),
    make_pipeline(StandardScaler(), PCA(2)),
]


def fits(estimator: Any, X: Any, y: Any, space: SecretSpace) -> tuple[list[Any], list[Any]]:
    fitter = registry().subset_fitter_for(estimator)
    assert fitter is not None
    rows = [space.rows(i) for i in range(space.n_subsets)]
    take = (lambda i: X.iloc[rows[i]]) if hasattr(X, "iloc") else (lambda i: X[rows[i]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ordinary = [
            clone(estimator).fit(take(i), None if y is None else y[rows[i]])
            for i in range(space.n_subsets)
        ]
    return fitter.fit_all(estimator, X, y, space), ordinary


def assert_same(fast: Any, ordinary: Any, tolerance: float = 1e-8) -> None:
    assert type(fast) is type(ordinary)
    if hasattr(ordinary, "steps"):
        for (_, one), (_, other) in zip(fast.steps, ordinary.steps, strict=True):
            if one != "passthrough":
                assert_same(one, other, tolerance)
        return
    learned = {name for name in vars(ordinary) if name.endswith("_")}
    assert {name for name in vars(fast) if name.endswith("_")} == learned
    for name in learned:
        mine, theirs = getattr(fast, name), getattr(ordinary, name)
        if theirs is None or isinstance(theirs, str):
            assert mine == theirs, name
            continue
        assert np.shape(mine) == np.shape(theirs), name
        if name != "n_samples_seen_":  # a float in some versions
            assert np.asarray(mine).dtype == np.asarray(theirs).dtype, name
        if np.asarray(theirs).dtype.kind not in "fi":
            assert np.array_equal(mine, theirs), name
            continue
        if name == "scalings_":  # an axis and its mirror image are one
            mine = mine * np.sign(np.sum(mine * theirs, axis=0))
        size = float(np.max(np.abs(theirs), initial=0.0))
        if name == "intercept_":  # a difference of what may be much larger
            size = max(size, float(np.max(np.abs(ordinary.coef_))))
        assert np.allclose(mine, theirs, rtol=tolerance, atol=tolerance * max(size, 1e-4)), name


def assert_fast(estimator: Any, X: Any, y: Any, space: SecretSpace) -> None:
    fast, ordinary = fits(estimator, X, y, space)
    assert all(model is not None for model in fast)
    for one, other in zip(fast, ordinary, strict=True):
        assert_same(one, other)


@pytest.mark.product(only=4)
@pytest.mark.parametrize("estimator", REGRESSORS, ids=repr)
def test_regressors(estimator: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    X = X[:, [0, 1, 2, 3, 6, 8]] * 10 + 1  # features 4 and 5 are nearly one
    assert_fast(estimator, X, y, balanced_space(len(X), n_subsets=M))


CONSTANT = [
    (StandardScaler(), "none"),
    (StandardScaler(with_mean=False), "none"),
    (make_pipeline(StandardScaler(), PCA(3)), "none"),
    (make_pipeline(StandardScaler(), Ridge()), "numbers"),
    (make_pipeline(StandardScaler(with_mean=False), Ridge(fit_intercept=False)), "numbers"),
    (make_pipeline(StandardScaler(), ElasticNet(0.1, tol=1e-12, max_iter=100_000)), "numbers"),
    (make_pipeline(StandardScaler(), RidgeClassifier(class_weight="balanced")), "classes"),
    (make_pipeline(StandardScaler(), GaussianNB()), "classes"),
    (make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=5000)), "classes"),
    (make_pipeline(StandardScaler(), LinearSVC(tol=1e-10, max_iter=100_000)), "classes"),
    (GaussianNB(), "classes"),
    (Ridge(), "numbers"),
]


@pytest.mark.product(only=4)
@pytest.mark.parametrize(("estimator", "target"), CONSTANT, ids=repr)
def test_a_column_that_is_constant_in_some_subsets(estimator: Any, target: str) -> None:
    X, numbers = load_diabetes(return_X_y=True)
    X = X[:, [0, 1, 2, 3, 6, 8]] * 10 + 1
    space = balanced_space(len(X), n_subsets=M)
    X[:, 1] = np.where(space.membership()[:, [0, 3]].any(axis=1), 0.3, X[:, 1])
    X[:, 4] = 7.1  # in all of them
    y = {"none": None, "numbers": numbers, "classes": (numbers > 140).astype(int)}[target]
    for one, other in zip(*fits(estimator, X, y, space), strict=True):
        assert one is not None
        if getattr(getattr(other, "_final_estimator", other), "n_iter_", None) is None:
            assert_same(one, other)
            continue
        assert_same(one[0], other[0])  # solvers take their own ways
        for name in ("coef_", "intercept_"):
            mine, theirs = getattr(one[-1], name), getattr(other[-1], name)
            assert np.allclose(mine, theirs, rtol=1e-5, atol=1e-5 * np.max(np.abs(theirs)))


def test_discriminant_axes_leave_constant_columns_out() -> None:
    """Where their sums are exact: else the ordinary fit makes an axis of rounding errors."""
    X, numbers = load_diabetes(return_X_y=True)
    X, y = X[:, [0, 1, 2, 3, 6, 8]] * 10 + 1, np.digitize(numbers, [100, 200])
    space = balanced_space(len(X), n_subsets=M, strata=y)
    X[:, 1] = np.where(space.membership()[:, [0, 3]].any(axis=1), 1.0, X[:, 1])
    X[:, 4] = -2.5
    assert_fast(LinearDiscriminantAnalysis(), X, y, space)
    assert together(LinearDiscriminantAnalysis(solver="lsqr"), X, y, space) == [None] * M
    X[:, 4] = 0.1
    assert together(LinearDiscriminantAnalysis(), X, y, space) == [None] * M


@pytest.mark.parametrize("estimator", REGRESSORS[:6], ids=repr)
def test_regressors_of_two_targets(estimator: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    y = np.column_stack([y, X[:, 4] * 1000])
    assert_fast(estimator, X[:, [0, 2, 3]] + 0.1, y, balanced_space(len(X), n_subsets=M))


@pytest.mark.product(only=6)
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_classifiers(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    space = balanced_space(len(X), n_subsets=M, strata=y)
    assert_fast(estimator, X, names, space)
    fast, ordinary = fits(estimator, X, names, space)
    for one, other in zip(fast, ordinary, strict=True):
        assert np.array_equal(one.predict(X), other.predict(X))


@pytest.mark.product(only=6)
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_two_classes(estimator: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, [1, 4, 8, 10, 11, 14]]
    space = balanced_space(len(X), n_subsets=M, strata=y)
    assert_fast(estimator, X, y, space)


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=repr)
def test_transformers(estimator: Any) -> None:
    X = load_breast_cancer().data[:, [1, 4, 8, 10, 11, 14]]
    X = X / X.std(axis=0) * np.arange(1, 7)
    assert_fast(estimator, X, None, balanced_space(len(X), n_subsets=M))


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [False, True]])
def test_weights_of_listed_classes(labels: list[Any]) -> None:
    """One class weighs three, the other, which is not listed, one."""
    X, y = load_breast_cancer(return_X_y=True)
    space = balanced_space(len(X), n_subsets=M, strata=y)
    estimator = RidgeClassifier(100, class_weight={labels[1]: 3})
    assert_fast(estimator, X[:, [1, 4, 8, 14]], np.array(labels)[y], space)


def test_weights_are_of_the_candidates_own_labels() -> None:
    """Labels of rows outside a candidate change nothing in it, bit for bit."""
    X, y = load_breast_cancer(return_X_y=True)
    X, space = X[:, [1, 4, 8, 14]], balanced_space(len(X), n_subsets=M, strata=y)
    fitter = registry().subset_fitter_for(RidgeClassifier(class_weight="balanced"))
    assert fitter is not None
    before = fitter.fit_all(RidgeClassifier(class_weight="balanced"), X, y, space)[3]
    others = np.setdiff1d(np.arange(len(X)), space.rows(3))
    y[others], X[others] = 1 - y[others], X[others] * 7
    y[others[:2]] = 0, 1
    after = fitter.fit_all(RidgeClassifier(class_weight="balanced"), X, y, space)[3]
    assert np.array_equal(before.coef_, after.coef_)
    assert np.array_equal(before.intercept_, after.intercept_)


def test_names_of_features_are_kept() -> None:
    pytest.importorskip("pandas")
    bunch = load_iris(as_frame=True)
    space = balanced_space(150, n_subsets=4)
    for estimator in (StandardScaler(), make_pipeline(StandardScaler(), GaussianNB())):
        fast, ordinary = fits(estimator, bunch.data, bunch.target.to_numpy(), space)
        assert list(fast[0].feature_names_in_) == list(ordinary[0].feature_names_in_)
        assert_same(fast[0], ordinary[0])


def test_groups() -> None:
    X, y = load_diabetes(return_X_y=True)
    space = balanced_space(len(X), n_subsets=8, groups=np.arange(len(X)) // 3)
    assert_fast(Ridge(), X, y, space)


@pytest.mark.parametrize(
    "estimator",
    [
        Lasso(warm_start=True),
        LinearRegression(positive=True),
        Ridge(solver="svd"),
        RidgeClassifier(solver="svd"),
        RidgeClassifier(positive=True),
        RidgeClassifier(class_weight={0: "1"}),
        Ridge(alpha=np.array([1.0, 2.0])),
        PCA("mle"),
        PCA(0.9),
        PCA(2, svd_solver="randomized"),
        GaussianNB(priors=[0.5, 0.5]),
        NearestCentroid(metric="manhattan"),
        LinearDiscriminantAnalysis(solver="eigen"),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        LinearDiscriminantAnalysis(priors=[0.5, 0.5]),
        LinearDiscriminantAnalysis(n_components=1),
        NearestCentroid(shrink_threshold=0.1),
        make_pipeline(StandardScaler(), MinMaxScaler(), Ridge()),
        make_pipeline(StandardScaler(), PCA(2), GaussianNB()),
        make_pipeline(StandardScaler(), Lasso(warm_start=True)),
        make_pipeline(StandardScaler().set_output(transform="pandas"), Ridge()),
        Pipeline([("a", StandardScaler()), ("b", Ridge())], memory="/nowhere"),
    ],
    ids=repr,
)
def test_what_is_fitted_one_by_one(estimator: Any) -> None:
    assert registry().subset_fitter_for(estimator) is None


class MyRidge(Ridge):
    """May fit otherwise."""


def test_subclasses_are_fitted_one_by_one() -> None:
    assert registry().subset_fitter_for(MyRidge()) is None


@pytest.mark.parametrize("case", ["far away", "collinear", "infinite", "one direction", "constant"])
def test_doubtful_numbers_are_left_to_the_ordinary_fit(case: str) -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(400, 4)), generator.normal(size=400)
    classes = (y > 0).astype(int)
    space = balanced_space(400, n_subsets=8)
    doubted = {
        "far away": [StandardScaler(), Ridge(), PCA(2), GaussianNB(), NearestCentroid()],
        "collinear": [LinearRegression(), Ridge(alpha=0.0), LinearDiscriminantAnalysis()],
        "infinite": [StandardScaler(), Ridge(), GaussianNB()],
        "one direction": [PCA(2)],
        "constant": [NearestCentroid()],
    }[case]
    if case == "far away":
        X[:, 1] += 1e6
    elif case == "collinear":
        X[:, 3] = X[:, 2] + 1e-9 * X[:, 3]
    elif case == "infinite":
        X[7, 0] = 1e200
    elif case == "one direction":
        X = X[:, :1] + 1e-9 * X
    else:
        X[:, 2] = 0.1
    for estimator in doubted:
        fitter = registry().subset_fitter_for(estimator)
        assert fitter is not None
        target = classes if is_classifier(estimator) else y
        fast = fitter.fit_all(estimator, X, target, space)
        holding = [7 in space.rows(i) or case != "infinite" for i in range(8)]
        assert [model is None for model in fast] == holding


def test_badly_scaled_features_are_no_reason_to_doubt() -> None:
    generator = np.random.default_rng(0)
    scale = np.array([1e-6, 1.0, 1e6])
    X, y = generator.normal(size=(500, 3)) * scale + 2 * scale, generator.normal(size=500)
    space = balanced_space(500, n_subsets=6)
    for estimator in (
        StandardScaler(),
        Ridge(alpha=1e-14),
        make_pipeline(StandardScaler(), Ridge()),
    ):
        assert_fast(estimator, X, y, space)


def test_a_subset_is_fitted_on_its_own_rows_alone() -> None:
    generator = np.random.default_rng(3)
    X, y = load_iris(return_X_y=True)
    space = balanced_space(150, n_subsets=6, strata=y)
    others = np.setdiff1d(np.arange(150), space.rows(2))
    moved, labels = X.copy(), y.copy()
    moved[others] = 1e6 * generator.normal(size=(others.size, 4))
    labels[others] = generator.permutation(labels[others])
    for estimator in (GaussianNB(), NearestCentroid(), StandardScaler(), PCA(2), Ridge()):
        fitter = registry().subset_fitter_for(estimator)
        assert fitter is not None
        # Bit for bit.
        assert_same(
            fitter.fit_all(estimator, moved, labels, space)[2],
            fitter.fit_all(estimator, X, y, space)[2],
            tolerance=0.0,
        )


def test_what_would_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    space = balanced_space(150, n_subsets=4)
    for estimator, cells in ((StandardScaler(), 599), (Ridge(), 127)):
        fitter = registry().subset_fitter_for(estimator)
        assert fitter is not None
        monkeypatch.setattr("pacsklearn.joint.moment_fitter._MOST_CELLS", 600)
        assert None not in fitter.fit_all(estimator, X, y, space)
        monkeypatch.setattr("pacsklearn.joint.moment_fitter._MOST_CELLS", cells)
        assert fitter.fit_all(estimator, X, y, space) == [None] * 4


def test_arrays_that_the_fit_would_not_turn_into_doubles() -> None:
    X, y = load_iris(return_X_y=True)
    space = balanced_space(150, n_subsets=4)
    fitter = registry().subset_fitter_for(Ridge())
    assert fitter is not None
    for rows, target in ((X.astype(np.float32), y), (X, y[:, None]), (X.astype(object), y)):
        assert fitter.fit_all(Ridge(), rows, target, space) == [None] * 4
    whole = fitter.fit_all(Ridge(), (X * 10).astype(int), y, space)
    assert_same(whole[0], Ridge().fit((X * 10).astype(int)[space.rows(0)], y[space.rows(0)]))


@pytest.mark.parametrize(
    "work",
    [
        "universe.design.blocked_design",
        "joint.moment_fitter.MomentFitter.fit_all",
        "kernel.release.procedure.certified_membership",
        "tabular.choosing.planning.Judge.verdict",
        "joint.stacked_linear.StackedLinear.predict",
    ],
)
def test_small_products_take_one_blas_thread(work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def threads() -> set[int]:
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    done, seen = resolve_name(f"pacsklearn.{work}"), []

    def noted(*given: Any, **options: Any) -> Any:
        seen.append(threads())
        return done(*given, **options)

    monkeypatch.setattr(f"pacsklearn.{work}", noted)
    is_stacked = work.startswith("joint.stacked")
    # Two rows of three columns take one thread anyway.
    X = np.random.default_rng(0).normal(size=(200, 300 if is_stacked else 3))
    release = Answers(2) if is_stacked else "auto"
    estimator, y = (LinearSVC(), X[:, 0] > 0) if release != "auto" else (Ridge(), X[:, 0])
    with threadpool_limits(2, user_api="blas"):
        model = PACPrivate(estimator, secret=Subsets(8), release=release, budget=1 / 2)
        model.fit(X, y).predict(X[:2])
        assert threads() == {2}
    assert set.union(*seen) == {1}


def test_axes_whose_sign_rounding_would_choose_are_left_to_the_ordinary_fit() -> None:
    generator = np.random.default_rng(0)
    one = generator.integers(0, 2, 160).astype(float)
    X = np.column_stack([60 + 1000 * generator.normal(size=160), one, 1 - one])
    space = balanced_space(len(X), n_subsets=8)
    assert together(make_pipeline(StandardScaler(), PCA(2)), X, None, space) == [None] * 8
    model = PACPrivate(make_pipeline(StandardScaler(), PCA(2)), 1 / 2, secret=Subsets(8)).fit(X)
    assert model.transform(X).shape == (160, 2)
