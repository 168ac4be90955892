"""Every kind of guarantee follows the published schema; documents that do not are refused."""

from __future__ import annotations

import copy
import json
from dataclasses import fields
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import (
    Answers,
    Membership,
    Nats,
    PACPrivate,
    PrivacySession,
    SampledSubsets,
    SRPPPrivate,
    Subsets,
)
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.plots.published_schema import (
    SCHEMAS,
    check_document,
    guarantee_document,
    guarantee_from_document,
    published_schema,
)
from pacsklearn.secrets import PoissonSubsets, release_sampled
from pacsklearn.srpp import PufferfishGuarantee, SRPPSGDClassifier
from pacsklearn.srpp.scenarios.stated_scenario import SecretBatches

X, y = load_iris(return_X_y=True)
DOCS = Path(__file__).parents[2] / "docs" / "schema"


def parameters():
    return PACPrivate(RidgeClassifier(), secret=Subsets(16)).fit(X, y)


def capped():
    return PACPrivate(RidgeClassifier(), budget=Membership(0.55), secret=Subsets(16)).fit(X, y)


def answers():
    return PACPrivate(KNeighborsClassifier(3), release=Answers(5), secret=Subsets(16)).fit(X, y)


def session():
    with PrivacySession(X, y, budget=1 / 4, secret=Subsets(16)) as opened:
        opened.release(Ridge(), budget=1 / 16)
        return opened.guarantee_


def candidate():
    with PrivacySession.over(range(16), budget=1 / 4) as opened:
        return opened.release_function(lambda key: key.bit_count())


def sampled():
    return release_sampled(
        lambda rows: X[rows].mean(axis=0), PoissonSubsets(len(X)), budget=1 / 4,
        n_calibration=100, n_certificate=400,
    )  # fmt: skip


def drawn():
    return PACPrivate(RidgeClassifier(), secret=SampledSubsets(), budget=Nats(4.0)).fit(X, y)


def sliced():
    return SRPPPrivate(Ridge(), budget=1.0).fit(X[:, :3], X[:, 3], secret=y)


def descent():
    return SRPPSGDClassifier(budget=4.0, epochs=1, batches=32, classes=[0, 1, 2]).fit(X, y)


KINDS = {
    "rows": (parameters, capped, answers, session),
    "candidate": (candidate,),
    "sampled": (sampled,),
    "drawn-rows": (drawn,),
    "worlds": (sliced,),
    "batches": (descent,),
}


@pytest.mark.product(only=5)
@pytest.mark.parametrize(
    ("kind", "make"), [(kind, make) for kind, makers in KINDS.items() for make in makers]
)
def test_every_kind_of_guarantee_follows_the_schema_and_comes_back(kind, make):
    released = make()
    document = guarantee_document(released)
    assert document["secret"]["kind"] == kind
    check_document(document)
    guarantee = guarantee_from_document(json.loads(json.dumps(document)))
    assert guarantee_document(guarantee) == document


def test_no_kind_of_secret_and_no_field_is_missing_in_the_schema():
    """Where a field was added: run scripts/guarantee_schema.py, and say so in changes/."""
    schema = published_schema("pacsklearn-guarantee/1")["$defs"]
    for name, kind in (("pac", PACGuarantee), ("pufferfish", PufferfishGuarantee)):
        properties = set(schema[name]["properties"])
        missing = {field.name for field in fields(kind)} - properties
        assert not missing, "run scripts/guarantee_schema.py"
        listed = {
            ref["$ref"].split("/")[-1] for ref in schema[name]["properties"]["secret"]["oneOf"]
        }
        assert listed == {f"secret_{secret.name}" for secret in kind.secret_kinds()}
        for secret in kind.secret_kinds():
            own = schema[f"secret_{secret.name}"]["properties"]
            assert set(own) == {"kind", *(field.name for field in fields(secret))}
    assert SecretBatches.name in KINDS


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("confidence",), 1.5),
        (("spent",), -1.0),
        (("spent",), None),
        (("framework",), "differential privacy"),
        (("headline",), 3),
        (("secret", "kind"), "another"),
        (("secret", "prior_membership"), "one half"),
        (("surprise",), 1),
    ],
)
def test_what_departs_from_the_schema_is_refused_without_its_value(where, value):
    document = copy.deepcopy(guarantee_document(parameters()))
    place = document
    for name in where[:-1]:
        place = place[name]
    place[where[-1]] = value
    with pytest.raises(ValueError, match="follow") as caught:
        check_document(document)
    assert "one half" not in str(caught.value)
    del document["secret"]
    with pytest.raises(ValueError, match="breaks"):
        check_document(document)


def test_documents_of_other_kinds_are_refused():
    for document in ({"schema": "pacsklearn-guarantee/2"}, {}, [], None):
        with pytest.raises(ValueError, match="schema"):
            check_document(document)
    with pytest.raises(ValueError, match="follow"):
        guarantee_from_document({"schema": "other"})


@pytest.mark.parametrize("file", SCHEMAS.values())
def test_the_schemas_are_valid_and_those_of_the_documentation(file):
    import jsonschema

    text = (DOCS / file).read_text(encoding="utf-8")
    name = next(name for name, each in SCHEMAS.items() if each == file)
    assert json.loads(text) == published_schema(name)
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
