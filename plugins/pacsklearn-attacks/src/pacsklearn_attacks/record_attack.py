"""The one unknown record of a model whose other rows are known: the attack, and its game."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.replayed_game import ReplayedGame
from pacsklearn.audit.tally import tally_names
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.universe.design import candidates_over
from pacsklearn.universe.listed_space import listed_space


@final
class RecordAttack(Attack):
    """Solves a linear model's or a PCA's equations for the record it does not know.

    Everything but one record is known, and the record is one of a list: that nearest to the
    solution is named, distances measured in standard deviations of each feature.

    Notes
    -----
    There is nothing to choose, so every round counts. The game is
    :func:`~pacsklearn_attacks.record_attack.record_game`.
    Source: Balle, Cherubin and Hayes (2022), Reconstructing training data with informed
    adversaries.
    """

    name = "record"
    description = "the one unknown record, from a linear model or a PCA"
    needs = ("units", "models", "features")
    threat: ClassVar = ThreatModel(
        goal="reconstruction of one record",
        knowledge="all rows of the model but one, and a list that holds it",
        power="looks at the released parameters",
        reference="Balle, Cherubin and Hayes 2022",
        cost="one linear equation a round",
    )

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        members = game.members
        own = _own_units(members)
        if not len(own):
            raise ValueError(
                "game must be one whose candidates are known rows and one more, each another "
                "(record_game)."
            )
        features = np.asarray(game.features)
        known = np.flatnonzero(members.all(axis=0))
        targets = np.asarray(game.targets)[known] if game.offers("targets") else None
        records = features[own]
        scale = np.maximum(features.std(axis=0), np.finfo(np.float64).tiny)

        def named(played: Round) -> int:
            row = unknown_row(game.models(played.released)[-1], features[known], targets)
            return int(np.argmin(np.sum(((records - row) / scale) ** 2, axis=1)))

        return tally_names(self.name, "naming the record", game, n_trials, seed, named)


def _own_units(members: Any) -> Any:
    """Return unit that each candidate alone has; empty where there is another number of them."""
    own = members & ~members.all(axis=0)
    if not np.all(own.sum(axis=1) == 1):
        return []
    return np.argmax(own, axis=1)


def unknown_row(model: Any, X: Floats, y: Any) -> Floats:
    """Return the row that, added to ``X``, makes the model's parameters those of a fit.

    Parameters
    ----------
    model : fitted LinearRegression, Ridge, LogisticRegression of two classes, or PCA
        With an intercept where it is linear, classes of equal weight, a squared penalty or none.
    X : ndarray of shape (n_known, d)
        All rows but one.
    y : ndarray of shape (n_known,) or None

    Returns
    -------
    ndarray of shape (d,)

    Raises
    ------
    ValueError
        When the model is another one.

    Notes
    -----
    At the optimum of a linear model the gradients of all rows and of the penalty add up to zero, so
    that of the unknown row is minus the sum of the known parts; it is a multiple of the row with a
    one for the intercept appended, whose last entry gives the multiple. The mean of a PCA is the
    mean of all its rows. Source: Balle, Cherubin and Hayes (2022), section 4.
    """
    if hasattr(model, "components_") and hasattr(model, "mean_"):
        return (len(X) + 1) * np.asarray(model.mean_) - X.sum(axis=0)
    if not _is_solvable(model):
        raise ValueError(
            "model must be a linear model with an intercept, or a PCA, whose equations give the "
            f"unknown record; got {type(model).__name__}."
        )
    design = np.column_stack([X, np.ones(len(X))])
    slopes = np.ravel(model.coef_)
    scores = design @ np.append(slopes, np.ravel(model.intercept_))
    if hasattr(model, "classes_"):
        misses = expit(scores) - (np.asarray(y) == model.classes_[1])
        pull = slopes * 0.0 if model.penalty is None else slopes / model.C
    else:
        misses = scores - np.asarray(y)
        pull = slopes * getattr(model, "alpha", 0.0)
    gradient = -(design.T @ misses) - np.append(pull, 0.0)
    return np.asarray(gradient[:-1] / gradient[-1])


def _is_solvable(model: Any) -> bool:
    """Return whether gradients of the rows and of a squared penalty add up to zero."""
    if type(model) is LogisticRegression:
        squared = model.penalty not in ("l1", "elasticnet") and not model.l1_ratio
        # That solver penalizes the intercept as well.
        known = squared and model.class_weight is None and model.solver != "liblinear"
        known &= len(model.classes_) == 2
    else:
        known = type(model) in (LinearRegression, Ridge) and not model.positive
    return bool(known and model.fit_intercept)


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
