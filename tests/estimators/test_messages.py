"""What goes wrong is said where it goes wrong, with what to do instead."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

from pacsklearn import (
    Answers,
    Nats,
    PACPrivate,
    Parameters,
    PrivateGridSearchCV,
    SRPPPrivate,
    Subsets,
)
from pacsklearn.exceptions import BudgetError, BudgetExhaustedError, NoCanonicalizerError
from pacsklearn.srpp import Renyi
from pacsklearn.tabular import distill

pd = pytest.importorskip("pandas", reason="pandas is not installed")
IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def answering():
    return PACPrivate(KNeighborsClassifier(1), release=Answers(100), secret=Subsets(8)).fit(*IRIS)


@pytest.mark.parametrize("estimator", [DBSCAN(), IsolationForest()], ids=["DBSCAN", "forest"])
def test_answers_are_not_advised_where_there_are_none(estimator):
    with pytest.raises(NoCanonicalizerError) as caught:
        PACPrivate(estimator).fit(*IRIS)
    assert "responses" not in str(caught.value)


def test_answers_are_advised_where_they_can_be_had():
    with pytest.raises(NoCanonicalizerError, match=r"Or let it answer: release=Answers\(\)"):
        PACPrivate(SVC(), release=Parameters()).fit(*IRIS)


def test_srpp_has_no_answers_to_advise():
    with pytest.raises(NoCanonicalizerError) as caught:
        SRPPPrivate(SVC(), budget=Renyi(1.0, order=2)).fit(*IRIS, secret=IRIS[0][:, 0] > 5)
    assert "responses" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("predict_proba", "of='probabilities'"),
        ("decision_function", "of='probabilities'"),
        ("released_estimator_", "private answers are released and no model"),
        ("coef_", "distill"),
        ("nothing", "has no attribute 'nothing'$"),
    ],
)
def test_answers_say_what_they_have_instead(answering, name, said):
    assert not hasattr(answering, name)
    with pytest.raises(AttributeError, match=said):
        getattr(answering, name)


def test_other_attributes_are_missing_as_before():
    private = PACPrivate(LogisticRegression())
    with pytest.raises(AttributeError, match="has no attribute 'transform'"):
        private.transform(IRIS[0])
    assert not hasattr(private, "__array__")
    with pytest.raises(AttributeError, match="'coef_': released_estimator_ has it"):
        private.fit(*IRIS).coef_  # noqa: B018
    assert pickle.loads(pickle.dumps(private)).budget == private.budget


def test_a_budget_is_said_in_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    private = PACPrivate(
        KNeighborsClassifier(1), budget=0.25, release=Answers(5), secret=Subsets(32)
    ).fit(X, y)
    asked = rng.normal(size=(200, 2))
    contested = private.preview(asked).n_contested
    with pytest.raises(BudgetExhaustedError, match="lasts for 5 more of them") as caught:
        private.predict(asked)
    error = caught.value
    assert (error.rows, error.rows_left) == (contested, 5)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "Ask for at most 0.5 nats" in str(BudgetExhaustedError(0.5, 1.0, 1.0))


def test_a_search_without_a_budget_says_how_much_it_would_take():
    search = PrivateGridSearchCV(
        PACPrivate(LogisticRegression(), budget=0.25), {"noise": ["eigen"]}
    )
    with pytest.raises(BudgetError, match=r"needs budget=.* would reserve 1\.5 nats"):
        search.fit(*IRIS)


def test_public_rows_without_a_column():
    X, y = load_iris(return_X_y=True, as_frame=True)
    source = PACPrivate(KNeighborsClassifier(1), release=Answers(100), secret=Subsets(8)).fit(X, y)
    with pytest.raises(ValueError, match=r"The public rows lack the columns sepal length \(cm\)"):
        distill(source, LogisticRegression(), X.drop(columns="sepal length (cm)"))
    with pytest.raises(ValueError, match="The public rows have the columns more, which"):
        distill(source, LogisticRegression(), X.assign(more=1))
    # Columns are found by name.
    turned = distill(source, KNeighborsClassifier(1), X.iloc[:, ::-1], alpha=None)
    assert turned.estimator.feature_names_in_.tolist() == list(X.columns)


@pytest.mark.parametrize("vectorizer", [CountVectorizer(), HashingVectorizer()])
def test_vectorizers_say_what_reads_texts(vectorizer):
    texts = ["a cough", "a fall"] * 20
    with pytest.raises(TypeError, match=r"reads texts or dictionaries.*SchemaEncoder") as caught:
        PACPrivate(make_pipeline(vectorizer, LogisticRegression())).fit(texts, [0, 1] * 20)
    assert "cough" not in str(caught.value)


def test_a_constant_for_missing_values_is_public_and_releases_a_model():
    X, y = (array.copy() for array in IRIS)
    X[::7, 0] = np.nan
    model = make_pipeline(SimpleImputer(strategy="constant", fill_value=5.0), LogisticRegression())
    private = PACPrivate(model, budget=Nats(2.0), secret=Subsets(16)).fit(X, y)
    assert private.released_estimator_[0].statistics_.tolist() == [5.0] * 4
    assert "statistics_" in private.guarantee_.public
    assert private.predict(X).shape == y.shape
    with pytest.raises(NoCanonicalizerError, match="fills in a text"):
        PACPrivate(SimpleImputer(strategy="constant", fill_value="none")).fit(X)


def test_scores_may_be_poor():
    assert get_tags(PACPrivate(LogisticRegression())).classifier_tags.poor_score
    X, y = load_diabetes(return_X_y=True)
    from sklearn.linear_model import Ridge

    assert get_tags(PACPrivate(Ridge()).fit(X, y)).regressor_tags.poor_score
