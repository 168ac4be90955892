from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge

from pacsklearn.tabular.additive.solver import (
    LogisticLoss,
    Problem,
    SoftmaxLoss,
    SquaredLoss,
    minimise,
)
from pacsklearn.tabular.additive.terms import design_of


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, k, 300) for k in (4, 6, 3)]
    penalty = np.diag([0.0] + [2.0] * 13)
    y = codes[0] + (codes[1] > 2) + rng.normal(size=300)
    return design_of(codes, [4, 6, 3]), penalty, y


def test_two_classes_are_those_of_scikit_learn(rows):
    design, penalty, y = rows
    labels = (y > 2).astype(int)
    w, converged = minimise(Problem(design, LogisticLoss(labels), np.ones((300, 1)), penalty))
    known = LogisticRegression(C=0.5, tol=1e-12, solver="newton-cholesky", max_iter=500)
    known.fit(design[:, 1:].toarray(), labels)
    assert converged.all()
    np.testing.assert_allclose(w[1:, 0, 0], known.coef_[0], atol=1e-8)
    np.testing.assert_allclose(w[0, 0, 0], known.intercept_[0], atol=1e-8)


def test_several_classes_are_those_of_scikit_learn(rows):
    design, penalty, y = rows
    labels = np.digitize(y, [1, 2, 3])
    w, converged = minimise(Problem(design, SoftmaxLoss(labels, 4), np.ones((300, 1)), penalty))
    known = LogisticRegression(C=0.5, tol=1e-10, solver="newton-cg", max_iter=1000)
    known.fit(design[:, 1:].toarray(), labels)
    assert converged.all()
    scores = np.asarray(design @ w[:, :, 0])
    np.testing.assert_allclose(
        np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True),
        known.predict_proba(design[:, 1:].toarray()),
        atol=1e-5,
    )
    np.testing.assert_allclose(scores.sum(axis=1), 0, atol=1e-9)


def test_steps_end_where_doubles_do():
    # Two rows bend the direction of a level, against a stiff penalty: steps stop shrinking above
    # the tolerance.
    rng = np.random.default_rng(0)
    labels, codes = rng.integers(0, 3, 150), np.zeros((2, 150), dtype=int)
    codes[1, :2], labels[:2] = 1, 0
    design, bends = design_of(list(codes), [17, 17]), np.diff(np.eye(17), 2, axis=0)
    penalty = np.zeros((35, 35))
    for where in (slice(1, 18), slice(18, 35)):
        penalty[where, where] = 1e-3 * np.eye(17) + 1e3 * bends.T @ bends
    weights = np.ones((150, 2))
    weights[2:30, 1] = 0.0
    w, converged = minimise(Problem(design, SoftmaxLoss(labels, 3), weights, penalty))
    assert converged.all()
    # In other coordinates the penalty is a ridge.
    root = np.linalg.cholesky(penalty[1:, 1:])
    plain = np.linalg.solve(root, design[:, 1:].toarray().T).T
    known = LogisticRegression(C=1.0, tol=1e-13, solver="newton-cholesky", max_iter=500)
    for own, weight in zip(w.transpose(2, 0, 1), weights.T, strict=True):
        known.fit(plain, labels, weight)
        scores = design @ own
        np.testing.assert_allclose(scores, known.decision_function(plain), atol=1e-6)
        alone, done = minimise(Problem(design, SoftmaxLoss(labels, 3), weight[:, None], penalty))
        assert done.all()
        np.testing.assert_allclose(scores, design @ alone[:, :, 0], atol=1e-8)


def test_rows_that_tell_nothing_give_weights_of_nothing():
    labels, codes = np.repeat([0, 1, 2], 25), np.zeros(75, dtype=int)
    penalty = np.diag([0.0] + [20.0] * 4)
    problem = Problem(design_of([codes], [4]), SoftmaxLoss(labels, 3), np.ones((75, 1)), penalty)
    w, converged = minimise(problem)
    assert converged.all()
    assert np.abs(w).max() < 1e-12


def test_numbers_are_those_of_ridge(rows):
    design, penalty, y = rows
    w, _ = minimise(Problem(design, SquaredLoss(y), np.ones((300, 1)), penalty))
    known = Ridge(alpha=2.0, solver="cholesky").fit(design[:, 1:].toarray(), y)
    np.testing.assert_allclose(w[1:, 0, 0], known.coef_, atol=1e-9)
    np.testing.assert_allclose(w[0, 0, 0], known.intercept_, atol=1e-9)


@pytest.mark.parametrize("several", [False, True])
def test_the_start_and_the_preconditioner_do_not_show(rows, several):
    """Attack: start where the rows outside the subset pull; the solution is the subset's alone."""
    design, penalty, y = rows
    labels = np.digitize(y, [1, 2]) if several else (y > 2).astype(int)
    loss = SoftmaxLoss(labels, 3) if several else LogisticLoss(labels)
    inside = np.zeros((300, 2))
    inside[:150, 0] = inside[100:250, 1] = 1.0
    alone = [
        minimise(
            Problem(
                design[own > 0],
                SoftmaxLoss(labels[own > 0], 3) if several else LogisticLoss(labels[own > 0]),
                np.ones((150, 1)),
                penalty,
            )
        )[0][:, :, 0]
        for own in inside.T
    ]
    far = np.random.default_rng(1).normal(size=(design.shape[1], loss.n_scores))
    for start in (None, far - far.mean(axis=1, keepdims=True) if several else far):
        together, converged = minimise(Problem(design, loss, inside, penalty), start)
        assert converged.all()
        for j in range(2):
            np.testing.assert_allclose(together[:, :, j], alone[j], atol=1e-9)


def test_rows_of_weight_zero_are_not_seen(rows):
    design, penalty, y = rows
    weights = np.ones((300, 1))
    weights[150:] = 0.0
    changed = y.copy()
    changed[150:] = 1e6
    one, two = (
        minimise(Problem(design, SquaredLoss(v), weights, penalty))[0] for v in (y, changed)
    )
    np.testing.assert_allclose(one, two, atol=1e-9)


def test_the_minimum_is_one_for_a_general_optimiser_too(rows):
    design, penalty, y = rows
    loss = LogisticLoss((y > 2).astype(int))
    problem = Problem(design, loss, np.ones((300, 1)), penalty)
    w, _ = minimise(problem)

    def value(v):
        losses, *_ = loss.terms((design @ v)[:, None, None])
        return float(losses.sum() + v @ penalty @ v / 2)

    assert value(w[:, 0, 0]) <= minimize(value, np.zeros(14), method="BFGS").fun + 1e-9


def test_several_models_of_several_classes_take_few_products(monkeypatch):
    """Each class is solved by its own curvature: a common one takes three times as many."""
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 8, 600) for _ in range(4)]
    scores = sum(np.eye(8)[each] @ rng.normal(size=(8, 6)) for each in codes)
    labels = (scores + rng.gumbel(size=scores.shape) - 0.5 * np.arange(6)).argmax(axis=1)
    design, loss = design_of(codes, [8] * 4), SoftmaxLoss(labels, 6)
    penalty = np.diag([0.0] + [1.0] * 32)
    everywhere, _ = minimise(Problem(design, loss, np.ones((600, 1)), penalty))
    subsets = (rng.random((600, 4)) < 0.5).astype(float)
    products, bend = [], SoftmaxLoss.bend
    monkeypatch.setattr(
        SoftmaxLoss, "bend", lambda self, *args: products.append(0) or bend(self, *args)
    )
    w, converged = minimise(Problem(design, loss, subsets, penalty), everywhere[:, :, 0])
    assert converged.all()
    _, slope, _ = loss.terms(np.asarray(design @ w.reshape(33, -1)).reshape(600, 6, 4))
    pull = np.asarray(design.T @ (subsets[:, None] * slope).reshape(600, -1)).reshape(w.shape)
    np.testing.assert_allclose(pull + np.tensordot(penalty, w, axes=1), 0, atol=1e-6)
    assert len(products) < 40, len(products)


@pytest.mark.parametrize("unit", [1e-80, 1e80])
def test_targets_and_weights_of_any_unit_are_solved_alike(rows, unit):
    """Steps are solved in single precision, which holds no number beyond 1e38."""
    design, penalty, y = rows
    ones = np.ones((300, 1))
    w, _ = minimise(Problem(design, SquaredLoss(y), ones, penalty))
    scaled, converged = minimise(Problem(design, SquaredLoss(unit * y), ones, penalty))
    heavy, done = minimise(Problem(design, SquaredLoss(y), unit * ones, unit * penalty))
    assert converged.all()
    assert done.all()
    np.testing.assert_allclose(scaled / unit, w, atol=1e-9)
    np.testing.assert_allclose(heavy, w, atol=1e-9)


def test_rows_in_blocks_are_all_rows(rows, monkeypatch):
    design, penalty, y = rows
    loss, weights = SoftmaxLoss(np.digitize(y, [1, 2, 3]), 4), np.ones((300, 2))
    w, _ = minimise(Problem(design, loss, weights, penalty))
    monkeypatch.setattr("pacsklearn.tabular.additive.solver._BLOCK", 7 * 4 * 2)
    problem = Problem(design, loss, weights, penalty)
    assert len(problem.blocks) == 43
    np.testing.assert_allclose(minimise(problem)[0], w, atol=1e-9)
