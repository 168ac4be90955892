"""Secure by default; reproducible only on request, and then marked as not private."""

from __future__ import annotations

import random
import secrets
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.svm import LinearSVC

from pacsklearn import Nats, PACPrivate, Subsets
from pacsklearn.exceptions import PrivacyLeakWarning
from pacsklearn.kernel.noise.sampler import SecureSampler


def private(**params: Any) -> PACPrivate:
    return PACPrivate(LinearSVC(), **{"secret": Subsets(8), "budget": 0.25, **params})


def quiet_fit(estimator: PACPrivate, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return estimator.fit(X, y).released_estimator_.coef_


def global_states() -> tuple[Any, Any]:
    state = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    return (state["key"].tobytes(), state["pos"]), random.getstate()


@pytest.mark.parametrize("random_state", [None, 0])
def test_global_generators_are_neither_used_nor_changed(random_state: Any, iris: Any) -> None:
    before = global_states()
    quiet_fit(private(random_state=random_state), *iris)
    PACPrivate(KMeans(3, n_init=1), secret=Subsets(8)).fit(iris[0])
    assert global_states() == before


def test_seeding_global_generators_repeats_nothing(iris: Any) -> None:
    def released() -> Any:
        np.random.seed(1)  # noqa: NPY002
        random.seed(1)
        return quiet_fit(private(), *iris)

    assert not np.array_equal(released(), released())


def test_secret_and_noise_come_from_the_operating_system(
    iris: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, sizes = [], []
    randbelow, noise = secrets.randbelow, SecureSampler.noise

    def spy_randbelow(n: int) -> int:
        asked.append(n)
        return randbelow(n)

    def spy_noise(self: SecureSampler, size: int) -> Any:
        sizes.append(size)
        return noise(self, size)

    monkeypatch.setattr(secrets, "randbelow", spy_randbelow)
    monkeypatch.setattr(SecureSampler, "noise", spy_noise)
    estimator = private().fit(*iris)
    assert asked == [8]
    # Three weight vectors of five numbers; eight candidates span seven directions of them.
    assert sizes == [7]
    assert estimator.guarantee_.for_release
    assert estimator.guarantee_.status.kind == "proved"
    quiet_fit(private(random_state=0), *iris)
    assert asked == [8]
    assert sizes == [7]


def test_random_state_repeats_a_fit_and_warns_where_it_is_called(iris: Any) -> None:
    with pytest.warns(PrivacyLeakWarning, match="private") as caught:
        first = private(random_state=3).fit(*iris)
    assert Path(caught[0].filename) == Path(__file__)
    np.testing.assert_array_equal(first.released_estimator_.coef_, quiet_fit(clone(first), *iris))
    assert not np.array_equal(
        first.released_estimator_.coef_, quiet_fit(private(random_state=4), *iris)
    )


def test_a_generator_goes_on(iris: Any) -> None:
    def both(seed: int) -> list[Any]:
        generator = np.random.RandomState(seed)
        return [quiet_fit(private(random_state=generator), *iris) for _ in range(2)]

    first, second = both(5), both(5)
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(*first)


def test_reproducible_noise_is_not_for_release(iris: Any) -> None:
    estimator = private(random_state=0)
    quiet_fit(estimator, *iris)
    guarantee = estimator.guarantee_
    assert not guarantee.for_release
    assert guarantee.status.kind == "not for release"
    assert "random_state" in guarantee.status.reason
    for shown in (str(guarantee), guarantee._repr_html_(), estimator._repr_html_()):
        assert "NOT FOR RELEASE" in shown
    assert '"kind": "not for release"' in guarantee.to_json()


def test_no_noise_and_reproducible_is_not_for_release_either(iris: Any) -> None:
    estimator = private(random_state=0, budget=Nats(50.0, allow_exact=True))
    quiet_fit(estimator, *iris)
    assert estimator.guarantee_.noiseless
    assert estimator.guarantee_.status.kind == "not for release"


def test_the_design_is_public_and_does_not_depend_on_the_noise(iris: Any) -> None:
    exact = [
        quiet_fit(
            private(
                random_state=0, budget=Nats(50.0, allow_exact=True), secret=Subsets(8, seed=seed)
            ),
            *iris,
        )
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(exact[0], exact[1])
    assert not np.array_equal(exact[0], exact[2])
