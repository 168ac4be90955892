"""From parameters to a run: its noise, its ceiling, its unit, and what is said without noise."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pacsklearn.exceptions import BudgetError, BudgetExhaustedError, PrivacyLeakWarning
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.srpp import (
    Batches,
    NoiseMultiplier,
    Renyi,
    SRPPSGDClassifier,
    SRPPSGDRegressor,
)
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.parameters.run_choices import RunChoices
from pacsklearn.srpp.release.open_run import PlainRun, opened_run, planned_unit
from pacsklearn.srpp.release.run_statement import run_guarantee
from pacsklearn.srpp.release.training_rows import training_rows

X, Y = np.zeros((40, 2)), np.arange(40) % 2
CLIPPING = GradientClipping((1.0,), (2,))


def model(budget: Any = None, batches: Any = None, *, named: Any = "a name") -> RunChoices:
    batches = Batches(10, accounting="worst-case") if batches is None else batches
    return RunChoices(budget or Renyi(1.0, 8.0), None, batches, named)


def run(asked: Any, n_steps: int = 7, record: Any = None) -> Any:
    rows = training_rows(asked, X, Y, None, None)
    return opened_run(asked, rows, clipping=CLIPPING, n_steps=n_steps, record=record)


def steps(opened: Any) -> int:
    """Steps until the ceiling."""
    for taken in range(100):
        try:
            opened.next_batch()
        except BudgetExhaustedError:
            return taken
    raise AssertionError("there is no ceiling")


@pytest.mark.parametrize("noise", [Renyi(0.3, 8.0), NoiseMultiplier(9.0, 8.0)])
def test_exactly_the_planned_steps_fit(noise: Any) -> None:
    opened = run(model(noise))
    assert steps(opened) == 7
    found = run_guarantee(
        opened, delta=1e-5, dimension="coef_", public=("classes_",), leaks=("a leak",)
    )
    assert found.spent <= found.budget <= found.spent * (1 + 1e-6)
    assert found.costs.delta == 1e-5
    assert (found.released, found.public) == (("coef_",), ("classes_",))
    assert found.not_covered[0] == "a leak"
    assert run_guarantee(opened, delta=1e-5, dimension="coef_", public=()).for_release
    assert found.provenance[0].name == "differing_rows"
    opened.close()


def test_a_run_that_goes_on_has_room_for_what_was_paid_and_for_its_own_steps() -> None:
    asked = model(NoiseMultiplier(9.0, 8.0))
    first = run(asked, 3)
    assert steps(first) == 3
    later = run(asked, 4, first.record)
    (price, count, _), = later.record.prices  # fmt: skip
    assert count == 3
    assert steps(later) == 4
    promised = run_guarantee(later, delta=1e-5, dimension="coef_", public=())
    assert Fraction(promised.budget) >= 7 * Fraction(price)


def test_the_noise_of_a_run_that_goes_on_is_kept() -> None:
    first = run(model(NoiseMultiplier(9.0, 8.0)))
    first.next_batch()
    for other in (model(NoiseMultiplier(3.0, 8.0)), model()):
        assert run(other, record=first.record).record.noise_multiplier == 9.0


def test_the_planned_unit_is_the_one_that_steps_are_charged_in() -> None:
    for accounting in ("worst-case", "subsampling-aware", "secret-batches"):
        batches = Batches(10, accounting=accounting)
        asked = model(batches=batches)
        opened = run(asked)
        assert planned_unit(asked) == opened.record.unit
        assert planned_unit(model(Renyi(1.0, 9.0), batches)) != opened.record.unit
        assert planned_unit(model(batches=batches, named="b")) != opened.record.unit


def test_without_noise_a_mean_is_as_it_is_and_nothing_is_promised() -> None:
    with pytest.warns(PrivacyLeakWarning, match="adds"):
        opened = run(model(NoiseMultiplier(0), Batches(10, "without-replacement")))
    assert isinstance(opened, PlainRun)
    assert opened.record is None
    batch = opened.next_batch()
    assert batch.size == 10
    assert set(batch) <= set(range(40))
    assert opened.noised_mean(np.array([3.0, -7.0])).tolist() == [0.3, -0.7]
    opened.close()


@pytest.mark.parametrize("kind", [SRPPSGDClassifier, SRPPSGDRegressor])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_the_warning_points_at_the_line_that_fits(kind: Any, method: str) -> None:
    plain = kind(budget=NoiseMultiplier(0), batches=10, epochs=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(plain, method)(X, Y)
    (found,) = (each for each in caught if each.category is PrivacyLeakWarning)
    assert found.filename == __file__


def test_noise_of_the_operating_system_is_for_release() -> None:
    assert run(model()).record.secure
    assert isinstance(training_rows(model(), X, Y, None, None).sampler, SecureSampler)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize(
    "kinds", [(NoiseMultiplier(0), Renyi(1.0)), (Renyi(1.0), NoiseMultiplier(0))]
)
def test_steps_with_noise_and_without_are_never_mixed(kinds: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 2))
    trained = SRPPSGDClassifier(budget=kinds[0], classes=[0, 1], epochs=4, batches=20)
    before = trained.partial_fit(rows, Y).coef_.copy()
    trained.set_params(budget=kinds[1])
    with pytest.raises(BudgetError, match="all of its steps"):
        trained.partial_fit(rows, Y)
    assert np.array_equal(trained.coef_, before)
    assert trained.fit(rows, Y).n_iter_ == 4
