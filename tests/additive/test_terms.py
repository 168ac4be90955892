from __future__ import annotations

import numpy as np
import pytest

from pacsklearn import Column
from pacsklearn.additive.terms import Term, design_of, terms_of


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


@pytest.mark.parametrize("pair", ["xy", ("x",), ("x", "x"), ("x", "z"), ("x", "note")])
def test_pairs_that_are_none(pair):
    columns = [Column("x", low=0, high=1), Column("note", "text")]
    with pytest.raises(ValueError, match="pairs must hold pairs of two columns"):
        terms_of(columns, [pair], 8, 2)
    with pytest.raises(ValueError, match="no column to use"):
        terms_of(columns[1:], [], 8, 2)


def test_the_design_has_one_level_of_each_term():
    design = design_of([np.array([0, 2]), np.array([1, 0])], [3, 2])
    assert design.toarray().tolist() == [[1, 1, 0, 0, 0, 1], [1, 0, 0, 1, 1, 0]]
