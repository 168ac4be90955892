"""One skeleton of guarantees: written and read back for every kind of secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from pacsklearn import Guarantee
from pacsklearn.exceptions import UnknownNameError
from pacsklearn.kernel.secret.stated_secret import SecretCandidate
from pacsklearn.sampled.sampled_secret import SampledSecret
from pacsklearn.srpp import PufferfishGuarantee
from pacsklearn.srpp.laws.sliced_law import RenyiCosts
from pacsklearn.srpp.scenarios.stated_scenario import SecretBatches, SecretWorlds

Make = Callable[..., Guarantee]

SIZE = {"protects": "a mean", "n_secrets": 2, "n_pairs": 1, "n_priors": 1, "n_draws": 3}
WORLDS = SecretWorlds(**SIZE, coupling="row by row", holds_for="tables like these")
BATCHES = SecretBatches(
    **SIZE,
    coupling="row by row",
    n_steps=7,
    batch_size=10,
    n_rows=100,
    sampling="without replacement",
    largest=1,
    second_moment=0.1,
    source="counted",
    norms=(1.0, 0.5),
    n_parameters=3,
    information=0.25,
)


def sliced(guarantee: Guarantee, secret: SecretWorlds) -> PufferfishGuarantee:
    costs = RenyiCosts(
        order=4.0,
        average=1.0,
        joint=1.0,
        worst_slice=1.0,
        full=1.0,
        delta=1e-5,
        average_epsilon=2.0,
        joint_epsilon=2.0,
        full_epsilon=2.0,
        full_is_exact=True,
    )
    shared = ("definition", "budget", "spent", "unit", "bound", "confidence", "released", "public")
    more = ("not_covered", "sources", "noise", "noiseless", "not_for_release", "provenance")
    return PufferfishGuarantee(
        **{name: getattr(guarantee, name) for name in shared + more},
        secret=secret,
        releases="a model",
        aggregation="full",
        costs=costs,
        assumptions=("an assumption",),
        slices="none",
        charged=1.0,
        details=(("a fact", "as a pair"),),
    )


def test_every_kind_of_secret_is_read_back(make_guarantee: Make) -> None:
    rows = make_guarantee(known=((0.5, 0.5), (0.5, 0.75)), details=(("one", "two"),))
    guarantees = [
        rows,
        replace(
            rows,
            secret=SecretCandidate(n_candidates=4, entropy=1.3, prior_identification=0.5),
        ),
        replace(rows, secret=SampledSecret()),
        sliced(rows, WORLDS),
        sliced(rows, BATCHES),
    ]
    kinds = set()
    for guarantee in guarantees:
        facts = json.loads(guarantee.to_json())
        kinds.add(facts["secret"]["kind"])
        assert type(guarantee).from_json(guarantee.to_json()) == guarantee
        assert Guarantee.from_json(guarantee.to_json()) == guarantee
        assert guarantee.secret.threats
        assert str(guarantee)
    assert kinds == {"rows", "candidate", "sampled", "worlds", "batches"}


def test_a_figure_that_a_secret_does_not_have_is_absent(make_guarantee: Make) -> None:
    sampled = replace(make_guarantee(), secret=SampledSecret())
    assert json.loads(sampled.to_json())["secret"] == {"kind": "sampled"}
    assert sampled.secret.n_candidates is None
    with pytest.raises(ValueError, match="subset"):
        sampled.knowing(0)


def test_secrets_of_another_kind_are_refused(make_guarantee: Make) -> None:
    guarantee = make_guarantee()
    with pytest.raises(ValueError, match="one of PACGuarantee"):
        PufferfishGuarantee.from_json(guarantee.to_json())
    facts = json.loads(guarantee.to_json())
    del facts["secret"]
    with pytest.raises(ValueError, match="kind"):
        Guarantee.from_json(json.dumps(facts))
    with pytest.raises(UnknownNameError, match="Known names"):
        Guarantee.from_json("[]")


def test_what_a_run_met_is_told(make_guarantee: Make) -> None:
    facts = dict(sliced(make_guarantee(), BATCHES).facts)
    assert facts["run"].startswith("7 steps of 10 of 100 rows, without replacement")
    assert facts["clipping"] == "norm 1, 0.5 a row, 3 parameters"
    assert "0.250000 nats; so is the information on the secret" in facts["information"]
    mean = replace(BATCHES, averaged_over="draws", n_secrets=3)
    assert dict(mean.rows())["information"].endswith("nats, on average over the batches")
