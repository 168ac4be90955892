"""A planned release of parameters: what is computed once, what is refused before any charge."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from pacsklearn.estimators.game_procedure import game_procedure
from pacsklearn.estimators.individual_information import stated_individually
from pacsklearn.exceptions import BudgetExhaustedError, UnknownNameError
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.release.parameters import (
    AS_RELEASED,
    ParameterPlan,
    ReleaseChoices,
)
from pacsklearn.kernel.release.plan import chosen_backend
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.priors import normal_prior
from pacsklearn.sampled.confident import ConfidentBackend
from pacsklearn.universe.design import Design
from pacsklearn.universe.public_prior import DrawnToward, PublicPrior
from tests.inside import is_drawn

ROWS = np.random.default_rng(0).normal(size=(40, 2))
TARGETS = ROWS @ [1.0, -2.0] + 5


class Counting(NoiseBackend):
    """The default backend, remembering the beliefs that it calibrated for."""

    beliefs: ClassVar[list[np.ndarray]]  # of the class: each calibration is by a copy

    def __init__(self) -> None:
        type(self).beliefs = []

    def calibrate(self, support: Any, target: Any, metric: Any) -> NoiseLaw:
        self.beliefs.append(support.weights)
        return LogdetBackend().calibrate(support, target, metric)


def plan_of(estimator: Any = None, budget: float = 0.25, **choices: Any) -> ParameterPlan:
    estimator = Ridge() if estimator is None else estimator
    return ParameterPlan.of(
        estimator,
        lambda: Design(n_subsets=8).candidates(estimator, ROWS, TARGETS),
        Target(budget),
        ReleaseChoices(**choices),
    )


def procedure_for(plan: ParameterPlan, ceiling: float = 1.0) -> ReleaseProcedure:
    sampler = SeededSampler(np.random.default_rng(1))
    return game_procedure(plan.space, sampler, ceiling)


def test_the_first_belief_s_law_is_computed_once_and_every_other_anew() -> None:
    """Games begin with the prior again and again, and never come back to another belief."""
    backend = Counting()
    plan = plan_of(noise=backend)
    prior = plan.space.weights
    law = plan.calibrate(prior)
    assert plan.calibrate(prior.copy()) is law
    assert len(backend.beliefs) == 1
    near = prior.copy()
    near[0] = np.nextafter(near[0], 1)  # a law is that of one belief, and of none that is close
    other = [plan.calibrate(near) for _ in range(2)]
    assert len(backend.beliefs) == 3
    assert law not in other
    assert plan.calibrate(prior) is law
    assert len(backend.beliefs) == 3


def test_a_step_is_calibrated_to_the_belief_before_it_and_says_so() -> None:
    plan = plan_of()
    procedure = procedure_for(plan)
    for step in range(2):
        before = procedure.secret.belief
        taken = procedure.take(plan)
        assert np.array_equal(taken.belief, before)
        expected = plan.backend.calibrate(plan.outputs.support(before), plan.target, plan.cost)
        assert np.array_equal(taken.law.centres, expected.centres)
        assert procedure.account.own.events[step] == taken.event
        event = taken.event
        assert (event.kind, event.n_candidates, event.n_outputs, event.n_noisy) == (
            "parameters", 8, 3, taken.law.dimension
        )  # fmt: skip
        assert event.charge == event.bound == taken.law.bound
    likely = taken.law.log_likelihood(taken.observed) + np.log(before)
    after = np.exp(likely - np.logaddexp.reduce(likely))
    assert procedure.secret.belief == pytest.approx(after)


def test_what_was_used_is_said_by_its_name() -> None:
    """By that of the instance found, unless another was asked for."""
    for choices, names in (
        ({}, ["logdet", "linear_regressor"]),
        ({"noise": "eigen"}, ["eigen", "linear_regressor"]),
        (
            {"noise": Counting(), "canonicalizer": "linear_regressor"},
            ["Counting", "linear_regressor"],
        ),
    ):
        assert [each.name for each in plan_of(**choices).provenance] == names


def test_an_unknown_backend_is_refused_before_anything_is_fitted() -> None:
    def prepare() -> Candidates:
        raise AssertionError("fitted")

    with pytest.raises(UnknownNameError):
        ParameterPlan.of(Ridge(), prepare, Target(0.1), ReleaseChoices(noise="no such"))


def test_the_default_backend_is_that_of_what_is_capped() -> None:
    nats, capped = Target(0.1), Target(0.1, object())  # type: ignore[arg-type]
    assert chosen_backend("auto", nats)[0].name == "logdet"
    assert chosen_backend("auto", capped)[0].name == "criterion"
    backend = Counting()
    assert chosen_backend(backend, nats)[0] is backend
    backend, used = chosen_backend("eigen", nats)
    assert (backend.name, used.name) == ("eigen", "eigen")
    only = ConfidentBackend(1e-6, 2.0)
    for noise in ("auto", "confident"):
        backend, used = chosen_backend(noise, Target(0.1, backend=only))
        assert (backend, used.name) == (only, "confident")
    with pytest.raises(ValueError, match="cannot be listed"):
        chosen_backend("eigen", Target(0.1, backend=only))


def test_a_mean_is_for_numbers_it_says_something_of() -> None:
    with pytest.raises(ValueError, match="prior says"):
        plan_of(StandardScaler(), reading=DrawnToward(normal_prior(5.0, None)))
    plan_of(StandardScaler(), reading=DrawnToward(normal_prior(None, (0, 9))))


def test_a_regressor_is_drawn_to_its_prior_and_its_spread_is_stated() -> None:
    values = []
    for reading in (AS_RELEASED, DrawnToward(PublicPrior(5.0, 1e-9))):
        plan = plan_of(reading=reading, budget=1e-6)
        values.append(procedure_for(plan).release(plan, certify=False)[0].value)
    plain, drawn = values
    assert np.abs(plain.predict(ROWS) - 5).max() > 1
    assert drawn.predict(ROWS) == pytest.approx(np.full(40, 5.0), abs=1e-3)


def test_individual_figures_are_of_the_belief_before_and_only_where_asked() -> None:
    plan = plan_of()
    procedure = procedure_for(plan)
    space = plan.space.row_subsets()
    (release,) = procedure.release(
        plan, certify=False, individually=partial(stated_individually, space)
    )
    assert release.individual is not None
    text = dict(release.guarantee.details)["about any one row"]
    worst = release.individual.worst
    assert f"at most {worst:.6g} nats from this release, at confidence 0.999999" in text
    shown = [release.individual.quantiles()[place] for place in (0, 2, 4)]
    assert text.endswith(
        "estimates from {:.3g} to {:.3g}, median {:.3g}".format(*shown[::2], shown[1])
    )
    assert procedure.release(plan, certify=False)[0].individual is None


def test_a_release_that_does_not_fit_changes_nothing() -> None:
    plan = plan_of(budget=0.5)
    procedure = procedure_for(plan, ceiling=0.4)
    with pytest.raises(BudgetExhaustedError):
        procedure.release(plan)
    assert isinstance(procedure.account.own, MemoryLedger)
    assert procedure.account.own.events == ()
    assert not is_drawn(procedure.secret)
    assert procedure.secret.belief == pytest.approx(plan.space.weights)
