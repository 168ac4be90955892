"""A recipe has budgets in the words of the command line."""

from __future__ import annotations

import pytest
from pacsklearn_service.server.recipe import Recipe

from pacsklearn import Identification, KOfN, Membership, Nats

STATED = {"name": "kinds", "dataset": "clinic", "estimator": "LinearSVC"}


@pytest.mark.parametrize(
    ("written", "budget"),
    [
        ("1/16", Nats(1 / 16)),
        ({"nats": "2^-8"}, Nats(2**-8)),
        ({"membership": "60%"}, Membership(0.6)),
        ({"identification": 0.2}, Identification(0.2)),
        ({"k_of_n": "35:20%"}, KOfN(35, 0.2)),
    ],
)
def test_budgets_are_written_as_on_the_command_line(written, budget):
    recipe = Recipe(**STATED, budget=written)
    assert recipe.stated_budget() == budget
    assert Recipe(**recipe.model_dump()).stated_budget() == budget


@pytest.mark.parametrize("written", [{"k_of_n": "20%"}, {"renyi": "1@4"}, {}, True])
def test_budgets_that_answers_cannot_have_are_refused(written):
    with pytest.raises(ValueError, match="budget"):
        Recipe(**STATED, budget=written)
