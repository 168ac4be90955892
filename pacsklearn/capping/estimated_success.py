"""Success at every target of a criterion, estimated from draws: no bound."""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.criterion_success import Targets, success_sums
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.budget.criterion import Criterion


def estimated_success(
    mixture: GaussianMixture,
    criterion: Criterion,
    n_draws: int,
    generator: np.random.Generator,
    targets: Targets | None = None,
) -> Floats:
    """Return the mean success at every target over ``n_draws`` releases; (n_targets,)."""
    total, _ = success_sums(mixture, criterion, mixture.draws(n_draws, generator), targets)
    return np.asarray(total / n_draws)
