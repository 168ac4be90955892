"""How much noise, and of which shape."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from typing import Any, ClassVar

from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric


class NoiseBackend(ABC):
    """A method of calibrating noise to a target.

    :meth:`calibrate` is a deterministic function of the support: it never sees which candidate
    was drawn and never draws noise. It is given outputs whose squares neither vanish nor overflow:
    outputs of any other size are multiplied by a power of two before it, and its law by the inverse
    after it.

    Attributes
    ----------
    name : str
        Unique among the noise backends; accepted by ``PACPrivate(noise=name)``.
    description : str
        One line for listings.
    caps : bool
        Whether it bounds the success that a criterion caps, as every :class:`CapBackend` does;
        False unless a class says so.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    caps: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in {"calibrate", "estimate"} & set(vars(cls)):
            setattr(cls, name, _of_any_size(getattr(cls, name)))

    @abstractmethod
    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        """Return the law whose proved bound is at most ``target.budget``.

        Parameters
        ----------
        support : Support
            Outputs over the secret space with the adversary's current belief.
        target : Target
            What the release may reveal.
        metric : Metric
            What noise costs in each direction.
        """

    def estimate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        """Return law about as large as that of :meth:`calibrate`; nothing is ever released by it.

        For simulated releases of options of which one is released: where the bound is simulated
        itself, options are compared without it.
        """
        return self.calibrate(support, target, metric)


Calibrate = Callable[[Any, Support, Target, Metric], NoiseLaw]


def _of_any_size(calibrate: Calibrate) -> Calibrate:
    """Calibrate in units of an exact power of two where squares would vanish or overflow."""

    @wraps(calibrate)
    def scaled(self: Any, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        if target.criterion is not None and not self.caps:
            raise ValueError(
                f"noise={self.name!r} bounds mutual information and was given a cap on an "
                "adversary's success; give noise='auto', or a budget in nats."
            )
        # From all candidates alike, never from the secret's own output.
        exponent = support.exponent(metric)
        # An exact power of two: information does not depend on the unit, nor does any integer.
        seen = support.scaled(-exponent) if exponent else support
        # By a copy: what is kept of the outputs reaches no other release, and no pickle.
        law: Any = calibrate(deepcopy(self), seen, target, metric)
        # Before anything is charged: an error of the draw would be about what was drawn.
        if not (isinstance(law, NoiseLaw) and law.suits(seen, target)):
            raise TypeError(
                f"noise={self.name!r} gave no law that can be drawn from: int64 numbers for each "
                "candidate, finite ones to read them by, the common scale of noise or none at the "
                f"price of the secret's entropy, and a bound of at most {target.budget:.6g}. "
                "pacsklearn.testing.check_noise_backend says what is wrong."
            )
        return law.in_unit_of(support, exponent) if exponent else law

    return scaled
