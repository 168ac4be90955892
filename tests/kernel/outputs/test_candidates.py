"""The candidate subsets that are shown are those that are released, wherever one comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from pacsklearn import Answers, Nats, PACPrivate, PrivacySession, Subsets
from pacsklearn.audit import run_audit
from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.plots import NoiseSpectrumDisplay, StabilityDisplay
from pacsklearn.priors import Range
from pacsklearn.tabular import privacy_utility_curve
from pacsklearn.universe.balanced_space import balanced_space
from pacsklearn.universe.design import Design

N = 48
GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(N, 3))
COUNTS = np.resize([0, 1, 2, 5], N)
CLASSES = np.resize(["a", "b", "c"], N)
GROUPS = np.arange(N) // 2
M = {"n": 8, "seed": 3}

UNIVERSES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "counts": (Ridge(), COUNTS, {}),
    "a column of counts": (Ridge(), COUNTS[:, None], {}),
    "counts of groups": (Ridge(), COUNTS, {"groups": GROUPS}),
    "rare counts": (Ridge(), np.append(COUNTS[1:], 9), {}),
    "counts rare by group": (Ridge(), np.repeat([7, 1, 1, 7], [2, 22, 22, 2]), {"groups": GROUPS}),
    "numbers": (Ridge(), X[:, 0] + 1, {}),
    "classes": (LinearDiscriminantAnalysis(), CLASSES, {}),
    "classes, on request not": (LinearDiscriminantAnalysis(), CLASSES, {"stratify": False}),
    "clusters beside classes": (KMeans(2, n_init=1, random_state=0), CLASSES, {}),
    "scales beside classes": (StandardScaler(), CLASSES, {}),
    "a third": (LinearDiscriminantAnalysis(), CLASSES, {"rate": 0.25}),
}


def parameters(estimator: Any, y: Any, groups: Any = None, **design: Any) -> None:
    PACPrivate(estimator, secret=Subsets(**M, **design)).fit(X, y, groups=groups)


def responses(estimator: Any, y: Any, groups: Any = None, **design: Any) -> None:
    release = Answers(prior=Range(0.0, 9.0) if isinstance(estimator, Ridge) else None)
    PACPrivate(estimator, release=release, secret=Subsets(**M, **design)).fit(X, y, groups=groups)


def session(estimator: Any, y: Any, groups: Any = None, **design: Any) -> None:
    secret = Subsets(**M, **design)
    with PrivacySession(X, y, budget=Nats(1.0), secret=secret, groups=groups) as opened:
        opened.release(estimator)


def function(estimator: Any, y: Any, groups: Any = None, **design: Any) -> None:
    secret = Subsets(**M, **design)
    with PrivacySession(X, y, budget=Nats(1.0), secret=secret, groups=groups) as opened:
        opened.release_function(lambda rows, _: rows.mean())


def curve(estimator: Any, y: Any, groups: Any = None, **design: Any) -> None:
    privacy_utility_curve(
        estimator,
        X,
        y,
        X_test=X,
        y_test=y,
        budgets=[1.0],
        n_releases=2,
        scoring=lambda *_: 0.0,
        secret=Subsets(**M, **design),
        groups=groups,
    )


def spectrum(estimator: Any, y: Any, groups: Any = None, **design: Any) -> None:
    secret = Subsets(**M, **design)
    NoiseSpectrumDisplay.from_estimator(estimator, X, y, secret=secret, groups=groups)


def stability(estimator: Any, y: Any, groups: Any = None, **design: Any) -> None:
    given = {"secret": Subsets(**M, **design), "groups": groups}
    StabilityDisplay.from_estimator(estimator, X, y, n_orders=1, noise="logdet", **given)


def audit(estimator: Any, y: Any, groups: Any = None, **design: Any) -> None:
    model = PACPrivate(estimator, secret=Subsets(**M, **design)).fit(X, y, groups=groups)
    run_audit(model, X, y, groups=groups, attacks=["identification"], n_trials=2)


ENTRIES: list[Callable[..., None]] = [
    parameters,
    responses,
    session,
    function,
    curve,
    spectrum,
    stability,
    audit,
]


@pytest.mark.product(only=3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("named", UNIVERSES)
def test_every_entry_point_draws_the_same_subsets(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimator, y, given = UNIVERSES[named]
    drawn: list[SecretSpace] = []

    def watched(*args: Any, **kwargs: Any) -> SecretSpace:
        drawn.append(balanced_space(*args, **kwargs))
        return drawn[-1]

    monkeypatch.setattr("pacsklearn.universe.design.balanced_space", watched)
    found = {}
    for entry in ENTRIES:
        if entry is responses and not hasattr(estimator, "predict"):
            continue
        if entry is responses and isinstance(estimator, KMeans):
            continue
        drawn.clear()
        entry(estimator, y, **given)
        plt.close("all")
        assert drawn
        found[entry.__name__] = {space.packed.tobytes() for space in drawn}
    assert all(each == found["parameters"] and len(each) == 1 for each in found.values())


def shares(space: SecretSpace, y: Any) -> Any:
    return np.array(
        [[np.sum(y[space.rows(i)] == value) for value in np.unique(y)] for i in range(8)]
    )


def test_counts_that_every_subset_can_hold_are_shared_evenly() -> None:
    assert np.ptp(shares(Design(8).space(X, COUNTS), COUNTS), axis=0).max() == 0
    loose = Design(8, stratify=False).space(X, COUNTS)
    assert np.ptp(shares(loose, COUNTS), axis=0).max() > 0


def test_a_rare_class_stops_a_classifier_and_a_rare_count_nothing() -> None:
    rare = np.append(np.zeros(N - 1, dtype=int), 1)
    with pytest.raises(DesignError, match="every"):
        Design(8).space(X, rare, classifies=True)
    loose = Design(8).space(X, rare)
    assert loose.packed.tobytes() == Design(8, stratify=False).space(X, rare).packed.tobytes()


def test_a_design_shows_neither_seed_nor_groups() -> None:
    assert repr(Design(8, groups=GROUPS, seed=987654)) == (
        "Design(n_subsets=8, rate=0.5, stratify='auto', blocks=None, balance='moments')"
    )
