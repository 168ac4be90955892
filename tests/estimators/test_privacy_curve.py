"""Curves of utility against privacy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import Identification, Membership, Subsets
from pacsklearn.capping.criterion import CriterionBackend
from pacsklearn.exceptions import BudgetError, UnknownNameError
from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.shaping.closed_forms import DiagonalBackend
from pacsklearn.tabular.choosing.privacy_curve import privacy_utility_curve
from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve
from pacsklearn.universe.balanced_space import balanced_space

SMALL = {"secret": Subsets(16), "n_releases": 8}
BUDGETS = [1 / 16, 1.0]


class SpyRidge(RidgeClassifier):
    """Remembers what it was fitted on."""

    fits: list[dict[str, Any]] = []  # noqa: RUF012 - shared by clones on purpose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.fits.append({"X": np.array(X), "y": np.array(y), "sample_weight": sample_weight})
        return super().fit(X, y, sample_weight=sample_weight)


@pytest.fixture
def fits() -> Iterator[list[dict[str, Any]]]:
    SpyRidge.fits.clear()
    yield SpyRidge.fits
    SpyRidge.fits.clear()


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def curve(iris: Any) -> PrivacyUtilityCurve:
    return privacy_utility_curve(
        RidgeClassifier(), *iris, budgets=[1, 1 / 64, 100], noise=["logdet", "diagonal"], **SMALL
    )


def numbered(X: Any) -> Any:
    """The rows with their number as one more feature."""
    return np.column_stack([X, np.arange(len(X))])


def test_subsets_are_fitted_once_for_all_budgets_and_backends(iris: Any, fits: Any) -> None:
    backends = ["isotropic", "diagonal", "eigen", "logdet"]
    privacy_utility_curve(SpyRidge(), *iris, budgets=[1 / 64, 1 / 4, 1, 4], noise=backends, **SMALL)
    # One more proves determinism, one more takes all training rows.
    assert len(fits) == 16 + 2


def test_held_out_rows_are_never_fitted_on(iris: Any, fits: Any) -> None:
    X, y = iris
    made = privacy_utility_curve(SpyRidge(), numbered(X), y, budgets=BUDGETS, **SMALL)
    fitted = {int(row) for fit in fits for row in fit["X"][:, -1]}
    assert len(fitted) == made.n_rows == 105
    assert made.n_test_rows == 45
    held_out = np.setdiff1d(np.arange(150), sorted(fitted))
    assert np.bincount(y[held_out]).tolist() == [15, 15, 15]


def test_scores_without_noise_are_those_of_models_fitted_by_hand(iris: Any) -> None:
    X, y = iris
    order = np.random.default_rng(0).permutation(150)
    train, test = order[:100], order[100:]
    made = privacy_utility_curve(
        RidgeClassifier(),
        X[train],
        y[train],
        X_test=X[test],
        y_test=y[test],
        budgets=[100],
        **SMALL | {"secret": Subsets(16, blocks=None, seed=0)},
    )
    space = balanced_space(100, n_subsets=16, strata=y[train])
    by_hand = []
    for index in range(16):
        rows = train[space.rows(index)]
        by_hand.append(RidgeClassifier().fit(X[rows], y[rows]).score(X[test], y[test]))
    (point,) = made.points
    assert point.spent == pytest.approx(math.log(16))
    assert point.noise_power == 0
    assert made.noiseless_score == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert all(np.isclose(score, by_hand, atol=1e-12).any() for score in point.scores)
    whole = RidgeClassifier().fit(X[train], y[train])
    assert made.all_rows_score == pytest.approx(whole.score(X[test], y[test]), abs=1e-12)


def test_points_carry_the_bounds_a_release_would_have(curve: PrivacyUtilityCurve) -> None:
    assert curve.budgets == (1 / 64, 1.0, 100.0)
    assert curve.noises == ("logdet", "diagonal")
    assert [point.noise for point in curve.points] == ["logdet"] * 3 + ["diagonal"] * 3
    smallest, _, largest = curve.of("logdet")
    assert smallest.posterior_membership == pytest.approx(0.58815, abs=1e-5)
    assert smallest.spent <= smallest.budget
    assert smallest.posterior_membership == posterior_success(smallest.spent, 0.5)
    assert smallest.dp_epsilon == dp_epsilon(smallest.posterior_membership)
    assert largest.posterior_membership == 1.0
    assert math.isinf(largest.dp_epsilon)
    assert curve.prior_membership == 0.5
    for noise in curve.noises:
        powers = [point.noise_power for point in curve.of(noise)]
        assert powers[0] > powers[1] > powers[2] == 0
    assert curve.of("diagonal")[0].noise_power > smallest.noise_power


def test_the_same_seed_gives_the_same_curve(iris: Any, curve: PrivacyUtilityCurve) -> None:
    options = {"budgets": [1, 1 / 64, 100], "noise": ["logdet", "diagonal"], **SMALL}
    assert privacy_utility_curve(RidgeClassifier(), *iris, **options) == curve
    assert privacy_utility_curve(RidgeClassifier(), *iris, **options, random_state=1) != curve


def test_a_point_does_not_depend_on_the_others(iris: Any, curve: PrivacyUtilityCurve) -> None:
    alone = privacy_utility_curve(RidgeClassifier(), *iris, budgets=[1], noise="diagonal", **SMALL)
    assert alone.points[0] == curve.of("diagonal")[1]


def test_more_budget_is_better() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=10))
    made = privacy_utility_curve(
        model, X, y, budgets=[1e-6, 1, 3], secret=Subsets(16), n_releases=40
    )
    worst, middle, best = (point.mean for point in made.points)
    assert worst < 0.65 < middle <= best + 0.01
    assert best > made.noiseless_score - 0.03
    assert made.estimator == "StandardScaler + RidgeClassifier"


def test_sample_weights_are_cut_to_the_rows(iris: Any, fits: Any) -> None:
    X, y = iris
    params = {"sample_weight": np.arange(150) + 1.0}
    privacy_utility_curve(SpyRidge(), numbered(X), y, budgets=[1], fit_params=params, **SMALL)
    assert all(np.array_equal(fit["sample_weight"], fit["X"][:, -1] + 1) for fit in fits)


def test_groups_stay_together(iris: Any, fits: Any) -> None:
    X, y = iris
    groups = np.arange(150) // 3
    made = privacy_utility_curve(SpyRidge(), numbered(X), y, budgets=[1], groups=groups, **SMALL)
    for fit in fits:
        rows = fit["X"][:, -1].astype(int)
        assert np.all(np.bincount(groups[rows], minlength=50) % 3 == 0)
    assert made.n_rows + made.n_test_rows == 150
    assert made.n_test_rows % 3 == 0


def test_data_frames_and_instances_of_backends(iris: Any) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["a", "b", "c"])[y]
    made = privacy_utility_curve(
        RidgeClassifier(), X, labels, budgets=[1], noise=[DiagonalBackend(), "diagonal"], **SMALL
    )
    assert made.noises == ("DiagonalBackend", "diagonal")
    assert made.points[0].scores == made.points[1].scores


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"budgets": [1, -1]}, BudgetError, "budgets"),
        ({"budgets": [1, "1/4"]}, BudgetError, "budgets"),
        ({"budgets": [math.nan]}, BudgetError, r"budgets\[0\]"),
        ({"budgets": []}, ValueError, "budgets"),
        ({"budgets": 1.0}, ValueError, "budgets"),
        ({"budgets": "logdet"}, ValueError, "budgets"),
        ({"noise": "gauss"}, UnknownNameError, r"'gauss'.*isotropic"),
        ({"noise": ["logdet", 3]}, UnknownNameError, "noise"),
        ({"noise": []}, ValueError, "noise"),
        ({"n_releases": 1}, ValueError, "n_releases"),
        ({"n_releases": 2.5}, ValueError, "n_releases"),
        ({"scoring": "no_such_score"}, ValueError, "no_such_score"),
        ({"scoring": ["accuracy"]}, ValueError, "scoring"),
        ({"scoring": accuracy_score}, ValueError, "make_scorer"),
        ({"scoring": lambda model, X, y: [1.0]}, ValueError, "scoring"),
        ({"canonicalizer": "nothing"}, UnknownNameError, "canonicalizer"),
        ({"y_test": [1]}, ValueError, "y_test"),
        ({"X_test": np.ones((4, 4))}, ValueError, "y_test"),
        ({"X_test": np.ones((4, 3)), "y_test": [0, 1, 0, 1]}, ValueError, "features"),
        ({"X_test": np.ones((4, 4)), "y_test": [0, 1]}, ValueError, "inconsistent"),
        ({"test_size": 2.0}, ValueError, "test_size"),
        ({"secret": Subsets(7)}, ValueError, "7 subsets"),
        ({"groups": [1, 2]}, ValueError, "groups"),
    ],
)
def test_bad_arguments_are_named(iris: Any, options: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        privacy_utility_curve(RidgeClassifier(), *iris, **{**SMALL, **options})


def test_what_is_no_estimator(iris: Any) -> None:
    with pytest.raises(TypeError, match="instance"):
        privacy_utility_curve(RidgeClassifier, *iris)


def test_criterion_is_compared_at_an_equal_promise() -> None:
    X, y = load_iris(return_X_y=True)
    curve = privacy_utility_curve(
        LinearDiscriminantAnalysis(),
        X,
        y,
        budgets=[1 / 16, 4.0],
        noise=["logdet", CriterionBackend(n_draws=512, n_certificate=1024)],
        n_releases=2,
        secret=Subsets(16),
    )
    gaussian, capped = curve.of("logdet"), curve.of("CriterionBackend")
    assert capped[0].posterior_membership <= gaussian[0].posterior_membership
    assert capped[0].noise_power < gaussian[0].noise_power
    assert capped[0].spent > gaussian[0].spent
    assert capped[1].noise_power == 0


@pytest.mark.soak
def test_each_budget_of_a_mixed_list_meets_the_backend_that_keeps_it(iris: Any) -> None:
    budgets = [Membership(0.7), 1 / 16, Identification(0.3)]
    curve = privacy_utility_curve(RidgeClassifier(), *iris, budgets=budgets, **SMALL)
    assert [(point.noise, point.stated) for point in curve.points] == [
        ("criterion", "Membership(0.7)"),
        ("criterion", "Identification(0.3)"),
        ("logdet", "1/16"),
    ]
    capped = curve.points[0]
    assert capped.posterior_membership <= 0.7
    assert "Membership(0.7)" in str(curve)
    assert PrivacyUtilityCurve.from_json(curve.to_json()) == curve


def test_a_pipeline_without_its_target_says_so(iris: Any) -> None:
    model = make_pipeline(StandardScaler(), RidgeClassifier())
    with pytest.raises(ValueError, match="requires y"):
        privacy_utility_curve(model, iris[0])
