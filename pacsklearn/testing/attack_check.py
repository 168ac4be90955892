"""The contract of an attack."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pacsklearn.audit.attack import Attack, AttackResult
from pacsklearn.audit.game import Game
from pacsklearn.audit.roc_curve import RecordingGame
from pacsklearn.testing.attack_games import AttackGames, example_games
from pacsklearn.testing.fingerprint import fingerprint
from pacsklearn.testing.rule import Rule

_FORM = Rule("form")
_PRIOR = Rule("prior")
_SEED = Rule("seed")

_SILENT_RUNS = 6
_CLOSE = 1e-9
_COUNT_ELSEWHERE = (
    "choose targets and thresholds on rounds that are not counted, and decide by posterior and "
    "released alone."
)


def check_attack(
    attack: Attack,
    *,
    games: AttackGames | None = None,
    n_trials: int = 400,
    random_state: int = 0,
) -> None:
    """Check that an attack's silence means something, and that its alarms are true.

    Parameters
    ----------
    attack : Attack
        As the registry or a user would give it.
    games : AttackGames, optional
        What it plays; private answers to a few queries when not given. An attack on something else
        (a model, an attribute) brings games of its own, with leaks planted in them.
    n_trials : int, default=400
        Rounds counted in each run.
    random_state : int, default=0
        Seed of the runs.

    Raises
    ------
    AssertionError
        Naming the rule that is broken, the game on which it is, and what to do.

    Notes
    -----
    1. *Form*: the result is of the game that was played, with ``n_trials`` rounds counted, and with
       the bound that the game promises for the blind success it states.
    2. *Seed*: the same seed plays the same rounds and gives the same result, another seed others.
    3. *Game*: it is left as it is.
    4. *Prior*: where nothing is released, the success of six runs together does not differ from
       the blind success. A target chosen by looking at the rounds that are counted does.
    5. *True alarms*: on a mechanism that keeps its promise the bound is not refuted.
    6. *Leaks*: on every broken mechanism it is.

    Statements about success are at a level of 0.999, so that a sound attack fails under at most one
    seed of 200.

    Examples
    --------
    >>> from pacsklearn.plugins import registry
    >>> from pacsklearn.testing import check_attack
    >>> check_attack(registry().make("attack", "identification"))
    """
    _FORM.require_instance(attack, Attack)
    _FORM.require(
        isinstance(getattr(attack, "name", None), str) and attack.name,
        "The attack has no name.",
        "set the class attribute name to the name of its record.",
    )
    played = example_games() if games is None else games
    seeds = [int(s) for s in np.random.SeedSequence(random_state).generate_state(_SILENT_RUNS)]
    first = _run(attack, "a sound mechanism", played.sound, n_trials, seeds[0])
    Rule("true alarms").require(
        not first.result.violates(),
        f"It refutes the bound of a sound mechanism: {first.result}.",
        _COUNT_ELSEWHERE,
    )
    _check_seed(attack, played.sound, n_trials, seeds, first)
    _check_prior(attack, played, n_trials, seeds)
    for name, leak in played.leaks.items():
        outcome = _run(attack, name, leak, n_trials, seeds[0]).result
        Rule("leaks").require(
            outcome.violates(),
            f"It does not find a planted leak ({name}): {outcome}.",
            "use all that a round shows; an attack that overlooks this leak proves nothing by its "
            "silence.",
        )


def _check_seed(attack: Attack, game: Game, n_trials: int, seeds: list[int], first: _Run) -> None:
    again, other = (_run(attack, "a sound mechanism", game, n_trials, seed) for seed in seeds[:2])
    _SEED.require(
        first.result == again.result and first.secrets == again.secrets,
        "Two runs with the same seed differ.",
        "draw everything from numpy.random.default_rng(seed), and keep nothing between runs.",
    )
    _SEED.require(
        first.secrets != other.secrets,
        "Two runs with different seeds play the same rounds.",
        "draw everything from numpy.random.default_rng(seed).",
    )


def _check_prior(attack: Attack, games: AttackGames, n_trials: int, seeds: list[int]) -> None:
    for name, game in (("nothing", games.silent), ("nothing, under a skewed prior", games.skewed)):
        where = f"a mechanism that releases {name}"
        runs = [_run(attack, where, game, n_trials, seed).result for seed in seeds]
        trials = sum(run.n_trials for run in runs)
        successes = sum(run.n_successes for run in runs)
        blind = float(np.mean([run.prior for run in runs]))
        pooled = AttackResult(attack.name, runs[0].criterion, trials, successes, blind, None)
        low, high = pooled.confidence_interval()
        _PRIOR.require(
            low <= pooled.prior,
            f"On {where} it does better than the blind success it states: {pooled}.",
            _COUNT_ELSEWHERE,
        )
        # A weak attack need not know a skewed prior.
        _PRIOR.require(
            game is games.skewed or high >= pooled.prior,
            f"On {where} it does worse than the blind success it states: {pooled}.",
            "state the success of the best blind guess at the same criterion, no more.",
        )


class _Run(NamedTuple):
    """A result, and the secrets of the rounds that were played for it."""

    result: AttackResult
    secrets: list[int]


def _run(attack: Attack, where: str, game: Game, n_trials: int, seed: int) -> _Run:
    watched, before = RecordingGame(game), fingerprint(game)
    remedy = "play every game of its kind, or give games= that the attack can play."
    with _FORM.completes(f"On {where} it fails", remedy):
        result: Any = attack.run(watched, n_trials, seed)
    secrets = [played.secret for played in watched.rounds]
    _FORM.require(
        isinstance(result, AttackResult),
        f"run returns an object of type {type(result).__qualname__}.",
        "return a pacsklearn.plugins.AttackResult.",
    )
    _FORM.require(
        result.attack == attack.name and result.n_trials == n_trials,
        f"On {where} the result is of {result.n_trials} trials of {result.attack!r}, not of "
        f"{n_trials} of {attack.name!r}.",
        "count n_trials rounds, and give the result the attack's name.",
    )
    _FORM.require(
        len(secrets) >= n_trials,
        f"On {where} it plays {len(secrets)} rounds and counts {n_trials}.",
        "play a round for every trial.",
    )
    bound = game.bound(result.prior)
    _FORM.require(
        (bound is None) == (result.bound is None)
        and (bound is None or abs(bound - result.bound) <= _CLOSE),
        f"On {where} the result's bound is {result.bound}, and the game promises {bound} for a "
        f"blind success of {result.prior}.",
        "give game.bound(prior) as the bound.",
    )
    Rule("game").require(
        fingerprint(game) == before,
        f"On {where} the attack changes the game.",
        "copy arrays before you change them.",
    )
    return _Run(result, secrets)
