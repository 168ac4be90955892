"""At a budget of nearly nothing a released model is as good as one that never saw the data.

The candidates are fitted once; 64 releases of each model are then drawn with seeded noise. At
this budget a model is noise, and noise and its mirror image are equally likely, so the mean of a
measure that changes sign with the model is exactly zero. The tests allow 3.5 standard errors:
under another seed a sound model would fail one of them once in 2000 runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import adjusted_rand_score, balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import Nats, PACPrivate, Parameters, PrivacySession, Subsets
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.outputs import CandidateOutputs
from pacsklearn.plugins import registry
from pacsklearn.universe.design import Design

RELEASES = 64
NOTHING = 1e-9

pytestmark = [
    pytest.mark.statistical,
    pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning"),
]


def computed_once(function: Callable[..., Any]) -> Callable[..., Any]:
    kept: list[Any] = []

    def remembered(*args: Any, **kwargs: Any) -> Any:
        if not kept:
            kept.append(function(*args, **kwargs))
        return kept[0]

    return remembered


@pytest.fixture
def fit_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fit after the first finds the candidates ready and only calibrates and draws."""
    for module, name in [
        (Design, "space"),
        (Candidates, "outputs"),
        (CandidateOutputs, "metric"),
    ]:
        monkeypatch.setattr(module, name, computed_once(getattr(module, name)))
    # Whether a release is worth its noise is tried by releases that nobody looks at here.
    monkeypatch.setattr(registry().load("advice", "parameters"), "before", lambda *_: None)


def measured(
    model: Any,
    X: Any,
    y: Any,
    measure: Any,
    budget: float,
    noise: str,
    n_releases: int = RELEASES,
) -> Any:
    estimator = PACPrivate(
        model,
        budget=Nats(budget, allow_exact=True),
        noise=noise,
        release=Parameters(certify=False),
        secret=Subsets(8),
        random_state=np.random.RandomState(7),
    )
    values = [measure(estimator.fit(X, y), X, y) for _ in range(n_releases)]
    assert estimator.guarantee_.spent <= budget
    return np.array(values)


def accuracy_over_chance(model: Any, X: Any, y: Any) -> float:
    return float(balanced_accuracy_score(y, model.predict(X)) - 0.5)


def correlation(model: Any, X: Any, y: Any) -> float:
    return float(np.corrcoef(model.predict(X), y)[0, 1])


def agreement(model: Any, X: Any, y: Any) -> float:
    return float(adjusted_rand_score(y, model.predict(X)))


def is_zero(values: Any) -> bool:
    return bool(abs(values.mean()) <= 3.5 * values.std() / np.sqrt(values.size))


@pytest.mark.product(only=1)
@pytest.mark.parametrize("noise", ["isotropic", "diagonal", "eigen", "logdet"])
def test_every_backend_leaves_chance(noise: str, cancer: Any, fit_once: None) -> None:
    model = LinearSVC(C=0.01)
    values = measured(model, *cancer, accuracy_over_chance, NOTHING, noise)
    assert is_zero(values)
    assert values.std() / np.sqrt(RELEASES) < 0.03  # so 0.2 above chance would be seen
    assert not is_zero(measured(model, *cancer, accuracy_over_chance, 1.0, noise, 20))


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=0.1),
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), LinearSVC(C=0.01)),
        make_pipeline(MinMaxScaler(), LogisticRegression()),
    ],
    ids=["logistic", "discriminant", "pipeline", "probable pipeline"],
)
def test_every_classifier_is_at_chance(model: Any, cancer: Any, fit_once: None) -> None:
    assert is_zero(measured(model, *cancer, accuracy_over_chance, NOTHING, "logdet"))


def test_a_regressor_predicts_nothing(iris: Any, sizes: Any, fit_once: None) -> None:
    values = measured(Ridge(), iris[0], sizes, correlation, NOTHING, "logdet")
    assert is_zero(values)
    assert measured(Ridge(), iris[0], sizes, correlation, 1.0, "logdet", 20).mean() > 0.5


def test_clusters_mean_nothing(iris: Any, fit_once: None) -> None:
    model = KMeans(3, n_init=1)
    # Far-away centres: one of them takes nearly all rows, which agrees with nothing.
    assert abs(measured(model, *iris, agreement, NOTHING, "logdet", 50).mean()) < 0.02
    assert measured(model, *iris, agreement, 50.0, "logdet", 2).mean() > 0.5


@pytest.mark.product(only=1)
@pytest.mark.parametrize("copies", [1, pytest.param(2, marks=pytest.mark.soak), 8])
def test_candidates_in_blocks_leave_chance(copies: int, cancer: Any, fit_once: None) -> None:
    """Also where every row stands twice or eight times: equal rows share no block."""
    X, y = (np.repeat(each, copies, axis=0) for each in cancer)
    space = Design(8, blocks=8).space(X, y)

    def released(budget: float, seed: Any) -> float:
        session = PrivacySession(
            X, y, budget=Nats(budget, allow_exact=True), secret=space, random_state=seed
        )
        model = session.release(LinearDiscriminantAnalysis(), certify=False).value
        return accuracy_over_chance(model, X, y)

    seeds = np.random.RandomState(7)
    values = np.array([released(NOTHING, seeds) for _ in range(RELEASES)])
    assert is_zero(values)
    assert values.std() / np.sqrt(RELEASES) < 0.03
    assert np.mean([released(1.0, seeds) for _ in range(20)]) > 0.1


@pytest.mark.product(only=2)
@pytest.mark.parametrize("copies", [1, 2, 8])
@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), GaussianNB()], ids=str)
def test_blocks_save_at_most_a_stated_share_of_the_noise(
    copies: int, model: Any, cancer: Any
) -> None:
    """One row in 16 is in no block: noise is never below a sixteenth of the unblocked list's."""
    X, y = (np.repeat(each, copies, axis=0) for each in cancer)
    canonicalizer = registry().canonicalizer_for(model)

    def power(**design: Any) -> float:
        outputs = Design(32, **design).candidates(model, X, y).outputs(canonicalizer)
        support, cost = Support(outputs.vectors), outputs.metric()
        return float(
            registry().noise_backend("logdet").calibrate(support, Target(1 / 64), cost).noise_power
        )

    assert 1 / 16 < power(blocks=8) / power() < 1.1
