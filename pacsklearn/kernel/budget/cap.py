"""A cap on how often an adversary succeeds."""

from __future__ import annotations

import math
from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.bounds.posterior_success import mutual_information_for_success
from pacsklearn.kernel.budget.broken_promise import broken_promise
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import Space

_PROVEN = (MembershipCriterion, GuessCriterion)
"""Criteria whose declarations the tests compare with their tables."""


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
        number = isinstance(cap, Real) and not isinstance(cap, bool)
        if not number or not math.isfinite(cap) or not 0 < cap < 1:
            raise BudgetError(
                f"{type(self).__name__} caps a success, a probability between that of guessing "
                f"blindly and 1, got {cap!r}; 60 % is 0.60."
            )
        return float(cap)

    def equivalent(self, space: Space) -> float:
        blind = float(self.criterion(space).prior(space.weights).max())
        return mutual_information_for_success(self.amount, blind)

    def criterion(self, space: Space) -> Criterion:
        made, cap = self.against(space.listed()), self.amount
        if not isinstance(made, Criterion):
            raise TypeError(
                f"{type(self).__name__} must make a Criterion for a secret space, got "
                f"{type(made).__name__}."
            )
        # Noise would be chosen for a success that is not the one declared.
        broken = None if isinstance(made, _PROVEN) else broken_promise(made, _prior(space))
        if broken is not None:
            raise ValueError(
                f"criterion {made.name!r} does not keep what it promises ({broken.rule}). "
                f"{broken.finding} What to do: {broken.remedy} "
                "pacsklearn.testing.check_criterion checks it."
            )
        blind = float(made.prior(space.weights).max())
        # At or below the blind success no noise is enough.
        if not blind < cap:
            raise BudgetError(
                f"{self!r} caps the adversary's success, where guessing blindly has {blind:.6g}; "
                f"give a cap between that and 1, for instance {(1 + 9 * blind) / 10:.3g}."
            )
        return made


def _prior(space: Space) -> Any:
    return np.asarray(space.weights, dtype=np.float64)
