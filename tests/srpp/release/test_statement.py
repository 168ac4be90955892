"""What the guarantee of a sliced release says, by the kind of its scenario."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pacsklearn.srpp import SliceProfile, Slices
from pacsklearn.srpp.release.calibrated_worlds import SlicedOptions, StatedRows, calibrated_worlds
from pacsklearn.srpp.release.statement import pufferfish_guarantee
from pacsklearn.srpp.release.world_outputs import Query
from tests.srpp.release.test_release import OPTIONS, TwoCoins, first

FACTS: dict[str, Any] = {
    "budget": 1.0, "unit": "a unit", "noise": "some", "charged": 0.5, "n_releases": 2,
    "released": ("value",), "public": (), "not_for_release": "", "provenance": (),
    "ledger_head": None,
}  # fmt: skip


def calibrated(options: SlicedOptions = OPTIONS) -> Any:
    return calibrated_worlds(
        Query.of_function(first), TwoCoins(), StatedRows(np.zeros((2, 2))), options
    )


def drawn(found: Any) -> Any:
    """The same as if its tables were draws from a law."""
    own = {name: getattr(found.scenario, name) for name in ("protects", "releases")}
    scenario = SimpleNamespace(redrawn=False, not_covered=("own words",), **own)
    return replace(found, scenario=scenario)


def test_listed_data_sets_and_drawn_tables_have_limits_of_their_own() -> None:
    found = calibrated()
    listed = pufferfish_guarantee(found, **FACTS)
    table = pufferfish_guarantee(drawn(found), **FACTS)
    for words, of_listed in {
        "Other data sets: ": True,
        "What the adversary knows beyond": True,
        "A second release of the same table": False,
        "own words": False,
    }.items():
        assert any(text.startswith(words) for text in listed.not_covered) == of_listed
        assert any(text.startswith(words) for text in table.not_covered) != of_listed
    for guarantee in (listed, table):
        starts = [text.partition(":")[0] for text in guarantee.not_covered]
        assert {"Sliced, not full", "Slices read without any error"} <= set(starts)
        assert guarantee.not_covered[-len(guarantee.secret.limits) :] == guarantee.secret.limits
    assert (listed.secret.holds_for, table.secret.holds_for) == (
        "", "tables drawn from the stated laws",
    )  # fmt: skip
    assert "best coupling" in listed.secret.coupling
    assert "same random numbers" in table.secret.coupling
    assert "Theorem 5.8" in " ".join(listed.sources)
    assert "Waudby-Smith" in " ".join(table.sources)


def test_one_data_set_a_secret_leaves_nothing_to_know_beyond() -> None:
    found = calibrated()
    one = replace(found.worlds, laws=tuple(
        replace(law, members=law.members[:1]) for law in found.worlds.laws
    ))  # fmt: skip
    said = pufferfish_guarantee(replace(found, worlds=one), **FACTS).not_covered
    assert not any(text.startswith("What the adversary knows beyond") for text in said)


@pytest.mark.parametrize("aggregation", ["average", "joint", "full"])
def test_facts_are_those_of_the_law_and_the_scenario(aggregation: str) -> None:
    found = calibrated(replace(OPTIONS, slices=Slices(aggregation=aggregation)))
    law, said = found.law, pufferfish_guarantee(found, **FACTS)
    assert (said.spent, said.aggregation, said.costs) == (law.cost, aggregation, law.costs)
    assert (said.bound, said.confidence, said.assumptions) == (law.proof, 1.0, law.assumptions)
    assert said.noiseless == law.is_noiseless
    words = {"average": "Ave-SRPP", "joint": "Joint-SRPP", "full": "RPP: Renyi"}
    assert said.definition.startswith(words[aggregation])
    secret = said.secret
    assert (secret.n_secrets, secret.n_pairs, secret.n_priors, secret.n_draws) == (2, 1, 1, 2)
    assert (secret.protects, said.releases) == (TwoCoins.protects, TwoCoins.releases)
    profile = SliceProfile.uniform(1)
    assert said.slices == f"{profile.name} in 1 dimensions, digest {profile.digest}"
    assert (said.charged, said.n_releases, said.for_release) == (0.5, 2, True)
