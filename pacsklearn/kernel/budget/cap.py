"""A cap on how often an adversary succeeds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar, final

import numpy as np

from pacsklearn._validation import brief, is_real
from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import Space

_OWN = (MembershipCriterion, GuessCriterion)
"""Criteria whose declarations the tests compare with their tables."""


@final
class Tabled(Criterion):
    """A criterion by its tables alone, whatever else it declares.

    Success is then the largest expected gain of any guess, and so convex in the belief, which
    every bound rests on. It caps what it names, and no attack that is called something else.

    Parameters
    ----------
    declared : Criterion
    """

    def __init__(self, declared: Criterion) -> None:
        self._declared, self.name, self.statement = declared, declared.name, declared.statement

    @property
    def n_targets(self) -> int:
        return self._declared.n_targets

    def gains(self, target: int) -> Iterator[Floats]:
        yield from self._declared.gains(target)


class Cap(Budget):
    """Most that the optimal adversary's success may be, whatever she sees.

    A cap needs far less noise than nats of the same success, and promises nothing else. It allows
    one release: successes do not add up.

    Attributes
    ----------
    cap : float
        Probability, above that of guessing blindly and below 1.

    Notes
    -----
    Source: pac-private-algorithms, Definition 1, taken literally.
    """

    adds: ClassVar[bool] = False
    cap: float

    @abstractmethod
    def against(self, space: SecretSpace | CandidateSpace) -> Criterion:
        """Return what the adversary has to achieve over these candidates."""

    @property
    def amount(self) -> float:
        cap: Any = self.cap
        if not is_real(cap) or not 0 < cap < 1:
            raise BudgetError(
                f"{type(self).__name__} caps a success, a probability between that of guessing "
                f"blindly and 1, got {brief(cap)}; 60 % is 0.60."
            )
        return float(cap)

    @final
    def criterion(self, space: Space) -> Criterion:
        # By a copy: it may keep the space, and is a parameter of what is published.
        made, cap = copy(self)._over(space), self.amount
        if not isinstance(made, Criterion):
            raise TypeError(
                f"{type(self).__name__} must make a Criterion for a secret space, got "
                f"{type(made).__name__}."
            )
        # The bounds need a success that is convex in the belief. The kernel's own overrides of
        # `success` are tested to be; of any other criterion the tables alone are believed, whose
        # maximum is convex whatever they hold.
        if type(made) not in _OWN:
            made = Tabled(made)
        prior = made.prior(space.weights)
        # Asked twice: gains of another call would be certified, and others would be promised.
        if not np.array_equal(prior, made.prior(space.weights)):
            raise ValueError(
                f"criterion {made.name!r} has other gains in another call; derive them from the "
                "candidates alone. pacsklearn.testing.check_criterion checks it."
            )
        blind = float(prior.max())
        # At or below the blind success no noise is enough.
        if not blind < cap:
            raise BudgetError(
                f"{self!r} caps the adversary's success, where guessing blindly has {blind:.6g}; "
                f"give a cap between that and 1, for instance {(1 + 9 * blind) / 10:.3g}."
                if blind < 1 - 1e-9
                else f"{self!r} caps what guessing blindly is sure of; cap something harder."
            )
        return made

    def _over(self, space: Space) -> Criterion:
        # Of a table that is read in passes a criterion would see a sample, and cap no more.
        return self.against(space.listed())
