"""What a release tells about each row, and which rows cost the noise; for the curator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import as_inner_share, check_integer
from pacsklearn.audit.attack import share_interval
from pacsklearn.audit.game import secret_units
from pacsklearn.audit.replay import (
    check_fit_params,
    fitted_estimator,
    released_plan,
    replay_fit,
)
from pacsklearn.audit.replayed_game import ReplayedGame
from pacsklearn.estimators.individual_information import information_about_units
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.design import candidates_over

CURATOR_ONLY: Final = (
    "FOR THE CURATOR ONLY: computed from the private rows without noise. Publish nothing of it: "
    "which rows stand out is itself private."
)


@final
@dataclass(frozen=True)
class RecordLine:
    """One unit of privacy.

    Parameters
    ----------
    unit : int
        Number of the unit: the row's, or the group's in sorted order.
    bound : float
        Success at its membership that the guarantee implies.
    certified : float
        Success that is certified for this unit under the law of this release.
    attack, attack_low, attack_high : float
        Success of the best attack, counted, and its exact interval.
    influence : float
        Share of the candidates' spread, in units of the noise, along the difference that the unit
        makes. The shares of all units need not sum to one.
    noise_without : float or None
        Power of the noise if the unit were not in the universe, over that of the noise as it is;
        None where this was not computed.
    """

    unit: int
    bound: float
    certified: float
    attack: float
    attack_low: float
    attack_high: float
    influence: float
    noise_without: float | None = None


@final
@dataclass(frozen=True)
class RecordReport:
    """The most exposed units of a release, the most exposed first. For the curator alone.

    Made by :func:`record_report`.

    Parameters
    ----------
    lines : tuple of RecordLine
    n_units : int
        Units whose membership is secret, of which the lines are some.
    n_trials : int
        Rounds behind the attacks' figures.
    level : float
        Least probability that all intervals of all units hold together.
    confidence : float
        Probability that all certified figures hold together.
    """

    lines: tuple[RecordLine, ...]
    n_units: int
    n_trials: int
    level: float
    confidence: float

    @property
    def costly(self) -> tuple[RecordLine, ...]:
        """Units that were taken out to see what they cost, the dearest first."""
        tried = [line for line in self.lines if line.noise_without is not None]
        return tuple(sorted(tried, key=lambda line: line.noise_without or 0.0))

    def __str__(self) -> str:
        rows = [
            f"{line.unit:>8}  {100 * line.bound:6.2f}  {100 * line.certified:6.2f}  "
            f"{100 * line.attack:6.2f} ({100 * line.attack_low:.2f} to "
            f"{100 * line.attack_high:.2f})  {100 * line.influence:6.2f}  "
            + ("" if line.noise_without is None else f"{100 * line.noise_without:6.1f}")
            for line in self.lines
        ]
        head = (
            "    unit   bound   certified  attack (interval)  influence  noise without it (all %)"
        )
        return "\n".join([CURATOR_ONLY, "", head, *rows])

    def to_json(self, **options: Any) -> str:
        """Return the JSON text, marked as the curator's; ``options`` go to :func:`json.dumps`."""
        data = {"curator_only": CURATOR_ONLY, **asdict(self)}
        return json.dumps(data, allow_nan=False, **options)


def record_report(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    n_lines: int = 100,
    n_trials: int = 1000,
    n_without: int = 3,
    level: float = 0.999,
    random_state: int = 0,
) -> RecordReport:
    """Bound, certified figure, best attack and cost of each of the most exposed rows.

    Parameters
    ----------
    model : PACPrivate, AutoPrivateClassifier or AutoPrivateRegressor
        Fitted, with released parameters.
    X, y, groups, fit_params
        As given to its ``fit``. Parameters with a value for each row are refused.
    n_lines : int, default=100
        Units reported, those with the largest certified figure.
    n_trials : int, default=1000
        Rounds in which the best attack is played, on all units at once.
    n_without : int, default=3
        Units of the largest influence that are taken out, one at a time, with all candidates fitted
        again, to see how much less noise the others would need.
    level : float, default=0.999
    random_state : int, default=0
        Public seed of the rounds.

    Returns
    -------
    RecordReport
        Which rows stand out is private: for the curator alone. Leaving rows out because of it is a
        choice made by looking at the private rows.

    Notes
    -----
    The certified figure is the posterior success for the mutual information between the release and
    this unit's membership, which never exceeds that between the release and the whole secret, and
    the best attack is Bayes' rule. Nothing is charged, the secret that was drawn is not read.
    """
    count = check_integer(name="n_trials", value=n_trials, minimum=1)
    lines = check_integer(name="n_lines", value=n_lines, minimum=1)
    removed = check_integer(name="n_without", value=n_without, minimum=0)
    seed = check_integer(name="random_state", value=random_state, minimum=0)
    level = as_inner_share("level", level)
    model = getattr(model, "private_", model)
    if not isinstance(model, PACPrivate):
        what = "one that released a public constant" if model is None else type(model).__name__
        raise TypeError(
            "model must be a fitted PACPrivate, AutoPrivateClassifier or AutoPrivateRegressor, got "
            f"{what}."
        )
    game = replay_fit(model, X, y, groups=groups, fit_params=fit_params)
    if not isinstance(game, ReplayedGame):
        raise ValueError(
            "model must release parameters: answers have no single law of noise. Audit a model "
            "that answers with run_audit."
        )
    check_fit_params(fit_params, game.space.n_rows)
    plan, estimator = game.plans[0], fitted_estimator(model, X, groups)
    law = plan.calibrate(game.prior)
    hidden = np.flatnonzero(secret_units(game, game.members))
    leakage = information_about_units(law, game.space, game.prior)
    right = _counted(game, count, seed)
    influence = _influence(plan.outputs.vectors, law, game)
    certified = [
        posterior_success(min(float(leakage.bounds[u]), game.information), float(leakage.priors[u]))
        for u in hidden
    ]
    shown = hidden[np.argsort(certified, kind="stable")[::-1][:lines]]
    dearest = hidden[np.argsort(influence[hidden], kind="stable")[::-1][:removed]]
    figures = dict(zip(hidden.tolist(), certified, strict=True))
    # A union bound over all units, shown or not: the worst are picked by looking.
    each = 1 - (1 - level) / max(hidden.size, 1)
    reported = []
    for unit in [*shown.tolist(), *(u for u in dearest.tolist() if u not in shown)]:
        low, high = share_interval(int(right[unit]), count, each)
        without = None
        if unit in dearest and law.noise_power > 0:
            without = _power_without(model, estimator, game, unit, fit_params)
            without /= law.noise_power
        bound, success = game.bound(float(leakage.priors[unit])), float(right[unit] / count)
        own = float(influence[unit])
        reported.append(RecordLine(unit, bound, figures[unit], success, low, high, own, without))
    return RecordReport(tuple(reported), hidden.size, count, level, leakage.confidence)


def _counted(game: ReplayedGame, n_trials: int, seed: int) -> NDArray[np.intp]:
    """Return the rounds in which Bayes' rule was right, for each unit."""
    generator = np.random.default_rng(seed)
    members = game.members
    own = members.astype(np.float64)
    right = np.zeros(members.shape[1], dtype=np.intp)
    for _ in range(n_trials):
        played = game.play(generator)
        right += (played.posterior @ own > 0.5) == members[list(played.used)].any(axis=0)
    return right


def _influence(vectors: Floats, law: Any, game: ReplayedGame) -> Floats:
    """Return the share of the spread that goes along the difference each unit makes; (n_units,)."""
    weights = game.prior
    centres = np.asarray(law.centres, dtype=np.float64) if law.dimension else np.asarray(vectors)
    spread = centres - weights @ centres
    inside = game.members.astype(np.float64)
    rate = weights @ inside
    variance = rate * (1 - rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Regression of what is released on membership of the unit alone.
        slopes = (inside - rate).T @ (weights[:, None] * spread)
        explained = np.sum(slopes**2, axis=1) / variance
    total = float(np.sum(weights[:, None] * spread**2))
    return np.where(variance > 0, explained, 0.0) / max(total, np.finfo(np.float64).tiny)


def _power_without(
    model: PACPrivate,
    estimator: Any,
    game: ReplayedGame,
    unit: int,
    fit_params: Mapping[str, Any] | None,
) -> float:
    """Return the power of the noise for the same candidates without a unit's rows."""
    space, (X, y) = game.space, game.table
    unit_of_row = space.unit_of_row
    kept = np.arange(space.n_rows) if unit_of_row is None else np.asarray(unit_of_row)
    rows = np.flatnonzero(kept != unit)
    units = None if unit_of_row is None else kept[rows] - (kept[rows] > unit)
    smaller = SecretSpace(
        np.delete(space.packed, unit, axis=0), space.n_subsets, space.weights, units
    )
    table = safe_indexing(X, rows)
    targets = None if y is None else safe_indexing(y, rows)
    options = FitOptions(fit_params or {}, model.n_jobs)
    candidates = candidates_over(estimator, table, targets, smaller, options)
    return float(released_plan(model, candidates).calibrate(game.prior).noise_power)
