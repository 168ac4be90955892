"""Candidate subsets of a table that nobody holds whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, NoReturn, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.subsets import Subsets
from pacsklearn.estimators.table_space import TableSpace
from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import RowSpace, Work
from pacsklearn.universe.design import Design, SubsetSeed
from pacsklearn_bigdata.exceptions import TableError
from pacsklearn_bigdata.hashed_design import BatchMembers, HashedDesign
from pacsklearn_bigdata.table import Table
from pacsklearn_bigdata.table_candidates import TableCandidates, fitter_in_passes
from pacsklearn_bigdata.table_reader import Batch

_SAMPLED = 2**16
_CELLS = 2**21


def _worst(
    design: HashedDesign, figure: Callable[[NDArray[np.bool_]], Floats], batch: Batch
) -> Sequence[Any]:
    """Return the largest figure of a batch's units."""
    members, step = design.members(batch.names), _CELLS // design.n_subsets
    parts = range(0, len(batch.names), step)
    return [max(figure(members.membership(slice(i, i + step))).max() for i in parts)]


@final
@dataclass(frozen=True, eq=False)
class HashedSpace(RowSpace, TableSpace):
    """Candidate subsets of a table's units, one of which is the secret.

    As :class:`~pacsklearn.secrets.SecretSpace`, for units that are nowhere listed. Sizes, and a
    sample of the memberships, are known once the table was read.

    Parameters
    ----------
    design : HashedDesign
    table : Table
    is_listed : bool
        Whether the key is public.
    """

    design: HashedDesign
    table: Table = field(repr=False)
    is_listed: bool
    weights: NDArray[np.float64] = field(init=False, repr=False)

    name: ClassVar[str] = "table"
    dealt: ClassVar[str] = "every unit picks its subsets by itself, without blocks"  # type: ignore[misc]
    description: ClassVar[str] = "subsets of a table's units, each picked by a keyed function"
    has_members: ClassVar[bool] = True
    estimators: ClassVar[tuple[str | type, ...]] = (Table,)

    def __post_init__(self) -> None:
        weights = np.full(self.n_subsets, 1.0 / self.n_subsets)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def over(cls, X: Table, y: Any, design: Design) -> Self:
        """Return the space of a design, whose balanced subsets become each unit's own choice.

        Raises
        ------
        DesignError
            When groups or other blocks are given, or classes are to be dealt evenly.
        """
        if design.groups is not None:
            raise DesignError(
                "groups must be None for a Table; name the column: Table(..., unit=<column>)."
            )
        if design.stratify is True:
            raise DesignError(
                "stratify must be 'auto' or False for a Table, whose rows pass one by one."
            )
        if design.blocks not in (None, Subsets.blocks):
            raise DesignError(
                "blocks must be None or the default for a Table, whose rows pass one by one and "
                f"are dealt without blocks, got {design.blocks}."
            )
        hashed = HashedDesign.of(design.seed, design.n_subsets, design.rate)
        return cls(hashed, X, not isinstance(design.seed, SubsetSeed))

    @property
    def n_subsets(self) -> int:
        """Number m of candidates."""
        return self.design.n_subsets

    n_candidates = n_subsets

    @property
    def entropy(self) -> float:
        """Entropy of the secret, in nats."""
        return float(np.log(self.n_subsets))

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.table.profile.n_rows

    @property
    def n_units(self) -> int:
        """Units of privacy in the table."""
        return self.table.profile.n_units

    @property
    def unit(self) -> str:
        """Unit of privacy: ``"row"`` or ``"group"``."""
        return self.table.unit

    @cached_property
    def sample(self) -> BatchMembers:
        """Memberships of the sampled rows."""
        return self.design.members(self.table.profile.sample.names)

    @cached_property
    def packed(self) -> NDArray[np.uint8]:  # type: ignore[override]
        """Memberships of some of the sampled units, a bit each."""
        names = np.unique(self.table.profile.sample.names)
        # Evenly over the table: which units the noise is calibrated on is public.
        return self.design.members(names[:: -(-names.size // _SAMPLED)]).packed

    def inclusion(self) -> NDArray[np.float64]:
        """Return the prior probability that a sampled unit is in the secret subset.

        The same for all.
        """
        return np.full(len(self.packed), self.design.included / self.n_subsets)

    @classmethod
    def sample_of(cls, X: Table) -> tuple[Any, Any]:
        return X.named(X.profile.sample.rows), X.profile.sample.target

    @classmethod
    def check_fits(cls, estimator: Any) -> None:
        fitter_in_passes(estimator)

    def shown(self, X: Any) -> Any:
        return self.sample_of(X)[0]

    def judged(self, X: Any, y: Any) -> tuple[Any, Any, SecretSpace]:
        space = SecretSpace(self.sample.packed, self.n_subsets, self.weights)
        return *self.sample_of(X), space

    def worst(self, figure: Callable[[NDArray[np.bool_]], Floats]) -> float:
        """Return the largest of what ``figure`` gives for all units, in a pass over names."""
        worst = partial(_worst, self.design, figure)
        return float(self.table.total(worst, np.maximum, only_units=True)[0])

    def outputs(self, work: Work) -> Any:
        return work.elsewhere(self)

    def fitted(self, fits: Any) -> TableCandidates:
        """Return the candidates that are fitted in passes."""
        return TableCandidates.prepare(fits.estimator, fits.y, self, fits.options)

    def listed(self) -> NoReturn:
        """Refuse what looks at candidates one by one.

        Raises
        ------
        TableError
        """
        raise TableError(
            "This is over a Table, whose rows pass one by one: models that follow from sums are "
            "released (PACPrivate.fit, PrivacySession.release), under nats or Membership(cap), and "
            "nothing else."
        )

    row_subsets = listed
