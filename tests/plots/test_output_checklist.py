"""The five safes, line by line: what is violated, what is left to the officer."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge, RidgeClassifier

from pacsklearn import Membership, PACPrivate, SRPPPrivate, Subsets
from pacsklearn.audit.attack import AttackResult
from pacsklearn.audit.audit_record import Audit
from pacsklearn.plots.output_checklist import output_checklist
from pacsklearn.plots.published_schema import check_document
from pacsklearn.srpp import Renyi

X, y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def guarantee():
    return PACPrivate(RidgeClassifier(), secret=Subsets(16)).fit(X, y).guarantee_


def audit(successes):
    result = AttackResult("lira", "membership of one unit", 1000, successes, 0.5, 0.7)
    return Audit("a model", (result,), 0.999, 0.1, 16, 150, 0)


def verdicts(check):
    return {line.question: line.verdict for line in check.lines}


def test_a_sound_release_has_no_violated_line_and_open_ones_for_the_officer(guarantee):
    check = output_checklist(guarantee, title="A model", audit=audit(500), purpose="teaching")
    assert check.passed
    assert {line.safe for line in check.lines} == {
        "projects", "people", "data", "settings", "outputs",
    }  # fmt: skip
    found = verdicts(check)
    assert found["Is the purpose stated?"] == "met"
    assert found["Did no attack refute the promise?"] == "met"
    assert found["Is the success that an adversary may have acceptable?"] == "open"
    assert found["Does a shared ledger hold the charge?"] == "open"
    check_document(json.loads(check.to_json()))
    bare = verdicts(output_checklist(guarantee, title="A model"))
    assert bare["Did no attack refute the promise?"] == "open"


@pytest.mark.parametrize(
    ("change", "question"),
    [
        ({"not_for_release": "seen"}, "May it be given away?"),
        ({"confidence": 0.0}, "Is the promise proved?"),
        ({"spent": 9.0, "budget": 9.0, "certified_membership": None}, "Is anything hidden?"),
        ({"spent": 0.07}, "Is the budget kept?"),
    ],
)
def test_each_fault_violates_its_line_and_no_other(guarantee, change, question):
    check = output_checklist(replace(guarantee, **change), title="A model", purpose="teaching")
    assert [line.question for line in check.violations] == [question]
    check_document(check.to_dict())


def test_unprotected_units_a_refuted_promise_and_the_rule_of_the_house(guarantee):
    secret = replace(guarantee.secret, n_unprotected=2)
    check = output_checklist(
        replace(guarantee, secret=secret), title="x", audit=audit(990), limits=[Membership(0.5)]
    )
    assert [line.question for line in check.violations] == [
        "Is every unit of privacy protected?",
        "Is the success that an adversary may have acceptable?",
        "Did no attack refute the promise?",
    ]
    assert "refuted by lira" in str(check)
    # The certified figure counts where it is the smaller one.
    reached = min(guarantee.posterior_membership, guarantee.certified_membership)
    assert output_checklist(guarantee, title="x", limits=[Membership(reached)]).passed
    assert not output_checklist(guarantee, title="x", limits=[Membership(reached - 1e-6)]).passed


def test_pages_and_data_are_saved(guarantee, tmp_path):
    check = output_checklist(guarantee, title="<b>A model</b>")
    page = check.save(tmp_path / "check.html").read_text()
    assert "&lt;b&gt;A model" in page
    assert "Decision" in page
    check_document(json.loads(check.save(tmp_path / "check.json").read_text()))
    with pytest.raises(ValueError, match="html"):
        check.save(tmp_path / "check.pdf")


@pytest.mark.soak
def test_a_limit_on_membership_needs_membership_to_be_the_secret():
    model = SRPPPrivate(Ridge(), budget=1.0).fit(X[:, :3], X[:, 3], secret=y)
    assert output_checklist(model, title="x").passed
    with pytest.raises(ValueError, match="limits"):
        output_checklist(model, title="x", limits=[Membership(0.9)])
    (line,) = (
        line
        for line in output_checklist(model, title="x", limits=[Renyi(0.5, order=2)]).lines
        if "acceptable" in line.question and "success" in line.question
    )
    assert line.verdict == "violated"
