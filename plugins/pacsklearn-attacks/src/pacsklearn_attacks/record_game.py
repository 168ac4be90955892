"""A model of known rows and one record out of a list."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacsklearn.audit.replayed_game import ReplayedGame
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.universe.design import candidates_over
from pacsklearn.universe.listed_space import listed_space


def record_game(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    n_records: int = 16,
    budget: float = 1 / 4,
    noise: Any = "auto",
) -> ReplayedGame:
    """Return the game in which all rows but one of the last ``n_records`` are known.

    The informed adversary of reconstruction: it knows every row that a model was fitted on except
    one.

    Parameters
    ----------
    estimator : estimator
    X, y : array-likes
        The known rows, and then the records one of which was used.
    n_records : int, default=16
    budget : float, default=1/4
        Nats that the released model may reveal about which record it was.
    noise : str or NoiseBackend, default="auto"

    Returns
    -------
    ReplayedGame

    Notes
    -----
    Source of the game: Balle, Cherubin and Hayes (2022), Reconstructing training data with informed
    adversaries.
    """
    n_known = len(X) - n_records
    subsets = [np.append(np.arange(n_known), n_known + number) for number in range(n_records)]
    space = listed_space(subsets, n_rows=len(X))
    candidates = candidates_over(estimator, X, y, space, FitOptions())
    target = Target(budget)
    choices = ReleaseChoices(noise)
    plan = ParameterPlan.of(estimator, lambda: candidates, target, choices)
    return ReplayedGame([plan], information=budget, budget=budget, X=candidates.X, y=candidates.y)
