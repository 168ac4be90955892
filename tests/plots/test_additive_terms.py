from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression

from pacsklearn import Nats, PACPrivate, Parameters, PrivacySession, Subsets
from pacsklearn.plots import AdditiveTermsDisplay
from pacsklearn.priors import Expected
from pacsklearn.tabular import AdditiveClassifier, AdditiveRegressor, Column, Schema

pd = pytest.importorskip("pandas", reason="pandas is not installed")


def _mixed():
    rng = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "ward": rng.choice(["north", "south"], n),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
        }
    )
    schema = Schema(
        [
            Column("age", edges=(20, 50, 80)),
            Column("ward", "category", categories=("north", "south")),
            Column("seen", "date", low="2020-01-01", high="2021-12-31"),
        ]
    )
    score = np.abs(frame["age"] - 50) / 10 + (frame["ward"] == "south") - 3
    return frame, np.where(score + rng.normal(size=n) > 0, "ill", "well"), schema


@pytest.fixture(scope="module")
def private():
    X, y, schema = _mixed()
    model = AdditiveClassifier(schema, n_bins=4, pairs=[("age", "ward")])
    return PACPrivate(model, budget=Nats(1.0), secret=Subsets(64, seed=0)).fit(X, y)


def test_each_term_is_drawn_as_what_it_is(private):
    display = AdditiveTermsDisplay.from_estimator(private)
    age, ward, seen, pair = display.axes_
    assert [ax.get_title() for ax in display.axes_] == ["age", "ward", "seen", "age x ward"]
    assert age.get_ylabel() == "added to the log-odds of well"
    effects = private.released_estimator_.effects()
    stairs = age.patches[0].get_data()
    np.testing.assert_allclose(stairs.values, np.ravel(list(effects["age"].values()))[:4])
    np.testing.assert_allclose(stairs.edges, [17, 20, 50, 80, 83])  # open ends are a little wide
    assert [tick.get_text() for tick in ward.get_xticklabels()][:2] == ["north", "south"]
    assert seen.get_xticklabels()[0].get_text() == "2020-01"
    assert len(pair.images) == 1
    assert age.get_ylim() == ward.get_ylim()
    display.figure_.canvas.draw()


@pytest.mark.soak
def test_the_band_is_the_noise_of_the_released_effects(private):
    """Half the width of the drawn band, against releases of one design with fresh noise."""
    X, y = load_iris(return_X_y=True)
    model = AdditiveClassifier(feature_range=(0, 8), n_bins=3)

    def released():
        one = PACPrivate(
            model,
            budget=0.5,
            release=Parameters(certify=False),
            secret=Subsets(16, seed=0),
            noise="logdet",
        )
        return one.fit(X[:, 2:], y == 2)

    many = [released() for _ in range(30)]
    first = many[0]
    assert all(np.array_equal(one.noise_variances_, first.noise_variances_) for one in many)
    display = AdditiveTermsDisplay.from_estimator(first, confidence=0.5)
    band = display.axes_[0].collections[0].get_paths()[0].get_extents()
    effects = np.ravel(list(first.released_estimator_.effects()["x0"].values()))
    scale = first.released_estimator_.scale_
    half = norm.ppf(0.75) * scale * np.sqrt(first.noise_variances_[:3])
    assert band.y1 == pytest.approx((effects[:3] + half).max())
    assert band.y0 == pytest.approx((effects[:3] - half).min())
    # The spread of the outputs is added, as each fit draws its own secret: from below only. The
    # variance of 30 draws is below an eighth of the true one less than once in 1e8 times.
    shapes = np.array(
        [one.released_estimator_.coef_[0] / one.released_estimator_.scale_ for one in many]
    )
    noise = first.noise_variances_[: shapes.shape[1]]
    assert np.all(shapes.var(axis=0)[noise > 0] > noise[noise > 0] / 8)


@pytest.mark.parametrize("prior", [{}, {"prior": Expected(150.0)}])
def test_variances_are_those_of_the_law_and_of_the_prior_after_it(prior):
    X, y = load_diabetes(return_X_y=True)
    model = AdditiveRegressor(feature_range=(-0.2, 0.2), n_bins=3)
    session = PrivacySession(X[:, :3], y, budget=0.25, secret=Subsets(16, seed=0))
    plan = session.prepare(model, **prior)
    law = plan.calibrate(np.full(16, 1 / 16))
    noise = np.rint(np.random.default_rng(0).normal(size=(4000, law.dimension)) * law.scale)
    read = np.array([law.decode(law.centres[0] + z.astype(np.int64)) for z in noise])
    if prior:
        read = plan.reading.drawn(law, read)
    expected = session.take(plan).noise_variances
    np.testing.assert_allclose(read.var(axis=0), expected, rtol=0.15, atol=1e-9)
    drawn_less = plan.reading.noise_variances(law) < law.noise_variances * (1 - 1e-9)
    assert drawn_less[law.noise_variances > 1e-9].all() == bool(prior)


def test_several_classes_releases_and_copies(private):
    X, y = load_iris(return_X_y=True)
    model = AdditiveClassifier(feature_range=(0, 8), n_bins=3)
    session = PrivacySession(X, y, budget=0.5, secret=Subsets(64, seed=0))
    display = AdditiveTermsDisplay.from_estimator(session.release(model), terms=["x2", "x0"])
    assert [ax.get_title() for ax in display.axes_] == ["x2", "x0"]
    assert [text.get_text() for text in display.axes_[0].get_legend().get_texts()] == [*"012"]
    again = AdditiveTermsDisplay.from_estimator(pickle.loads(pickle.dumps(private)), terms="age")
    assert len(again.axes_) == 1
    plain = AdditiveTermsDisplay(model=private.released_estimator_).plot(["ward"])
    assert len(plain.axes_) == 1


def test_what_cannot_be_drawn_says_so(private):
    X, y = load_iris(return_X_y=True)
    other = PACPrivate(LogisticRegression(), secret=Subsets(16)).fit(X, y)
    with pytest.raises(TypeError, match="AdditiveRegressor"):
        AdditiveTermsDisplay.from_estimator(other)
    with pytest.raises(ValueError, match="terms"):
        AdditiveTermsDisplay.from_estimator(private, terms=["height"])
    with pytest.raises(ValueError, match="confidence"):
        AdditiveTermsDisplay.from_estimator(private, confidence=95)


def test_names_with_dollars_are_no_formulas():
    X, y, _ = _mixed()
    wage = np.where(X["ward"] == "north", "$0 ${x} $$", "$10-$20")
    X, y = X[["age"]].assign(**{"$wage$": wage}), np.where(y == "ill", "$a_b$", "well")
    schema = Schema(
        [
            Column("age", edges=(20, 50, 80)),
            Column("$wage$", "category", categories=("$0 ${x} $$", "$10-$20")),
        ]
    )
    model = AdditiveClassifier(schema, n_bins=4, pairs=[("age", "$wage$")])
    private = PACPrivate(model, budget=Nats(1.0), secret=Subsets(64, seed=0)).fit(X, y)
    display = AdditiveTermsDisplay.from_estimator(private)
    assert len(display.png()) > 1000
    assert "$wage$" in [ax.get_title() for ax in display.axes_]
