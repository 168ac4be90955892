"""Attacks run against a guarantee."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pacsklearn._progress import bar
from pacsklearn._validation import as_inner_share, check_flag, check_integer, is_word
from pacsklearn.audit.attack import Attack, AttackResult
from pacsklearn.audit.audit_record import Audit, max_intervals
from pacsklearn.audit.operating_point import OperatingPoint, operating_points
from pacsklearn.audit.roc_curve import AttackROC, RecordingGame, score_rounds
from pacsklearn.audit.subject import Replay, subject_of
from pacsklearn.kernel.plugins.registry import registry


def run_audit(
    source: Any,
    X: Any = None,
    y: Any = None,
    *,
    attacks: str | Iterable[str | Attack] = "auto",
    n_trials: int = 1000,
    level: float = 0.999,
    strict: bool = False,
    estimator: Any = None,
    groups: Any = None,
    secret: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    queries: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    stop_early: bool = False,
) -> Audit:
    """Attack what was released, and hold the success against the guarantee.

    The mechanism is replayed: candidates are fitted again by the public design that the fitted
    estimator's parameters determine, the same law of noise is calibrated, and each round draws a
    secret and noise of its own. The secret that was really drawn is never used, and nothing is
    charged.

    Parameters
    ----------
    source : PACPrivate, AutoPrivate, SRPPPrivate, SRPPSGD estimator, PrivacySession or Game
        Fitted; or a session that has released models, together with ``estimator``; or a game that
        is there already (``TranscriptGame``, ``SlicedGame``, one of your own).
    X, y : array-likes
        What it was fitted on; not needed for a game, nor for gradient descent, which is played
        with the worst tables that there are
        (:class:`~pacsklearn.audit.descent_game.DescentGame`).
    attacks : "auto" or iterable of str or Attack, default="auto"
        Registered names or instances: ``"optimal_membership"``, ``"identification"``, ``"map"``,
        ``"lira"`` and those of plugins; ``plugins/pacsklearn-attacks`` has 16 more. "auto" takes
        all that join by themselves (``Attack.automatic``) and can play the game.
    n_trials : int, default=1000
        Rounds counted for each attack.
    level : float, default=0.999
        Least probability that the intervals of all attacks cover their success, together.
    strict : bool, default=False
        Raise when the bound is refuted.
    estimator : estimator or sequence of them, optional
        What a session released, in order.
    groups, secret, fit_params
        As given to ``fit``.
    queries : array-like, optional
        What an adversary asks where answers are released; the rows themselves when not given.
    random_state : int, default=0
        Public seed of the rounds.
    n_jobs : int, optional
        Workers that fit the candidates.
    stop_early : bool, default=False
        Let each attack stop counting as soon as it is clear on which side of the bound its success
        lies. The intervals are then of a kind that holds whenever counting stops, and wider.

    Returns
    -------
    Audit
        Prints as a table; ``to_json()`` and ``plot()`` give the rest.

    Raises
    ------
    AuditViolationError
        With ``strict``, when an attack did better than the guarantee allows.
    UnknownNameError
        When no attack has a name in ``attacks``.
    ValueError
        When an attack cannot play the game, or ``X`` is not what was fitted on.

    Notes
    -----
    *What is replayed* is the mechanism of this version of pacsklearn with the parameters that the
    estimator has now: an audit finds a wrong calibration, a plugin that leaks, a number that is
    published without noise, noise that floating point betrays. It cannot tell whether somebody
    altered the released file afterwards.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from pacsklearn import PACPrivate, Subsets
    >>> from pacsklearn.audit import run_audit
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PACPrivate(RidgeClassifier(alpha=100), secret=Subsets(16)).fit(X, y)
    >>> audit = run_audit(model, X, y, attacks=["identification"], n_trials=200)
    >>> audit.passed
    True
    """
    count = check_integer(name="n_trials", value=n_trials, minimum=1)
    seed = check_integer(name="random_state", value=random_state, minimum=0)
    level = as_inner_share("level", level)
    check_flag(name="strict", value=strict)
    check_flag(name="stop_early", value=stop_early)
    known, automatic = registry(), is_word(attacks, "auto")
    named = known.names("attack") if automatic else _listed(attacks)
    chosen = [(name, known.make("attack", name)) for name in named]
    given = Replay(X, y, estimator, groups, secret, fit_params, queries, n_jobs)
    subject = subject_of(source, given)
    game = subject.game
    if automatic:
        # Those that join by themselves and can play, plugins' among them.
        chosen = [each for each in chosen if each[1].automatic and each[1].can_play(game)]
    results, curves = [], []
    points: list[OperatingPoint] = []
    # A union bound: the intervals of all attacks hold together at the stated level.
    stopping_level = 1 - (1 - level) / max_intervals(len(chosen)) if stop_early else None
    with bar("rounds", len(chosen) * count) as at:
        for number, (_, attack) in enumerate(chosen):

            def counted(n_rounds: int, before: int = number * count) -> None:
                at(before + min(n_rounds, count))

            recorded = RecordingGame(attack.played(subject, seed), stopping_level, counted)
            result, curve, more = _run(attack, recorded, count, seed)
            results.append(subject.held(result))
            curves += [curve] if curve is not None else []
            points += more
    audit = Audit(
        subject=subject.title,
        results=tuple(results),
        level=level,
        information=getattr(game, "information", None),
        n_subsets=len(game.prior),
        n_units=0 if game.members is None else int(game.members.shape[1]),
        seed=seed,
        curves=tuple(curves),
        points=tuple(points),
        provenance=tuple(known.provenance("attack", name) for name, _ in chosen),
        **subject.divergence,
    )
    if strict:
        audit.raise_if_violated()
    return audit


def _listed(attacks: Any) -> list[Any]:
    if not isinstance(attacks, (str, Attack, Iterable)):
        raise TypeError(
            "attacks must be 'auto', a name, an attack or a list of them, got an object of type "
            f"{type(attacks).__name__}."
        )
    listed = [attacks] if isinstance(attacks, (str, Attack)) else list(attacks)
    if not listed:
        raise ValueError(
            f"attacks must name at least one attack of {list(registry().names('attack'))}."
        )
    return listed


def _run(
    attack: Attack, game: RecordingGame, n_trials: int, seed: int
) -> tuple[AttackResult, AttackROC | None, tuple[OperatingPoint, ...]]:
    result = attack.run(game, n_trials, seed)
    unit = dict(result.details).get("unit", "")
    if not unit.isdigit() or len(game.rounds) < result.n_trials:
        return result, None, ()
    assert game.members is not None
    scores, truth = score_rounds(attack, game, int(unit))
    # The last rounds are the counted ones; on those before them the attack was chosen.
    curve = AttackROC.of(attack.name, scores[-result.n_trials :], truth[-result.n_trials :])
    points = operating_points(
        attack.name,
        scores,
        truth,
        result.n_trials,
        prior=min(float(game.prior @ game.members[:, int(unit)]), 1.0),
        information=getattr(game, "information", None),
        sequential=result.sequential,
    )
    return result, curve, points
