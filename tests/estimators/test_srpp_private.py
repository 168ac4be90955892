"""What SRPPPrivate releases, and what it refuses."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pacsklearn import PACPrivate, SRPPPrivate, Subsets
from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    LedgerMismatchError,
    NoCanonicalizerError,
    NonDeterministicError,
    PacsklearnError,
    PrivacyLeakWarning,
    ScenarioError,
    StructureMismatchError,
    SubsetFitError,
    UnknownNameError,
)
from pacsklearn.kernel.guarantee.status import Reliance
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.srpp import (
    GroupScenario,
    Noise,
    PrevalenceScenario,
    Renyi,
    Scenario,
    SimulatorScenario,
    SliceProfile,
    Slices,
)
from pacsklearn.srpp.laws.sliced_law import SlicedLaw
from pacsklearn.srpp.scenarios.scenario import SecretColumn


@pytest.fixture(scope="module")
def data() -> Any:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 3))
    y = (X[:, 0] + 0.3 * generator.normal(size=120) > 0).astype(int)
    group = np.array(["a", "b", "c"])[generator.integers(0, 3, 120)]
    return X, y, group


def moments(X: Any, y: Any) -> Any:
    return np.append(X.mean(axis=0), y.mean())


class TestReleases:
    @pytest.mark.product(only=2)
    @pytest.mark.parametrize("aggregation", ["average", "joint", "full"])
    @pytest.mark.parametrize("scenario", ["prevalence", "group"])
    def test_within_the_budget(self, data, aggregation, scenario):
        X, y, group = data
        model = SRPPPrivate(
            LogisticRegression(),
            budget=0.7,
            scenario=scenario,
            slices=Slices(aggregation=aggregation),
        )
        realized = {"realized": "a"} if scenario == "group" else {}
        guarantee = model.fit(X, y, secret=group, **realized).guarantee_
        assert 0.69 < guarantee.spent <= guarantee.budget == 0.7
        assert guarantee.aggregation == aggregation
        assert guarantee.for_release
        assert guarantee.secret.n_secrets == (7 if scenario == "prevalence" else 3)

    def test_at_a_huge_budget_the_release_is_the_model_of_a_training_set(self, data):
        X, y, group = data
        scenario = PrevalenceScenario(n_draws=1)
        model = SRPPPrivate(
            LogisticRegression(), budget=Renyi(1e9, allow_exact=True), scenario=scenario
        )
        model.fit(X, y, secret=group, realized="as in the table")
        worlds = scenario.worlds(X, y, SecretColumn(group))
        plain = LogisticRegression().fit(*worlds.worlds[0].data(X, y))
        released = model.released_estimator_
        np.testing.assert_allclose(
            released.coef_ / released.intercept_, plain.coef_ / plain.intercept_, rtol=1e-2
        )
        assert type(released) is LogisticRegression
        np.testing.assert_array_equal(model.classes_, [0, 1])
        assert model.n_features_in_ == 3

    def test_at_a_huge_budget_a_group_release_is_a_model_of_that_group(self, data):
        X, y, group = data
        scenario = GroupScenario(n_draws=1)
        for name in "abc":
            model = SRPPPrivate(moments, budget=Renyi(1e9, allow_exact=True), scenario=scenario)
            found = model.fit(X, y, secret=group, realized=name).released_value_
            np.testing.assert_allclose(
                found, moments(X[group == name], y[group == name]), rtol=0.02
            )

    @pytest.mark.soak
    def test_at_a_tiny_budget_it_is_noise(self, data):
        X, y, group = data
        scores = [
            SRPPPrivate(
                LogisticRegression(),
                budget=1e-6,
                slices=Slices(aggregation="full"),
                scenario=GroupScenario(n_draws=1),
            )
            .fit(X, y, secret=group, realized="a")
            .score(X, y)
            for _ in range(40)
        ]
        assert abs(np.mean(scores) - 0.5) < 0.15
        assert np.std(scores) > 0.1

    def test_labels_are_the_default_secret_of_classifiers(self, data):
        X, y, _ = data
        guarantee = SRPPPrivate(LogisticRegression()).fit(X, y).guarantee_
        assert "how frequent each value" in guarantee.secret.protects

    def test_a_column_by_name(self, data):
        X, _y, group = data
        frame = pd.DataFrame(X, columns=list("xyz")).assign(sex=(group == "a").astype(float))
        model = SRPPPrivate(Ridge()).fit(frame, X[:, 0], secret="sex")
        assert list(model.feature_names_in_) == ["x", "y", "z", "sex"]
        assert model.predict(frame).shape == (120,)

    @pytest.mark.product(only=3)
    @pytest.mark.parametrize(
        "estimator",
        [
            Ridge(),
            PCA(2),
            StandardScaler(),
            KMeans(2, n_init=1),
            make_pipeline(StandardScaler(), LogisticRegression()),
        ],
        ids=lambda estimator: type(estimator).__name__,
    )
    def test_every_kind_of_estimator(self, data, estimator):
        X, y, group = data
        model = SRPPPrivate(estimator, scenario=PrevalenceScenario(n_draws=2))
        model.fit(X, y, secret=group)
        method = "predict" if hasattr(model, "predict") else "transform"
        assert np.isfinite(getattr(model, method)(X)).all()

    @pytest.mark.soak
    def test_a_simulator(self, data):
        X, y, _ = data

        def sample(secret: float, prior: str, rng: Any) -> Any:
            rows = rng.normal(size=(50, 3)) + secret
            return rows, (rows[:, 0] > secret).astype(int)

        scenario = SimulatorScenario(
            sample, secrets=(0.0, 0.5), about="the mean of the rows", n_draws=150
        )
        guarantee = SRPPPrivate(Ridge(), scenario=scenario).fit(X[:50], y[:50]).guarantee_
        assert guarantee.secret.protects == "the mean of the rows: 0.0, 0.5"
        assert guarantee.confidence == 1 - 1e-6
        assert "for tables drawn from the stated laws" in str(guarantee.status)
        assert 0.8 < guarantee.spent <= guarantee.budget

    @pytest.mark.soak
    def test_a_reference(self, data):
        X, y, group = data
        scenario = PrevalenceScenario(
            reference=(X, y, group == "a"), n_draws=150, size=60, confidence=0.99
        )
        model = SRPPPrivate(LogisticRegression(), scenario=scenario)
        model.fit(X[::2], y[::2])
        assert model.guarantee_.confidence == 0.99
        assert model.predict(X).shape == (120,)
        assert "training set" not in model.guarantee_.secret.protects

    @pytest.mark.soak
    def test_a_table_without_a_model_is_released_as_the_centre_and_shows_nothing(self, data):
        """Its computation fails, or warns: what leaves and what is charged look the same."""
        X, y, group = data
        scenario = PrevalenceScenario(reference=(X, y, group == "a"), n_draws=100)

        def delicate(X: Any, y: Any) -> Any:
            if X[0, 0] == 7.0:
                raise ValueError("a row tells")
            if X[0, 0] == 8.0:
                warnings.warn("a row tells", UserWarning, stacklevel=1)
                return np.full(5, np.inf)
            return moments(X, y)

        centres = []
        for first in (7.0, 8.0):
            table = X.copy()
            table[0, 0] = first
            model = SRPPPrivate(delicate, scenario=scenario, budget=Renyi(1e9, allow_exact=True))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                centres.append(model.fit(table, y).released_value_)
            assert model.guarantee_.n_releases == 1
        np.testing.assert_allclose(*centres, atol=1e-3)
        np.testing.assert_allclose(centres[0], moments(X, y), atol=0.2)

    def test_a_table_far_from_the_reference_is_clipped(self, data):
        X, y, group = data
        scenario = PrevalenceScenario(reference=(X, y, group == "a"), n_draws=100)
        model = SRPPPrivate(moments, scenario=scenario, budget=Renyi(1e9, allow_exact=True))
        far = model.fit(X + 1e6, y).released_value_
        np.testing.assert_allclose(far, moments(X, y), atol=1.0)

    def test_the_headline_says_whose_share_is_hidden(self, data):
        X, y, group = data
        guarantee = SRPPPrivate(moments).fit(X, y, secret=group).guarantee_
        assert "in the training set" in guarantee.secret.protects
        assert "the table's own share is not hidden" in guarantee.promise
        assert any("universe" in text for text in guarantee.not_covered)

    @pytest.mark.soak
    def test_the_share_is_drawn_or_stated(self, data):
        X, y, group = data
        scenario = PrevalenceScenario(shares=(0.2, 0.4, 0.6), value="a", n_draws=3)
        table = np.column_stack([X[:, :2], group == "a"])
        model = SRPPPrivate(
            lambda X: np.mean(X[:, 2]), budget=Renyi(1e9, allow_exact=True), scenario=scenario
        )
        for stated in (0.2, 0.6):
            value = model.fit(table, y, secret=group, realized=stated).released_value_
            assert value == pytest.approx(stated, abs=0.02)
        drawn = {round(model.fit(table, y, secret=group).released_value_, 1) for _ in range(54)}
        assert drawn == {0.2, 0.4, 0.6}  # fails once in 1e9 runs

    def test_the_whole_release_is_bounded_unless_a_view_is_asked_for(self, data):
        """The average view, which was the default, says little about who has the whole vector."""
        X, y, group = data
        full = SRPPPrivate(moments).fit(X, y, secret=group).guarantee_
        view = (
            SRPPPrivate(moments, slices=Slices(aggregation="average"))
            .fit(X, y, secret=group)
            .guarantee_
        )
        assert full.aggregation == "full"
        assert full.costs.full <= 1.0
        assert view.costs.average <= 1.0
        assert view.costs.full > 1.5

    @pytest.mark.soak
    def test_a_released_vector_is_noised_by_what_it_costs(self, data):
        """A feature in other units: the same accuracy. Without the metric it is a coin's."""
        X, y, group = data
        scores = {}
        for unit in (1.0, 1e3):
            for metric in ("auto", None):
                model = SRPPPrivate(
                    make_pipeline(StandardScaler(), LogisticRegression()),
                    budget=64.0,
                    noise=Noise(metric=metric),
                    random_state=0,
                )
                rows = X * [1.0, unit, 1.0]
                with pytest.warns(PrivacyLeakWarning):
                    scores[unit, metric] = model.fit(rows, y, secret=group).score(rows, y)
        assert scores[1.0, "auto"] > 0.8
        assert scores[1e3, "auto"] == pytest.approx(scores[1.0, "auto"], abs=0.05)
        assert scores[1e3, None] < scores[1e3, "auto"] - 0.1

    @pytest.mark.soak
    def test_functions(self, data):
        X, y, group = data
        model = SRPPPrivate(moments, budget=5.0).fit(X, y, secret=group)
        assert model.released_value_.shape == (4,)
        assert not hasattr(model, "predict")
        assert not hasattr(model, "released_estimator_")
        alone = SRPPPrivate(lambda X: X.mean(), budget=5.0).fit(X, secret=group)
        assert isinstance(alone.released_value_, float)
        matrix = SRPPPrivate(lambda X, y: X.T @ X, budget=5.0).fit(X, y, secret=group)
        assert matrix.released_value_.shape == (3, 3)

    def test_nothing_depends_on_the_secret(self, data):
        X, y, group = data
        model = SRPPPrivate(lambda X, y: np.arange(3.0)).fit(X, y, secret=group)
        np.testing.assert_array_equal(model.released_value_, np.arange(3.0))
        assert model.guarantee_.noiseless
        assert model.guarantee_.spent == 0.0

    @pytest.mark.soak
    def test_given_slices(self, data):
        X, y, group = data
        profile = SliceProfile(np.eye(5))
        model = SRPPPrivate(
            LogisticRegression(), slices=Slices(profile=profile, aggregation="joint")
        )
        model.fit(X, y, secret=group)
        assert profile.digest in model.guarantee_.slices
        orthogonal = SRPPPrivate(LogisticRegression(), slices=Slices(8, profile="orthogonal"))
        assert "orthogonal" in orthogonal.fit(X, y, secret=group).guarantee_.slices

    @pytest.mark.soak
    def test_anisotropic_noise_has_less_power(self, data, monkeypatch):
        X, y, group = data
        laws, original = [], SlicedLaw.observe

        def watching(law: Any, centre: Any, noise: Any) -> Any:
            laws.append(law)
            return original(law, centre, noise)

        monkeypatch.setattr(SlicedLaw, "observe", watching)
        for noise in ("isotropic", "anisotropic"):
            model = SRPPPrivate(moments, noise=noise, slices=Slices(aggregation="average"))
            model.fit(X * [10.0, 1.0, 0.1], y, secret=group)
            assert model.guarantee_.spent <= 1.0
        isotropic, anisotropic = (law.noise_power for law in laws)
        assert anisotropic < isotropic

    def test_fresh_noise_and_reproducible_noise(self, data):
        X, y, group = data
        model = SRPPPrivate(moments)
        first = model.fit(X, y, secret=group).released_value_
        assert not np.array_equal(first, model.fit(X, y, secret=group).released_value_)
        seeded = SRPPPrivate(moments, random_state=3)
        with pytest.warns(PrivacyLeakWarning, match="private"):
            first = seeded.fit(X, y, secret=group).released_value_
        with pytest.warns(PrivacyLeakWarning):
            np.testing.assert_array_equal(first, seeded.fit(X, y, secret=group).released_value_)
        assert seeded.guarantee_.status.kind == "not for release"

    def test_sample_weights_follow_their_rows(self, data):
        X, y, group = data
        weights = np.where(y == 1, 5.0, 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            scenario = PrevalenceScenario(n_draws=1)
            model = SRPPPrivate(
                LogisticRegression(), budget=Renyi(1e9, allow_exact=True), scenario=scenario
            )
            realized = "as in the table"
            model.fit(X, y, secret=group, realized=realized, sample_weight=weights)
        rows = scenario.worlds(X, y, SecretColumn(group)).worlds[0].rows
        plain = LogisticRegression().fit(X[rows], y[rows], sample_weight=weights[rows])
        released = model.released_estimator_
        np.testing.assert_allclose(
            released.coef_ / released.intercept_, plain.coef_ / plain.intercept_, rtol=2e-2
        )

    def test_html_and_text(self, data):
        X, y, group = data
        model = SRPPPrivate(LogisticRegression())
        assert "SRPPPrivate" in model._repr_html_()
        assert "Pufferfish" in model.fit(X, y, secret=group)._repr_html_()


class TestSearch:
    @pytest.mark.soak
    def test_over_epsilon(self, data):
        X, y, group = data
        grid = GridSearchCV(
            SRPPPrivate(LogisticRegression(), scenario=PrevalenceScenario(n_draws=2)),
            {"budget": [0.1, Renyi(1e6, allow_exact=True)]},
            cv=3,
        )
        grid.fit(X, y, secret=group)
        assert grid.best_params_ == {"budget": Renyi(1e6, allow_exact=True)}
        assert grid.best_estimator_.guarantee_.budget == 1e6

    @pytest.mark.soak
    def test_the_true_group_goes_along(self, data):
        X, y, group = data
        grid = GridSearchCV(
            SRPPPrivate(
                LogisticRegression(),
                scenario=GroupScenario(n_draws=2),
                budget=Renyi(1.0, allow_exact=True),
            ),
            {"budget__epsilon": [0.1, 1e6], "estimator__C": [0.1, 1.0]},
            cv=2,
        )
        grid.fit(X, y, secret=group, realized="b")
        assert grid.best_params_["budget__epsilon"] == 1e6
        assert "realized" not in vars(grid.best_estimator_)

    @pytest.mark.soak
    def test_routing(self, data):
        X, y, group = data
        with config_context(enable_metadata_routing=True):
            model = SRPPPrivate(
                LogisticRegression().set_fit_request(sample_weight=True),
                scenario=GroupScenario(n_draws=2),
            ).set_fit_request(secret=True, realized=True)
            grid = GridSearchCV(model, {"budget": [1.0, 2.0]}, cv=2)
            grid.fit(X, y, secret=group, realized="a")
            assert grid.best_estimator_.guarantee_.secret.n_secrets == 3
            model.fit(X, y, secret=group, realized="a", sample_weight=np.ones(120))
            pipe = make_pipeline(StandardScaler(), model)
            with pytest.warns(PrivacyLeakWarning, match="standardscaler"):
                pipe.fit(X, y, secret=group, realized="a")
            function = SRPPPrivate(moments).set_fit_request(secret=True)
            assert function.get_metadata_routing() is not None


class TestLedger:
    def test_releases_add_up(self, data):
        X, y, group = data
        model = SRPPPrivate(LogisticRegression(), budget=1.0, secret_name="group")
        model.ledger = MemoryLedger(2.5, unit=model.ledger_unit(5))
        for expected in (1, 2):
            guarantee = model.fit(X, y, secret=group).guarantee_
            assert guarantee.n_releases == expected
            assert guarantee.charged == pytest.approx(expected, rel=1e-4)
            assert guarantee.charged == model.ledger.spent
        with pytest.raises(BudgetExhaustedError):
            model.fit(X, y, secret=group)
        assert len(model.ledger.events) == 2
        assert "best coupling" in guarantee.secret.coupling

    def test_nothing_is_computed_when_the_budget_is_gone(self, data):
        X, y, group = data
        called = []

        def spy(X: Any, y: Any) -> Any:
            called.append(1)
            return X.mean(axis=0)

        model = SRPPPrivate(spy, budget=1.0, secret_name="group")
        model.ledger = MemoryLedger(0.5, unit=model.ledger_unit(3))
        with pytest.raises(BudgetExhaustedError):
            model.fit(X, y, secret=group)
        assert not called
        assert model.ledger.events == ()

    def test_what_does_not_add_up_is_refused(self, data):
        X, y, group = data
        model = SRPPPrivate(moments, slices=Slices(aggregation="average"), secret_name="group")
        ledger = MemoryLedger(9.0, unit=model.ledger_unit(4))
        model.set_params(ledger=ledger).fit(X, y, secret=group)
        for change, named in [
            ({"budget": Renyi(1.0, order=8.0)}, "order"),
            ({"slices": Slices(aggregation="joint")}, "aggregation"),
            ({"slices": Slices(seed=1, aggregation="average")}, "slice profile"),
            ({"slices": Slices(100, aggregation="average")}, "slice profile"),
            ({"scenario": PrevalenceScenario(shift=0.2)}, "scenario"),
            ({"secret_name": "another column"}, "secret"),
        ]:
            with pytest.raises(LedgerMismatchError, match=f"differs: .*{named} "):
                clone(model).set_params(ledger=ledger, **change).fit(X, y, secret=group)
            assert len(ledger.events) == 1

    def test_releases_about_two_columns_are_not_added(self, data):
        """Of their sum nothing follows about both columns together; a name tells them apart."""
        X, y, group = data
        other = np.where(X[:, 0] > 0, "a", "b")
        model = SRPPPrivate(moments, slices=Slices(aggregation="full"), secret_name="clinic: group")
        ledger = MemoryLedger(2.0, unit=model.ledger_unit(4))
        model.set_params(ledger=ledger).fit(X, y, secret=group)
        second = clone(model).set_params(secret_name="clinic: sign", ledger=ledger)
        with pytest.raises(LedgerMismatchError, match="differs"):
            second.fit(X, y, secret=other)
        with pytest.raises(ValueError, match="secret_name"):
            clone(model).set_params(secret_name=None, ledger=ledger).fit(X, y, secret=other)
        assert len(ledger.events) == 1

    def test_mutual_information_and_renyi_divergences_are_never_added(self, data):
        X, y, group = data
        nats = MemoryLedger(9.0)
        with pytest.raises(LedgerMismatchError, match="added"):
            SRPPPrivate(moments, ledger=nats, secret_name="group").fit(X, y, secret=group)
        model = SRPPPrivate(LogisticRegression())
        renyi = MemoryLedger(9.0, unit=model.ledger_unit(4))
        with pytest.raises(LedgerMismatchError, match="nats"):
            PACPrivate(LogisticRegression(), ledger=renyi, secret=Subsets(4)).fit(X, y)
        assert nats.events == renyi.events == ()

    def test_a_ledger_in_a_file(self, data, tmp_path):
        X, y, group = data
        address = f"sqlite:///{tmp_path / 'clinic.db'}"
        called = []

        def spy(X: Any, y: Any) -> Any:
            called.append(1)
            return moments(X, y)

        model = SRPPPrivate(spy, budget=1.0, ledger=address, secret_name="group")
        SharedLedger.found(address, 1.0, unit=model.ledger_unit(4))
        model.fit(X, y, secret=group)
        called.clear()
        with pytest.raises(BudgetExhaustedError):
            clone(model).set_params(budget=0.5).fit(X, y, secret=group)
        assert not called
        with pytest.raises(LedgerMismatchError, match="order"):
            clone(model).set_params(budget=Renyi(1e-8, order=5.0)).fit(X, y, secret=group)
        assert len(SharedLedger(address, unit=None).events) == 1

    def test_releases_of_one_table_do_not_add_up(self, data):
        X, y, group = data
        scenario = PrevalenceScenario(reference=(X, y, group == "a"), n_draws=150)
        model = SRPPPrivate(moments, scenario=scenario, secret_name="group")
        model.ledger = MemoryLedger(9.0, unit=model.ledger_unit(4))
        with pytest.raises(ScenarioError, match="do not add up"):
            model.fit(X, y)
        assert model.ledger.events == ()


class NoSecret(Scenario):
    protects = releases = description = "nothing"

    def worlds(self, X: Any, y: Any, secret: Any) -> Any:
        raise NotImplementedError


class TestBadInput:
    @pytest.mark.parametrize(
        ("parameters", "error", "message"),
        [
            ({"budget": 0}, BudgetError, "budget"),
            ({"budget": -1.0}, BudgetError, "epsilon"),
            ({"budget": np.inf}, BudgetError, "epsilon"),
            ({"budget": "1"}, BudgetError, "budget"),
            ({"budget": Renyi(1.0, order=1.0)}, ValueError, "order"),
            ({"budget": Renyi(1.0, order=0.5)}, ValueError, "order"),
            ({"budget": Renyi(1.0, order=np.inf)}, ValueError, "order"),
            ({"budget": Renyi(1.0, order=None)}, ValueError, "order"),
            ({"scenario": "unheard of"}, UnknownNameError, "group"),
            ({"scenario": GroupScenario}, UnknownNameError, "instance"),
            ({"slices": Slices(aggregation="median")}, ValueError, "aggregation"),
            ({"noise": "pink"}, ValueError, "noise"),
            ({"noise": "anisotropic", "slices": Slices(aggregation="full")}, ValueError, "along"),
            ({"slices": Slices(profile="diagonal")}, ValueError, "slices"),
            ({"slices": Slices(profile=np.eye(4))}, ValueError, "slices"),
            ({"slices": Slices(profile=SliceProfile(np.eye(3)))}, ValueError, "directions"),
            ({"slices": 0}, ValueError, "slices: n must"),
            ({"slices": Slices(seed=-1)}, ValueError, "slices: seed"),
            ({"budget": Renyi(1.0, delta=0.0)}, ValueError, "delta"),
            ({"noise": Noise(metric="best")}, ValueError, "metric"),
            ({"ledger": "postgres://", "secret_name": "s"}, ValueError, "ledger"),
        ],
    )
    def test_parameters(self, data, parameters, error, message):
        X, y, group = data
        if "ledger" in parameters:
            from pacsklearn.exceptions import LedgerError

            error = LedgerError
        with pytest.raises(error, match=message):
            SRPPPrivate(LogisticRegression(), **parameters).fit(X, y, secret=group)

    def test_what_a_reference_does_not_take(self, data):
        X, y, group = data
        scenario = PrevalenceScenario(reference=(X, y, group == "a"), n_draws=150)
        model = SRPPPrivate(moments, scenario=scenario)
        with pytest.raises(ScenarioError, match="takes"):
            model.fit(X, y, secret=group)
        with pytest.raises(ScenarioError, match="realized"):
            model.fit(X, y, realized=0.4)
        with pytest.raises(ValueError, match="noise='isotropic'"):
            clone(model).set_params(noise="anisotropic", slices=Slices(aggregation="average")).fit(
                X, y
            )
        with pytest.raises(ScenarioError, match="tables"):
            model.fit(X[:, :2], y)
        with pytest.raises(ScenarioError, match="tuple"):
            PrevalenceScenario(reference=X)
        for wrong in (0.0, 1.0):
            surest = replace(scenario, confidence=wrong)
            with pytest.raises(ValueError, match="confidence"):
                clone(model).set_params(scenario=surest).fit(X, y)

    def test_secrets(self, data):
        X, y, group = data
        with pytest.raises(ScenarioError, match="secret"):
            SRPPPrivate(Ridge()).fit(X, X[:, 0])
        with pytest.raises(ScenarioError, match="secret"):
            SRPPPrivate(moments).fit(X, y)
        with pytest.raises(ScenarioError, match="column"):
            SRPPPrivate(Ridge()).fit(X, y, secret="sex")
        with pytest.raises(ScenarioError, match="entry"):
            SRPPPrivate(Ridge()).fit(X, y, secret=group[:-1])
        one = np.where(np.arange(120) == 4, "z", group)
        with pytest.raises(ScenarioError, match="needs"):
            SRPPPrivate(Ridge(), scenario="group").fit(X, y, secret=group)
        with pytest.raises(ScenarioError, match="secrets") as caught:
            SRPPPrivate(Ridge(), scenario="group").fit(X, y, secret=group, realized="zz-top")
        assert "zz-top" not in str(caught.value)
        with pytest.raises(ScenarioError, match="single"):
            SRPPPrivate(Ridge(), scenario="group").fit(X, y, secret=one, realized="a")
        scenario = GroupScenario(pairs=[("a", "z")])
        with pytest.raises(ScenarioError, match="data"):
            SRPPPrivate(Ridge(), scenario=scenario).fit(X, y, secret=group, realized="a")

    def test_estimators(self, data):
        X, y, group = data
        with pytest.raises(NoCanonicalizerError):
            SRPPPrivate(KNeighborsClassifier()).fit(X, y, secret=group)
        with pytest.raises(TypeError, match="LogisticRegression"):
            SRPPPrivate(LogisticRegression).fit(X, y, secret=group)
        with pytest.raises(TypeError, match="object"):
            SRPPPrivate(3).fit(X, y, secret=group)
        with pytest.raises(NotFittedError):
            SRPPPrivate(LogisticRegression()).predict(X)
        assert not hasattr(SRPPPrivate(DecisionTreeRegressor()), "transform")

    def test_functions(self, data):
        X, y, group = data
        with pytest.raises(TypeError, match="parameters"):
            SRPPPrivate(moments).fit(X, y, secret=group, sample_weight=y)
        with pytest.raises(SubsetFitError, match="ZeroDivisionError"):
            SRPPPrivate(lambda X, y: 1 / 0).fit(X, y, secret=group)
        with pytest.raises(SubsetFitError, match="infinite"):
            SRPPPrivate(lambda X, y: np.nan).fit(X, y, secret=group)
        with pytest.raises(SubsetFitError, match="numbers"):
            SRPPPrivate(lambda X, y: []).fit(X, y, secret=group)
        with pytest.raises(StructureMismatchError, match="shape"):
            SRPPPrivate(lambda X, y: X[: int(y.sum())]).fit(X, y, secret=y == 1)
        generator = np.random.default_rng(0)
        with pytest.raises(NonDeterministicError):
            SRPPPrivate(lambda X, y: generator.random()).fit(X, y, secret=group)

    def test_parameters_of_fit_and_simulated_rows(self, data):
        X, y, _ = data
        scenario = SimulatorScenario(lambda s, p, rng: (X, y), secrets=(0, 1))
        with pytest.raises(ScenarioError, match="sample_weight"):
            SRPPPrivate(Ridge(), scenario=scenario).fit(X, y, sample_weight=y)

    def test_a_failing_fit_leaves_the_last_one_whole(self, data):
        X, y, group = data
        model = SRPPPrivate(LogisticRegression()).fit(X, y, secret=group)
        before = model.guarantee_
        with pytest.raises(ScenarioError):
            model.fit(X, y, secret=group[:3])
        assert model.guarantee_ is before
        assert model.predict(X).shape == (120,)


def sized(secret: Any, prior: Any, rng: np.random.Generator) -> Any:
    return rng.normal(loc=secret, size=(rng.integers(40, 61), 2)), None


def test_a_table_that_the_scenario_does_not_draw_is_refused(data):
    """The promise is about drawn tables; of another size none was drawn."""
    X, _, group = data
    drawn = PrevalenceScenario(reference=(X, None, group == "a"), n_draws=100, size=90)
    model = SRPPPrivate(lambda X: X.mean(axis=0), scenario=drawn)
    for n in (89, 91, 120):
        with pytest.raises(ScenarioError, match=f"{n} rows"):
            model.fit(X[:n])
    assert model.fit(X[:90]).guarantee_.for_release
    several = SimulatorScenario(sized, secrets=(0, 1), n_draws=150)
    model = SRPPPrivate(lambda X: X.mean(axis=0), scenario=several)
    for n in (20, 80):
        with pytest.raises(ScenarioError, match="40 to 60"):
            model.fit(X[:n, :2])
    assert model.fit(X[:50, :2]).guarantee_.for_release


@pytest.mark.parametrize("aggregation", ["full", "joint", "average"])
@pytest.mark.parametrize(
    ("name", "budget"),
    [
        ("epsilon", 1e300),
        ("epsilon", 1e10),
        ("order", Renyi(1.0, 1e300)),
        ("order", Renyi(1.0, 1e7)),
    ],
)
def test_numbers_that_no_noise_can_hide_are_refused_by_name(data, name, budget, aggregation):
    X, y, group = data
    model = SRPPPrivate(moments, budget, slices=Slices(aggregation=aggregation))
    with pytest.raises((BudgetError, ValueError), match=name):
        model.fit(X, y, secret=group)


@pytest.mark.parametrize("aggregation", ["full", "joint", "average"])
def test_the_largest_numbers_that_are_taken_give_finite_costs(data, aggregation):
    X, y, group = data
    most = SRPPPrivate(
        moments,
        slices=Slices(aggregation=aggregation),
        budget=Renyi(1e9, order=1e6, allow_exact=True),
    )
    guarantee = most.fit(X, y, secret=group).guarantee_
    assert np.isfinite([guarantee.costs.full, guarantee.costs.full_epsilon]).all()


@pytest.mark.parametrize("function", [
    lambda X: X.mean(axis=0) + 1j, lambda X: np.array([1 + 0j]), lambda X: "a", lambda X: None,
    lambda X: np.ma.masked_array(X.mean(axis=0), mask=[True, False, False]),
], ids=["complex", "complex without a part", "text", "nothing", "masked"])  # fmt: skip
def test_only_real_numbers_are_released(data, function):
    X, _, group = data
    ledger = MemoryLedger(1.0, unit=SRPPPrivate(function, secret_name="g").ledger_unit(3))
    with pytest.raises(SubsetFitError, match="complex"):
        SRPPPrivate(function, secret_name="g", ledger=ledger).fit(X, secret=group)
    assert ledger.spent == 0


def test_a_complex_model_is_refused(data):
    class Turned(Ridge):
        def fit(self, X: Any, y: Any) -> Any:
            super().fit(X, y)
            self.coef_ = self.coef_ + 1j
            return self

    X, y, group = data
    with pytest.raises(PacsklearnError):
        SRPPPrivate(Turned()).fit(X, y, secret=group)
    with pytest.raises(PacsklearnError):
        PACPrivate(Turned(), secret=Subsets(8)).fit(X, y)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("aggregation", ["average", "joint", "full"])
def test_a_law_that_hides_nothing_needs_consent(data, aggregation):
    """Read off the law: the best attack tells a pair of groups apart in 99.99 % of cases."""
    X, y, group = data
    scenario = GroupScenario(n_draws=1)
    given = {
        "scenario": scenario,
        "slices": Slices(aggregation=aggregation),
        "secret_name": "clinic: group",
    }
    model = SRPPPrivate(moments, budget=1e6, **given)
    ledger = MemoryLedger(2e6, unit=model.ledger_unit(4))
    asked = model.set_params(ledger=ledger)
    with pytest.raises(BudgetError, match="allow_exact=True"):
        asked.fit(X, y, secret=group, realized="a")
    assert not ledger.events
    assert not hasattr(asked, "released_value_")
    exact = asked.set_params(budget=Renyi(1e6, allow_exact=True)).fit(
        X, y, secret=group, realized="a"
    )
    guarantee = exact.guarantee_
    assert guarantee.status.kind == Reliance.HIDES_NOTHING
    assert not guarantee.for_release
    assert ledger.spent == guarantee.spent == guarantee.charged > 0
    assert SRPPPrivate(moments).fit(X, y, secret=group).guarantee_.for_release
