"""Was a row in the universe at all: what is published with it and without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_consistent_length

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import Attack, AttackResult, Interval, ThreatModel, share_interval
from pacsklearn.audit.confidence import model_numbers, row_confidences
from pacsklearn.audit.game import Game, Round, read_only
from pacsklearn.audit.shadow_attack import best_rule
from pacsklearn.audit.tally import tally
from pacsklearn.estimators.model_digest import model_digest
from pacsklearn.estimators.private_estimator import PrivateEstimator
from pacsklearn.kernel.bounds.arrays import Floats


@final
class ExistenceGame(Game):
    """Something is made from a table with a row, or from the table without it, and published.

    No guarantee of a candidate list speaks of this: the adversary is given the universe there.
    So nothing is promised, and the success is a figure to look at.

    Parameters
    ----------
    worlds : sequence of callables
        ``world(generator)`` makes what is published: first with the row, then without it.
    numbers : callable, optional
        ``numbers(released)``: what is published as a vector. All fitted numbers of a model when
        not given.
    """

    beyond = ("published",)

    def __init__(
        self,
        worlds: Sequence[Callable[[np.random.Generator], Any]],
        numbers: Callable[[Any], Floats] = model_numbers,
    ) -> None:
        if len(worlds) != 2:
            raise ValueError(
                "worlds must be two releases, one made with the row and one without it; got "
                f"{len(worlds)}."
            )
        self._worlds, self._numbers = tuple(worlds), numbers
        self.prior = read_only(np.full(2, 0.5))

    def bound(self, blind: float) -> None:
        return None

    def play(self, generator: np.random.Generator) -> Round:
        secret = int(generator.integers(2))
        return Round(secret, self.prior, self._worlds[secret](generator))

    def published(self, released: Any) -> Floats:
        """Return the numbers that were published in a round."""
        return np.asarray(self._numbers(released), dtype=np.float64)


Maker: TypeAlias = Callable[[NDArray[np.intp]], Any]
"""``make(rows)``: what is published when the universe has these rows."""


@final
class ExistenceAttack(Attack):
    """Tells two worlds apart by every number that is published.

    A linear score is learnt from half of the rounds played beforehand, with a small ridge, and a
    threshold from the other half.

    Parameters
    ----------
    n_pilot : int, default=100
        Rounds played beforehand.
    """

    name = "existence"
    description = "whether a row was in the universe at all"
    needs = ("secrets", "published")
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="whether a row was in the universe at all",
        knowledge="all other rows of the universe",
        power="looks at everything that is published",
        reference="add-or-remove neighbours of differential privacy, played on the universe",
        cost="100 releases beforehand and one regression",
    )

    def __init__(self, n_pilot: int = 100) -> None:
        self.n_pilot = n_pilot

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        pilot = check_integer(name="n_pilot", value=self.n_pilot, minimum=8)
        self.check_plays(game)
        rehearsal, trials = np.random.default_rng(seed).spawn(2)
        rounds = [game.play(rehearsal) for _ in range(pilot)]
        numbers = [game.published(played.released) for played in rounds]
        width = max(map(len, numbers))
        seen = np.stack([_padded(each, width) for each in numbers])
        with_row = np.array([played.secret == 0 for played in rounds])
        half = pilot // 2
        model = make_pipeline(StandardScaler(), Ridge(0.1 * half)).fit(seen[:half], with_row[:half])
        rule = best_rule(model.predict(seen[half:]), with_row[half:], 0.5)

        def right(played: Round) -> bool:
            (score,) = model.predict(_padded(game.published(played.released), width)[None])
            return bool(rule.says_member(score)) == (played.secret == 0)

        return tally(
            self.name,
            "whether a row was in the universe",
            game,
            n_trials,
            trials,
            blind=float(np.max(game.prior)),
            right=right,
            details=(("rule", rule.words),),
        )


def _padded(numbers: Floats, width: int) -> Floats:
    """Return so many numbers, zero where there are none, and how many there were."""
    known = np.where(np.isfinite(numbers), numbers, 0.0)[:width]
    return np.concatenate([known, np.zeros(width - known.size), [len(numbers)]])


@final
@dataclass(frozen=True)
class ExistenceAudit:
    """Whether a row was in the universe at all: a figure, beside no promise.

    Parameters
    ----------
    n_tried : int
        Rows that were taken out of the universe, one at a time, drawn by the seed.
    n_changed : int or None
        Of these, rows without which something else is published: their presence is told with
        certainty. None where what is published is random.
    attack : AttackResult or None
        Success of an attack on one of the rows, where what is published is random.
    """

    n_tried: int
    n_changed: int | None
    attack: AttackResult | None

    def changed(self, level: float = 0.95) -> Interval | None:
        """Return the interval of the share of rows whose presence is certain."""
        if self.n_changed is None:
            return None
        return share_interval(self.n_changed, self.n_tried, level)

    def __str__(self) -> str:
        if self.n_changed is not None:
            low, high = share_interval(self.n_changed, self.n_tried, 0.95)
            return (
                f"Without one row of the universe something else is published for "
                f"{self.n_changed:,} of {self.n_tried:,} rows (95 % interval {100 * low:.1f} to "
                f"{100 * high:.1f} %): whether they exist is told with certainty."
            )
        return str(self.attack)


def existence_audit(
    source: Any,
    X: Any,
    y: Any = None,
    *,
    n_rows: int = 50,
    n_trials: int = 200,
    random_state: int = 0,
) -> ExistenceAudit:
    """Take rows out of the universe and see whether anybody could tell.

    No guarantee about candidate subsets speaks of this: its adversary knows the universe. It
    matters where the list of people is itself sensitive.

    Parameters
    ----------
    source : estimator or callable
        Unfitted estimator of any kind, or ``make(rows)`` giving what is published (a fitted model
        or numbers) when the universe has the rows of these numbers.
    X, y : array-likes
        The universe.
    n_rows : int, default=50
        Rows that are tried, each a fit of its own.
    n_trials : int, default=200
        Rounds of the attack where what is published is random; each is a fit of its own, and a
        hundred more are played beforehand.
    random_state : int, default=0

    Returns
    -------
    ExistenceAudit

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import Ridge
    >>> audit = existence_audit(Ridge(), *load_iris(return_X_y=True), n_rows=10)
    >>> audit.n_changed
    10
    """
    size = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    tried = check_integer(name="n_rows", value=n_rows, minimum=1)
    trials = check_integer(name="n_trials", value=n_trials, minimum=1)
    make: Maker = _fits(source, X, y) if hasattr(source, "fit") else source
    seed = check_integer(name="random_state", value=random_state, minimum=0)
    check_consistent_length(X, y)
    generator = np.random.default_rng(seed)
    everybody = np.arange(size)
    chosen = generator.permutation(size)[: min(tried, size)]
    # Made twice: where that differs, a difference without a row says nothing about the row.
    whole = make(everybody)
    if _differ(whole, make(everybody)):
        rest = np.delete(everybody, chosen[0])
        worlds = [lambda _: make(everybody), lambda _: make(rest)]
        own = safe_indexing(X, chosen[:1]), None if y is None else np.asarray(y)[chosen[:1]]
        game = ExistenceGame(worlds, lambda published: _shown(published, *own))
        attack = ExistenceAttack().run(game, trials, int(generator.integers(2**31)))
        return ExistenceAudit(1, None, attack)
    changed = sum(_differ(whole, make(np.delete(everybody, row))) for row in chosen.tolist())
    return ExistenceAudit(len(chosen), changed, None)


def _fits(estimator: Any, X: Any, y: Any) -> Maker:
    def make(rows: NDArray[np.intp]) -> Any:
        table = X if hasattr(X, "shape") else np.asarray(X)
        target = () if y is None else (np.asarray(y)[rows],)
        fitted = clone(estimator).fit(safe_indexing(table, rows), *target)
        return getattr(fitted, "released_estimator_", fitted)

    return make


def _differ(one: Any, other: Any) -> bool:
    """Return whether something else is published: any part of a model, or any number."""
    if hasattr(one, "get_params"):
        # Trees and neighbours' rows are in no numeric attribute whose name ends in an underscore.
        return model_digest(one) != model_digest(other)
    return not np.array_equal(_numbers(one), _numbers(other), equal_nan=True)


def _shown(published: Any, X: Any, y: Any) -> Any:
    """Return the numbers that are published, and how well a model fits the row in question."""
    numbers = _numbers(published)
    asked = hasattr(published, "get_params") and not isinstance(published, PrivateEstimator)
    if not asked or np.ndim(y) != 1 or not (is_classifier(published) or is_regressor(published)):
        return numbers
    # Of nodes of trees there is another number in every world.
    return np.append(row_confidences(published, X, y), numbers)


def _numbers(published: Any) -> Any:
    """Return the numbers that are published: those of a model, or the numbers themselves."""
    if hasattr(published, "get_params"):
        return model_numbers(published)
    return np.ravel(np.asarray(published, dtype=np.float64))
