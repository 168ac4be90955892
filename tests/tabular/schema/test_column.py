from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from pacsklearn.tabular import Column


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"kind": "float"}, "kind"),
        ({"scale": "square"}, "scale"),
        ({"low": 3, "high": 3}, "low"),
        ({"low": float("nan"), "high": 3}, "low"),
        ({"low": True, "high": 3}, "low"),
        ({"edges": (1, 3, 2)}, "edges"),
        ({"edges": "123"}, "edges"),
        ({"kind": "category"}, "categories"),
        ({"kind": "category", "categories": (1, "1")}, "categories"),
        ({"kind": "category", "categories": ("a",), "low": 0}, "range"),
        ({"kind": "number", "categories": ("a",)}, "make"),
        ({"kind": "boolean", "categories": ("no", "yes", "perhaps")}, "values"),
        ({"kind": "date", "low": "yesterday", "high": "2020-01-01"}, "date"),
    ],
)
def test_facts_that_do_not_fit_are_refused(facts, said):
    with pytest.raises(ValueError, match=said):
        Column("age", **facts)


def test_ranges_and_bounds_between_bins():
    assert Column("age", low=0, high=10).bounds == (0.0, 10.0)
    np.testing.assert_allclose(Column("age", low=0, high=10).cuts(4), [2.5, 5, 7.5])
    np.testing.assert_allclose(Column("age", edges=(1, 2, 7)).cuts(99), [1, 2, 7])
    cuts = Column("gain", low=0, high=np.e**3 - 1, scale="log").cuts(3)
    np.testing.assert_allclose(np.log1p(cuts), [1, 2])
    day = Column("seen", "date", low="1970-01-02", high=date(1970, 1, 11))
    assert day.bounds == (1.0, 10.0)
    with pytest.raises(ValueError, match="range"):
        _ = Column("age").bounds


def test_a_fact_that_was_looked_up_stays_open_until_somebody_confirms_it():
    column = Column("age", low=17, high=90, looked_up=("low", "high"))
    assert column.is_open
    assert not column.confirm().is_open
    assert column.confirm().looked_up == ("low", "high")
    assert not Column("age", low=0, high=120).confirm().confirmed


def test_cells_are_bins_or_categories_and_negative_for_the_rest() -> None:
    age = Column("age", low=0, high=4, missing=(-1,))
    assert age.n_cells(4) == 4
    assert age.cells(np.array([-5.0, 0.5, 1.0, 3.5, 9.0, -1.0, np.nan]), 4).tolist() == [
        0, 0, 1, 3, 3, -1, -1,
    ]  # fmt: skip
    ward = Column("ward", "category", categories=("north", "south"))
    cells = ward.cells(np.array(["south", "east", None], dtype=object), 4)
    assert (ward.n_cells(4), cells[0]) == (2, 1)
    assert (cells[1:] < 0).all()
    numbers, strange = age.read(np.array(["2", "x"], dtype=object))
    assert (numbers[0], strange.tolist()) == (2.0, [False, True])


@pytest.mark.parametrize("flag", ["ordered", "required", "confirmed", "published"])
def test_the_word_no_is_no_consent(flag):
    with pytest.raises(ValueError, match=f"{flag} must be true or false"):
        Column("age", low=0, high=99, **{flag: "no"})
