"""Telling whether a record was used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM, Criterion
from pacsklearn.kernel.secret.packed_subsets import distinct_units

if TYPE_CHECKING:  # spaces state what is known of their units by what is here
    from pacsklearn.kernel.secret.space import RowSpace, Space

# Success that is one up to the rounding of sums; it is then taken to be one.
_CERTAIN = 1 - 1e-9


@final
class MembershipCriterion(Criterion):
    """Success at telling whether one unit was in the secret subset; a target for every unit.

    Units that all candidates contain, or none, have no secret and are no targets.

    Parameters
    ----------
    space : RowSpace
        Its sample stands for its units in all but :meth:`worst`, where they are not listed.
    """

    name = "membership"
    description = "telling whether any one unit was used"
    statement = "tell whether any one unit was used"
    lowest = 0.5
    aim = MEMBERSHIP_AIM
    has_sets = True

    def __init__(self, space: Space) -> None:
        self._space = has_units(space, self.name)
        self.n_unseen = self._space.n_units - len(self._space.packed)

    @property
    def n_targets(self) -> int:
        # What all candidates say alike is known before anything is released: a cap on it could
        # not be met, and there is nothing to hide.
        return self._space.protected.size + self.n_unseen

    def gains(self, target: int) -> Iterator[Floats]:
        # Two guesses: the unit was used, it was not. One of them is right against each candidate,
        # which is why no belief makes the better one fail more often than half of the time.
        (inside,) = self.sets([target])
        yield np.stack([inside, ~inside]).astype(np.float64)

    def sets(self, targets: Any = slice(None)) -> NDArray[np.bool_]:
        return self._space.membership(self._space.protected[targets])

    @cached_property
    def distinct(self) -> NDArray[np.intp]:
        """One unit of each pattern of membership."""
        return distinct_units(self._space.packed.take(self._space.protected, axis=0))

    def success(self, posterior: Floats, targets: NDArray[np.intp] | None = None) -> Floats:
        return _success(posterior, self.sets(slice(None) if targets is None else targets))

    def expected(self, share: Floats, posterior: Floats) -> float:
        seen = super().expected(share, posterior)
        if not self.n_unseen:
            return seen
        # Success is never above one: where some sampled unit's is, no other needs to be looked at.
        return 1.0 if seen > _CERTAIN else self.worst(partial(_expected, share, posterior))

    def worst(self, figure: Callable[[NDArray[np.bool_]], Floats]) -> float:
        return self._space.worst(figure)


def _success(posterior: Floats, members: NDArray[np.bool_]) -> Floats:
    # P(unit used | release) is the belief in the candidates that hold it.
    inside = posterior @ members.T.astype(np.float64)
    # max(p, 1 - p), in place: such tables have millions of entries.
    inside -= 0.5
    np.abs(inside, out=inside)
    inside += 0.5
    return np.minimum(inside, 1.0, out=inside)


def _expected(share: Floats, posterior: Floats, members: NDArray[np.bool_]) -> Floats:
    return np.asarray(share @ _success(posterior, members))


def has_units(space: Space, name: str) -> RowSpace:
    """Refuse a criterion about units where the secret is one of a list of inputs."""
    if space.has_members:
        return cast("RowSpace", space)
    raise ValueError(
        f"A cap on {name} is about units of a data set, and the secret of this session is one of "
        "a list of inputs; cap its Identification."
    )
