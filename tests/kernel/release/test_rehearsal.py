"""What can go wrong after a draw goes wrong before the ledger is charged."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, final

import numpy as np
import pytest
from pacsklearn_publish import publish
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pacsklearn import PACPrivate, PrivacySession, Subsets
from pacsklearn._rehearsal import rehearsed
from pacsklearn.exceptions import BundleError
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.plugins import Canonicalizer, Encoding, Layout, register, unregister

X = np.random.default_rng(0).normal(size=(120, 3))
Y = X @ [1.0, 2.0, 3.0] + np.random.default_rng(1).normal(size=120)


class Fragile(LinearRegression):
    """A model whose weights cannot be written for every vector."""


@final
class FragileCanonicalizer(Canonicalizer):
    """Decodes what candidates gave, and nothing that was noised."""

    methods = ("predict",)
    name, estimators = "fragile", (Fragile,)
    noised = ("coef_",)
    known: frozenset[bytes] = frozenset()

    def encode(self, estimator: Any, X: Any) -> Encoding:
        type(self).known |= {estimator.coef_.tobytes()}
        layout = Layout.of({"coef_": estimator.coef_})
        return Encoding(layout.pack({"coef_": estimator.coef_}), layout)

    def decode(self, vector: Any, layout: Layout, template: Any) -> Any:
        if vector.tobytes() not in self.known:
            raise ValueError("these weights cannot be decoded")
        template.coef_, template.intercept_, template.n_features_in_ = vector, 0.0, 3
        return template


@pytest.fixture
def fragile() -> Any:
    register(FragileCanonicalizer)
    yield Fragile(fit_intercept=False)
    unregister(FragileCanonicalizer)


def shift(rows: Any) -> Any:
    return rows + 1


RELEASES: list[Callable[[Any, Any], Any]] = [
    lambda model, ledger: PACPrivate(model, budget=0.25, ledger=ledger).fit(X, Y),
    lambda model, ledger: PrivacySession(X, Y, budget=0.25, ledger=ledger).release(model),
    lambda model, ledger: PrivacySession(X, Y, budget=0.25, ledger=ledger).release_planned([model]),
]


@pytest.mark.parametrize("release", RELEASES, ids=["fit", "release", "planned"])
def test_what_cannot_be_decoded_is_not_charged(
    release: Callable[[Any, Any], Any], fragile: Any
) -> None:
    ledger = MemoryLedger(1.0)
    with pytest.raises(ValueError, match=r"could not be decoded|cannot be decoded"):
        release(fragile, ledger)
    assert ledger.spent == 0


def test_what_cannot_be_published_is_not_charged(tmp_path: Any) -> None:
    """A release for a bundle was charged, and then there was no bundle."""
    ledger = MemoryLedger(1.0)
    model = make_pipeline(FunctionTransformer(shift), LinearRegression())
    with (
        rehearsed(lambda released: publish(released, tmp_path / "trial.pac")),
        pytest.raises(BundleError, match="shift"),
    ):
        PACPrivate(model, budget=0.25, ledger=ledger).fit(X, Y)
    assert ledger.spent == 0


def test_a_rehearsal_shows_what_a_release_would_be_and_is_not_it() -> None:
    shown: list[Any] = []
    with rehearsed(shown.append):
        private = PACPrivate(LinearRegression(), budget=0.25, secret=Subsets(seed=0)).fit(X, Y)
    (trial,) = shown
    assert json.loads(trial.pacsklearn_guarantee_)["spent"] == private.guarantee_.spent
    assert not np.allclose(trial.coef_, private.released_estimator_.coef_)
    PACPrivate(LinearRegression(), budget=0.25).fit(X, Y)
    assert len(shown) == 1


def test_what_was_refused_leaves_no_certified_figure() -> None:
    """A release of 1 nat stated 52.0 %, certified for one of 1/64 nat that was refused."""
    session = PrivacySession(X, Y, budget=1 / 2, secret=Subsets(8))

    def refuse(released: Any) -> None:
        raise BundleError("no room")

    with rehearsed(refuse), pytest.raises(BundleError):
        session.release(LinearRegression(), budget=1 / 64)
    assert session.guarantee_.certified_membership is None
    release = session.release(LinearRegression(), certify=False)
    assert release.guarantee.certified_membership is None
    assert release.guarantee.success == release.guarantee.posterior_membership
