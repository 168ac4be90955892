"""Attacks on a mechanism, and how well they did."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeAlias, final

from scipy import stats

from pacsklearn._validation import as_inner_share, as_probability, check_integer
from pacsklearn.audit.bounds.confidence_sequence import confidence_sequence
from pacsklearn.audit.game import Game, Round

_LEVEL = 0.999


class Interval(NamedTuple):
    """Confidence interval of a success probability."""

    low: float
    high: float


@final
@dataclass(frozen=True)
class AttackResult:
    """How often an attack was right, beside what the guarantee allows. Round-trips JSON.

    Parameters
    ----------
    attack : str
        Name of the attack.
    criterion : str
        What being right means: ``"membership of one unit"``, ``"naming the subset"``, ...
    n_trials, n_successes : int
        Independent rounds of the game, and those in which the attack was right.
    prior : float
        Success of the best blind guess, in [0, 1].
    bound : float or None
        Most that the guarantee allows; None when it says nothing about the criterion.
    details : tuple of (str, str)
        Further facts, by name: which unit was attacked, say.
    sequential : bool
        Whether somebody looked at the count to decide when to stop. The interval is then one that
        holds whenever counting stops.

    Raises
    ------
    TypeError, ValueError
        When a field is not of that form.

    Notes
    -----
    The interval is Clopper and Pearson's, which covers the true success with at least the stated
    probability at any number of trials that was fixed beforehand, provided that the attack was
    fixed before the trials that are counted. Where counting stopped early it is
    :func:`~pacsklearn.audit.bounds.confidence_sequence.confidence_sequence`, which is wider.

    Examples
    --------
    >>> from pacsklearn.audit.attack import AttackResult
    >>> result = AttackResult("weak", "naming the subset", 1000, 570, 0.5, 0.588)
    >>> result.success, result.violates()
    (0.57, False)
    >>> AttackResult("leaky", "naming the subset", 1000, 750, 0.5, 0.588).violates()
    True
    """

    attack: str
    criterion: str
    n_trials: int
    n_successes: int
    prior: float
    bound: float | None
    details: tuple[tuple[str, str], ...] = ()
    sequential: bool = False

    def __post_init__(self) -> None:
        for name in ("attack", "criterion"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise ValueError(f"{name} must be a non-empty string, got {getattr(self, name)!r}.")
        trials = check_integer(name="n_trials", value=self.n_trials, minimum=1)
        successes = check_integer(name="n_successes", value=self.n_successes, minimum=0)
        if successes > trials:
            raise ValueError(
                f"n_successes must be at most n_trials={trials}, got {successes}; count each round "
                "once."
            )
        object.__setattr__(self, "n_trials", trials)
        object.__setattr__(self, "n_successes", successes)
        object.__setattr__(self, "prior", as_probability("prior", self.prior))
        if self.bound is not None:
            object.__setattr__(self, "bound", as_probability("bound", self.bound))
        details = tuple((str(name), str(text)) for name, text in self.details)
        object.__setattr__(self, "details", details)

    @property
    def success(self) -> float:
        """Share of the trials in which the attack was right."""
        return self.n_successes / self.n_trials

    def confidence_interval(self, level: float = _LEVEL) -> Interval:
        """Return the exact two-sided interval for the attack's probability of success.

        Parameters
        ----------
        level : float, default=0.999
            Least probability that the interval covers it, in (0, 1).

        Returns
        -------
        Interval

        Notes
        -----
        Source: Clopper and Pearson (1934), by quantiles of the beta distribution.
        """
        return share_interval(self.n_successes, self.n_trials, level, sequential=self.sequential)

    def violates(self, level: float = _LEVEL) -> bool:
        """Return whether the bound is refuted: the whole interval lies above it.

        For a mechanism that keeps its promise this happens with a probability of at most
        ``(1 - level) / 2``. Where nothing is promised nothing can be violated.
        """
        return self.bound is not None and self.confidence_interval(level).low > self.bound

    def __str__(self) -> str:
        low, high = self.confidence_interval()
        verdict = "nothing is promised about it"
        if self.bound is not None:
            held = "BOUND VIOLATED" if self.violates() else "not violated"
            verdict = f"the guarantee allows {_percent(self.bound, math.ceil)} %: {held}"
        facts = "".join(f"; {name}: {text}" for name, text in self.details)
        return (
            f"{self.attack}, {self.criterion}{facts}: right in {self.n_successes:,} of "
            f"{self.n_trials:,} trials, {100 * self.success:.2f} % ({100 * _LEVEL:g} % interval "
            f"{_percent(low, math.floor)} to {_percent(high, math.ceil)} %); guessing blindly has "
            f"{100 * self.prior:.2f} %; {verdict}"
        )


@final
@dataclass(frozen=True)
class ThreatModel:
    """What an attack stands for, in words.

    Parameters
    ----------
    goal : str
        What it wants to find out.
    knowledge : str
        What it knows before it sees the release.
    power : str
        What it may do: look, ask, put rows in.
    reference : str
        Where it is from.
    cost : str
        Rounds played before those that are counted, and what each round takes.

    Raises
    ------
    ValueError
        When one of them is empty.
    """

    goal: str
    knowledge: str
    power: str
    reference: str
    cost: str

    def __post_init__(self) -> None:
        for name, text in asdict(self).items():
            if not isinstance(text, str) or not text.strip():
                raise ValueError(
                    f"{name} of a threat model must be a non-empty text, got {text!r}."
                )


def share_interval(
    n_successes: int, n_trials: int, level: float, *, sequential: bool = False
) -> Interval:
    """Return the interval for a probability of which ``n_successes`` of ``n_trials`` were counted.

    Parameters
    ----------
    n_successes, n_trials : int
        With no trials at all the interval is everything.
    level : float
        Least probability that the interval covers it, in (0, 1).
    sequential : bool, default=False
        Whether counting stopped because of what was counted.

    Returns
    -------
    Interval
        Clopper and Pearson's, or the confidence sequence's. In both the chance that the lower end
        is too high is at most half of ``1 - level``.
    """
    level = as_inner_share("level", level)
    if n_trials == 0:
        return Interval(0.0, 1.0)
    tail = (1 - level) / 2
    if sequential:
        # Half of the error: its lower end alone then fails as rarely as Clopper and Pearson's.
        return Interval(*confidence_sequence(n_successes, n_trials, 1 - tail))
    right, wrong = n_successes, n_trials - n_successes
    low = 0.0 if right == 0 else float(stats.beta.ppf(tail, right, wrong + 1))
    high = 1.0 if wrong == 0 else float(stats.beta.isf(tail, right + 1, wrong))
    return Interval(low, high)


@final
@dataclass(frozen=True, eq=False)
class Subject:
    """What is attacked, and what was promised of it.

    Parameters
    ----------
    game : Game
    title : str
    replay : callable, optional
        ``replay(insert=..., probe=...)``: the game of the same fit with rows put in.
    capped : str
        What attacks call the success that a cap bounds; empty without a cap.
    cap : float
        That cap.
    divergence : dict of str to float
        Order and Renyi divergence of the whole release, where they bound all pairs.
    """

    game: Game
    title: str
    replay: Callable[..., Game] | None = None
    capped: str = ""
    cap: float = 1.0
    divergence: dict[str, float] = field(default_factory=dict)

    def held(self, result: AttackResult) -> AttackResult:
        """Return a result, held against the cap where it is about just this success."""
        # What the information implies stands for all other successes.
        if result.bound is None or result.criterion != self.capped:
            return result
        return replace(result, bound=min(result.bound, self.cap))


class Attack(ABC):
    """A way to guess something about the secret from what a mechanism releases.

    What it achieves is a lower bound on what leaks, to hold against the guarantee. An attack that
    finds nothing says little: it must find a planted leak first, which
    :func:`pacsklearn.testing.check_attack` demands.

    Attributes
    ----------
    name : str
        Unique among the attacks; accepted by ``run_audit(attacks=[name])``.
    description : str
        One line for listings.
    needs : tuple of str
        What a game must offer: ``"units"`` (its secrets are subsets of them), ``"secrets"`` (they
        are not), or an attribute beyond the interface of a game, as ``"confidences"``.
    automatic : bool
        Whether ``run_audit(attacks="auto")`` takes it for every game that it can play.
    threat : ThreatModel or None
        Goal, knowledge, power, reference and cost, as the table in the documentation shows them.
    """

    name: str = ""
    description: ClassVar[str] = ""
    threat: ClassVar[ThreatModel | None] = None
    needs: ClassVar[tuple[str, ...]] = ()
    automatic: ClassVar[bool] = False

    @final
    def can_play(self, game: Game) -> bool:
        """Return whether the game offers all that the attack needs."""
        return all(map(game.offers, self.needs))

    @final
    def check_plays(self, game: Game) -> None:
        """Refuse a game that does not offer all that the attack needs.

        Raises
        ------
        ValueError
        """
        if not self.can_play(game):
            raise ValueError(
                f"game must offer {', '.join(self.needs)}, which {self.name!r} needs; attack other "
                "games with 'identification'."
            )

    def played(self, subject: Subject, seed: int) -> Game:
        """Return the game that is attacked: what a subject offers, or one with rows put in."""
        return subject.game

    def membership_score(self, game: Any, played: Round, unit: int) -> float:
        """Return what the attack judges a unit's membership by: larger for members."""
        return float(played.posterior @ game.members[:, unit])

    @abstractmethod
    def run(self, game: Game, n_trials: int, seed: int) -> AttackResult:
        """Play the game and count.

        Parameters
        ----------
        game : Game
            Left as it is.
        n_trials : int
            Rounds that are counted. Whatever the attack chooses by looking at rounds (a target, a
            threshold, a model) it chooses on others, or the interval of the result is not valid.
        seed : int
            The same seed gives the same result.

        Returns
        -------
        AttackResult
            With the blind success of its criterion as ``prior``, and ``game.bound(prior)``.

        Raises
        ------
        ValueError
            When the game is not one that the attack can play.
        """


Inserted: TypeAlias = tuple[Any, Any, Any, tuple[int, ...]]
"""``X``, ``y`` and ``groups`` with rows put in, and the units attacked."""


class InsertingAttack(Attack):
    """An attack that puts rows among those of the universe, where a fit can be replayed on them.

    Attributes
    ----------
    probe : callable or None
        ``probe(X, seed=...)``: what is asked where answers are released, given the universe with
        the rows in it.
    """

    probe: ClassVar[Callable[..., Any] | None] = None

    @abstractmethod
    def insert(self, estimator: Any, X: Any, y: Any, groups: Any, seed: int) -> Inserted:
        """Return ``X``, ``y`` and ``groups`` with the rows put in, and the units attacked."""

    @final
    def played(self, subject: Subject, seed: int) -> Game:
        if subject.replay is None:
            return subject.game
        probe = None if self.probe is None else partial(self.probe, seed=seed)
        return subject.replay(insert=partial(self.insert, seed=seed), probe=probe)


def _percent(share: float, towards: Any) -> str:
    """Write a share in per cent, rounded so that the text never promises too much."""
    return f"{towards(share * 1e4) / 100:.2f}"
