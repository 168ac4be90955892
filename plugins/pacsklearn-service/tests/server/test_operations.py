"""Who may ask for what: checked where the secrets are, whatever a web worker lets through."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from pacsklearn_service.server.answering.asking import Asking
from pacsklearn_service.server.answering.curating import Curating
from pacsklearn_service.server.answering.jobs import Jobs
from pacsklearn_service.server.caller import SCOPES
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.recipe import Recipe
from service_house.house import House

OWN = {"job", "job_result", "delete_job"}  # of whoever asks
RIGHTS = ("anybody", "known", "asker", "curator")
SCOPE = {"asker": "ask", "curator": "curate"}
PARTS = (Asking, Curating, Jobs)
NAMES = [name.split("_", 1) for part in PARTS for name in vars(part)]
ALL = [name for name in NAMES if name[0] in RIGHTS]


def test_every_operation_says_who_may_ask_for_it() -> None:
    assert {who for who, _ in ALL} == {"anybody", "known", "asker", "curator"}
    assert {what for who, what in ALL if who == "anybody"} == {"ready", "who", "form_of_keys"}
    assert {what for who, what in ALL if who == "known"} == OWN
    assert len({what for _, what in ALL}) == len(ALL), "one name has one right"


@pytest.mark.parametrize(("who", "what"), [each for each in ALL if each[0] != "anybody"])
def test_who_lacks_the_scope_is_refused_before_anything_is_read(
    house: House, who: str, what: str
) -> None:
    operation = house.operations(what)
    with pytest.raises(Problem) as refused:
        operation(None, {}, b"")
    assert refused.value.kind == "unauthenticated"
    if who in SCOPE:
        (other,) = set(SCOPES) - {SCOPE[who]}
        with pytest.raises(Problem) as refused:
            operation(house.key(f"only-{other}", other), {}, b"")
        assert refused.value.kind == "forbidden"


def test_an_unknown_operation_is_none(house: House) -> None:
    for what in ("", "_call__", "do_fit", "jobs"):
        with pytest.raises(Problem, match="operation"):
            house.operations(what)


def test_nobody_is_answered_by_a_model_that_hides_nothing(new_house: Any) -> None:
    """Whatever its row says: publishing and hosting read the status of the guarantee alone."""
    house = new_house()
    catalog, coordinator = house.coordinator.catalog, house.coordinator
    # At .9 nats a membership may be told with certainty.
    recipe = {"name": "loud", "dataset": "clinic", "estimator": "GaussianNB", "budget": 0.9,
              "release": {"n": 100}, "secret": {"n": 8}}  # fmt: skip
    catalog.fit(Recipe(**recipe), lambda _: None)
    for door in (partial(catalog.mark, status="published"), coordinator.load):
        with pytest.raises(Problem) as refused:
            door("loud")
        assert refused.value.kind == "conflict"
    assert [model["status"] for model in catalog.models("loud")] == ["fitted"]
    with pytest.raises(Problem, match="published"):
        coordinator.hosted("loud")
