"""Pufferfish scenarios: what is secret, and which data sets, or worlds, a secret stands for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.exceptions import ScenarioError

_TRUTHS = (bool, np.bool_)

Members: TypeAlias = tuple[int, ...]

CONFIDENCE: Final = 1 - 1e-6
"""Of promises about laws that are known by draws, unless stated otherwise."""


@final
@dataclass(frozen=True, eq=False)
class SecretColumn:
    """The column that the secret is about.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Its value in each row.
    place : "y", str, int or None
        Where it stands in the data: the target, a column of ``X``, or beside both.
    by_default : bool, default=False
        Whether nobody named it, and it is a classifier's labels.
    """

    values: NDArray[Any] = field(repr=False)
    place: Any = None
    by_default: bool = False


class World(ABC):
    """One data set that the curator could have held. Secret material, which ``repr`` hides.

    Attributes
    ----------
    rows : ndarray of int64 or None
        Which of the rows given it consists of, repetitions counted; None when of none.
    """

    rows: NDArray[np.int64] | None = None

    @abstractmethod
    def data(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the rows and targets in this world, from the ones given to ``fit``.

        Those stay as they are.

        Parameters
        ----------
        X, y : array-likes
            ``y`` may be None.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"


@final
class RowWorld(World):
    """Some of the rows given, perhaps repeated.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Indices into the rows given.
    """

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self.rows: NDArray[np.int64] = rows

    def data(self, X: Any, y: Any) -> tuple[Any, Any]:
        return safe_indexing(X, self.rows), None if y is None else safe_indexing(y, self.rows)


@final
class DataWorld(World):
    """A data set of its own, simulated for instance.

    Parameters
    ----------
    X, y : array-likes
        ``y`` may be None.
    """

    def __init__(self, X: Any, y: Any = None) -> None:
        self._X, self._y = X, y

    def data(self, X: Any, y: Any) -> tuple[Any, Any]:
        return self._X, self._y


@final
@dataclass(frozen=True)
class Law:
    """Data sets that one secret may stand for under one prior, all equally likely.

    Parameters
    ----------
    secret, prior : int
        Indices into :class:`Worlds`.
    members : tuple of int
        Indices of worlds, repeated where one data set stands for several draws.
    """

    secret: int
    prior: int
    members: tuple[int, ...]


@final
@dataclass(frozen=True, eq=False)
class Worlds:
    """A scenario written out: finitely many data sets, the same whichever secret is true.

    Curator's material: which secret is true is no part of it, the rows are.

    Parameters
    ----------
    secrets : tuple of str
        Names of the secrets, for the curator.
    priors : tuple of str
        Names of the priors; the release is drawn under the first.
    worlds : tuple of World
        Every data set.
    laws : tuple of Law
        One for each secret and prior.
    pairs : tuple of (int, int)
        Secrets that must be hard to tell apart.
    values : tuple of object, optional
        What a curator may state instead of a name: a group's own value, a share.
    weights : tuple of float, optional
        Positive prior probabilities of the secrets, as the mechanism draws them where they are not
        stated, and for which the success of naming one is; all the same when not given. No Renyi
        divergence depends on them.

    Raises
    ------
    ScenarioError
        When a law or a pair is missing, empty or of what is not there, or the weights are no such
        probabilities.
    """

    secrets: tuple[str, ...]
    priors: tuple[str, ...]
    worlds: tuple[World, ...] = field(repr=False)
    laws: tuple[Law, ...] = field(repr=False)
    pairs: tuple[tuple[int, int], ...]
    values: tuple[Any, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.secrets) < 2 or not self.pairs:
            raise ScenarioError(
                "A scenario needs at least two secrets and a pair of them to keep apart, got "
                f"{len(self.secrets)} secret(s) and {len(self.pairs)} pair(s)."
            )
        self._check_positions()
        known = {(law.secret, law.prior): law for law in self.laws if law.members}
        for prior in range(len(self.priors)):
            for pair in self.pairs:
                for secret in pair:
                    if (secret, prior) not in known:
                        raise ScenarioError(
                            f"There is no data for the secret {self.secrets[secret]!r} under the "
                            f"prior {self.priors[prior]!r}, which pair {pair} needs."
                        )
        if len(known) != len(self.laws):
            raise ScenarioError("A scenario gives one law, not empty, for each secret and prior.")
        if self.values and len(self.values) != len(self.secrets):
            raise ScenarioError(
                f"values must be empty or have one entry for each of the {len(self.secrets)} "
                f"secrets, got {len(self.values)}."
            )
        usable = len(self.weights) == len(self.secrets) and min(self.weights) > 0
        if self.weights and not (usable and abs(sum(self.weights) - 1) <= 1e-9):
            raise ScenarioError(
                f"weights must be empty or {len(self.secrets)} positive probabilities that sum to "
                f"1, one for each secret, got {self.weights!r}."
            )

    def _check_positions(self) -> None:
        secrets, worlds = range(len(self.secrets)), range(len(self.worlds))
        # One secret twice would have no distance to itself, and get no noise.
        if len(set(self.secrets)) < len(secrets) or not all(
            first != second and first in secrets and second in secrets
            for first, second in self.pairs
        ):
            raise ScenarioError(
                "The secrets need different names, and every pair the positions of two different "
                f"ones, from 0 to {len(secrets) - 1}; check secrets and pairs."
            )
        if not all(member in worlds for law in self.laws for member in law.members):
            raise ScenarioError(
                f"The members of a law must be positions of worlds, from 0 to {len(worlds) - 1}; "
                "check laws."
            )

    @classmethod
    def drawn(cls, draws: Sequence[Sequence[World]], priors: Sequence[str], **parts: Any) -> Worlds:
        """Return the equally likely data sets of each secret under each prior."""
        ends = np.cumsum([len(each) for each in draws]).tolist()
        laws = tuple(
            Law(*divmod(number, len(priors)), tuple(range(end - len(draws[number]), end)))
            for number, end in enumerate(ends)
        )
        worlds = tuple(chain.from_iterable(draws))
        return cls(priors=tuple(priors), worlds=worlds, laws=laws, **parts)

    def index(self, realized: Any) -> int:
        """Return the index of the secret that a curator states, by its name or value.

        Raises
        ------
        ScenarioError
            When it is none of them; the message does not quote it.
        """
        if getattr(realized, "shape", ()) != ():
            raise ScenarioError(
                "realized must be the one secret that is true, got an object of type "
                f"{type(realized).__name__}; values for each row are secret=."
            )
        for known in (self.values, self.secrets):
            for number, each in enumerate(known):
                # True is not the number 1.
                alike = isinstance(each, _TRUTHS) == isinstance(realized, _TRUTHS)
                if alike and bool(each == realized):
                    return number
        # Last, so that a value of its own type is never taken for another one's text.
        if str(realized) in self.secrets:
            return self.secrets.index(str(realized))
        raise ScenarioError(
            "realized is none of the scenario's secrets. Known secrets: "
            f"{', '.join(map(repr, self.values or self.secrets))}."
        )

    @property
    def prior(self) -> NDArray[np.float64]:
        """Prior probability of each secret; (n_secrets,)."""
        n = len(self.secrets)
        weights = np.array(self.weights or (1 / n,) * n)
        return np.asarray(weights / weights.sum())

    def law(self, secret: int, prior: int) -> Law:
        """Return the law of a secret under a prior."""
        return next(law for law in self.laws if (law.secret, law.prior) == (secret, prior))

    def instances(self) -> list[tuple[Law, Law]]:
        """Return the two laws of every pair under every prior."""
        return [
            (self.law(i, prior), self.law(j, prior))
            for prior in range(len(self.priors))
            for i, j in self.pairs
        ]

    @property
    def sizes(self) -> dict[str, Any]:
        """How many secrets, pairs and priors there are, and most data sets of a secret."""
        return {
            "n_secrets": len(self.secrets),
            "n_pairs": len(self.pairs),
            "n_priors": len(self.priors),
            "n_draws": self.n_draws,
        }

    @property
    def n_draws(self) -> int:
        """Most data sets that one secret stands for."""
        return max(len(law.members) for law in self.laws)


class Scenario(ABC):
    """What is secret and what an adversary may believe about the data given the secret.

    Subclass it as a plugin: :meth:`worlds` lists, for each secret and prior, data sets drawn by
    public seeds. It is never told which secret is true, so that list, noise and every published
    figure are the same whichever it is; :func:`pacsklearn.testing.check_scenario` checks it.

    Attributes
    ----------
    name : str
        Unique among the scenarios; accepted by ``SRPPPrivate(scenario=name)``.
    redrawn : bool
        True where the table is a universe: each release draws one of the true secret's data sets
        and is made on that, so releases are independent given the secret. False where the table
        itself is released on: the data sets are then draws from what it could have been, made
        before it is looked at, and the n-th draw of each secret belong together.
    stated : bool
        Whether the curator has to state the true secret. Otherwise the mechanism draws it, each
        as likely, where it is not stated.
    confidence : float
        Of promises about laws that are known by draws, where not ``redrawn``.
    """

    name: ClassVar[str] = ""
    redrawn: bool = True
    stated: bool = False
    confidence: float = CONFIDENCE

    @property
    @abstractmethod
    def protects(self) -> str:
        """What is secret, in plain words that tell nothing about the rows."""

    @property
    @abstractmethod
    def releases(self) -> str:
        """What is released, in plain words."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Class and parameters; releases add up under equal descriptions."""

    @property
    def not_covered(self) -> tuple[str, ...]:
        """What an adversary may still learn, for the guarantee."""
        return ()

    @property
    def reference(self) -> tuple[Any, Any, SecretColumn | None] | None:
        """Public rows, targets and secret column that data sets are drawn from.

        Only where the table itself is released on; None when the data sets bring their own rows.
        """
        return None

    def most_differing(self, n_rows: int) -> int | None:
        """Count rows in which two data sets of so many may differ; None where they are listed."""
        return None

    @abstractmethod
    def worlds(self, X: Any, y: Any, secret: SecretColumn | None) -> Worlds:
        """List the data sets.

        Parameters
        ----------
        X, y : array-likes
            The table where ``redrawn``, else :attr:`reference` or None; ``y`` may be None.
        secret : SecretColumn, optional
            What the secret is about, where the scenario is told.

        Raises
        ------
        ScenarioError
            When the rows do not allow it. No message quotes a row.
        """


def matched(left: Members, right: Members) -> tuple[Members, Members] | None:
    """Return as many worlds of both sides, repeated; None where their numbers do not match."""
    n = max(len(left), len(right))
    if n % len(left) or n % len(right):
        return None
    return left * (n // len(left)), right * (n // len(right))


def all_pairs(n_secrets: int) -> tuple[tuple[int, int], ...]:
    """Return every pair of secrets once; the bounds hold in both directions."""
    first, second = np.triu_indices(n_secrets, 1)
    return tuple(zip(first.tolist(), second.tolist(), strict=True))
