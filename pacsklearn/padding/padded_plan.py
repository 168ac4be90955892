"""A plan of one whole number under noise that only adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, final

from pacsklearn._validation import is_word
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.outputs.function_values import FunctionValues, function_name
from pacsklearn.kernel.plugins.catalogue import unregistered_provenance
from pacsklearn.kernel.release.function import Evaluations
from pacsklearn.kernel.release.plan import Plan
from pacsklearn.kernel.release.terms import ONE_SIDED
from pacsklearn.kernel.secret.space import Space
from pacsklearn.padding.one_sided_law import OneSidedBackend, OneSidedLaw


@final
@dataclass(frozen=True, eq=False, repr=False)
class PaddedPlan(Plan):
    """A release of one whole number that is padded to public levels."""

    values: FunctionValues
    backend: OneSidedBackend
    target: Target
    provenance: tuple[Provenance, ...]
    name: str
    entropy: float

    kind = "function"
    n_outputs = 1
    public = ("the function", "the levels that values are padded to")

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        space: Space,
        X: Any,
        y: Any,
        target: Target,
        metric: Any = None,
    ) -> Self:
        """Evaluate the function on every candidate."""
        # Before the function is called: padding has a cost of its own, and takes none.
        if metric is not None:
            raise ValueError(
                f"metric must be None with noise={ONE_SIDED!r}, which minimises the mean padding; "
                "leave metric out."
            )
        if target.criterion is not None:
            raise ValueError(
                f"noise={ONE_SIDED!r} bounds mutual information: state the budget in nats, as "
                "Nats(1 / 16), or use noise='criterion'."
            )
        backend = OneSidedBackend()
        used = (replace(unregistered_provenance(backend), name=ONE_SIDED),)
        values = space.listed().outputs(Evaluations(function, X, y))
        return cls(values, backend, target, used, function_name(function), space.entropy)

    def calibrate(self, belief: Floats) -> OneSidedLaw:
        return self.backend.calibrate(Support(self.values.vectors, belief), self.target)

    @property
    def released(self) -> tuple[str, ...]:
        return (f"value of {self.name}",)

    def value(self, law: OneSidedLaw, observed: int) -> int:
        return law.decode(observed)

    def example(self, law: OneSidedLaw) -> int:
        return 0

    def is_noiseless(self, law: OneSidedLaw) -> bool:
        return law.is_noiseless and law.bound >= self.entropy

    def details(self, law: OneSidedLaw) -> tuple[tuple[str, str], ...]:
        return (
            (
                "padding",
                (
                    f"{law.expected_padding:.6g} on average ({law.padding.method}); "
                    f"{law.bucket_padding:.6g} with the best buckets, {law.constant_padding:.6g} "
                    "up to the largest value"
                ),
            ),
        )


def is_one_sided(noise: Any) -> bool:
    """Return whether a user asks for noise that only adds, by name or by its backend."""
    return isinstance(noise, OneSidedBackend) or is_word(noise, ONE_SIDED)
