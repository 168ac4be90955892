"""The best attack on a run does what theory says it does, and no better than the guarantee."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pacsklearn.audit.attack import AttackResult
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.srpp import DifferingRows, DiscrepancyCap
from pacsklearn.srpp.descent.clipped_gradient import LOSSES, clipped_sum
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.release.run import Charging, PrivateRun

TRIALS, STEPS, N, K, NOISE = 400, 4, 30, 3, 12.0


@pytest.mark.product(only=1)
@pytest.mark.statistical
@pytest.mark.parametrize(("batch", "accounting"), [(30, "worst-case"), (10, "secret-batches")])
def test_two_data_sets_that_differ_in_three_rows(batch, accounting):
    """Rows that pull as hard as they may, one way or the other; the batches stay secret.

    Each false alarm has a probability below 1e-3; with all rows in the batch the attack is as good
    as theory says, up to 4 standard errors.
    """
    cap = DiscrepancyCap.differing(N, K, batch)
    clipping = GradientClipping((1.0,), (3,))
    accountant = SRPPSGDAccountant(cap, clipping, 4.0, accounting)
    X = np.random.default_rng(0).normal(size=(N, 2))
    pull = np.array([[30.0, 40.0]])
    targets = np.zeros((N, 1))
    targets[:K] = 1e3
    generator = np.random.default_rng(1)
    right = 0
    for _ in range(TRIALS):
        secret = int(generator.integers(2))
        rows = X.copy()
        rows[:K] = pull if secret else -pull
        with PrivateRun(
            accountant,
            DifferingRows(K),
            NOISE,
            charging=Charging(1e9),
            sampler=SeededSampler(generator),
        ) as run:
            released = []
            for _ in range(STEPS):
                drawn = run.next_batch()
                total = clipped_sum(
                    rows[drawn], targets[drawn], np.zeros((1, 3)), LOSSES["squared_error"], 1.0,
                    intercept=False,
                )  # fmt: skip
                released.append(run.noised_mean(total.ravel()))
        direction = np.append(pull[0], 0.0)
        right += int((np.sum(released, axis=0) @ direction < 0) == bool(secret))
    information = accountant.information(NOISE, STEPS)
    bound = posterior_success(information, 0.5)
    result = AttackResult("likelihood ratio", "naming the data set", TRIALS, right, 0.5, bound)
    assert not result.violates()
    if batch == N:
        expected = stats.norm.cdf(np.sqrt(STEPS) * K / NOISE)
        assert abs(right / TRIALS - expected) < 4 * np.sqrt(expected * (1 - expected) / TRIALS)
        # The bound for six times the noise would be refuted.
        lower = posterior_success(information / 36, 0.5)
        assert AttackResult("likelihood ratio", "x", TRIALS, right, 0.5, lower).violates()
