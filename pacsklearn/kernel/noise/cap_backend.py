"""Noise under a cap on what the optimal adversary achieves, certified for the law that is used."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.belief import belief_entropy
from pacsklearn.kernel.bounds.criterion_success import certified_success
from pacsklearn.kernel.bounds.lattice_bound import SpanCoordinates, logdet_bound
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.noise.certified import Certificate, CertifiedBackend, certified_law
from pacsklearn.kernel.noise.lattice import distinct_outputs, exact_law, lattice_slack
from pacsklearn.kernel.noise.noise_law import Integers, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric


class CapBackend(CertifiedBackend):
    """Noise of any shape under a cap on the Bayes-optimal adversary's success.

    A backend of this kind is the shape that it proposes, which has no part in the proof: the law
    is enlarged until a certificate on draws of its own meets the cap.

    Guarantee
    ---------
    The success of any adversary at any target of the criterion is at most the budget, with
    confidence ``1 - gamma``. Source: pac-private-algorithms, Definition 1, by simulation of the
    exact posterior and a union bound over the targets.
    """

    caps = True

    @abstractmethod
    def shape(
        self, support: Support, span: SpanCoordinates, criterion: Criterion, cap: float
    ) -> NoiseShape:
        """Propose noise, in the span's coordinates, that about meets the cap.

        Parameters
        ----------
        support : Support
        span : SpanCoordinates
            Coordinates of candidates without weight are zero.
        criterion : Criterion
        cap : float
        """

    @final
    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        return self.made_of(self.shape, self._certified, support, target, metric)

    @final
    def made_of(
        self,
        propose: Callable[..., NoiseShape],
        make: Callable[..., NoiseLaw],
        support: Support,
        target: Target,
        metric: Metric,
    ) -> NoiseLaw:
        """Return the law without noise where the cap allows it, else what is made of a shape.

        Parameters
        ----------
        propose : callable
            Proposes it, as :meth:`shape` does.
        make : callable
            From the criterion, the support, its coordinates and their axes, the shape and the cap.
        support : Support
        target : Target
        metric : Metric
        """
        criterion = target.criterion
        if criterion is None:
            raise ValueError(
                f"noise={self.name!r} caps an adversary's success and was given a budget of mutual "
                "information; give a cap, such as budget=Membership(0.60)."
            )
        # No noise is enough at or below the success of who has seen nothing.
        blind = float(criterion.prior(support.weights).max())
        if target.budget <= blind:
            raise ValueError(
                f"budget={target.budget!r} is the cap on the adversary's success, and guessing "
                f"blindly already has {blind:.6g}; give a cap between that and 1."
            )
        span = support.span(metric)
        axes = span.mixing @ support.deviations
        # Nobody believes in candidates of no weight, and their coordinates may overflow.
        coordinates = np.where(support.weights[:, None] > 0, span.coordinates, 0.0)
        # Of the integers that would leave: a rounding may tell apart what doubles do not.
        law = exact_law(support, coordinates, axes, self.name)
        # Nothing that leaves may need no noise: the cap holds for who sees the integers themselves.
        share, posterior = self._seen_exactly(law.centres, support.weights)
        exact = criterion.expected(share, posterior)
        if exact <= target.budget:
            return replace(
                law,
                bound=exact,
                # What is a function of the secret tells its own entropy.
                information=min(belief_entropy(np.log(share)) * OUTWARD, law.bound),
                proof="success of the optimal adversary who sees the exact output",
            )
        shape = propose(support, span._replace(coordinates=coordinates), criterion, target.budget)
        return make(criterion, support, span.coordinates, axes, shape, target.budget)

    def _certified(
        self,
        criterion: Criterion,
        support: Support,
        coordinates: Floats,
        axes: Floats,
        shape: NoiseShape,
        cap: float,
    ) -> NoiseLaw:
        certified = certified_law(
            support,
            coordinates,
            axes,
            shape,
            Certificate(
                figure=partial(self._certificate, criterion),
                cap=cap,
                gamma=self.gamma,
                proof=(
                    f"success of the optimal adversary at {criterion.n_targets:,} target(s) of the "
                    f"criterion {criterion.name!r}, bounded by simulation of the exact posterior "
                    f"at confidence 1 - {self.gamma:g}"
                ),
                backend=self.name,
                floor=float(criterion.prior(support.weights).max()),
                order=2.0,
            ),
            information=logdet_bound,
        )
        if certified is None:
            raise ValueError(
                f"The {self.name!r} backend found no noise whose certificate meets the cap "
                f"{cap!r}: the simulation has too few draws for so small a cap. Give "
                "it more draws, or state a larger cap, or a budget in nats."
            )
        return certified

    def _certificate(
        self,
        criterion: Criterion,
        mixture: GaussianMixture,
        gamma: float,
        generator: np.random.Generator,
    ) -> float:
        bound = certified_success(mixture, criterion, self.n_certificate, gamma, generator)
        # Draws were of a continuous law: what the discrete one can differ by is added.
        return bound + lattice_slack(mixture.signals.shape[1], 1.0)

    @staticmethod
    def _seen_exactly(centres: Integers, weights: Floats) -> tuple[Floats, Floats]:
        """Return how likely each release of the integers themselves is, and the belief after it."""
        seen = distinct_outputs(centres)
        # Candidates with the same integers are one event to whoever sees them.
        groups = np.eye(seen.max() + 1)[seen] * weights[:, None]
        share = groups.sum(axis=0)
        groups, share = groups[:, share > 0], share[share > 0]
        return share, (groups / share).T
