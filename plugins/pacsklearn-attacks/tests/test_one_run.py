"""One training run against its promise: private descent passes, what learns by heart is caught."""

from __future__ import annotations

import json

import numpy as np
import pytest
from pacsklearn_attacks.one_run import audit_one_run
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn.exceptions import AuditViolationError
from pacsklearn.srpp import Batches, NoiseMultiplier, Renyi, SRPPSGDClassifier

generator = np.random.default_rng(0)
X = generator.standard_normal((240, 400))
X /= np.linalg.norm(X, axis=1, keepdims=True)
y = generator.integers(0, 2, 240)


def descent(budget):
    return SRPPSGDClassifier(
        batches=Batches(120, accounting="worst-case"),
        epochs=20,
        learning_rate=3.0,
        clipping=1.0,
        penalty=None,
        classes=[0, 1],
        budget=budget,
    )


def test_private_descent_passes():
    audit = audit_one_run(descent(Renyi(4.0, 8.0)), X, y)
    assert audit.passed
    assert (audit.n_pairs, audit.n_guesses) == (120, 30)
    assert 0 < audit.delta < 1e-3
    assert audit.epsilon_refuted < audit.epsilon


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_descent_with_the_noise_forgotten_is_caught():
    leaky = descent(NoiseMultiplier(0))
    audit = audit_one_run(leaky, X, y, n_guesses=60, epsilon=1.0, delta=1e-5)
    assert not audit.passed
    assert audit.epsilon_refuted > 1
    with pytest.raises(AuditViolationError, match="REFUTED"):
        audit.raise_if_violated()


def test_a_model_that_learns_by_heart_is_caught_and_one_without_a_promise_is_not_refuted():
    audit = audit_one_run(KNeighborsClassifier(1), X, y, epsilon=1.0)
    assert audit.n_right == audit.n_guesses
    assert not audit.passed
    silent = audit_one_run(KNeighborsClassifier(1), X, y)
    assert silent.passed
    assert json.loads(silent.to_json())["epsilon"] is None


def test_a_mean_over_batches_is_no_promise_about_one_run():
    model = SRPPSGDClassifier(
        budget=4.0, batches=Batches(20, accounting="subsampling-aware"), epochs=1, classes=[0, 1]
    )
    with pytest.raises(ValueError, match="batches"):
        audit_one_run(model, X, y)
    with pytest.raises(ValueError, match="n_guesses"):
        audit_one_run(model, X, y, n_guesses=121)


@pytest.mark.parametrize(
    "given", [{"epsilon": np.nan}, {"epsilon": -1.0}, {"delta": 2.0}, {"level": 1.0}]
)
def test_a_promise_that_is_no_number_is_refused(given):
    """NaN was REFUTED, and an epsilon below zero not."""
    with pytest.raises(ValueError, match=next(iter(given))):
        audit_one_run(KNeighborsClassifier(1), X, y, **given)


def test_targets_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="y must have"):
        audit_one_run(KNeighborsClassifier(1), X, None)
