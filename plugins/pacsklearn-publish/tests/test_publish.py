from __future__ import annotations

import copy
import pickle
import struct

import numpy as np
import pandas as pd
import pytest
from pacsklearn_publish import load_bundle, publish
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pacsklearn import (
    Answers,
    AutoPrivateClassifier,
    Membership,
    Nats,
    PACPrivate,
    PrivacySession,
    SRPPPrivate,
    Subsets,
)
from pacsklearn.capping.criterion import CriterionBackend
from pacsklearn.estimators.archive import unpacked
from pacsklearn.exceptions import BundleError, PrivacyLeakWarning
from pacsklearn.kernel.noise.noise_law import NoiseLaw
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.srpp import DifferingRows, NoiseMultiplier, SRPPSGDClassifier, SRPPSGDRegressor
from pacsklearn.tabular import distill


@pytest.mark.soak
def test_whatever_was_released_can_be_published(private, iris, keys, tmp_path):
    session = PrivacySession(*iris, secret=Subsets(16), budget=Nats(2.0))
    release = session.release(RidgeClassifier())
    secret = np.arange(150) % 2
    sliced = SRPPPrivate(Ridge(), budget=2.0).fit(iris[0], iris[1] * 1.0, secret=secret)
    answering = PACPrivate(SVC(), budget=0.5, release=Answers(100), secret=Subsets(16)).fit(*iris)
    student = distill(answering, GaussianNB(), iris[0], alpha=None)
    sources = [private, private.released_estimator_, release, sliced, student, student.estimator]
    for number, source in enumerate(sources):
        path = publish(source, tmp_path / f"{number}.pac", key=keys[0], onnx="none")
        found = load_bundle(path, key=keys[1])
        guarantee = getattr(source, "guarantee_", getattr(source, "guarantee", None))
        stated = source.pacsklearn_guarantee_ if guarantee is None else guarantee.to_json()
        assert found.guarantee.to_json() == stated
        assert found.model().predict(iris[0]).shape == (150,)
    saved = publish(release, tmp_path / "saved.pac", key=keys[0], about={"title": "Irises"})
    assert "# Irises" in load_bundle(saved, key=keys[1]).card


def test_a_model_that_was_changed_is_not_the_released_one(private, iris, keys, tmp_path):
    refitted = copy.deepcopy(private.released_estimator_).fit(*iris)
    assert hasattr(refitted, "pacsklearn_guarantee_")  # fit leaves it there
    nudged = copy.deepcopy(private.released_estimator_)
    nudged.coef_[0, 0] = np.nextafter(nudged.coef_[0, 0], 9)
    for model in (refitted, nudged):
        with pytest.raises(BundleError, match="released"):
            publish(model, tmp_path / "m.pac", key=keys[0])
    assert not (tmp_path / "m.pac").exists()


def test_what_must_not_leave_is_refused(private, iris, keys, tmp_path):
    with pytest.warns(PrivacyLeakWarning):
        seeded = PACPrivate(RidgeClassifier(), secret=Subsets(16), random_state=0).fit(*iris)
    answering = PACPrivate(SVC(), release=Answers(10), secret=Subsets(16)).fit(*iris)
    plain = RidgeClassifier().fit(*iris)
    exact = PACPrivate(
        RidgeClassifier(), secret=Subsets(16), budget=Nats(10.0, allow_exact=True)
    ).fit(*iris)
    loose = CriterionBackend(gamma=1e-3, n_draws=256, n_certificate=1024)
    capped = {"budget": Membership(0.9), "noise": loose}
    estimated = PACPrivate(RidgeClassifier(), secret=Subsets(16), **capped).fit(*iris)
    for source, words in [
        (seeded, "NOT FOR RELEASE"),
        (exact, "HIDES NOTHING"),
        (estimated, "ESTIMATED"),
        (answering, "holds no released model"),
        (plain, "holds no released model"),
        (clone(private), "holds no released model"),
        (clone(private.released_estimator_), "holds no released model"),
        (None, "holds no released model"),
    ]:
        with pytest.raises(BundleError, match=words):
            publish(source, tmp_path / "m.pac", key=keys[0])
    with pytest.raises(ValueError, match="onnx"):
        publish(private, tmp_path / "m.pac", onnx="yes")
    assert list(tmp_path.iterdir()) == []


def test_a_released_model_that_is_released_anew_is_published_as_it_is_now(
    private, iris, keys, tmp_path
):
    """The model it was fitted from was published in its place, with the promise of then."""
    wrapped = PACPrivate(private.released_estimator_, budget=Nats(0.5), secret=Subsets(16))
    answering = clone(wrapped).set_params(release=Answers(10)).fit(*iris)
    for source in (wrapped, answering):
        with pytest.raises(BundleError, match="holds no released model"):
            publish(source, tmp_path / "m.pac", key=keys[0])
    path = publish(wrapped.fit(*iris), tmp_path / "m.pac", key=keys[0], onnx="none")
    assert load_bundle(path, key=keys[1]).guarantee == wrapped.guarantee_


def test_a_model_from_a_pickle_can_be_published(private, keys, tmp_path):
    read = pickle.loads(pickle.dumps(private.released_estimator_))
    path = publish(read, tmp_path / "m.pac", key=keys[0])
    assert load_bundle(path, key=keys[1]).guarantee == private.guarantee_


@pytest.mark.parametrize("estimator", [RidgeClassifier(), LogisticRegression()])
def test_two_bundles_of_one_release_are_the_same_bytes(estimator, iris, keys, tmp_path):
    """Also where somebody else's converter writes the ONNX file, which names graphs at random."""
    model = PACPrivate(estimator, budget=Nats(1.0), secret=Subsets(16)).fit(*iris)
    one, two = (publish(model, tmp_path / f"{n}.pac", key=keys[0]) for n in "ab")
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    "estimator", [make_pipeline(StandardScaler(), RidgeClassifier()), GaussianNB()]
)
def test_neither_origin_axes_steps_nor_integers_are_inside(
    estimator, iris, keys, tmp_path, monkeypatch
):
    seen = []
    original = NoiseLaw.draw

    def spy(law, index, sampler):
        integers = original(law, index, sampler)
        if isinstance(sampler, SecureSampler):  # others draw in rehearsals, by a public seed
            seen.append((law, np.array(integers)))
        return integers

    monkeypatch.setattr(NoiseLaw, "draw", spy)
    model = PACPrivate(estimator, budget=Nats(1.0), secret=Subsets(16)).fit(*iris)
    ((law, integers),) = seen
    path = publish(model, tmp_path / "m.pac", key=keys[0])
    content = b"".join(unpacked(path).values())
    moved = np.any(law.axes != 0, axis=0)  # all candidates agree on the others: released as is
    assert moved.sum() > 10
    parts = (law.origin[moved], law.axes, law.step, law.centres, integers)
    secret = np.concatenate([np.ravel(part) for part in parts]).astype(np.float64)
    # Small whole numbers are everywhere; all others would be found if they were there.
    telling = np.unique(secret[np.abs(secret - np.round(secret)) > 1e-9])
    assert telling.size > 10
    for number in telling:
        assert struct.pack("<d", number) not in content
        text = repr(float(number)).encode()
        assert len(text) < 10 or text not in content  # 2.77 may be a version
    for kind in ("<i8", "<i4", "<f8"):
        assert np.ascontiguousarray(integers, dtype=kind).tobytes() not in content
    released = model.released_estimator_
    numbers = getattr(released, "coef_", getattr(released, "theta_", None))
    assert struct.pack("<d", numbers.ravel()[0]) in content  # the scan finds what is there


def test_no_training_row_is_inside(private, bundle, iris):
    content = b"".join(unpacked(bundle).values())
    rows = np.ascontiguousarray(iris[0])
    assert not [row for row in rows if row.tobytes() in content]


@pytest.mark.product(only=3)
@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_error", "huber"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_by_gradient_descent_are_published_plain(loss, n_classes, iris, keys, tmp_path):
    rows = pd.DataFrame(iris[0] - iris[0].mean(axis=0), columns=list("abcd"))[iris[1] < n_classes]
    names = np.array(["setosa", "versicolor", "virginica"])[:n_classes]
    y = names[iris[1][iris[1] < n_classes]]
    model = SRPPSGDClassifier(loss, budget=8.0, epochs=3, classes=names).fit(rows, y)
    path = publish(model, tmp_path / "m.pac", key=keys[0], onnx="required")
    bundle = load_bundle(path, key=keys[1])
    assert bundle.guarantee == model.guarantee_
    found = bundle.model()
    assert type(found).__name__ == "SGDClassifier"
    assert set(vars(found)) & {"_descent", "_record"} == set()
    assert np.array_equal(found.decision_function(rows), model.decision_function(rows))
    assert np.array_equal(found.predict(rows), model.predict(rows))
    assert hasattr(found, "predict_proba") == hasattr(model, "predict_proba")
    if loss == "log_loss":
        assert np.allclose(found.predict_proba(rows), model.predict_proba(rows), rtol=1e-12)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_regressors_by_gradient_descent_are_published_plain(loss, iris, keys, tmp_path):
    X, y = iris[0][:, :3] - 3.0, iris[0][:, 3]
    model = SRPPSGDRegressor(
        loss, budget=8.0, epochs=2, scenario=DifferingRows(1), secret_name="rows"
    )
    model.partial_fit(X, y)
    first = model.released_estimator_
    model.partial_fit(X, y)
    assert not np.array_equal(first.coef_, model.released_estimator_.coef_)
    path = publish(model, tmp_path / "m.pac", key=keys[0], onnx="required")
    bundle = load_bundle(path, key=keys[1])
    assert bundle.guarantee == model.guarantee_
    assert np.allclose(bundle.model().predict(X), model.predict(X), rtol=1e-12)


def test_gradient_descent_without_a_promise_is_not_published(iris, keys, tmp_path):
    y = iris[1] % 2
    with pytest.warns(PrivacyLeakWarning, match="private"):
        quiet = SRPPSGDClassifier(budget=NoiseMultiplier(0.0), epochs=1, classes=[0, 1]).fit(
            iris[0], y
        )
    assert not hasattr(quiet, "released_estimator_")
    with pytest.warns(PrivacyLeakWarning):
        read_off = SRPPSGDClassifier(budget=8.0, epochs=1).fit(iris[0], y)
    changed = SRPPSGDClassifier(budget=8.0, epochs=1, classes=[0, 1]).fit(iris[0], y)
    changed.released_estimator_.coef_ += 1e-9
    for model, words in [(quiet, "holds no released model"), (read_off, "NOT FOR RELEASE"),
                         (changed, "not as it was released")]:  # fmt: skip
        with pytest.raises(BundleError, match=words):
            publish(model, tmp_path / "m.pac", key=keys[0])
    assert not hasattr(clone(changed), "released_estimator_")


@pytest.mark.soak
def test_what_auto_released_can_be_published(iris, keys, tmp_path):
    auto = AutoPrivateClassifier(Nats(1.0), secret=Subsets(16)).fit(*iris)
    found = load_bundle(publish(auto, tmp_path / "m.pac", key=keys[0]), key=keys[1])
    assert found.guarantee == auto.guarantee_
    assert np.array_equal(found.model().predict(iris[0]), auto.predict(iris[0]))
