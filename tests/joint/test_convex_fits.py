"""Convex models fitted together are what scikit-learn's solvers approach, subset by subset."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import (
    GammaRegressor,
    LogisticRegression,
    PoissonRegressor,
    TweedieRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from pacsklearn import Nats, PACPrivate, Subsets, config_context
from pacsklearn.exceptions import NonDeterministicError
from pacsklearn.joint import convex_fitter
from pacsklearn.joint.generalised_linear import Tweedie
from pacsklearn.joint.joint_minimiser import minimise
from pacsklearn.joint.joint_problem import Penalty, Problem
from pacsklearn.joint.linear_svm import Epsilon, Hinge
from pacsklearn.joint.logistic_regression import Logistic, Softmax
from pacsklearn.joint.loss import Loss
from pacsklearn.joint.row_frame import RowFrame
from pacsklearn.kernel.outputs.subset_fitting import joint_models
from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace, balanced_space
from tests.joint.together import together

Floats = NDArray[np.float64]
M = 6

# The second is the first, with its own solver taken as far as it goes.
TIGHT = {"tol": 1e-13, "max_iter": 100_000}
MODELS = [
    (LogisticRegression(C=0.5), {"solver": "newton-cholesky"} | TIGHT),
    (LogisticRegression(C=0.5, fit_intercept=False), {"solver": "newton-cholesky"} | TIGHT),
    (LinearSVC(C=0.1), {"dual": False} | TIGHT),
    (LinearSVC(C=0.1, intercept_scaling=10.0), {"dual": False} | TIGHT),
    (LinearSVC(C=0.1, fit_intercept=False), {"dual": False} | TIGHT),
    (LinearSVR(C=0.1, loss="squared_epsilon_insensitive", dual=False, epsilon=0.2), TIGHT),
    (PoissonRegressor(alpha=0.1), {"solver": "newton-cholesky"} | TIGHT),
    (GammaRegressor(alpha=0.1), {"solver": "newton-cholesky"} | TIGHT),
    (TweedieRegressor(power=1.5, alpha=0.1), {"solver": "newton-cholesky"} | TIGHT),
]


def data(estimator: Any, n: int = 400) -> tuple[Floats, Any]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, 5)) * [1.0, 2.0, 0.1, 1.0, 5.0] + [0.0, 3.0, 1.0, -2.0, 10.0]
    decision = (X - X.mean(axis=0)) @ [1.0, -0.3, 3.0, 0.5, 0.1]
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    if is_classifier(last):
        return X, np.where(decision + generator.logistic(size=n) > 0, "yes", "no")
    if isinstance(last, LinearSVR):
        return X, decision + generator.normal(size=n)
    return X, generator.gamma(2.0, np.exp(0.3 * decision) / 2)


@pytest.mark.parametrize(("p", "is_joint"), [(1000, True), (1001, False)])
def test_ordinary_fits_of_very_many_columns_are_sooner_done(p: int, is_joint: bool) -> None:
    X = np.random.default_rng(0).normal(size=(100, p))
    estimator = LinearSVR(loss="squared_epsilon_insensitive")
    models = together(estimator, X, X[:, 0], balanced_space(100, n_subsets=M))
    assert [model is not None for model in models] == [is_joint] * M


def test_the_order_of_rows_does_not_matter() -> None:
    # A case, its control, and again: every fourth row, of which a start is made, is a case.
    generator, n = np.random.default_rng(1), 4 * 4096
    y = np.arange(n) % 2
    X = generator.normal(size=(n, 5)) + 0.5 * y[:, None]
    space, mixed = balanced_space(n, n_subsets=M), generator.permutation(n)
    found, usual = (
        max(int(model.n_iter_[0]) for model in together(LogisticRegression(), *table, space))
        for table in ((X, y), (X[mixed], y[mixed]))
    )
    assert found <= usual + 2


def assert_solved(estimator: Any, tight: Any, X: Any, y: Any, space: SecretSpace) -> None:
    models = together(estimator, X, y, space)
    last = f"{estimator.steps[-1][0]}__" if hasattr(estimator, "steps") else ""
    precise = clone(estimator).set_params(**{last + name: value for name, value in tight.items()})
    for i, model in enumerate(models):
        rows = space.rows(i)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ordinary = clone(estimator).fit(X[rows], y[rows])
            exact = clone(precise).fit(X[rows], y[rows])
        pairs = [(model, exact, ordinary)]
        if hasattr(model, "steps"):
            pairs = [
                (one[1], other[1], third[1])
                for one, other, third in zip(model.steps, exact.steps, ordinary.steps, strict=True)
                if one[1] != "passthrough"
            ]
        for one, _, third in pairs:
            # The attributes and their types are those of an ordinary fit.
            assert {name for name in vars(one) if name.endswith("_")} == {
                name for name in vars(third) if name.endswith("_")
            }
            for name in ("coef_", "intercept_", "mean_", "scale_", "classes_", "n_iter_"):
                if hasattr(third, name):
                    assert np.shape(getattr(one, name)) == np.shape(getattr(third, name)), name
                    kinds = [np.asarray(getattr(each, name)).dtype.kind for each in (one, third)]
                    assert kinds[0] == kinds[1], name
        one, other, _ = pairs[-1]
        # liblinear stops at what its line search resolves.
        tolerance = 1e-5 if type(one).__module__.startswith("sklearn.svm") else 1e-8
        size = np.max(np.abs(other.coef_))
        assert np.allclose(one.coef_, other.coef_, rtol=0, atol=tolerance * size)
        assert np.allclose(one.intercept_, other.intercept_, rtol=0, atol=tolerance * 20 * size)
        assert np.array_equal(model.predict(X), exact.predict(X)) or not is_classifier(model)


@pytest.mark.product(only=4)
@pytest.mark.parametrize(("estimator", "tight"), MODELS, ids=lambda value: repr(value)[:50])
def test_each_subsets_minimiser(estimator: Any, tight: Any) -> None:
    X, y = data(estimator)
    space = balanced_space(len(X), n_subsets=M)
    assert_solved(estimator, tight, X, y, space)


@pytest.mark.product(only=4)
@pytest.mark.parametrize(("estimator", "tight"), MODELS, ids=lambda value: repr(value)[:50])
@pytest.mark.parametrize("scaler", [StandardScaler(), StandardScaler(with_mean=False)], ids=repr)
def test_behind_a_scaler_fitted_on_each_subset(estimator: Any, tight: Any, scaler: Any) -> None:
    pipe = make_pipeline(scaler, estimator)
    X, y = data(pipe)
    if scaler.with_mean and not estimator.fit_intercept:
        assert registry().subset_fitter_for(pipe) is None
        return
    assert_solved(pipe, tight, X, y, balanced_space(len(X), n_subsets=M))


def test_two_scalers_and_a_step_that_does_nothing() -> None:
    pipe = make_pipeline(
        StandardScaler(with_std=False), "passthrough", StandardScaler(), LinearSVC(C=0.1)
    )
    X, y = data(pipe)
    assert_solved(pipe, {"dual": False} | TIGHT, X, y, balanced_space(len(X), n_subsets=M))


@pytest.mark.parametrize(
    ("estimator", "tight"), [MODELS[0], MODELS[1], MODELS[2]], ids=lambda value: repr(value)[:40]
)
def test_three_classes(estimator: Any, tight: Any) -> None:
    X, y = load_iris(return_X_y=True)
    space = balanced_space(len(X), n_subsets=M, strata=y)
    assert_solved(estimator, tight, X, y, space)


@pytest.mark.product(only=4)
@pytest.mark.parametrize("weights", ["balanced", {0: 5.0}, {0: 0.5, 2: 3}], ids=repr)
@pytest.mark.parametrize(
    ("estimator", "tight"), [MODELS[0], MODELS[1], MODELS[2]], ids=lambda value: repr(value)[:40]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_of_classes(estimator: Any, tight: Any, weights: Any, n_classes: int) -> None:
    """Uneven classes: weights of the candidate's own labels, or stated ones."""
    X, y = load_iris(return_X_y=True)
    X, y = X[20:], np.minimum(y[20:], n_classes - 1)
    if n_classes == 2 and isinstance(weights, dict):
        weights = {label % 2: weight for label, weight in weights.items()}
    space = balanced_space(len(X), n_subsets=M, strata=y)
    estimator = clone(estimator).set_params(class_weight=weights)
    assert_solved(estimator, tight, X, y, space)
    rows = space.rows(0)
    fitter = registry().subset_fitter_for(estimator)
    assert fitter is not None
    model = fitter.fit_all(estimator, X, y, space)[0]
    ordinary = clone(estimator).fit(X[rows], y[rows])
    assert fitter.agrees(model, ordinary, X[rows], y[rows])
    plain = clone(estimator).set_params(class_weight=None).fit(X[rows], y[rows])
    assert not fitter.agrees(plain, ordinary, X[rows], y[rows])


def test_weights_are_of_the_candidates_own_labels() -> None:
    """Labels of rows outside a candidate change nothing in it but the last digits."""
    X, y = data(MODELS[0][0])
    space = balanced_space(len(X), n_subsets=M)
    estimator = LogisticRegression(C=0.5, class_weight="balanced")
    before = together(estimator, X, y, space)[2]
    others = np.setdiff1d(np.arange(len(X)), space.rows(2))
    y[others] = "yes"
    y[others[:20]] = "no"
    after = together(estimator, X, y, space)[2]
    assert np.allclose(before.coef_, after.coef_, rtol=0, atol=1e-8 * np.abs(before.coef_).max())


def test_groups_and_rows_of_several_blocks() -> None:
    X, y = data(LogisticRegression(), n=1500)
    space = balanced_space(len(X), n_subsets=M, groups=np.arange(len(X)) // 3)
    assert_solved(*MODELS[0], X, y, space)


@pytest.mark.parametrize(
    ("loss", "outputs"),
    [
        (Logistic(np.array([0.0, 1.0, 1.0, 0.0])), 1),
        (Softmax(np.array([0, 2, 1, 2]), 3), 3),
        (Hinge(np.array([-1.0, 1.0, 1.0, -1.0]), 0.3), 1),
        (Epsilon(np.array([0.3, 2.0, -1.0, 0.0]), 0.3, 0.2), 1),
        (Tweedie(np.array([0.0, 2.0, 1.0, 3.0]), 1.0), 1),
        (Tweedie(np.array([0.0, 2.0, 1.0, 3.0]), 1.7), 1),
        (Tweedie(np.array([0.5, 2.0, 1.0, 3.0]), 2.0), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_slopes_and_curvatures_are_derivatives_of_the_value(loss: Loss, outputs: int) -> None:
    decision = np.random.default_rng(0).normal(size=(4, outputs))
    step = 1e-5
    slopes = (decision * loss.argument_scale)[:, :, None]
    loss.slopes(slopes, slice(0, 4))
    curvature = loss.curvature(decision, slice(0, 4))
    for row in range(4):
        only = np.array([row])
        for k in range(outputs):
            around = []
            for sign in (-1, 1):
                moved = decision.copy()
                moved[row, k] += sign * step
                turned = (moved * loss.argument_scale)[:, :, None]
                loss.slopes(turned, slice(0, 4))
                around.append((loss.value(moved[only], only), turned[row, :, 0]))
            (below, left), (above, right) = around
            numeric = (above - below) / (2 * step)
            assert loss.slope_scale * slopes[row, k, 0] == pytest.approx(numeric, abs=1e-6)
            bent = loss.slope_scale * (right - left) / (2 * step)
            assert curvature[row, :, k] == pytest.approx(bent, abs=1e-6)


def test_the_start_does_not_show() -> None:
    """A start from all rows is allowed because the minimiser is one, and found to 1e-9."""
    X, y = data(LogisticRegression(), n=1000)
    space = balanced_space(len(X), n_subsets=M)
    generator = np.random.default_rng(1)
    p = X.shape[1]
    ones, zeros = np.ones((M, p)), np.zeros((M, p))
    targets = (y == "yes").astype(float)
    codes = targets.astype(int) + (X[:, 0] > 0.3)
    for loss in (
        Logistic(targets),
        Softmax(codes, 3),
        Hinge(2 * targets - 1, 0.1),
        Epsilon(X[:, 1], 0.1, 0.1),
        Tweedie(1 + targets, 1.0),
    ):
        problem = Problem(X, loss, space, Penalty(ones, np.ones(M), zeros), True, RowFrame.of(X))
        usual = minimise(problem)
        assert usual.converged.all()
        for start in (
            np.zeros((p + 1, loss.n_outputs)),
            0.2 * generator.normal(size=(p + 1, loss.n_outputs)),
        ):
            other = minimise(problem, start)
            assert other.converged.all()
            decisions = [X @ found.parameters[:, 1:] for found in (usual, other)]
            size = np.max(np.abs(decisions[0] - decisions[0].mean(axis=1, keepdims=True)))
            assert np.max(np.abs(decisions[0] - decisions[1])) <= 1e-8 * size
            errors = np.sqrt(np.mean((decisions[0] - decisions[1]) ** 2)) / size
            assert errors <= 1e-9


@pytest.mark.parametrize(("estimator", "tight"), MODELS[::3], ids=lambda value: repr(value)[:40])
def test_other_rows_do_not_show(estimator: Any, tight: Any) -> None:
    pipe = make_pipeline(StandardScaler(), estimator)
    X, y = data(pipe)
    space = balanced_space(len(X), n_subsets=M)
    others = np.setdiff1d(np.arange(len(X)), space.rows(2))
    generator = np.random.default_rng(3)
    moved, labels = X.copy(), y.copy()
    moved[others] += generator.normal(size=(others.size, 5))
    labels[others] = generator.permutation(labels[others])
    before, after = (together(pipe, *rows, space)[2] for rows in ((X, y), (moved, labels)))
    assert before is not None
    assert after is not None
    change = np.max(np.abs(before.steps[-1][1].coef_ - after.steps[-1][1].coef_))
    assert change <= 1e-8 * np.max(np.abs(before.steps[-1][1].coef_))


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(class_weight={0: 0.0}),
        LogisticRegression(warm_start=True),
        LogisticRegression(solver="liblinear"),
        LogisticRegression(solver="saga", l1_ratio=0.5),
        LogisticRegression(C=np.inf),
        LinearSVC(loss="hinge"),
        LinearSVC(penalty="l1"),
        LinearSVC(multi_class="crammer_singer"),
        LinearSVC(class_weight={0: "2"}),
        LinearSVR(),
        PoissonRegressor(alpha=0.0),
        PoissonRegressor(warm_start=True),
        TweedieRegressor(power=0),
        TweedieRegressor(power=3),
        TweedieRegressor(power=1.5, link="identity"),
    ],
    ids=repr,
)
def test_what_is_fitted_one_by_one(estimator: Any) -> None:
    assert registry().subset_fitter_for(estimator) is None


@pytest.mark.product(only=3)
@pytest.mark.parametrize(
    ("n", "n_classes", "p", "joint"),
    [
        (60, 10, 11, True),
        (60, 10, 12, False),
        (600, 10, 14, True),
        (600, 10, 15, False),
        (60, 2, 2047, True),
        (60, 2, 2048, False),
    ],
)
def test_hessians_that_cost_too_much_are_a_public_fact(
    n: int, n_classes: int, p: int, *, joint: bool
) -> None:
    """Whether candidates are fitted one by one then follows from the sizes alone."""
    X, y = np.random.default_rng(0).normal(size=(n, p)), np.arange(n) % n_classes
    space = balanced_space(n, n_subsets=2, strata=y)
    models = together(LogisticRegression(), X, y, space)
    assert [one is not None for one in models] == [joint] * 2


def test_what_cannot_be_solved_is_left_to_the_ordinary_fit() -> None:
    X, y = data(LogisticRegression())
    space = balanced_space(len(X), n_subsets=M)
    spoilt = X.copy()
    spoilt[7, 0] = 1e200
    models = together(LogisticRegression(), spoilt, y, space)
    assert [model is None for model in models] == [7 in space.rows(i) for i in range(M)]
    rare = np.where(np.arange(len(X)) == 7, "rare", y)
    models = together(LogisticRegression(), X, rare, space)
    assert [model is None for model in models] == [7 not in space.rows(i) for i in range(M)]
    assert together(PoissonRegressor(), X, -np.ones(len(X)), space) == [None] * M
    assert together(GammaRegressor(), X, np.zeros(len(X)), space) == [None] * M
    assert together(LogisticRegression(), X.astype(np.float32), y, space) == [None] * M
    assert together(PoissonRegressor(), X, np.array(["a"] * len(X)), space) == [None] * M


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(tol=0.5),
        LinearSVC(C=0.001, tol=0.1, dual=True, random_state=0),
        LinearSVC(tol=0.1, dual=False),
        make_pipeline(StandardScaler(), LogisticRegression(tol=0.1)),
        PoissonRegressor(tol=0.1),
    ],
    ids=repr,
)
def test_a_loose_solver_is_no_reason_for_an_error(estimator: Any) -> None:
    X, y = data(estimator)
    space = balanced_space(len(X), n_subsets=M)
    rows = space.rows(0)
    ordinary = clone(estimator).fit(X[rows], y[rows])
    joint = joint_models(estimator, X, y, {}, space, ordinary, fast_fit=True)
    assert joint.is_judged
    assert None not in joint.models


@pytest.mark.parametrize("model", [LogisticRegression(), PoissonRegressor()], ids=repr)
def test_an_origin_far_away_does_not_show(model: Any) -> None:
    """Solvers that stop early on such rows are no reason for an error."""
    X, y = data(model)
    X = np.round(X * 2**10) / 2**10  # not rounded again when moved
    space = balanced_space(len(X), n_subsets=M)
    near = together(model, X, y, space)
    for offset in (2.0**20, 2.0**40):
        rows = space.rows(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ordinary = clone(model).fit(X[rows] + offset, y[rows])
        far = joint_models(model, X + offset, y, {}, space, ordinary, fast_fit=True)
        for one, other in zip(near, far.models, strict=True):
            size = np.max(np.abs(one.coef_))
            np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=1e-6 * size)


def test_an_ordinary_fit_that_did_not_finish_changes_no_solver() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    space = balanced_space(len(X), n_subsets=4)
    estimator = LogisticRegression(max_iter=3)
    rows = space.rows(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ordinary = clone(estimator).fit(X[rows], y[rows])
    joint = joint_models(estimator, X, y, {}, space, ordinary, fast_fit=True)
    assert joint.is_judged
    for i, model in enumerate(joint.models):
        rows = space.rows(i)
        exact = LogisticRegression(solver="newton-cholesky", **TIGHT).fit(X[rows], y[rows])
        np.testing.assert_allclose(model.coef_, exact.coef_, rtol=0, atol=1e-6)


@pytest.mark.product(only=3)
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), PoissonRegressor()], ids=repr)
@pytest.mark.parametrize("scaled", [False, True])
def test_a_wrong_joint_fit_is_found(
    model: Any, scaled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parameters a little off the minimum, and a minimum of another objective."""
    estimator = make_pipeline(StandardScaler(), model) if scaled else model
    X, y = data(estimator)
    space = balanced_space(len(X), n_subsets=M)
    rows = space.rows(0)
    ordinary = clone(estimator).fit(X[rows], y[rows])

    def spoilt(problem: Problem, **chosen: Any) -> Any:
        solved = minimise(problem, **chosen)
        solved.parameters[:] *= 1.03
        return solved

    monkeypatch.setattr(convex_fitter, "minimise", spoilt)
    with pytest.raises(NonDeterministicError, match="fast_fit=False"):
        joint_models(estimator, X, y, {}, space, ordinary, fast_fit=True)
    monkeypatch.undo()
    other = clone(ordinary)
    last = f"{other.steps[-1][0]}__" if scaled else ""
    name = "alpha" if isinstance(model, PoissonRegressor) else "C"
    other.set_params(**{last + name: 20.0 if name == "alpha" else 1e-4}).fit(X[rows], y[rows])
    other.set_params(**{last + name: 1.0})
    with pytest.raises(NonDeterministicError, match="fast_fit=False"):
        joint_models(estimator, X, y, {}, space, other, fast_fit=True)


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), make_pipeline(StandardScaler(), LinearSVC(C=0.1))],
    ids=repr,
)
def test_the_release_is_the_same_with_and_without(estimator: Any) -> None:
    X, y = data(estimator)
    released = []
    for fast_fit in (True, False):
        private = PACPrivate(estimator, secret=Subsets(M), budget=Nats(1.0), random_state=0)
        with config_context(fast_fit=fast_fit), pytest.warns(UserWarning, match="predict"):
            private.fit(X, y)
        released.append(private.released_estimator_.coef_)
    assert released[0] == pytest.approx(released[1], rel=0.02, abs=0.02)
