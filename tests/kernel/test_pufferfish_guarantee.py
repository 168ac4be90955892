from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from pacsklearn import SRPPPrivate
from pacsklearn.plots.published_schema import check_document, guarantee_document
from pacsklearn.srpp import GroupScenario, PufferfishGuarantee, Slices


@pytest.fixture(scope="module")
def guarantee():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 2))
    scenario = GroupScenario(n_draws=4)
    model = SRPPPrivate(
        LinearRegression(), budget=1.5, scenario=scenario, slices=Slices(aggregation="average")
    )
    return model.fit(X, X[:, 0], secret=X[:, 1] > 0, realized=True).guarantee_


def test_json(guarantee):
    assert PufferfishGuarantee.from_json(guarantee.to_json()) == guarantee


def test_the_text_says_what_is_protected_and_how_far(guarantee):
    text = " ".join(str(guarantee).split())
    for part in (
        "proved for the scenario's data sets, sliced, not full",
        "Secret is which group of rows the released model is about",
        "on average over the slices",
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


def test_every_figure_of_the_text_is_the_one_that_was_computed(guarantee):
    names = ("average", "joint", "full")
    figures = {name: 1 + number / 7 for number, name in enumerate(names)}
    figures |= {f"{name}_epsilon": 2 + number / 7 for number, name in enumerate(names)}
    costs = replace(guarantee.costs, order=8.0, delta=1e-6, worst_slice=10 / 7, **figures)
    said = replace(guarantee, costs=costs, spent=1 / 7, budget=2 / 7, charged=3 / 7)
    text = " ".join(str(said).split())
    assert "spent 0.142858 of 0.285714 nats of Renyi divergence of order 8, on average" in text
    assert "ledger 0.428571 in 1 release(s)" in text
    for view, epsilon in (("1.0000", "2.000"), ("1.1429", "2.143"), ("1.2858", "2.286")):
        assert f"(8, {view}); ({epsilon}, 1e-06) at the best order" in text
    assert "worst slice (8, 1.4286)" in text
    assert "of order 8 of at most 0.1429" in said.promise
    assert "the full view only: divergence 1.2858, or (2.29, 1e-06)." in said.promise
    above = replace(said, costs=replace(costs, full_is_exact=False))
    assert ("(distance bounded from above)" in text) == (not costs.full_is_exact)
    assert "(2.286, 1e-06) at the best order (distance bounded from above)" in " ".join(
        str(above).split()
    )


def test_status(guarantee):
    assert guarantee.status.kind == "proved"
    assert replace(guarantee, not_for_release="seeded").status.kind == "not for release"
    assert replace(guarantee, noiseless=True).status.kind == "proved"
    assert replace(guarantee, confidence=1 - 1e-6).status.kind == "proved at a confidence"
    for doubtful in (0.0, 0.9, 1 - 1.1e-6):
        assert replace(guarantee, confidence=doubtful).status.kind == "estimated"
    assert "sliced" not in str(replace(guarantee, aggregation="full").status)


def test_every_view_has_its_own_promise(guarantee):
    promises = {
        replace(guarantee, aggregation=view).promise for view in ("average", "joint", "full")
    }
    assert len(promises) == 3
    sampled = replace(guarantee, confidence=1 - 1e-7, assumptions=("the moon is made of cheese",))
    assert "This is for" not in sampled.promise
    drawn = replace(sampled, secret=replace(guarantee.secret, holds_for="tables like these"))
    assert "This is for tables like these; nothing is promised about others." in drawn.promise
    assert str(drawn.status).startswith("holds with confidence 0.9999999 for tables like these")
    assert "the moon is made of cheese" in str(sampled)


def test_the_success_of_the_best_attack_stands_in_text_page_and_data(guarantee):
    assert 0.5 < guarantee.success.pair < 1
    assert guarantee.success.confidence == 1 - 1e-6
    found = replace(
        guarantee.success, pair=0.741001, pair_slice=0.6, secret=0.72, secret_slice=0.55
    )
    said = replace(guarantee, success=found)
    for text in (" ".join(str(said).split()), said._repr_html_()):
        for part in ("74.11 %", "60.00 %", "72.00 %", "55.00 %", "over the listed worlds"):
            assert part in text, part
        assert "not a bound for other tables" not in text
    # The card of a model holds the promise.
    assert "74.11 %" in said.promise
    assert "72.00 %" in said.promise
    assert json.loads(said.to_json())["success"]["pair"] == 0.741001
    check_document(guarantee_document(said))
    drawn = replace(said, secret=replace(said.secret, holds_for="tables like these"))
    for text in (drawn.promise, " ".join(str(drawn).split())):
        assert "not a bound for other tables of that law" in text


def test_a_run_of_many_steps_states_no_such_success(guarantee):
    said = replace(guarantee, success=None)
    assert "blindly" not in str(said)
    assert PufferfishGuarantee.from_json(said.to_json()) == said
    check_document(guarantee_document(said))
