"""The run as a whole: noise, account, resumption, scenarios, and what is refused."""

from __future__ import annotations

import pickle
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    LedgerError,
    LedgerMismatchError,
    PrivacyLeakWarning,
    ScenarioError,
    SessionRolledBackError,
)
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.srpp import (
    Batches,
    DifferingRows,
    DiscrepancyCap,
    Epochs,
    GroupScenario,
    LearningRate,
    NoiseMultiplier,
    PrevalenceScenario,
    PufferfishGuarantee,
    Renyi,
    SimulatorScenario,
    SRPPPrivate,
    SRPPSGDClassifier,
    SRPPSGDRegressor,
)
from pacsklearn.srpp.descent.clipped_gradient import LOSSES, clipped_sum
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import ACCOUNTINGS, SRPPSGDAccountant
from pacsklearn.srpp.divergence.discrepancy import SAMPLINGS
from pacsklearn.srpp.laws.batch_sampler import BatchSampler
from pacsklearn.srpp.release.run import Charging, PrivateRun
from pacsklearn.srpp.scenarios.scenario import SecretColumn
from tests.inside import record_of

QUIET = pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
SMALL = {"epochs": 2, "batches": 100, "secret_name": "cancer", "classes": [0, 1]}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def private(**options):
    return SRPPSGDClassifier(**{**SMALL, **options})


def test_the_budget_is_spent_step_by_step(cancer):
    X, y = cancer
    model = private(budget=2.0)
    ledger = MemoryLedger(5.0, unit=model.ledger_unit)
    model.set_params(ledger=ledger).fit(X, y)
    assert model.n_steps_ == 12 == len(ledger.events)
    assert 2.0 * (1 - 1e-9) < ledger.spent <= 2.0
    assert model.guarantee_.spent == pytest.approx(ledger.spent)
    assert {event.kind for event in ledger.events} == {"sgd-step"}
    for event in ledger.events:  # a reader of the ledger can price each of them again
        cost = SRPPSGDAccountant.of(event).cost(event.noise_multiplier)
        assert event.n_steps * cost == event.charge
    assert model.guarantee_.for_release
    assert PufferfishGuarantee.from_json(model.guarantee_.to_json()) == model.guarantee_
    model.fit(X, y)
    assert ledger.spent == pytest.approx(4.0)
    with pytest.raises(BudgetExhaustedError):
        model.fit(X, y)  # stops when the next step does not fit
    assert ledger.spent <= 5.0
    assert model.n_steps_ == 6  # and keeps what it paid for


def test_a_step_is_charged_before_its_rows_are_drawn(monkeypatch):
    cap = DiscrepancyCap.differing(100, 2, 10)
    clipping = GradientClipping((1.0,), (3,))
    accountant = SRPPSGDAccountant(cap, clipping, 4.0, "worst-case")
    price = accountant.cost(10.0)
    with PrivateRun(
        accountant, DifferingRows(2), 10.0, charging=Charging(2.5 * price), sampler=SecureSampler()
    ) as run:
        drawn = []
        monkeypatch.setattr(BatchSampler, "draw", lambda _: drawn.append(run.spent))
        run.next_batch()
        run.next_batch()
        with pytest.raises(BudgetExhaustedError):
            run.next_batch()
        assert drawn == pytest.approx([price, 2 * price])
        assert run.spent == pytest.approx(2 * price)
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(run)


def test_the_scale_that_noise_is_drawn_at(cancer):
    """Spies on what is added: whole numbers on a grid whose step is z C / 2^20."""
    cap = DiscrepancyCap.differing(100, 2, 10)
    clipping = GradientClipping((1.0, 3.0), (2, 1))
    accountant = SRPPSGDAccountant(cap, clipping, 4.0, "worst-case")

    class Counted:
        is_secure = False

        def noise(self, size):
            return np.arange(1, size + 1) * 1000

    with PrivateRun(
        accountant, DifferingRows(2), 5.0, charging=Charging(1e9), sampler=Counted()
    ) as run:
        total = np.array([0.3, -0.7, 2.0])
        step = 5.0 * np.array([1.0, 1.0, 3.0]) / LATTICE_SCALE
        expected = (np.rint(total / step) + np.array([1000, 2000, 3000])) * step / 10
        np.testing.assert_allclose(run.noised_mean(total), expected, rtol=1e-15)


@pytest.mark.statistical
def test_the_noise_has_the_stated_deviation():
    """20,000 values: the deviation is off by 6.5 standard errors once in 1e10 runs."""
    cap = DiscrepancyCap.differing(100, 2, 10)
    accountant = SRPPSGDAccountant(cap, GradientClipping((2.0,), (20_000,)), 4.0, "worst-case")
    with PrivateRun(
        accountant, DifferingRows(2), 3.0, charging=Charging(1e9), sampler=SecureSampler()
    ) as run:
        released = run.noised_mean(np.zeros(20_000))
    assert abs(released.std() / (3.0 * 2.0 / 10) - 1) < 6.5 / np.sqrt(2 * 20_000)


def test_lattice_shifts_stay_within_the_account():
    """Whole numbers of two batches that differ in k rows: never further apart than priced."""
    generator = np.random.default_rng(0)
    for b, z in ((8, 0.5), (64, 20.0)):
        clipping = GradientClipping((0.7,), (11,))
        grid = clipping.grid(z, b)
        for k in (0, 1, b):
            X = generator.standard_normal((b, 10)) * 50
            t = generator.standard_normal((b, 1)) * 100
            other = X.copy()
            other[:k] *= -1
            parameters = generator.standard_normal((1, 11))
            one, two = (
                np.rint(
                    clipped_sum(rows, t, parameters, LOSSES["squared_error"], 0.7).ravel() / grid
                )
                for rows in (X, other)
            )
            shift = np.linalg.norm(one - two) / LATTICE_SCALE
            allowed = k * clipping.reach(z, b) + (clipping.slack if k else 0.0)
            assert shift <= allowed


def test_rounding_is_accounted_for():
    """Opposite rows: clipping alone does not explain the shift of the whole numbers."""
    generator = np.random.default_rng(0)
    clipping = GradientClipping((0.7,), (11,))
    grid, reach = clipping.grid(20.0, 4), clipping.reach(20.0, 4)
    excess = []
    for _ in range(40):
        X = generator.standard_normal((4, 10)) * 50
        other = X.copy()
        other[0] *= -1
        one, two = (
            np.rint(
                clipped_sum(
                    rows, np.full((4, 1), 1e9), np.zeros((1, 11)), LOSSES["squared_error"], 0.7,
                    intercept=False,
                ).ravel() / grid
            )
            for rows in (X, other)
        )  # fmt: skip
        excess.append(np.linalg.norm(one - two) / LATTICE_SCALE - reach)
    assert 0 < max(excess) <= clipping.slack


@pytest.mark.product(only=2)
@pytest.mark.parametrize("accounting", ACCOUNTINGS)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_accounting_and_sampling(cancer, accounting, sampling):
    X, y = cancer
    model = private(
        budget=Renyi(50.0, allow_exact=True),
        batches=Batches(100, sampling=sampling, accounting=accounting),
        epochs=4,
    ).fit(X, y)
    text = " ".join(str(model.guarantee_).split())
    assert model.guarantee_.spent <= 50.0
    assert ("mean over draws of the batches" in text) == (accounting == "subsampling-aware")
    assert ("while nobody learns which rows" in text) == (accounting == "secret-batches")
    assert model.guarantee_.costs.full_epsilon > 0
    assert "Kullback-Leibler" in text


def test_noise_given_the_guarantee_computed(cancer):
    X, y = cancer
    model = private(
        budget=NoiseMultiplier(20.0), batches=Batches(100, accounting="worst-case")
    ).fit(X, y)
    expected = 12 * 4 / 2 * (2 / 20.0) ** 2
    assert model.guarantee_.spent == pytest.approx(expected, rel=1e-3)
    model.partial_fit(X, y)
    assert model.guarantee_.spent == pytest.approx(1.5 * expected, rel=1e-3)


def test_a_resumed_run_goes_on_with_its_account(cancer):
    X, y = cancer
    model = private(budget=3.0, epochs=3)
    for n in (1, 2):
        model.partial_fit(X, y)
        assert model.guarantee_.spent == pytest.approx(n, rel=1e-6)
    model = pickle.loads(pickle.dumps(model))
    model.partial_fit(X, y)
    assert 3.0 * (1 - 1e-9) < model.guarantee_.spent <= 3.0
    before = model.coef_.copy()
    with pytest.raises(BudgetExhaustedError):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_steps_ == 18
    assert not hasattr(clone(model), "_record")
    with pytest.raises(LedgerMismatchError, match="call"):
        model.set_params(budget=Renyi(1.0, order=7.0)).partial_fit(X, y)


def test_two_copies_of_a_run_cannot_both_go_on(cancer):
    X, y = cancer
    model = private(budget=3.0, epochs=3)
    ledger = MemoryLedger(9.0, unit=model.ledger_unit)
    model.set_params(ledger=ledger).partial_fit(X, y)
    model.set_params(ledger=None)
    other = pickle.loads(pickle.dumps(model))
    model.set_params(ledger=ledger).partial_fit(X, y)
    with pytest.raises(SessionRolledBackError):
        other.set_params(ledger=ledger).partial_fit(X, y)


def test_steps_charged_together(cancer):
    X, y = cancer
    model = private(budget=2.0, epochs=4, batches=Batches(100, charged_together=10))
    ledger = MemoryLedger(2.0, unit=model.ledger_unit)
    model.set_params(ledger=ledger).partial_fit(X, y)  # 6 steps
    assert len(ledger.events) == 1
    assert ledger.spent == pytest.approx(2.0 * 10 / 24)
    for _ in range(3):
        model.partial_fit(X, y)
    assert model.n_steps_ == 24
    assert len(ledger.events) == 3
    assert ledger.spent <= 2.0


def test_a_ledger_in_a_database(cancer, tmp_path):
    X, y = cancer
    where = f"sqlite:///{tmp_path / 'account.db'}"
    model = private(
        budget=2.0, batches=Batches(100, charged_together=5), ledger=where, random_state=None
    )
    with pytest.raises(LedgerError, match="ledger"):
        model.fit(X, y)
    SharedLedger.found(where, 2.0, unit=model.ledger_unit)
    model.fit(X, y)
    assert model.guarantee_.charged == pytest.approx(2.0)
    assert model.guarantee_.n_releases == 3
    with pytest.raises(BudgetExhaustedError):
        clone(model).fit(X, y)


def test_partial_fit_with_other_numbers_of_rows(cancer):
    X, y = cancer
    model = private(budget=5.0, epochs=6, batches=Batches(100, accounting="subsampling-aware"))
    model.partial_fit(X, y).partial_fit(X[:150], y[:150])
    record = record_of(model)
    assert len(record.prices) == 2
    spent = sum(Fraction(price) * count for price, count, _ in record.prices)
    assert model.guarantee_.spent == pytest.approx(float(spent))
    assert model.guarantee_.costs.full_epsilon > 0


def test_early_stopping_on_public_rows_charges_the_steps_taken(cancer):
    X, y = cancer
    model = private(
        budget=Renyi(1e4, allow_exact=True),
        epochs=Epochs(40, early_stopping=True, tol=0.01, n_iter_no_change=2),
    )
    model.fit(X[:400], y[:400], public_validation=(X[400:], y[400:]))
    assert model.n_iter_ < 40
    assert model.guarantee_.spent == pytest.approx(1e4 * model.n_iter_ / 40, rel=1e-6)
    with pytest.raises(ValueError, match="nobody"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="early_stopping"):
        private().fit(X, y, public_validation=(X, y))
    with pytest.raises(ValueError, match="like"):
        model.fit(X, y, public_validation=(X[:, :3], y))


SHARES = (0.3, 0.33, 0.36)


@pytest.mark.soak
def test_trains_on_a_training_set_drawn_from_the_table(cancer):
    X, y = cancer
    scenario = PrevalenceScenario(shares=SHARES, value=1, n_draws=2, size=200)
    model = private(
        scenario=scenario, budget=8.0, batches=Batches(100, accounting="subsampling-aware")
    ).fit(X, y)
    text = " ".join(str(model.guarantee_).split())
    # Shares of .3 and .36 of 200 rows: twelve rows in the places of twelve others.
    assert "at most 12 of 200 rows differ" in text
    assert "100 of 200 rows" in text
    assert "the table's own share is not hidden" in text
    assert "Mixtures of data sets" in text
    assert model.n_steps_ == 4
    other = private(
        scenario=scenario, budget=8.0, batches=Batches(100, accounting="secret-batches")
    ).fit(X, y)
    assert "Mixtures of data sets" not in " ".join(str(other.guarantee_).split())
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(30)])
    frame["c0"] = (frame["c0"] > 0).astype(float)
    named = private(scenario=PrevalenceScenario(shares=(0.4, 0.5), n_draws=1))
    named.fit(frame, y, secret="c0")
    with pytest.raises(ScenarioError, match="column"):
        named.fit(frame, y, secret="c99")
    with pytest.raises(ScenarioError, match="different"):
        private(scenario=GroupScenario()).fit(X, y, realized=1)
    with pytest.raises(ScenarioError, match="anew"):
        private(scenario=scenario).partial_fit(X, y)
    private(scenario=scenario).partial_fit(X, y, realized=0.33).partial_fit(X, y, realized=0.33)


def test_the_rows_of_the_drawn_training_set_are_the_ones_used(cancer):
    """Rows that the true share's training sets leave out do not move the model at all."""
    X, y = cancer
    scenario = PrevalenceScenario(shares=(0.2, 0.8), value=1, n_draws=1, size=100)
    rows = scenario.worlds(X, y, SecretColumn(y, "y")).worlds[1].rows
    model = private(
        scenario=scenario,
        budget=NoiseMultiplier(1e-3, allow_exact=True),
        batches=Batches(100, sampling="without-replacement", accounting="worst-case"),
        random_state=0,
    )
    moved = X.copy()
    moved[np.setdiff1d(np.arange(len(y)), rows)] = 1e3
    with pytest.warns(PrivacyLeakWarning):
        coefficients = [clone(model).fit(each, y, realized=0.8).coef_ for each in (X, moved)]
    np.testing.assert_allclose(*coefficients, atol=1e-3)


@QUIET
def test_no_published_figure_depends_on_the_true_secret(cancer):
    """The attack on the first version: its cap was 24 = 20 + 5 - 1, the secret count and all."""
    X, y = cancer
    scenario = PrevalenceScenario(shares=SHARES, value=1, n_draws=2, size=200)
    published = set()
    for share in SHARES:
        model = private(scenario=scenario, budget=1e-3, random_state=0)
        guarantee = model.fit(X, y, realized=share).guarantee_
        published.add((guarantee.to_json(), model.n_steps_, model.n_iter_))
    assert len(published) == 1


def test_a_simulator_bounds_the_count_by_coupled_draws():
    X, y = np.random.default_rng(1).normal(size=(60, 3)), np.arange(60) % 2

    def sample(secret, prior, rng):
        rows = rng.normal(size=(60, 3))
        rows[: rng.integers(1, 4) if secret else 0] += 1.0
        return rows, np.arange(60) % 2

    scenario = SimulatorScenario(sample, secrets=(0, 3), n_draws=300)
    model = private(
        scenario=scenario,
        batches=Batches(20, accounting="worst-case"),
        budget=Renyi(1e4, allow_exact=True),
    )
    model.fit(X, y)
    text = " ".join(str(model.guarantee_).split())
    assert "300 simulated batches" in text
    assert "coupled as the cap assumes" in text
    with pytest.raises(ScenarioError, match="tables"):
        model.fit(X[:50], y[:50])
    with pytest.raises(ScenarioError, match="realized"):
        model.fit(X, y, realized=3)
    with pytest.raises(ValueError, match="needs"):
        clone(model).set_params(batches=Batches(100, accounting="secret-batches")).fit(X, y)


def anew(secret, prior, rng):
    """Tables that have no row in common."""
    return np.full((100, 2), float(secret)), np.arange(100) % 2


@pytest.mark.parametrize("accounting", ["worst-case", "secret-batches", "subsampling-aware"])
@pytest.mark.parametrize("drawn", ["simulator", "reference"])
def test_a_cap_that_contradicts_the_drawn_tables_is_refused(accounting, drawn):
    """One row stated for 100 that differ: the secret was named in 60 of 60 runs, as proved."""
    X, y = np.ones((100, 2)), np.arange(100) % 2
    scenario = SimulatorScenario(anew, secrets=(-1, 1), n_draws=20)
    if drawn == "reference":
        scenario = PrevalenceScenario(
            shares=(0.1, 0.9), reference=(X, y, y), value=1, n_draws=20, size=100
        )
    cap = DiscrepancyCap.differing(100, 1, 100, "poisson")
    model = private(scenario=scenario, batches=Batches(100, accounting=accounting, discrepancy=cap))
    with pytest.raises(ScenarioError, match="differing"):
        model.fit(X, y)
    # Every row differs: this is proved for any tables, and by no draw.
    everything = DiscrepancyCap.differing(100, 100, 100, "poisson")
    model.set_params(
        batches=Batches(100, discrepancy=everything), budget=Renyi(100.0, allow_exact=True)
    )
    assert model.fit(X, y).guarantee_.confidence == 1.0


def one_row(secret, prior, rng):
    rows = np.zeros((60, 3))
    rows[0] = secret
    return rows, np.arange(60) % 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sample_weight": True}, "sample_weight"),
        ({"targets": False}, "draws"),
        ({"columns": 2}, "rows"),
    ],
)
@pytest.mark.parametrize("reference", [False, True])
def test_what_drawn_tables_do_not_hold_is_not_trained_on(change, words, reference):
    """One row differed, and the weights of all of them: the secret was named 40 of 40 times."""
    given = {"sample_weight": False, "targets": True, "columns": 3} | change

    def sample(*arguments):
        X, y = one_row(*arguments)
        return X[:, : given["columns"]], y if given["targets"] else None

    scenario = SimulatorScenario(sample, secrets=(-1, 1), n_draws=20)
    X, y = one_row(1, None, None)
    if reference:
        table = X[:, : given["columns"]], y if given["targets"] else None, y
        scenario = PrevalenceScenario(shares=(0.4, 0.5), reference=table, value=1, n_draws=20)
    model = private(
        scenario=scenario,
        batches=Batches(100, accounting="worst-case"),
        budget=Renyi(1e4, allow_exact=True),
    )
    weights = np.full(60, 1e-9) if given["sample_weight"] else None
    with pytest.raises(ScenarioError, match=words):
        model.fit(X, y, sample_weight=weights)
    # Of rows that are drawn from the table, and of any rows, a weight is a part.
    for listed in (DifferingRows(2), PrevalenceScenario(shares=(0.4, 0.5), value=1, n_draws=2)):
        model.set_params(scenario=listed).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("count", [2, 500])
def test_a_cap_that_promises_less_than_the_scenario_is_refused(cancer, count):
    X, y = cancer
    cap = DiscrepancyCap.differing(len(y), 1, 100, "poisson")
    model = private(batches=Batches(100, discrepancy=cap), scenario=DifferingRows(count))
    with pytest.raises(ScenarioError, match="DifferingRows"):
        model.fit(X, y)
    private(batches=Batches(100, discrepancy=cap), scenario=DifferingRows(1)).fit(X, y)
    shares = PrevalenceScenario(shares=(0.3, 0.4), value=1, size=200)
    small = DiscrepancyCap.differing(200, 19, 100, "poisson")
    with pytest.raises(ScenarioError, match="PrevalenceScenario"):
        private(batches=Batches(100, discrepancy=small), scenario=shares).fit(X, y)
    exact = DiscrepancyCap.differing(200, 20, 100, "poisson")
    private(batches=Batches(100, discrepancy=exact), scenario=shares).fit(X, y)


def test_a_cap_of_ones_own(cancer):
    X, y = cancer
    cap = DiscrepancyCap.of_variation(0.01, len(y), 100, "poisson", delta=1e-4)
    model = private(
        batches=Batches(100, accounting="worst-case", discrepancy=cap),
        scenario=DifferingRows(6),
        budget=Renyi(50.0, allow_exact=True),
    ).fit(X, y)
    assert model.guarantee_.confidence == pytest.approx(1 - 12e-4)
    assert "more than" in " ".join(str(model.guarantee_).split())
    mean = clone(model).set_params(batches__accounting="subsampling-aware").fit(X, y).guarantee_
    assert mean.confidence == 1.0
    assert mean.assumptions
    with pytest.raises(ScenarioError, match="secret"):
        private(batches=Batches(100, discrepancy=cap)).fit(X, y)
    with pytest.raises(ValueError, match="make"):
        private(batches=Batches(50, discrepancy=cap), scenario=DifferingRows(6)).fit(X, y)


@QUIET
def test_seeds_are_reproducible_and_say_so(cancer):
    X, y = cancer
    one, two, other = (private(random_state=seed).fit(X, y).coef_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    with pytest.warns(PrivacyLeakWarning):
        model = private(random_state=0).fit(X, y)
    assert model.guarantee_.status.kind == "not for release"
    fresh = [private(budget=NoiseMultiplier(1.0)).fit(X, y).coef_ for _ in range(2)]
    assert not np.array_equal(*fresh)


@QUIET
def test_a_seed_does_not_repeat_its_noise_when_the_run_goes_on(cancer):
    X, y = np.zeros((50, 2)), np.arange(50) % 2
    model = SRPPSGDClassifier(
        budget=NoiseMultiplier(1e3),
        batches=50,
        random_state=0,
        learning_rate=LearningRate(0.5, schedule="constant"),
        penalty=None,
    )
    first = model.partial_fit(X, y).coef_.copy()
    second = model.partial_fit(X, y).coef_ - first
    assert not np.allclose(first, second, rtol=1e-3)


def test_secret_hygiene(cancer):
    X, y = cancer
    model = private(scenario=PrevalenceScenario(shift=0.05, n_draws=1)).fit(X, y)
    size = len(pickle.dumps(model))
    assert size < 20_000  # no rows, no noise
    assert repr(float(X[0, 0]))[:10] not in str(vars(model)) + repr(model) + str(model.guarantee_)
    assert set(vars(model)) - set(model.get_params()) == {
        "classes_", "coef_", "intercept_", "n_features_in_", "n_iter_", "n_steps_", "guarantee_",
        "released_estimator_", "_descent", "_scales", "_read_off", "_record",
    }  # fmt: skip


@QUIET
def test_null_budget(cancer):
    """Next to nothing spent: no better than a model that never saw the data."""
    X, y = cancer
    scores = [private(budget=1e-7, random_state=k).fit(X, y).score(X, y) for k in range(30)]
    # Random directions: scores around one half. Fresh ones have a mean of 0.50 +- 0.04.
    assert 0.35 < np.mean(scores) < 0.65


@pytest.mark.product(only=1)
@QUIET
@pytest.mark.parametrize(
    ("options", "theirs"),
    [
        ({"loss": "log_loss"}, {"loss": "log_loss"}),
        ({"loss": "hinge", "epochs": Epochs(average=True)}, {"loss": "hinge", "average": True}),
        (
            {
                "loss": "log_loss",
                "penalty": "elasticnet",
                "learning_rate": LearningRate(0.05, momentum=0.9),
            },
            {"loss": "log_loss", "penalty": "elasticnet"},
        ),
    ],
    ids=["logistic", "hinge", "elastic net"],
)
def test_without_noise_as_good_as_scikit_learn(cancer, options, theirs):
    digits, labels = load_digits(return_X_y=True)
    for X, y in (cancer, (digits / 16, labels)):
        train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
        reference = SGDClassifier(random_state=0, **theirs).fit(X[train], y[train])
        model = SRPPSGDClassifier(
            budget=NoiseMultiplier(0), clipping=100.0, batches=16, random_state=0, **options
        )
        with pytest.warns(PrivacyLeakWarning):
            model.fit(X[train], y[train])
        assert model.guarantee_ is None
        # A point, and half of one for what older versions of scikit-learn score more.
        assert model.score(X[test], y[test]) >= reference.score(X[test], y[test]) - 0.015


@pytest.mark.soak
@QUIET
def test_regression_without_noise_as_good_as_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X), (y - 150) / 75
    for loss in ("squared_error", "huber"):
        reference = SGDRegressor(loss=loss, random_state=0, epsilon=0.5).fit(X, y)
        model = SRPPSGDRegressor(
            loss=loss,
            budget=NoiseMultiplier(0),
            clipping=100,
            batches=16,
            learning_rate=0.03,
            epochs=50,
            random_state=0,
        ).fit(X, y)
        assert model.score(X, y) >= reference.score(X, y) - 0.01


@pytest.mark.soak
def test_classes(cancer):
    X, y = cancer
    names = np.array(["benign", "malign"])[y]
    model = private(
        budget=Renyi(1e5, allow_exact=True), epochs=20, classes=["benign", "malign"]
    ).fit(X, names)
    assert model.score(X, names) > 0.9
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert not hasattr(private(loss="hinge"), "predict_proba")
    digits = load_digits(return_X_y=True)
    many = private(
        budget=Renyi(1e7, allow_exact=True), epochs=1, random_state=None, classes=range(10)
    ).fit(digits[0] / 16, digits[1])
    assert many.decision_function(digits[0]).shape == (1797, 10)
    assert np.allclose(many.predict_proba(digits[0] / 16).sum(axis=1), 1)
    weighted = private(
        budget=Renyi(1e6, allow_exact=True), epochs=10, class_weight={0: 2.0, 1: 0.0}
    ).fit(X, y)
    assert np.mean(weighted.predict(X) == 0) > np.mean(model.predict(X) == names[y == 0][0]) + 0.03
    first = private(budget=10.0, epochs=9).partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    assert first.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="among"):
        first.partial_fit(X, y + 1)


def test_a_class_of_a_single_row_is_not_published(cancer):
    """classes_ come from a codebook; read off the labels they mark the guarantee."""
    X, y = cancer
    rare = y.copy()
    rare[0] = 2
    declared = private(classes=[0, 1, 2])
    assert declared.fit(X, rare).classes_.tolist() == declared.fit(X, y).classes_.tolist()
    assert declared.guarantee_.for_release
    with pytest.warns(PrivacyLeakWarning, match="read"):
        read = private(classes=None).fit(X, rare)
    assert read.classes_.tolist() == [0, 1, 2]
    assert read.guarantee_.status.kind == "not for release"
    assert "classes" in read.guarantee_.status.reason
    assert "read off the private labels" in " ".join(str(read.guarantee_).split())


@pytest.mark.parametrize("kind", [SRPPSGDClassifier, SRPPSGDRegressor])
def test_sparse_rows_and_weights(cancer, kind):
    X, y = cancer
    named = {"classes": [0, 1]} if kind is SRPPSGDClassifier else {}
    options = {
        "budget": NoiseMultiplier(1e-3, allow_exact=True),
        "batches": 50,
        "epochs": 3,
        "random_state": 0,
    }
    model = kind(**options, **named)
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0)
    with pytest.warns(PrivacyLeakWarning):
        fitted = [
            clone(model).fit(each, y, sample_weight=weights).coef_ for each in (X, csr_matrix(X))
        ]
    np.testing.assert_allclose(*fitted, atol=1e-8)
    # Rows of weight 0 do not count: whatever is in them.
    other = X.copy()
    other[weights == 0] = 7.0
    with pytest.warns(PrivacyLeakWarning):
        moved = clone(model).fit(other, y, sample_weight=weights).coef_
    with pytest.warns(PrivacyLeakWarning):
        plain = clone(model).fit(X, y).coef_
    np.testing.assert_allclose(moved, fitted[0], atol=1e-8)
    assert not np.allclose(plain, fitted[0], atol=1e-3)
    with pytest.raises(ValueError, match="egative"):
        clone(model).set_params(random_state=None).fit(X, y, sample_weight=-weights)


def test_weights_do_not_lift_the_clipping():
    """A row of any weight moves the sum by one clipping norm at most."""
    generator = np.random.default_rng(0)
    X, t = generator.normal(size=(1, 4)), np.array([[1.0]])
    for weight in (1.0, 1e12):
        moved = clipped_sum(X, t, np.zeros((1, 5)), LOSSES["log_loss"], 0.3, np.array([weight]))
        assert np.linalg.norm(moved) <= 0.3 * (1 + 1e-12)


@pytest.mark.soak
def test_a_search_over_public_choices(cancer):
    X, y = cancer
    search = GridSearchCV(
        private(budget=Renyi(100.0, allow_exact=True)), {"learning_rate": [0.1, 0.5]}, cv=2
    ).fit(X, y)
    assert search.best_score_ > 0.6


def test_memory_of_a_step_does_not_depend_on_the_rows():
    peaks = [peak_of_a_step(n) for n in (2_000, 50_000)]
    assert max(peaks) < 200_000
    assert peaks[1] < peaks[0] + 50_000


def peak_of_a_step(n):
    X, targets = np.zeros((n, 20)), np.ones((n, 1))
    cap = DiscrepancyCap.differing(n, 1, 64)
    accountant = SRPPSGDAccountant(cap, GradientClipping((1.0,), (21,)), 4.0, "worst-case")

    def step():
        rows = run.next_batch()
        total = clipped_sum(X[rows], targets[rows], np.zeros((1, 21)), LOSSES["log_loss"], 1.0)
        run.noised_mean(total.ravel())

    with PrivateRun(
        accountant, DifferingRows(), 5.0, charging=Charging(1e9), sampler=SecureSampler()
    ) as run:
        for _ in range(5):
            step()
        tracemalloc.start()
        step()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"class_weight": "balanced"}, ValueError, "counts"),
        ({"class_weight": [1, 2]}, TypeError, "dictionary"),
        ({"class_weight": {"yes": 2}}, ValueError, "'yes', which is none of the classes"),
        ({"loss": "perceptron"}, ValueError, "loss"),
        ({"penalty": []}, ValueError, "penalty"),
        ({"budget": 0}, ValueError, "epsilon"),
        ({"budget": "1"}, BudgetError, "budget"),
        ({"budget": NoiseMultiplier(-1.0)}, ValueError, "multiplier"),
        ({"budget": NoiseMultiplier(1e-12, allow_exact=True)}, ValueError, "noise_multiplier"),
        ({"budget": Renyi(1.0, order=1.0)}, ValueError, "order"),
        ({"clipping": 0.0}, ValueError, "clipping: norm"),
        ({"batches": 0}, ValueError, "batches: size"),
        ({"learning_rate": LearningRate(0.5, momentum=1.0)}, ValueError, "momentum"),
        ({"batches": Batches(100, accounting="moments")}, ValueError, "accounting"),
        ({"batches": Batches(100, sampling="cyclic")}, ValueError, "sampling"),
        ({"scenario": 20}, TypeError, "scenario"),
        ({"scenario": DifferingRows(0)}, ValueError, "count"),
        ({"batches": Batches(100, discrepancy=20)}, TypeError, "DiscrepancyCap"),
        ({"epochs": Epochs(average=0)}, ValueError, "average"),
        ({"fit_intercept": 3}, ValueError, "fit_intercept"),
        ({"fit_intercept": float("nan")}, ValueError, "fit_intercept"),
    ],
)
def test_bad_parameters(cancer, options, error, words):
    X, y = cancer
    with pytest.raises(error, match=words):
        private(**options).fit(X, y)


@pytest.mark.parametrize("model", [SRPPSGDClassifier(), SRPPPrivate(LogisticRegression())])
def test_nested_names_need_an_object(model):
    with pytest.raises(ValueError, match=r"give the object first, budget=Renyi\(1.0\)"):
        model.set_params(budget__epsilon=2.0)
    assert model.set_params(budget=Renyi(1.0), budget__epsilon=2.0).budget.epsilon == 2.0


def test_a_scaler_beside_is_named_with_what_may_hold_it(cancer):
    X, y = cancer
    with pytest.warns(PrivacyLeakWarning, match=r"inside: SRPPPrivate\(make_pipeline\(...\)\)"):
        make_pipeline(StandardScaler(), private()).fit(X, y)


def test_questions_are_not_quoted(cancer):
    X, y = cancer
    model = private().fit(X, y)
    with pytest.raises(ValueError, match="X must hold numbers") as refused:
        model.predict(np.full(X.shape, "Ada", dtype=object))
    assert "Ada" not in str(refused.value)


def test_no_ledger_without_a_guarantee(cancer):
    X, y = cancer
    ledger = MemoryLedger(1.0, unit=private().ledger_unit)
    with pytest.raises(ValueError, match="count"):
        private(budget=NoiseMultiplier(0), ledger=ledger).fit(X, y)
    with pytest.raises(LedgerMismatchError, match="Mutual"):
        private(ledger=MemoryLedger(1.0)).fit(X, y)
    means = private(batches=Batches(100, accounting="subsampling-aware"))
    with pytest.raises(LedgerMismatchError, match="aggregation"):
        means.set_params(ledger=ledger).fit(X, y)
