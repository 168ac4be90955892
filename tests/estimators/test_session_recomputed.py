"""A session's belief and account, recomputed from the papers: releases and answers of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import rel_entr, xlogy
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import PrivacySession
from pacsklearn.kernel.noise.sampler import NoisePool
from pacsklearn.secrets import listed_space

Floats = NDArray[np.float64]
SCALE, STEP, N = 2.0**20, 0.004, 24
WEIGHTS = np.array([0.35, 0.25, 0.15, 0.1, 0.1, 0.05])


def informed(belief: Floats, gains: Floats) -> Floats:
    logs = np.log(belief) + gains
    belief = np.exp(logs - logs.max())
    return belief / belief.sum()


def after_labels(belief: Floats, labels: NDArray[Any], secret: int, noise: Any) -> Floats:
    """Algorithm 1 over distinct labels: one number for two of them, one each for more."""
    distinct = np.unique(labels)
    if distinct.size == 1:
        return belief
    own = (labels[:, None] == (distinct[1:] if distinct.size == 2 else distinct)).astype(float)
    spread = np.sqrt(belief @ own * (1 - belief @ own))
    deviations = np.sqrt(spread * spread.sum() / (2 * STEP))
    released = own[secret] + deviations * [next(noise) / SCALE for _ in spread]
    return informed(belief, -(((released - own) / deviations) ** 2).sum(axis=1) / 2)


def after_shares(belief: Floats, shares: Floats, secret: int, noise: Any) -> Floats:
    """Efficient-PAC on the numbers that differ."""
    own = shares[:, np.ptp(shares, axis=0) > 0]
    if not own.size:
        return belief
    spread = np.sqrt(belief @ (own - belief @ own) ** 2)
    deviations = np.sqrt(spread * spread.sum() / (2 * STEP))
    released = own[secret] + deviations * [next(noise) / SCALE for _ in spread]
    return informed(belief, -(((released - own) / deviations) ** 2).sum(axis=1) / 2)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_belief_and_account(n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    take = NoisePool.take

    def kept(pool: NoisePool, n: int) -> Any:
        taken.extend(drawn := take(pool, n))
        return drawn

    monkeypatch.setattr(NoisePool, "take", kept)
    generator = np.random.default_rng(n_classes)
    X, queries = generator.standard_normal((N, 3)), generator.standard_normal((12, 3))
    y = np.arange(N) % n_classes
    subsets = [np.sort(generator.permutation(N)[: N // 2]) for _ in WEIGHTS]
    secrets = listed_space(subsets, N, weights=WEIGHTS)
    session = PrivacySession(X, y, budget=0.5, secret=secrets, random_state=n_classes)

    # Noise of one size in every direction: e = sum(lam) / (2 b).
    means = np.array([X[rows].mean(axis=0) for rows in subsets])
    spread = WEIGHTS @ (means - WEIGHTS @ means) ** 2
    first = session.release_function(
        lambda X, y: X.mean(axis=0), budget=0.05, noise="isotropic", certify=False
    )
    belief = informed(
        WEIGHTS, -((first.value - means) ** 2).sum(axis=1) / (2 * spread.sum() / (2 * 0.05))
    )
    labels = session.responder(KNeighborsClassifier(1), query_budget=STEP)
    np.testing.assert_allclose(np.exp(labels.log_belief), belief, rtol=1e-4)

    # Each of several responders goes on from what the others told.
    shares = session.responder(KNeighborsClassifier(3), query_budget=STEP, answers="probabilities")
    secret, spent = session._secret.index, session.ledger.spent
    conversation = [
        (labels, after_labels, slice(0, 6), slice(0, 6)),
        (shares, after_shares, slice(4, 12), slice(4, 12)),
        (labels, after_labels, slice(4, 12), slice(6, 12)),  # two of them were answered before
    ]
    for responder, after, asked, new in conversation:
        model = KNeighborsClassifier(1 if responder is labels else 3)
        fitted = [clone(model).fit(X[rows], y[rows]) for rows in subsets]
        say = [m.predict if responder is labels else m.predict_proba for m in fitted]
        table = np.stack([each(queries[new]) for each in say], axis=1)
        belief = np.exp(labels.log_belief)
        taken.clear()
        responder.predict(queries[asked])
        noise = iter(taken)
        for row in table:
            belief = after(belief, row, secret, noise)
        np.testing.assert_allclose(np.exp(labels.log_belief), belief, rtol=1e-4)
        spent += STEP * sum(len(np.unique(row, axis=0)) > 1 for row in table)
        assert session.ledger.spent == pytest.approx(spent, rel=1e-9)

    # Equation 3 of pac-private-algorithms at the least protected row, for the whole budget.
    inside = WEIGHTS @ [np.isin(np.arange(N), rows) for rows in subsets]
    blind = np.maximum(inside, 1 - inside)
    blind = blind[(inside > 0) & (inside < 1)].max()
    stated = session.guarantee_
    assert stated.prior_membership == pytest.approx(blind, rel=1e-12)
    right = stated.posterior_membership
    reached = rel_entr(right, blind) + rel_entr(1 - right, 1 - blind)
    assert reached <= 0.5 * (1 + 1e-9) if right == 1 else reached == pytest.approx(0.5, rel=1e-9)
    entropy = -xlogy(WEIGHTS, WEIGHTS).sum()
    assert stated.secret.entropy == pytest.approx(entropy, rel=1e-12)
