from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from pacsklearn import GroupScenario, PufferfishGuarantee, SRPPPrivate


@pytest.fixture(scope="module")
def guarantee():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 2))
    scenario = GroupScenario(n_draws=4)
    model = SRPPPrivate(LinearRegression(), epsilon=1.5, scenario=scenario, aggregation="average")
    return model.fit(X, X[:, 0], secret=X[:, 1] > 0, realized=True).guarantee_


def test_json(guarantee):
    assert PufferfishGuarantee.from_json(guarantee.to_json()) == guarantee


def test_the_text_says_what_is_protected_and_how_far(guarantee):
    text = " ".join(str(guarantee).split())
    for part in (
        "proved for the scenario's data sets, sliced, not full",
        "Secret is which group of rows the released model is about",
        "averaged over the slices",
        "average over slices",
        "joint over slices",
        "full view",
        "whoever has all of them is bounded by the full view only",
        "2 secrets, 1 pairs, 1 prior(s), up to 4 data sets",
        "Membership of single rows",
    ):
        assert part in text, part
    assert max(map(len, str(guarantee).splitlines())) <= 90
    assert "sliced, not full" in guarantee._repr_html_()


def test_figures_are_rounded_up(guarantee):
    costs = replace(guarantee.costs, full=1.00001)
    assert "(4, 1.0001)" in str(replace(guarantee, costs=costs))


def test_status(guarantee):
    assert "NOT FOR RELEASE" in replace(guarantee, for_release=False).status
    assert "NO NOISE" in replace(guarantee, noiseless=True).status
    assert "confidence 0.9" in replace(guarantee, confidence=0.9).status
    assert "sliced" not in replace(guarantee, aggregation="full").status


def test_every_view_has_its_own_promise(guarantee):
    promises = {
        replace(guarantee, aggregation=view).promise for view in ("average", "joint", "full")
    }
    assert len(promises) == 3
    sampled = replace(guarantee, confidence=0.9, assumptions=("the moon is made of cheese",))
    assert "This is for" not in sampled.promise
    drawn = replace(sampled, secret=replace(guarantee.secret, holds_for="tables like these"))
    assert "This is for tables like these; nothing is promised about others." in drawn.promise
    assert drawn.status.startswith("holds with confidence 0.9 for tables like these")
    assert "the moon is made of cheese" in str(sampled)
