"""Simulated releases: candidates fitted once, then noise of several kinds and budgets."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from study_data import StudyData

from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.plugins import registry
from pacsklearn.universe.design import Design

Scorer = Callable[[Any], float]


def target_for(noise: str, budget: float, space: SecretSpace) -> Target:
    if noise == "criterion":
        return Target(posterior_success(budget), MembershipCriterion(space))
    return Target(budget)


@dataclass
class Candidates:
    """Models of all candidate subsets in canonical form, ready to be noised."""

    space: SecretSpace
    canonicalizer: Any
    outputs: Any
    support: Support
    cost: Any

    @classmethod
    def fit(
        cls,
        estimator: Any,
        data: StudyData,
        *,
        canonicalizer: Any = "auto",
        metric: Metric | None = None,
        stratify: Any = "auto",
    ) -> Candidates:
        y = data.y if is_classifier(estimator) else None
        chosen = registry().canonicalizer(canonicalizer, estimator)
        prepared = Design(stratify=stratify).candidates(estimator, data.X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # distances to convergence do not matter here
            outputs = prepared.outputs(chosen)
        cost = metric or outputs.metric()
        return cls(prepared.space, chosen, outputs, Support(outputs.vectors), cost)

    def decode(self, vector: np.ndarray) -> Any:
        template = clone(self.outputs.form.template)
        return self.canonicalizer.decode(vector, self.outputs.layout, template)

    def released(self, noise: str, budget: float, n_releases: int) -> Any:
        """Pairs of candidate and released model; the same candidates and noise for every law.

        ``noise="criterion"`` caps the best membership attack where the budget's bound lies.
        """
        target = target_for(noise, budget, self.space)
        law = registry().noise_backend(noise).calibrate(self.support, target, self.cost)
        draw, sampler = (SeededSampler(np.random.default_rng([0, i])) for i in range(2))
        for _ in range(n_releases):
            index = draw.index(self.space.weights)
            yield index, self.decode(law.decode(law.draw(index, sampler)))

    def scores(self, noise: str, budget: float, n_releases: int, scorer: Scorer) -> np.ndarray:
        return np.array([scorer(model) for _, model in self.released(noise, budget, n_releases)])

    def noiseless(self, scorer: Scorer) -> float:
        return float(np.mean([scorer(self.decode(vector)) for vector in self.support.outputs]))
