"""Fast fits inside a session: the same release, checked against an ordinary fit, and optional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacsklearn
from pacsklearn import Nats, PACPrivate, Subsets, config_context
from pacsklearn.exceptions import NonDeterministicError, SubsetFitError
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.outputs.models import candidate_models
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.plugins import registry
from pacsklearn.secrets import SecretSpace, balanced_space
from pacsklearn.universe.design import candidates_over

M = 8


class Once(Ridge):
    """Counts its ordinary fits."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


class Together(SubsetFitter):
    """Ordinary fits, all but the last, in the fast way's place."""

    name, estimators = "test", (Once,)
    error = 0.0

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[..., Any]) -> Together:
        return cls()

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        models = []
        for i in range(space.n_subsets - 1):
            plain = Ridge().fit(X[space.rows(i)], y[space.rows(i)])
            model = clone(estimator)
            vars(model).update({k: v for k, v in vars(plain).items() if k.endswith("_")})
            model.coef_ = model.coef_ * (1 + self.error)
            models.append(model)
        return [*models, None]


class Wrong(Together):
    """Off by more than rounding."""

    error = 1e-5


class Quoting(Together):
    """Fails and quotes a row."""

    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        raise ValueError(f"bad row {X[0]!r}")


@pytest.fixture(params=[Together, Wrong, Quoting])
def fitter(request: pytest.FixtureRequest) -> Any:
    pacsklearn.plugins.register(request.param)
    Once.fits = 0
    yield request.param
    pacsklearn.plugins.unregister(request.param)


def run(**options: Any) -> Any:
    X, y = load_diabetes(return_X_y=True)
    space = balanced_space(len(X), n_subsets=M)
    return candidates_over(Once(), X, y, space, FitOptions(**options)).outputs(
        registry().canonicalizer_for(Once())
    )


@pytest.mark.product(only=1)
def test_a_plugins_fitter_is_used_checked_and_kept_quiet(fitter: Any) -> None:
    ordinary = run(fast_fit=False)
    assert Once.fits == M + 1
    Once.fits = 0
    if fitter is Wrong:
        with pytest.raises(NonDeterministicError, match="fast_fit=False"):
            run()
        X, y = load_diabetes(return_X_y=True)
        space = balanced_space(len(X), n_subsets=M)
        with pytest.raises(NonDeterministicError, match="fast_fit=False"):
            candidate_models(candidates_over(Once(), X, y, space))
    elif fitter is Quoting:
        with pytest.raises(SubsetFitError, match="withheld") as failure:
            run()
        assert "bad row" not in str(failure.value)
    else:
        assert np.allclose(run().vectors, ordinary.vectors, rtol=1e-12)
        assert Once.fits == 2  # candidate 0 for the check, and the one that was left out
        run(fit_params={"sample_weight": np.ones(442)})
        assert Once.fits == 2 + M + 1


@pytest.mark.product(only=2)
@pytest.mark.parametrize(
    ("estimator", "load"),
    [
        (Ridge(), load_diabetes),
        (make_pipeline(StandardScaler(), Ridge()), load_diabetes),
        (PCA(2), load_iris),
        (GaussianNB(), load_iris),
        (StandardScaler(), load_iris),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_the_release_is_the_same_with_and_without(estimator: Any, load: Any) -> None:
    X, y = load(return_X_y=True)
    released = []
    for fast_fit in (True, False):
        private = PACPrivate(estimator, secret=Subsets(M), budget=Nats(1.0), random_state=0)
        with config_context(fast_fit=fast_fit), pytest.warns(UserWarning, match="predict"):
            private.fit(X, y)
        released.append(private)
    for method in ("predict", "transform"):
        if hasattr(released[0], method):
            told, known = (getattr(one, method)(X) for one in released)
            assert told == pytest.approx(known, rel=1e-4, abs=1e-5)
    one, other = (model.guarantee_ for model in released)
    assert one.public == other.public
    assert one.spent == pytest.approx(other.spent)


def test_answers_come_from_the_same_candidates() -> None:
    X, y = load_iris(return_X_y=True)
    space = balanced_space(150, n_subsets=M, strata=y)
    fast = candidate_models(candidates_over(GaussianNB(), X, y, space))
    ordinary = candidate_models(
        candidates_over(GaussianNB(), X, y, space, FitOptions(fast_fit=False))
    )
    assert np.array_equal(fast.labels(X, np.unique(y)), ordinary.labels(X, np.unique(y)))
