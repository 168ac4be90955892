"""Attacks that put rows among those of the universe: canaries, versions of a record, poison."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import AttackResult, Inserted, InsertingAttack, ThreatModel
from pacsklearn.audit.game import Game, Round
from pacsklearn.audit.membership_attack import OptimalMembershipAttack
from pacsklearn.audit.tally import tally
from pacsklearn.kernel.bounds.arrays import Floats

# Standard deviations from the mean, in every feature.
_DISTANCE = 5.0
# Standard deviations between the two values of the attribute.
_APART = 4.0
# Of a feature's standard deviation: near copies are other queries, so each is answered anew.
_JITTER = 1e-3


def dense_table(X: Any, attack: str) -> Floats:
    """Return ``X`` as numbers.

    Raises
    ------
    ValueError
        When it is no dense table of numbers.
    """
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2:
        raise ValueError(
            "Rows are put among others as numbers, so X must be a dense table of numbers; leave "
            f"{attack!r} out of the attacks."
        )
    return table


def centre_and_spread(table: Floats) -> tuple[Floats, Floats]:
    """Return mean and deviation of each column's known numbers; NaN where there is none."""
    known = np.ma.masked_invalid(table)
    return np.ma.filled(known.mean(axis=0), np.nan), np.ma.filled(known.std(axis=0), np.nan)


def appended(X: Any, y: Any, groups: Any, rows: Floats, targets: Any) -> Inserted:
    """Return the universe with rows at its end, each a unit of privacy of its own.

    Returns
    -------
    X, y, groups
    units : tuple of int
        The units that were added.
    """
    table = np.asarray(X, dtype=np.float64)
    longer: Any = np.concatenate([table, rows])
    if hasattr(X, "iloc"):
        longer = type(X)(longer, columns=X.columns)
    first = len(table)
    if groups is not None:
        # Numbers instead of names: new units need some that nobody has.
        codes = np.unique(np.asarray(groups), return_inverse=True)[1]
        first = int(codes.max()) + 1
        groups = np.concatenate([codes, first + np.arange(len(rows))])
    if y is not None:
        y = np.concatenate([np.asarray(y), np.asarray(targets)])
    return longer, y, groups, tuple(range(first, first + len(rows)))


@final
class CanaryAttack(InsertingAttack):
    """Was an outlier used that was put among the rows for this purpose.

    An audit of real rows says how the rows at hand fare. A canary is as visible as a row can be:
    far out in every feature, with a random label. The mechanism is replayed with canaries among
    its rows, so that its noise is calibrated with them, and has to hide them as well.

    Attributes
    ----------
    n_canaries : int
        Rows that are put in; the least hidden of them is attacked.
    n_pilot : int
        Rounds played beforehand, to choose it.

    Notes
    -----
    The attack on the chosen canary is :class:`OptimalMembershipAttack`. On a game without canaries
    all units are attacked alike.
    """

    name = "canaries"
    description = "the membership of outliers that are put in to be found"
    needs = ("units",)
    threat: ClassVar = ThreatModel(
        goal="membership of an outlier",
        knowledge="all rows and candidates",
        power="puts outliers among the rows, then looks at the release",
        reference="Carlini et al. 2019; Nasr et al. 2021",
        cost="a replay with the outliers; 400 rounds beforehand",
    )

    n_canaries: ClassVar[int] = 8
    n_pilot: ClassVar[int] = 200

    def insert(self, estimator: Any, X: Any, y: Any, groups: Any, seed: int) -> Inserted:
        """Return the universe with canaries at its end.

        Parameters
        ----------
        estimator : estimator
            Says whether ``y`` holds classes.
        X, y, groups : array-likes
            Checked; ``X`` dense numbers.
        seed : int

        Returns
        -------
        X, y, groups
        units : tuple of int
            Units of privacy that are canaries.

        Raises
        ------
        ValueError
            When ``X`` is not a dense table of numbers.
        """
        count = self.n_canaries
        generator = np.random.default_rng(seed)
        table = dense_table(X, self.name)
        signs = generator.choice([-1.0, 1.0], (count, table.shape[1]))
        centre, spread = centre_and_spread(table)
        far = centre + _DISTANCE * spread * signs
        return appended(X, y, groups, far, _targets(estimator, y, count, generator))

    def run(self, game: Game, n_trials: int, seed: int) -> AttackResult:
        canaries = getattr(game, "canaries", ())
        unit = None
        # Two streams: the canary is chosen on rounds that are not counted.
        choice, attack = np.random.SeedSequence(seed).generate_state(2)
        if canaries and game.members is not None:
            generator = np.random.default_rng(choice)
            own = game.members[:, list(canaries)].astype(np.float64)
            likely = np.stack([game.play(generator).posterior for _ in range(self.n_pilot)]) @ own
            unit = int(canaries[int(np.argmax(np.maximum(likely, 1 - likely).mean(axis=0)))])
        result = OptimalMembershipAttack(unit, self.n_pilot).run(game, n_trials, int(attack))
        facts = (("canaries", str(len(canaries))), *result.details)
        return replace(result, attack=self.name, details=facts)


def _targets(estimator: Any, y: Any, count: int, generator: np.random.Generator) -> Any:
    """Return the targets of the canaries: classes in turn, or numbers that are far off."""
    if y is None:
        return None
    known = np.asarray(y)
    if is_classifier(estimator) or known.dtype.kind not in "fiu":
        classes = np.unique(known)
        return generator.permutation(classes[np.arange(count) % len(classes)])
    size = (count, *known.shape[1:])
    return known.mean(axis=0) + _DISTANCE * known.std(axis=0) * generator.choice([-1, 1], size)


@final
class AttributeAttack(InsertingAttack):
    """Which version of a record was used: one value of an attribute, the other, both or none.

    The adversary knows a person's record but for one attribute, and the two values that it may
    have. Both versions are put among the rows, so the question is about what was used, and is
    answered by Bayes' rule.

    Parameters
    ----------
    column : int, default=0
        The attribute.

    Notes
    -----
    The record is the mean of all rows in the other columns; its two values lie four standard
    deviations apart. On a game without inserted versions the first two units stand for them.
    Whether a *real* person's attribute is hidden is a question about another secret: see
    ``SRPPPrivate``, whose game the attack ``"map"`` plays.

    Source: Yeom et al. (2018), attribute inference by membership of each version.
    """

    name = "attribute"
    description = "one attribute of a record whose other attributes are known"
    needs = ("units",)
    threat: ClassVar = ThreatModel(
        goal="one attribute of a known record",
        knowledge="all rows, both versions of the record, all candidates",
        power="puts both versions among the rows, then looks at the release",
        reference="Yeom et al. 2018",
        cost="a replay with the versions; one posterior a round",
    )

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def insert(self, estimator: Any, X: Any, y: Any, groups: Any, seed: int) -> Inserted:
        """Return the universe with both versions at its end; as for :class:`CanaryAttack`."""
        table = dense_table(X, "attribute")
        column = check_integer(name="column", value=self.column, minimum=0)
        if column >= table.shape[1]:
            raise ValueError(f"column must be below {table.shape[1]}, got {column}.")
        centre, spread = centre_and_spread(table)
        versions = np.repeat(centre[None], 2, axis=0)
        versions[:, column] += _APART / 2 * spread[column] * np.array([-1, 1])
        targets = None if y is None else np.repeat(np.asarray(y)[:1], 2, axis=0)
        return appended(X, y, groups, versions, targets)

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        if game.members.shape[1] < 2:
            raise ValueError("game must have at least two units of privacy.")
        pair = list(getattr(game, "canaries", ()))[:2] or [0, 1]
        codes = game.members[:, pair].astype(np.intp) @ np.array([1, 2])
        return tally(
            self.name,
            "which of two versions of a record were used",
            game,
            n_trials,
            np.random.default_rng(seed),
            blind=blind_class(game.prior, codes),
            right=lambda played: is_class_right(played, codes),
            details=(("units", ", ".join(map(str, pair))),),
        )


def likeliest_class(belief: Floats, codes: NDArray[Any]) -> int:
    """Return the class, 0, 1, 2, ..., that has the most probability.

    Parameters
    ----------
    belief : ndarray of shape (m,)
    codes : ndarray of int, shape (m,)
        Class of each candidate.
    """
    return int(np.argmax(np.bincount(codes, weights=belief)))


def blind_class(prior: Floats, codes: NDArray[Any]) -> float:
    """Return the success at naming the class before any release."""
    return min(float(np.bincount(codes, weights=prior).max()), 1.0)


def is_class_right(played: Round, codes: NDArray[Any]) -> bool:
    """Return whether Bayes' rule names the class of a candidate that was used."""
    return likeliest_class(played.posterior, codes) in codes[list(played.used)]


@final
class PoisoningAttack(InsertingAttack):
    """Puts copies of a row with wrong targets among the rows, then asks about that row.

    Where the copies were used and the row was not, the wrong target wins; so the answers depend on
    the row more than they would. The universe is then the poisoned one, and the guarantee has to
    hold for it.

    Parameters
    ----------
    n_copies : int, default=4
        Rows that are put in.
    n_queries : int, default=50
        Near copies of the row that are asked about.
    n_pilot : int, default=200
        Rounds played beforehand, to choose the rule.

    Notes
    -----
    The verdict on the target is by Bayes' rule. Without inserted rows the least protected unit is
    attacked. Source: Tramer et al. (2022), Truth serum: poisoning machine learning models to reveal
    their secrets.
    """

    name = "poisoning"
    description = "one unit's membership, by rows put in and queries"
    needs = ("units", "prices")
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows and candidates, its own rows among them",
        power="puts rows with wrong targets in, then asks queries",
        reference="Tramer et al. 2022",
        cost="a replay with the poison; 200 conversations beforehand",
    )

    def __init__(self, n_copies: int = 4, n_queries: int = 50, n_pilot: int = 200) -> None:
        self.n_copies = n_copies
        self.n_queries = n_queries
        self.n_pilot = n_pilot

    def insert(self, estimator: Any, X: Any, y: Any, groups: Any, seed: int) -> Inserted:
        """Return the universe with the poison at its end, and the unit that it is aimed at."""
        count = check_integer(name="n_copies", value=self.n_copies, minimum=1)
        table = dense_table(X, self.name)
        if y is None:
            raise ValueError(
                "y is missing: the attack gives its rows wrong targets, and needs y to tell which "
                "are wrong."
            )
        known = np.asarray(y)
        row = _target(len(table), seed)
        if is_classifier(estimator) or known.dtype.kind not in "fiu":
            wrong = np.repeat(next(c for c in np.unique(known) if c != known[row]), count)
        else:
            far = known[row] + 5 * known.std(axis=0)
            wrong = np.repeat(np.asarray(far)[None], count, axis=0)
        copies = np.repeat(table[row][None], count, axis=0)
        longer, targets, units, _ = appended(X, y, groups, copies, wrong)
        unit = row if units is None else int(units[row])
        return longer, targets, units, (unit,)

    def probe(self, X: Any, seed: int) -> Any:
        """Return queries about the row that the poison is aimed at, given the poisoned universe."""
        count = check_integer(name="n_queries", value=self.n_queries, minimum=1)
        table = dense_table(X, self.name)
        row = table[_target(len(table) - self.n_copies, seed)]
        noise = np.random.default_rng(seed).standard_normal((count, table.shape[1]))
        noise[0] = 0.0
        queries = row + _JITTER * centre_and_spread(table)[1] * noise
        return type(X)(queries, columns=X.columns) if hasattr(X, "iloc") else queries

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        targets = getattr(game, "canaries", ())
        unit = int(targets[0]) if targets else None
        result = OptimalMembershipAttack(unit, self.n_pilot).run(game, n_trials, seed)
        return replace(result, attack=self.name)


def _target(n_rows: int, seed: int) -> int:
    return int(np.random.default_rng(seed).integers(n_rows))
