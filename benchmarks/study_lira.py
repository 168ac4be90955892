"""Likelihood-ratio attack on released models, with the confidences of section 8."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from study_releases import Candidates


class Attacked(NamedTuple):
    """Success of the attack on every row, and what it looked at for the most exposed one."""

    advantages: np.ndarray
    inside: np.ndarray
    outside: np.ndarray

    @property
    def mean(self) -> float:
        return float(self.advantages.mean())


def confidence(model: Any, X: np.ndarray) -> np.ndarray:
    """How sure a model is about each row: Platt's, or one minus a normalised distance."""
    if hasattr(model, "cluster_centers_"):
        distance = model.transform(X).min(axis=1)
        return 1 - distance / max(distance.max(), 1e-300)
    decision = model.decision_function(X)
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision])
    return expit(decision).max(axis=1)


def attack(candidates: Candidates, X: np.ndarray, models: Any) -> Attacked:
    """Threshold on the confidence, chosen on one half of the releases and tried on the other.

    ``models`` are pairs of candidate and released model. The published rule takes the best
    threshold on the releases it is measured on, which finds an advantage in pure noise too.
    """
    seen, indices = [], []
    for index, model in models:
        seen.append(confidence(model, X))
        indices.append(index)
    scores = np.array(seen)
    inside = candidates.space.membership().T[indices]
    half = len(indices) // 2
    found = np.array(
        [
            _advantage(scores[:half, j], inside[:half, j], scores[half:, j], inside[half:, j])
            for j in range(X.shape[0])
        ]
    )
    worst = int(found.argmax())
    return Attacked(found, scores[inside[:, worst], worst], scores[~inside[:, worst], worst])


def _advantage(
    known: np.ndarray, known_in: np.ndarray, scores: np.ndarray, truth: np.ndarray
) -> float:
    """Mean of the two hit rates, minus one half."""
    order = np.argsort(-known, kind="stable")
    hits = np.cumsum(known_in[order]) / max(known_in.sum(), 1)
    false = np.cumsum(~known_in[order]) / max((~known_in).sum(), 1)
    gain = hits - false
    best = int(np.abs(gain).argmax())
    says = scores >= known[order[best]]
    if gain[best] < 0:  # outliers make models less sure of themselves
        says = ~says
    return float((says[truth].mean() + (~says[~truth]).mean()) / 2 - 0.5)
