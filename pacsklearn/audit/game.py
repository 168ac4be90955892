"""The game that an attack plays against a mechanism, and the units whose membership is secret."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.secret.space import Space


@final
@dataclass(frozen=True, eq=False)
class Round:
    """One play: what was drawn, and what the adversary saw of it.

    An attack decides by ``posterior`` and ``released`` alone. ``secret`` is there to see whether it
    was right; a round is simulated, no curator's secret is in it.

    Parameters
    ----------
    secret : int
        Index of the candidate that was drawn.
    posterior : ndarray of shape (m,)
        Probability of each candidate given everything seen, exact by Bayes' rule.
    released : object, optional
        What was seen: a transcript, a vector, a model.
    redrawn : tuple of int, optional
        Further candidates whose rows were used; none in a sound mechanism. An attack is right
        about any of :attr:`used`, and so finds a mechanism that draws its secret anew.
    """

    secret: int
    posterior: Floats = field(repr=False)
    released: Any = field(default=None, repr=False)
    redrawn: tuple[int, ...] = ()

    @property
    def used(self) -> tuple[int, ...]:
        """All candidates whose rows were used."""
        return (self.secret, *self.redrawn)

    def holds(self, members: NDArray[np.bool_]) -> Any:
        """Return whether rows of units, columns of ``members`` or one of them, were used."""
        return members[list(self.used)].any(axis=0)


class Game(ABC):
    """A mechanism, as an adversary who knows everything but the secret can play it.

    Each round draws a fresh secret from the prior, releases what the mechanism releases, and gives
    the adversary's exact posterior. Rounds are independent, and a game remembers none.

    Attributes
    ----------
    prior : ndarray of shape (m,)
        Prior probability of each candidate.
    members : ndarray of bool of shape (m, n_units), or None
        Is unit ``u`` in candidate ``i``; None where secrets are not subsets.
    beyond : tuple of str
        Attributes beyond this interface that attacks may ask for, as ``"confidences"``.
    """

    prior: Floats
    members: NDArray[np.bool_] | None = None
    beyond: tuple[str, ...] = ()

    def offers(self, what: str) -> bool:
        """Return whether it is about ``"units"``, or other ``"secrets"``, or offers so much."""
        if what in ("units", "secrets"):
            return (self.members is None) == (what == "secrets")
        return what in self.beyond

    @abstractmethod
    def bound(self, blind: float) -> float | None:
        """Return the success that the guarantee allows at a criterion.

        Parameters
        ----------
        blind : float
            Success of the best blind guess at the criterion.

        Returns
        -------
        float or None
            None when the guarantee says nothing about it.
        """

    @abstractmethod
    def play(self, generator: np.random.Generator) -> Round:
        """Play once; everything random comes from ``generator``."""


class WrappedGame(Game):
    """A game with somebody between it and the attack.

    Parameters
    ----------
    game : Game
        Offers all that is not said here.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self.prior, self.members = game.prior, game.members

    def __getattr__(self, name: str) -> Any:
        if name == "_game":  # a copy under construction
            raise AttributeError(name)
        return getattr(self._game, name)

    def offers(self, what: str) -> bool:
        return self._game.offers(what)

    def bound(self, blind: float) -> float | None:
        return self._game.bound(blind)


@final
class RememberedGame(WrappedGame):
    """A game that plays the same round again for a generator in the same state, from memory.

    Attacks that begin with the same seed are then counted on the same rounds, which are played
    once. Their intervals hold together by a union bound, for which rounds need not be independent.

    Parameters
    ----------
    game : Game
        Its rounds are a function of the generator's state alone.
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._rounds: dict[bytes, tuple[Round, Any]] = {}

    def play(self, generator: np.random.Generator) -> Round:
        state = pickle.dumps(generator.bit_generator.state)
        if state not in self._rounds:
            played = self._game.play(generator)
            self._rounds[state] = played, generator.bit_generator.state
        played, generator.bit_generator.state = self._rounds[state]
        return played


class CandidateGame(Game):
    """A game over the candidates of a space, whose rounds reveal so much at most.

    Parameters
    ----------
    space : SecretSpace or CandidateSpace
    information : float
        Nats that a round reveals at most, on average over rounds.
    """

    def __init__(self, space: Space, information: float) -> None:
        self._space = space
        self.information = min(information, space.entropy)
        self.prior = read_only(space.weights / space.weights.sum())
        if space.has_members:
            self.members = read_only(space.row_subsets().membership().T)

    def bound(self, blind: float) -> float:
        return posterior_success(self.information, blind)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, into which no attack can write: the rounds that follow share it."""
    array.flags.writeable = False
    return array


def secret_units(game: Game, members: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether some possible candidates hold a unit and others do not; shape (n_units,)."""
    likely = members[game.prior > 0]
    return np.asarray(likely.any(axis=0) & ~likely.all(axis=0))


def units_to_attack(unit: Any, game: Game, members: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the unit that the attack, or else the game, names.

    All whose membership is a secret else.
    """
    hidden = secret_units(game, members)
    chosen = unit if unit is not None else getattr(game, "target", None)
    if chosen is not None:
        index = check_integer(name="unit", value=chosen, minimum=0)
        if index >= hidden.size or not hidden[index]:
            raise ValueError(
                f"unit must be one of the {int(hidden.sum())} units whose membership is a "
                f"secret, got {index}."
            )
        return np.array([index])
    if not hidden.any():
        raise ValueError("game has no unit whose membership is a secret.")
    return np.flatnonzero(hidden)
