"""A release up to what needs the secret: planned, alone or with others."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.ledger.event import Event, LatticeNoise, Provenance
from pacsklearn.kernel.noise.joint_law import JointLaw
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.plugins.catalogue import unregistered_provenance
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.account import Secret

Details: TypeAlias = tuple[tuple[str, str], ...]
"""Further facts for a guarantee, by name."""


class Plan(ABC):
    """What is computed before the secret is needed: of a model, a value, several of them.

    Secret material: it holds the outputs of all candidates, or trials.

    Attributes
    ----------
    kind : str
        What the ledger calls such a release.
    target : Target
        What it may reveal.
    provenance : tuple of Provenance
        Plugins involved.
    """

    kind: str
    target: Target
    provenance: tuple[Provenance, ...]

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """How many numbers are released."""

    @property
    @abstractmethod
    def released(self) -> tuple[str, ...]:
        """What comes out of the noisy vector."""

    @property
    @abstractmethod
    def public(self) -> tuple[str, ...]:
        """What is released as it is."""

    @abstractmethod
    def calibrate(self, belief: Floats) -> Any:
        """Return the law under a belief of shape (m,).

        A function of the candidates, never of the secret.
        """

    @abstractmethod
    def value(self, law: Any, observed: Any) -> Any:
        """Return what leaves: a public function of the law and of what was drawn under it."""

    def observe(self, law: Any, secret: Secret) -> Any:
        """Return what is drawn under the law: the first use of the secret."""
        return law.draw(secret.index, secret.sampler)

    def learn(self, law: Any, observed: Any, secret: Secret) -> None:
        """Update the belief by Bayes' rule on what was drawn."""
        secret.learn(law.log_likelihood(observed))

    def example(self, law: Any) -> Any:
        """Return what could be drawn under the law, by a public seed."""
        # Noise alone: integers that a release could be.
        return SeededSampler(np.random.default_rng(0)).noise(law.dimension)

    def event(self, law: Any, unit: str, n_candidates: int) -> Event:
        """Return the fact of the release under a law, with what prices it again."""
        return LatticeNoise(**self._facts(law), unit=unit, n_candidates=n_candidates)

    def _facts(self, law: Any) -> dict[str, Any]:
        """Return what events of all kinds state of a release."""
        return {
            "kind": self.kind,
            "charge": law.bound,
            "backend": law.backend,
            "bound": law.bound if law.information is None else law.information,
            "n_outputs": self.n_outputs,
            "n_noisy": law.n_noisy,
            "provenance": self.provenance,
            "confidence": law.confidence,
        }

    def parts(self, law: Any, observed: Any) -> list[Part]:
        """Return what leaves, one by one."""
        return [Part(law, self.value(law, observed), law.noise_variances)]

    def is_noiseless(self, law: Any) -> bool:
        """Return whether nothing is added to what depends on the secret."""
        return bool(law.n_noisy == 0)

    def details(self, law: Any) -> Details:
        """Return further facts for the guarantee, by name."""
        return ()


@final
class Part(NamedTuple):
    """One released value, its law, and the variance of the noise in each of its numbers."""

    law: Any
    value: Any
    noise_variances: Floats | None


@final
class Step(NamedTuple):
    """What was charged and drawn: law, event, observation, and the belief it was calibrated to."""

    law: Any
    event: Event
    observed: Any
    belief: Floats


@final
@dataclass(frozen=True, eq=False, repr=False)
class PlannedSet(Plan):
    """Several releases of one secret: calibrated to one belief, charged together, then drawn.

    Parameters
    ----------
    plans : tuple of Plan
        In order.
    target : Target
        What all of them may reveal.
    provenance : tuple of Provenance
    """

    plans: tuple[Plan, ...]
    target: Target
    provenance: tuple[Provenance, ...]

    kind = "planned"

    @classmethod
    def of(cls, plans: Iterable[Plan]) -> PlannedSet:
        """Put plans into one set."""
        plans = tuple(plans)
        # Given the secret the releases are independent and each law is fixed beforehand: their
        # information adds up at most (chain rule), and so do the amounts that they may reveal.
        criterion = plans[0].target.criterion
        target = Target(math.fsum(plan.target.budget for plan in plans), criterion)
        return cls(plans, target, _distinct(plan.provenance for plan in plans))

    @property
    def n_outputs(self) -> int:
        return sum(plan.n_outputs for plan in self.plans)

    @property
    def released(self) -> tuple[str, ...]:
        return _distinct(plan.released for plan in self.plans)

    @property
    def public(self) -> tuple[str, ...]:
        return _distinct(plan.public for plan in self.plans)

    def calibrate(self, belief: Floats) -> JointLaw:
        return JointLaw(tuple(plan.calibrate(belief) for plan in self.plans))

    def observe(self, law: JointLaw, secret: Secret) -> tuple[Any, ...]:
        pairs = zip(self.plans, law.laws, strict=True)
        return tuple(plan.observe(one, secret) for plan, one in pairs)

    def example(self, law: JointLaw) -> tuple[Any, ...]:
        return tuple(plan.example(one) for plan, one in zip(self.plans, law.laws, strict=True))

    def parts(self, law: JointLaw, observed: tuple[Any, ...]) -> list[Part]:
        taken = zip(self.plans, law.laws, observed, strict=True)
        return [part for plan, one, drawn in taken for part in plan.parts(one, drawn)]

    def value(self, law: JointLaw, observed: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(part.value for part in self.parts(law, observed))


def _distinct(groups: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(one for group in groups for one in group))


def chosen_backend(noise: Any, target: Target) -> tuple[Any, Provenance]:
    """Return the backend from a user's argument, and where it comes from.

    ``"auto"`` is the default one for what is capped, or the only one with a bound for the secret.

    Raises
    ------
    ValueError, UnknownNameError
    """
    is_named = isinstance(noise, str)
    if target.backend is not None:
        if not (is_named and noise in ("auto", target.backend.name)):
            raise ValueError(
                "noise must be 'auto' for a secret that cannot be listed: only the "
                f"{target.backend.name} route has a bound for it, got {noise!r}."
            )
        used = unregistered_provenance(target.backend)
        return target.backend, replace(used, name=target.backend.name)
    if is_named and noise == "auto":
        noise = "logdet" if target.criterion is None else "criterion"
    plugins = registry()
    return plugins.noise_backend(noise), plugins.provenance("noise_backend", noise)
