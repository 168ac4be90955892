"""All boosters at once say what each says alone."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest
from pacsklearn_trees import Boosters
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from xgboost import XGBClassifier, XGBRegressor

from pacsklearn import Answers, Nats, PACPrivate, Subsets
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.exceptions import SubsetFitError
from pacsklearn.plugins import Registry, registry
from pacsklearn.priors import Range

SMALL = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1}


def fitted(estimator, X, y, n_models=4):
    generator = np.random.default_rng(0)
    models = []
    for _ in range(n_models):
        rows = generator.permutation(len(y))[: len(y) // 2]
        models.append(type(estimator)(**estimator.get_params()).fit(X[rows], y[rows]))
    return tuple(models)


CLASSIFIERS = [
    (XGBClassifier(**SMALL), load_breast_cancer),
    (XGBClassifier(**SMALL, booster="dart", rate_drop=0.3), load_breast_cancer),
    (XGBClassifier(**SMALL, objective="binary:logitraw"), load_breast_cancer),
    (XGBClassifier(**SMALL), load_iris),
    (XGBClassifier(**SMALL, objective="multi:softmax"), load_iris),
    (XGBClassifier(**SMALL | {"n_estimators": 1, "num_parallel_tree": 8}), load_iris),
]


@pytest.mark.filterwarnings("ignore:.*booster=dart")  # of XGBoost from 3.4
@pytest.mark.parametrize(("estimator", "load"), CLASSIFIERS)
def test_the_same_labels_as_each_model(estimator, load):
    X, y = load(return_X_y=True)
    models = fitted(estimator, X, y)
    found = Boosters.of(models).predict(X)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, [model.predict(X) for model in models])


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_same_values_as_each_model(outputs):
    X, y = load_diabetes(return_X_y=True)
    y = np.c_[y, np.sqrt(y)] if outputs == 2 else y
    models = fitted(XGBRegressor(**SMALL), X, y)
    found = Boosters.of(models).predict(X)
    assert found.shape == (4, len(X), outputs)
    expected = np.reshape([model.predict(X) for model in models], found.shape)
    np.testing.assert_array_equal(found, expected)


def test_missing_values_frames_and_sparse_rows():
    pd = pytest.importorskip("pandas")
    X, y = load_breast_cancer(return_X_y=True)
    X = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.1, np.nan, X)
    models = fitted(XGBClassifier(**SMALL), X, y)
    predictor = Boosters.of(models)
    np.testing.assert_array_equal(predictor.predict(X), [m.predict(X) for m in models])
    rows = sparse.csr_array(np.nan_to_num(X))
    np.testing.assert_array_equal(predictor.predict(rows), [m.predict(rows) for m in models])
    frame = pd.DataFrame(X).rename(columns="f{}".format)
    named = tuple(XGBClassifier(**SMALL).fit(frame[i::2], y[i::2]) for i in range(2))
    for asked in (frame, X):
        said = Boosters.of(named).predict(asked)
        np.testing.assert_array_equal(said, [m.predict(asked) for m in named])


def test_early_stopping_keeps_the_best_rounds():
    X, y = load_breast_cancer(return_X_y=True)
    estimator = XGBClassifier(n_estimators=200, early_stopping_rounds=2, n_jobs=1)
    model = estimator.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=False)
    np.testing.assert_array_equal(Boosters.of((model,)).predict(X), [model.predict(X)])


def test_it_pickles():
    X, y = load_iris(return_X_y=True)
    predictor = Boosters.of(fitted(XGBClassifier(**SMALL), X, y))
    again = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(again.predict(X), predictor.predict(X))


def test_what_predicts_otherwise_is_left_alone():
    class Contrary(XGBClassifier):
        def predict(self, X):
            return 1 - super().predict(X)

    X, y = load_breast_cancer(return_X_y=True)
    assert Boosters.of((Contrary(**SMALL).fit(X, y),)) is None
    softprob = XGBClassifier(**SMALL, objective="multi:softprob", num_class=2).fit(X, y)
    assert Boosters.of((softprob,)) is None
    three = XGBClassifier(**SMALL).fit(*load_iris(return_X_y=True))
    assert Boosters.of((three, XGBClassifier(**SMALL).fit(X, y))) is None


def test_a_registered_predictor_is_found_for_subclasses():
    own = Registry(list)
    assert Boosters not in own.batch_predictors_for(XGBClassifier())
    own.register(Boosters)
    assert own.batch_predictors_for(type("Own", (XGBClassifier,), {})())[0] is Boosters


def test_the_registry_finds_it_by_its_entry_point():
    assert registry().batch_predictors_for(XGBClassifier())[0] is Boosters
    assert registry().batch_predictors_for(XGBRegressor())[0] is Boosters
    provenance = registry().provenance("batch_predictor", "xgboost")
    assert provenance.distribution == "pacsklearn-trees"
    assert provenance.version == metadata.version("pacsklearn-trees")
    assert registry().failures == ()


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_session_answers_with_it(n_jobs):
    X, y = load_breast_cancer(return_X_y=True)
    with PrivacySession(X, y, budget=Nats(1.0), secret=Subsets(8), n_jobs=n_jobs) as session:
        responder = session.responder(XGBClassifier(**SMALL), query_budget=1e-4)
        assert isinstance(responder.models.stacked, Boosters)
        assert np.mean(responder.predict(X[:100]) == y[:100]) > 0.8


def test_regressors_answer_too():
    X, y = load_diabetes(return_X_y=True)
    with PrivacySession(X, y, budget=Nats(1.0), secret=Subsets(8, stratify=False)) as session:
        responder = session.responder(XGBRegressor(**SMALL), query_budget=1e-2, prior=Range(0, 350))
        assert isinstance(responder.models.stacked, Boosters)
        assert responder.predict(X[:5]).shape == (5,)


def test_probabilities_are_asked_of_each_model():
    X, y = load_iris(return_X_y=True)
    with PrivacySession(X, y, budget=Nats(4.0, allow_exact=True), secret=Subsets(8)) as session:
        shares = session.respond(
            XGBClassifier(**SMALL), X[::50], answers="probabilities", query_budget=1.0
        )
    assert shares.shape == (3, 3)


def test_pac_private_takes_it():
    X, y = load_breast_cancer(return_X_y=True)
    private = PACPrivate(XGBClassifier(**SMALL), release=Answers(50), secret=Subsets(8))
    assert private.fit(X, y).predict(X[:20]).shape == (20,)


@pytest.mark.soak
def test_xgboost_waits_for_its_first_models():
    code = (
        "import sys\n"
        "import pacsklearn, pacsklearn_trees\n"
        "from pacsklearn.plugins import registry\n"
        "from sklearn.naive_bayes import GaussianNB\n"
        "assert 'xgboost' in registry().names('batch_predictor')\n"
        "assert registry().batch_predictors_for(GaussianNB())\n"
        "assert 'xgboost' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)  # noqa: S603 - our code


def test_words_as_labels_are_refused_with_what_helps():
    X, y = load_breast_cancer(return_X_y=True)
    model = PACPrivate(XGBClassifier(**SMALL), secret=Subsets(4), release=Answers(10))
    with pytest.raises(SubsetFitError, match="labels must be 0, 1"):
        model.fit(X, np.where(y == 1, "ill", "well"))
