"""All balanced subsets of some rows: one is drawn as the secret, others as trials."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import one_blas_thread
from pacsklearn._validation import as_inner_share
from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.noise.joint_law import JointLaw
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.secret.packed_subsets import distinct_subsets
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import Space, Work
from pacsklearn.sampled.balanced_draw import (
    balanced_draw_entropy,
    draw_balanced,
    known_units_success,
)
from pacsklearn.sampled.confident import ConfidentBackend
from pacsklearn.sampled.drawn_candidates import DrawnCandidates, drawn_values
from pacsklearn.sampled.drawn_rows import DrawnRows
from pacsklearn.sampled.sampled_secret import of_trials
from pacsklearn.universe.balanced_design import seeded_generator
from pacsklearn.universe.balanced_space import strata_of, units_of
from pacsklearn.universe.blocked_design import similar_blocks
from pacsklearn.universe.design import Design, SubsetSeed

if TYPE_CHECKING:
    from pacsklearn.sampled.sampled_subsets import SampledSubsets

_NOT_CERTIFIED = (
    "none: it is computed on a list of candidates, and there is none; the bound implied by the "
    "information stands alone"
)

Members = NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Trials:
    """Some trial subsets, as candidates that can be fitted together.

    Parameters
    ----------
    space : SecretSpace
        The distinct ones.
    numbers : ndarray of int, shape (n,)
        Which of them each trial is.
    """

    space: SecretSpace
    numbers: NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class DrawnSubsets(Space):
    """The law of a balanced subset, and trials of it that are independent of the secret.

    A subset holds the floor or the ceiling of ``rate * n`` of the n units of every stratum, each
    such subset is equally likely, and every unit is in with probability ``rate``.

    Parameters
    ----------
    strata : ndarray of int64, shape (n_units,)
        Classes, or blocks of similar units of one class beside the units that are in none.
    rate : float
    n_rows : int
    unit_of_row : ndarray of shape (n_rows,) or None
    sizes : SampledSubsets
        How many trials there are, and how they are used.
    seed : int
        Of the trials.
    dealt : str
        As in :class:`~pacsklearn.kernel.secret.secret_rows.SecretRows`.
    """

    strata: NDArray[np.int64]
    rate: float
    n_rows: int
    unit_of_row: NDArray[np.int64] | None
    sizes: SampledSubsets
    seed: int = field(repr=False)
    dealt: str = ""

    # Of a list of one: there is no belief about subsets that cannot be listed.
    weights = np.ones(1)
    n_candidates = 0
    public: ClassVar[tuple[str, ...]] = ()
    once: ClassVar[str] = (
        "This session has made its releases: with SampledSubsets() they are planned "
        "together, because no later one could be calibrated to what the first ones told. "
        "Give all of them to release_planned at once."
    )

    @classmethod
    def of(
        cls,
        design: Design,
        sizes: SampledSubsets,
        X: Any,
        y: Any = None,
        *,
        classifies: bool = False,
    ) -> Self:
        """Return the subsets of a table with the strata, rate, groups and blocks of a design.

        The number of its list is unused.

        Raises
        ------
        DesignError
            When a subset could be without rows, or without one of the strata.
        """
        rate, n_rows = as_inner_share("rate", design.rate), X.shape[0]
        unit_of_row, n_units = units_of(design.groups, n_rows)
        labels = design.strata(n_rows, y, classifies=classifies)
        strata = np.zeros(n_units, dtype=np.int64)
        if labels is not None:
            strata = strata_of(labels, unit_of_row, n_rows, n_units)
        rarest = int(np.bincount(strata).min())
        unit = "row" if unit_of_row is None else "group"
        if int(rate * rarest) < 1:
            raise DesignError(
                f"A class has {rarest} {unit}(s); at rate={rate} every class needs at least "
                f"{int(np.ceil(1 / rate))}, so that every subset sees every class. Leave the class "
                "out, merge it with another, or collect more of it."
            )
        given = design.seed
        seed = given.reveal() if isinstance(given, SubsetSeed) else given
        similarity = design.similarity(X, y if labels is None else None)
        if similarity is not None:
            size = similarity.size
            while int(rate * size) < 1:  # so that every block is seen, as every class is
                size += 1
            with one_blas_thread():
                blocks = similar_blocks(
                    similarity.cells, similarity.places, strata, size, seeded_generator(seed)
                )
            # Units in no block stay the strata that they are: every stratum has some.
            first = int(strata.max()) + 1
            strata[blocks.units] = first + np.arange(len(blocks.units))[:, None]
        return cls(strata, rate, n_rows, unit_of_row, sizes, seed, design.dealt(unit))

    @property
    def n_units(self) -> int:
        """Units of privacy in the universe."""
        return int(self.strata.size)

    @property
    def unit(self) -> str:
        """Unit of privacy: ``"row"`` or ``"group"``."""
        return "row" if self.unit_of_row is None else "group"

    @cached_property
    def entropies(self) -> tuple[float, float]:
        """Entropy of the secret, and minus the log of its likeliest value's probability; nats."""
        return balanced_draw_entropy(np.bincount(self.strata), self.rate)

    @cached_property
    def known(self) -> tuple[tuple[float, float], ...]:
        """Blind success of who knows 0 to 7 memberships: drawn uniformly, and against the worst."""
        curves = known_units_success(np.bincount(self.strata), self.rate)
        return tuple((float(u), float(g)) for u, g in zip(*curves, strict=True))

    @property
    def entropy(self) -> float:
        """Entropy of the secret, in nats."""
        return self.entropies[0]

    @property
    def size(self) -> str:
        return f"n_rows={self.n_rows}, drawn from all"

    def listed(self) -> NoReturn:
        """Refuse what looks at candidates one by one.

        Raises
        ------
        ValueError
        """
        raise ValueError(
            "SampledSubsets() has no list of candidates to answer queries, cap attacks, "
            "compute figures or go on from: release parameters or functions under a budget in "
            "nats, all that is planned in one call, or use Subsets()."
        )

    row_subsets = listed

    def outputs(self, work: Work) -> Any:
        """Return what ``work`` gives for trials, and for the secret."""
        return work.elsewhere(self)

    def fitted(self, fits: Any) -> DrawnCandidates:
        return DrawnCandidates(fits.estimator, fits.X, fits.y, self, fits.options)

    evaluated = drawn_values

    def backend(self, n_planned: int) -> ConfidentBackend:
        # All laws hold together with the probability that is stated, each with its share.
        return ConfidentBackend(self.sizes.gamma / n_planned, self.sizes.guard)

    def statement(self, laws: Sequence[Any], facts: dict[str, Any]) -> dict[str, Any]:
        sizes = self.sizes
        beyond = f"models beyond {sizes.guard:g} times the farthest first trial are pulled back"
        costs = [f"{law.enlargement:.4g} times the noise without a certificate" for law in laws]
        guarded = [("guard and certainty", f"{beyond}; {cost}") for cost in costs]
        shown = f"{sizes.n_calibration:,} for the shape, {sizes.n_certificate:,} for the size"
        return {
            "bound": JointLaw(tuple(laws)).proof,
            "confidence": 1 - sizes.gamma,
            **of_trials(
                facts, ("trials", shown), *guarded, ("certified membership", _NOT_CERTIFIED)
            ),
        }

    def stated(self) -> DrawnRows:
        return DrawnRows(
            entropy=self.entropy,
            least_log=self.entropies[1],
            unit=self.unit,
            n_rows=self.n_rows,
            n_units=self.n_units,
            rate=self.rate,
            known=self.known,
            dealt=self.dealt,
        )

    def trials(self, start: int, stop: int, *before: Members) -> Trials:
        """Return the trials of these numbers, after some subsets that are given."""
        drawn = [self.trial(number) for number in range(start, stop)]
        members = np.stack([*before, *drawn], axis=1)
        n = members.shape[1]
        packed = np.packbits(members, axis=1)
        space = SecretSpace(packed, n, np.full(n, 1.0 / n), self.unit_of_row)
        return Trials(space, distinct_subsets(packed, n))

    def draw(self, sampler: Sampler) -> Members:
        """Return a fresh subset from the secret stream; secret material."""
        if sampler.generator is not None:
            return self._drawn(sampler.generator)
        # 64 bits a unit: equal keys, which would favour some subset, are as good as impossible.
        keys = np.frombuffer(secrets.token_bytes(8 * self.n_units), dtype=np.uint64)
        coins = np.array([secrets.randbits(53) for _ in range(self._n_strata)]) * 2.0**-53
        return draw_balanced(keys, coins, self.strata, self.rate)

    def rows(self, number: int) -> NDArray[np.int64]:
        """Return the row indices of a trial."""
        return self.rows_of(self.trial(number))

    def rows_of(self, members: Members) -> NDArray[np.int64]:
        """Return the row indices of a subset."""
        chosen = members if self.unit_of_row is None else members[self.unit_of_row]
        return np.flatnonzero(chosen)

    def trial(self, number: int) -> Members:
        """Return a subset by the public stream; the same number gives the same."""
        # 256 bits, as a secret seed has: the default pool would keep 128 of them.
        sequence = np.random.SeedSequence(self.seed, spawn_key=(number,), pool_size=8)
        return self._drawn(np.random.Generator(np.random.PCG64(sequence)))

    @property
    def _n_strata(self) -> int:
        return int(self.strata.max()) + 1

    def _drawn(self, generator: np.random.Generator) -> Members:
        keys = generator.integers(2**64, size=self.n_units, dtype=np.uint64)
        return draw_balanced(keys, generator.random(self._n_strata), self.strata, self.rate)

    def __repr__(self) -> str:
        return f"DrawnSubsets(n_units={self.n_units}, rate={self.rate:g})"
