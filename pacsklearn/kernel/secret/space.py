"""Whatever a secret is drawn from, and what is computed for every candidate of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.known_rows import known_rows_success
from pacsklearn.kernel.secret.secret_rows import SecretRows
from pacsklearn.kernel.secret.stated_secret import PACSecret

if TYPE_CHECKING:  # kinds of what is here
    from pacsklearn.kernel.noise.sampler import Sampler
    from pacsklearn.kernel.secret.candidate_space import CandidateSpace
    from pacsklearn.kernel.secret.secret_space import SecretSpace

# Units of a large universe that averages are taken over.
_MOST_UNITS = 4096
# Units whose memberships are held at once, a byte each.
_CHUNK = 16384


class Work(ABC):
    """One computation for every candidate; a space says what of a candidate it is given.

    It sees one candidate at a time, and public constants: what is not of a kind that it can be
    computed for, it refuses.
    """

    @abstractmethod
    def of_rows(self, space: SecretSpace) -> Any:
        """Return what the work needs for subsets of rows in memory."""

    def of_inputs(self, space: CandidateSpace) -> Any:
        """Return what the work needs for a list of arbitrary inputs."""
        return space.row_subsets()

    def elsewhere(self, space: Space) -> Any:
        """Return what the work needs for a space that fits or evaluates by itself."""
        return space.listed()


class Space(ABC):
    """Candidates, one of which is the secret: the kinds differ in what a candidate is.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Prior probabilities.
    public : tuple of str
        What releases about such a secret show as it is.
    has_members : bool
        Whether candidates are subsets of rows whose memberships can be looked at one by one.
    once : str
        Why releases about such a secret are planned in one call, where they are.
    """

    weights: NDArray[np.float64]
    public: ClassVar[tuple[str, ...]] = ("hyper-parameters", "public seeds", "classes_")
    has_members: ClassVar[bool] = False
    once: ClassVar[str] = ""

    @property
    @abstractmethod
    def n_candidates(self) -> int:
        """Number m of distinct candidates; 0 where they cannot be listed."""

    @property
    def entropy(self) -> float:
        """Entropy of the secret, in nats; ln(m) when all candidates are equally likely."""
        # Of distinct candidates of positive weight (rule 12): kinds merge those that are equal.
        return float(-np.sum(self.weights * np.log(self.weights)))

    @property
    @abstractmethod
    def size(self) -> str:
        """How many of what there are, as arguments are written."""

    def has_candidates_of(self, other: Space) -> bool:
        """Say whether the candidates of both are the very same ones, perhaps over other rows."""
        return other is self

    def draw(self, sampler: Sampler) -> Any:
        """Draw the secret: the number of a candidate, or itself where there is no list."""
        # Once a session, with the prior's probabilities (rule 5).
        return sampler.index(self.weights)

    @abstractmethod
    def outputs(self, work: Work) -> Any:
        """Return what ``work`` gives for the candidates."""

    def fitted(self, fits: Any) -> Any:
        """Return the models of ``fits``, where the space says how they are fitted."""
        return self.listed()

    def evaluated(self, evaluations: Any) -> Any:
        """Return the values of a function, where the space says how it is called."""
        return self.listed()

    def backend(self, n_planned: int) -> Any:
        """Return the one noise backend with a bound for such a secret; None where any has one.

        Bounds of ``n_planned`` releases hold together.
        """
        return None

    def statement(self, laws: Sequence[Any], facts: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a guarantee that differ from those about a list of candidates."""
        return {}

    def shown(self, X: Any) -> Any:
        """Return rows that have the columns of what was given as ``X``."""
        return X

    @abstractmethod
    def stated(self) -> PACSecret:
        """State the secret, as guarantees do."""

    @abstractmethod
    def listed(self) -> SecretSpace | CandidateSpace:
        """Return the space, to what looks at its candidates one by one.

        Raises
        ------
        ValueError
            Where candidates are too many, or too large, to be looked at.
        """

    @abstractmethod
    def row_subsets(self) -> SecretSpace:
        """Return the space, to what needs subsets of rows in memory.

        Raises
        ------
        ValueError, TypeError
            Where candidates are something else.
        """


class RowSpace(Space):
    """Candidates are subsets of rows; all rows of a unit of privacy are in one or none are.

    Attributes
    ----------
    is_listed : bool
        Whether the subsets are public. No figure depends on it.
    dealt : str
        How units were put into the subsets, in words for the guarantee.
    packed : ndarray of uint8, shape (n_units, ceil(m / 8))
        Bit ``i`` of row ``u``: does candidate i hold unit u? Of a sample where there are too many.
    mates : ndarray of int64 or None
        Units that tell more about each other than chance: where to look for the worst of them.
    """

    is_listed: bool
    dealt: str
    packed: NDArray[np.uint8]
    mates: NDArray[np.int64] | None = None

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Rows of the universe."""

    @property
    @abstractmethod
    def n_units(self) -> int:
        """Units of privacy in the universe."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of privacy: ``"row"`` or ``"group"``."""

    @abstractmethod
    def inclusion(self) -> NDArray[np.float64]:
        """Return prior probability that each unit, or each of a sample, is in the secret subset."""

    def membership(self, units: Any = slice(None)) -> NDArray[np.bool_]:
        """Return which candidates hold each of those units; shape (n_chosen, m)."""
        return np.unpackbits(self.packed[units], axis=1, count=self.n_candidates).view(np.bool_)

    @cached_property
    def protected(self) -> NDArray[np.intp]:
        """Units in some of the candidates and not in all: the others have no secret."""
        inclusion = self.inclusion()
        return np.flatnonzero((inclusion > 0) & (inclusion < 1))

    @abstractmethod
    def judged(self, X: Any, y: Any) -> tuple[Any, Any, SecretSpace]:
        """Return rows that models may be scored on, their targets, and which candidates hold them.

        Of what was given as ``X`` and ``y``: all, or those that are in memory.
        """

    def worst(self, figure: Callable[[NDArray[np.bool_]], Floats]) -> float:
        """Return the largest of what ``figure`` gives for all units that have a secret.

        Parameters
        ----------
        figure : callable
            From the memberships of some units, shape (n_some, m), to one number of each.
        """
        return max((float(figure(some).max()) for some in self.passed(self.protected)), default=0.0)

    def passed(self, units: NDArray[np.intp]) -> Iterator[NDArray[np.bool_]]:
        """Yield the memberships of some units, a few units at a time."""
        for start in range(0, units.size, _CHUNK):
            yield self.membership(units[start : start + _CHUNK])

    @property
    def size(self) -> str:
        return f"n_rows={self.n_rows}, n_subsets={self.n_candidates}"

    def membership_prior(self) -> tuple[float, int]:
        """Return the blind success at the least protected unit, and how many have no secret."""
        # Counted from the list itself, however it was dealt.
        inclusion = self.inclusion()
        # Units in all subsets or in none have no secret: their success of 1 would hide the others'.
        # There are others, because subsets differ.
        rates = inclusion[self.protected]
        return float(np.max(np.maximum(rates, 1 - rates))), int(inclusion.size - rates.size)

    # A session states its guarantee after every answer; its space stays the same.
    @cached_property
    def _known(self) -> tuple[tuple[tuple[float, float], ...], tuple[float, ...]]:
        """Blind success of those who know memberships, and its errors."""
        # Units without a secret are known to everybody: they are no knowledge and no targets.
        units = self.protected
        if units.size < 2:
            return (), ()
        if units.size > _MOST_UNITS:
            # A fixed seed: a guarantee says the same whenever it is asked for.
            units = np.random.default_rng(0).choice(units, _MOST_UNITS, replace=False)
        members = self.membership(units)
        mates = None if self.mates is None else self.membership(self.mates)
        uniform, worst, errors = known_rows_success(members, self.weights, mates=mates)
        known = tuple((float(u), float(w)) for u, w in zip(uniform, worst, strict=True))
        return known, tuple(errors.tolist())

    def stated(self) -> SecretRows:
        prior, n_unprotected = self.membership_prior()
        known, errors = self._known
        return SecretRows(
            n_candidates=self.n_candidates,
            entropy=self.entropy,
            prior_identification=float(self.weights.max()),
            unit=self.unit,
            n_rows=self.n_rows,
            n_units=self.n_units,
            prior_membership=prior,
            n_unprotected=n_unprotected,
            known=known,
            known_errors=errors,
            is_listed=self.is_listed,
            dealt=self.dealt,
        )
