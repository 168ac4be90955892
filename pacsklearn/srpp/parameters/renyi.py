"""Budgets of Pufferfish releases: a Renyi divergence, or the noise of a run, given."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, Final, NoReturn, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, check_parameters
from pacsklearn._validation import brief, check_flag, is_real
from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.secret.space import Space

LARGEST_EPSILON: Final = 1e9
LARGEST_ORDER: Final = 1e6
"""Of a budget in nats and of a Renyi order: no product of the two loses its digits or overflows."""


def check_order(order: Any, delta: Any) -> None:
    """Refuse what is no Renyi order, and no delta that its divergence is translated with.

    Written out: naming a budget must not load the models that scikit-learn's checks come with.
    """
    for name, value, most in (("order", order, LARGEST_ORDER), ("delta", delta, 1 - 2.0**-53)):
        least = 1 if name == "order" else 0
        if not is_real(value) or not least < value <= most:
            raise ValueError(
                f"budget: {name} must be a number above {least} and at most {most:g}, got "
                f"{brief(value)}."
            )


@final
@dataclass(repr=False, unsafe_hash=True)
class Renyi(Budget):
    """At most so much Renyi divergence between what any two protected secrets would release.

    Amounts of several releases about one secret add up, for one order.

    Parameters
    ----------
    epsilon : float
        In nats.
    order : float, default=4.0
        Above 1.
    delta : float, default=1e-5
        For which (epsilon, delta) bounds are reported.
    allow_exact : bool, default=False
        Consent to a release that hides nothing: one on which the best attack, or, of a run of
        steps, one that what is proved does not exclude, tells a pair of secrets apart in 99.99 % of
        cases or more. It is charged as stated, and never published.

    Notes
    -----
    Source: srpp, Definitions 2.2 and 4.2 to 4.5.

    Examples
    --------
    >>> from pacsklearn.srpp import Renyi
    >>> Renyi(2.0, order=8).amount
    2.0
    """

    epsilon: float
    order: float = 4.0
    delta: float = 1e-5
    _: KW_ONLY
    allow_exact: bool = False

    name = "renyi"
    description = "Renyi divergence between what any two protected secrets would release"
    adds = True
    hides: ClassVar[bool] = True

    @property
    def amount(self) -> float:
        check_order(self.order, self.delta)
        epsilon = self.epsilon
        # Beyond it nothing is hidden, and the arithmetic of noise so small overflows.
        if not is_real(epsilon) or not 1e-9 <= epsilon <= LARGEST_EPSILON:
            raise BudgetError(
                "budget: epsilon must be a number of nats of at least 1e-9 and at most "
                f"{LARGEST_EPSILON:g}, got {brief(epsilon)}; give for instance budget=1.0."
            )
        return float(epsilon)

    def criterion(self, space: Space) -> NoReturn:
        raise BudgetError(
            f"{self!r} bounds what a property of the table changes, for SRPPPrivate and private "
            "gradient descent. Here who was in the data is hidden: give nats, for instance "
            "budget=1/16, or a cap such as Membership(0.60)."
        )

    def noise_for(self, accountant: Any, n_steps: int) -> float:
        """Return the least noise multiplier with which so many gradient steps cost no more."""
        return float(accountant.noise_multiplier(self.amount, n_steps))

    def ceiling(self, planned: float) -> float:
        """Return the most that a run may cost whose steps cost ``planned``."""
        return self.amount


def as_renyi(value: Any, *others: type) -> Any:
    """Return the budget that an argument states; a bare number is in nats, of order 4.

    Parameters
    ----------
    value : float or Renyi
    *others : type
        Further kinds that are taken.

    Raises
    ------
    BudgetError
    """
    if is_real(value):
        value = Renyi(value)
    if not isinstance(value, (Renyi, *others)):
        names = ["Renyi(1.0, order=4)", *(f"a {each.__name__}" for each in others)]
        raise BudgetError(
            f"budget must be a positive number of nats or {' or '.join(names)}, got "
            f"{brief(value)} of type {type(value).__name__}."
        )
    budget: Any = value
    budget.amount  # noqa: B018 - checked
    check_flag(name="allow_exact", value=getattr(budget, "allow_exact", False))
    return budget


@final
@dataclass(repr=False)
class NoiseMultiplier(BaseEstimator):
    """Noise of private gradient steps, instead of a budget; what it promises is computed.

    Parameters
    ----------
    multiplier : float
        Standard deviation of the noise on the sum of a batch, over the clipping norm; 1e9 at most.
        0 for none, and no guarantee.
    order : float, default=4.0
        Of the Renyi divergence that is stated, above 1.
    delta : float, default=1e-5
        For which (epsilon, delta) bounds are reported.
    allow_exact : bool, default=False
        As for :class:`Renyi`.
    """

    multiplier: float
    order: float = 4.0
    delta: float = 1e-5
    _: KW_ONLY
    allow_exact: bool = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "multiplier": [Interval(Real, 0, 1e9, closed="both")],
        "allow_exact": ["boolean"],
    }

    @property
    def amount(self) -> float:
        """The number, checked."""
        check_order(self.order, self.delta)
        check_parameters(self, within="budget: ")
        return float(self.multiplier)

    @property
    def hides(self) -> bool:
        """Whether anything is noised."""
        return self.amount > 0

    def noise_for(self, accountant: Any, n_steps: int) -> float:
        """Return the multiplier, whatever the steps are."""
        return self.amount

    def ceiling(self, planned: float) -> float:
        """Return what all the steps cost."""
        return planned
