"""What is publicly expected of a regressor's targets, and released models drawn toward it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import NoiseLaw
from pacsklearn.kernel.outputs.canonicalizer import Constant
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.kernel.outputs.outputs import CandidateOutputs
from pacsklearn.kernel.outputs.subset_fitting import unfitted_copy
from pacsklearn.kernel.release.parameters import Reading
from pacsklearn.universe.vector_distances import vector_distances

SPREADS_IN_A_RANGE = 6.0
"""Predictions are taken to lie within three standard deviations of their mean."""


@final
@dataclass(frozen=True)
class PublicPrior:
    """Normal expectation of a regressor's predictions, stated without looking at the targets.

    Parameters
    ----------
    mean : float
    spread : float
        Standard deviation of predictions around it.
    is_stated : bool, default=False
        Whether the mean was stated, and not taken from a range.
    """

    mean: float
    spread: float
    is_stated: bool = field(default=False, compare=False)

    @property
    def reach(self) -> float:
        """How far from the mean predictions are expected to lie."""
        return self.spread * SPREADS_IN_A_RANGE / 2

    def drawn(self, values: Floats, deviations: Floats) -> Floats:
        """Return the posterior mean of numbers with normal noise of known standard deviations."""
        # Divided first: squares of very large or small deviations are no numbers.
        with np.errstate(over="ignore"):
            kept = 1 / (1 + (deviations / self.spread) ** 2)
        return np.asarray(self.mean + kept * (values - self.mean))

    def draw(self, vector: Floats, law: NoiseLaw, metric: Metric, constant: Constant) -> Floats:
        """Return the posterior mean of a released vector, a public function of it.

        The prior spreads the mean squared deviation of predictions from the constant evenly over
        the law's coordinates, which are orthogonal in the metric; noise is known in each.

        Parameters
        ----------
        vector : ndarray of shape (d,) or (n, d)
            As the law decodes it; one, or several.
        law : NoiseLaw
        metric : Metric
            Expected squared change of the predictions.
        constant : Constant
        """
        # Nothing was lost to noise: there is nothing for a prior to fill in.
        if law.is_noiseless or law.dimension == 0:
            return vector
        axes = metric.root(law.axes)
        lengths = vector_distances(axes, np.zeros((1, axes.shape[1])))[:, 0]
        counts = lengths > 0
        axes /= np.where(counts, lengths, 1.0)[:, None]
        held = np.isnan(constant.vector)
        deviation = np.where(held, 0.0, vector - constant.vector)
        along = metric.root(np.atleast_2d(deviation)) @ axes.T / np.where(counts, lengths, 1.0)
        noise = np.where(counts, law.step * law.scale * lengths, 1.0)
        prior = self.spread / constant.slope / math.sqrt(law.dimension)
        # A direction that changes no prediction says nothing about them, and stays as released.
        with np.errstate(over="ignore"):
            lost = np.where(counts, 1 / (1 + (prior / noise) ** 2), 0.0)
        moved = ((lost * along) @ law.axes).reshape(vector.shape)
        return np.asarray(vector - np.where(held, 0.0, moved))


@final
@dataclass(frozen=True)
class DrawnToward(Reading):
    """Reads released numbers as a regressor drawn toward what is publicly expected of it.

    Where no constant model is known for the numbers they are read as they are.

    Parameters
    ----------
    prior : PublicPrior
    constant : Constant, optional
        Of the outputs that are read.
    metric : Metric, optional
        Expected squared change of the predictions.
    """

    prior: PublicPrior
    constant: Constant | None = None
    metric: Metric = field(default_factory=IdentityMetric)

    def over(self, outputs: CandidateOutputs) -> DrawnToward:
        form = outputs.form
        template = unfitted_copy(form.template)
        constant = form.canonicalizer.constant(outputs.layout, self.prior.mean, template)
        if constant is not None:
            return replace(self, constant=constant, metric=outputs.metric())
        if self.prior.is_stated:
            raise ValueError(
                f"prior says nothing about the numbers of {type(form.template).__name__}, which "
                "are released as they come out of the noise; leave it out, use a linear or "
                "additive regressor, or release=Answers()."
            )
        return self

    def model(self, outputs: CandidateOutputs, law: NoiseLaw, vector: Floats) -> Any:
        return outputs.decode(self.drawn(law, vector))

    def drawn(self, law: NoiseLaw, vector: Floats) -> Floats:
        """Return a released vector, or several, drawn toward the constant."""
        # A public function of the released integers, the law and a stated prior.
        if self.constant is None:
            return vector
        return self.prior.draw(vector, law, self.metric, self.constant)

    def noise_variances(self, law: NoiseLaw) -> Floats:
        if self.constant is None or law.dimension == 0:
            return law.noise_variances
        # Reading is affine: each axis of the noise is drawn toward the prior by itself.
        noise = (law.step * law.scale)[:, None] * law.axes
        steps = law.origin + np.vstack([np.zeros_like(law.origin), noise])
        drawn = self.drawn(law, steps)
        return np.asarray(np.sum(np.square(drawn[1:] - drawn[0]), axis=0))
