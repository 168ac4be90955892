from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from pacsklearn.tabular import AdditiveClassifier, AdditiveRegressor, Column
from pacsklearn.tabular.additive.solver import LogisticLoss, Problem, minimise
from pacsklearn.tabular.additive.terms import (
    Term,
    design_of,
    minimise_monotone,
    monotone_ranges,
    repaired,
    terms_of,
)


def test_levels_of_a_number_and_of_a_category():
    term = Term((Column("age", low=0, high=4),), 4)
    assert term.labels == ["[..,1)", "[1,2)", "[2,3)", "[3,..)", "missing"]
    assert term.n_ordered == 4
    assert term.codes([np.array([-7, 0, 1, 3.5, 99, np.nan])]).tolist() == [0, 0, 1, 3, 3, 4]
    term = Term((Column("ward", "category", categories=("a", "b")),), 4)
    assert term.labels == ["a", "b", "other or missing"]
    assert term.n_ordered == 0
    assert term.codes([np.array(["b", "mars", None], dtype=object)]).tolist() == [1, 2, 2]


def test_pairs_cross_the_levels():
    one, two = Column("x", low=0, high=2), Column("y", low=0, high=2)
    *_, pair = terms_of([one, two], [("x", "y")], 8, 2)
    assert pair.name == "x x y"
    assert pair.n_levels == 9
    assert pair.n_ordered == 0
    code = pair.codes([np.array([0.0, 1.5]), np.array([1.5, np.nan])])
    assert [pair.labels[c] for c in code] == ["[..,1), [1,..)", "[1,..), missing"]


def test_pairs_are_a_list():
    with pytest.raises(TypeError, match="pairs"):
        terms_of([Column("a", low=0, high=1)], None, 4, 2)


@pytest.mark.parametrize("pair", ["xy", ("x",), ("x", "x"), ("x", "z"), ("x", "note")])
def test_pairs_that_are_none(pair):
    columns = [Column("x", low=0, high=1), Column("note", "text")]
    with pytest.raises(ValueError, match="pairs"):
        terms_of(columns, [pair], 8, 2)
    with pytest.raises(ValueError, match="column"):
        terms_of(columns[1:], [], 8, 2)


def test_the_design_has_one_level_of_each_term():
    design = design_of([np.array([0, 2]), np.array([1, 0])], [3, 2])
    assert design.toarray().tolist() == [[1, 1, 0, 0, 0, 1], [1, 0, 0, 1, 1, 0]]


def test_the_constrained_minimum_is_a_general_optimisers():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, 200)
    y = (rng.uniform(size=200) < np.array([0.2, 0.6, 0.4, 0.5, 0.9, 0.7])[code]).astype(int)
    design, penalty = design_of([code], [7]), np.diag([0.0] + [0.5] * 7)
    problem = Problem(design, LogisticLoss(y), np.ones((200, 1)), penalty)
    w, converged = minimise_monotone(problem, [(1, 7, 1)])
    assert converged
    assert (np.diff(w[1:7]) >= -1e-12).all()

    def value(v):
        return float(problem.terms(v[:, None, None])[0][0])

    rising = [{"type": "ineq", "fun": lambda v, i=i: v[i + 1] - v[i]} for i in range(1, 6)]
    known = minimize(value, np.zeros(8), constraints=rising, method="SLSQP", tol=1e-12)
    np.testing.assert_allclose(value(w), known.fun, atol=1e-6)
    free, _ = minimise(problem)
    assert value(free[:, 0, 0]) < value(w)


def test_a_constraint_that_does_not_bind_changes_nothing():
    code = np.repeat(np.arange(4), 25)
    design, penalty = design_of([code], [5]), np.diag([0.0] + [1.0] * 5)
    y = (np.arange(100) % 25 < 5 * (code + 1)).astype(int)
    problem = Problem(design, LogisticLoss(y), np.ones((100, 1)), penalty)
    free, _ = minimise(problem)
    bound, _ = minimise_monotone(problem, [(1, 5, 1)])
    np.testing.assert_allclose(bound, free[:, 0, 0], atol=1e-8)


def test_noise_is_repaired_by_a_function_of_the_noisy_numbers():
    levels = np.array([[1.0, 3.0, 2.0, 4.0, -9.0]])
    assert repaired(levels, [(1, 5, 1)]).tolist() == [[1.0, 2.5, 2.5, 4.0, -9.0]]
    assert levels[0, 1] == 3.0
    assert np.diff(repaired(levels, [(1, 5, -1)])[0, :4]).max() <= 0


def test_models(codebook, table):
    X, score = table
    model = AdditiveRegressor(codebook, monotone={"stage": 1, "age": -1}).fit(X, score)
    stage = np.ravel(list(model.effects()["stage"].values()))[:3]
    assert (np.diff(stage) >= 0).all()
    age = np.ravel(list(model.effects()["age"].values()))[:-1]
    assert (np.diff(age) <= 1e-12).all()
    with pytest.raises(ValueError, match="ordered"):
        AdditiveRegressor(codebook, monotone={"ward": 1}).fit(X, score)
    with pytest.raises(ValueError, match="monotone"):
        monotone_ranges(model.terms_, {"age": 2})
    with pytest.raises(ValueError, match="monotone"):
        AdditiveClassifier(codebook, monotone={"age": 1}).fit(X, np.digitize(score, [0, 2]))


def test_bins_of_amounts_are_narrow_near_zero():
    amount, signed = Column("amount", low=0, high=1000), Column("signed", low=-1, high=1)
    log = Column("log", low=0, high=1000, scale="log")
    stated = Column("stated", low=0, high=9, edges=(1, 2))
    pairs = [("amount", "signed")]
    terms = terms_of([amount, signed, log, stated], pairs, 10, 2, "amounts")
    assert terms[0].columns[0].cuts(10) == pytest.approx([1, 8, 27, 64, 125, 216, 343, 512, 729])
    assert [term.columns[0] for term in terms[1:4]] == [signed, log, stated]
    assert terms[4].columns[0].cuts(2) == pytest.approx([125])
    assert terms[4].sizes == (3, 3)
    even = terms_of([amount], [], 10, 2)
    assert even[0].columns == (amount,)
