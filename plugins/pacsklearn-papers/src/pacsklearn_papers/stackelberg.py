"""Algorithm 2 of residual-pac as published, for comparison: an estimate, never a proof."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.lattice_bound import logdet_allocation
from pacsklearn.kernel.noise.lattice import generator_for, lattice_centres, opened
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support, Target
from pacsklearn.kernel.outputs.metric import Metric


@final
class StackelbergBackend(NoiseBackend):
    """SR-PAC by Monte Carlo: a learned decoder against a learned noise, with a penalty.

    Parameters
    ----------
    n_iterations : int, default=2000
        Updates of the noise.
    n_decoder_steps : int, default=5
        Updates of the decoder for each of them.
    batch_size : int, default=256
    penalty : float, default=50
        Weight of the squared distance between the decoder's cross-entropy and its target.
    learning_rate : float, default=0.02
        Of both players' Adam updates.

    Guarantee
    ---------
    None. The bound of the law is what the decoder believes, and its confidence is 0: a decoder's
    cross-entropy is never below ``H(S | Y)``, so what remains unknown is over-stated until the
    decoder is optimal, and nothing tells whether it is. Use ``residual``.
    Source: residual-pac, Algorithm 2.

    Notes
    -----
    Leader: independent Gaussian noise along the principal axes, by the logarithms of its
    deviations. Follower: softmax of a linear function of the release, which contains the Bayes
    posterior of the mixture.
    """

    name = "stackelberg"
    description = "SR-PAC as published, with a learned decoder: an estimate for comparison"

    def __init__(
        self,
        *,
        n_iterations: int = 2000,
        n_decoder_steps: int = 5,
        batch_size: int = 256,
        penalty: float = 50.0,
        learning_rate: float = 0.02,
    ) -> None:
        self.n_iterations = check_integer(name="n_iterations", value=n_iterations, minimum=1)
        self.n_decoder_steps = check_integer(
            name="n_decoder_steps", value=n_decoder_steps, minimum=1
        )
        self.batch_size = check_integer(name="batch_size", value=batch_size, minimum=2)
        for name, value in (("penalty", penalty), ("learning_rate", learning_rate)):
            if not 0 < value < math.inf:
                raise ValueError(f"{name} must be positive and finite, got {value!r}.")
        self.penalty, self.learning_rate = float(penalty), float(learning_rate)

    def calibrate(self, support: Support, target: Target, metric: Metric) -> NoiseLaw:
        span = support.span(metric)
        axes, exact = opened(support, target, span, "stackelberg")
        if exact is not None:
            return exact
        # In units of the spread of the outputs, so that one learning rate serves all problems.
        unit = math.sqrt(span.variances.sum())
        coordinates = np.where(support.weights[:, None] > 0, span.coordinates, 0.0) / unit
        deviations, believed = self._play(coordinates, support, target.budget)
        variances = (deviations * unit) ** 2
        step = np.sqrt(variances) / LATTICE_SCALE
        return NoiseLaw(
            centres=lattice_centres(span.coordinates, step, "stackelberg"),
            step=step,
            axes=axes,
            origin=support.mean,
            scale=LATTICE_SCALE,
            bound=min(max(believed, 1e-12), target.budget),
            proof="ESTIMATED by a learned decoder, which over-states what remains unknown",
            backend="stackelberg",
            noise_power=float(variances.sum()),
            released_power=float(variances.sum()),
            confidence=0.0,
        )

    def _play(self, outputs: Floats, support: Support, budget: float) -> tuple[Floats, float]:
        """Return the noise's deviations after the game, and the decoder's information."""
        m, k = outputs.shape
        generator = generator_for(support, "stackelberg")
        start = logdet_allocation(support.weights @ outputs**2, budget)
        leader = _Adam(np.log(start) / 2, self.learning_rate)
        follower = _Adam(np.zeros((k + 1, m)), self.learning_rate)
        with np.errstate(divide="ignore"):
            follower.value[-1] = np.maximum(np.log(support.weights), -50.0)
        wanted = support.entropy - budget
        recent: list[float] = []
        for _ in range(self.n_iterations):
            for _ in range(self.n_decoder_steps):
                secrets, noise = self._draw(support, k, generator)
                released = outputs[secrets] + noise * np.exp(leader.value)
                inputs = np.hstack([released, np.ones((self.batch_size, 1))])
                errors = softmax(inputs @ follower.value, axis=1)
                errors[np.arange(self.batch_size), secrets] -= 1
                follower.descend(inputs.T @ errors / self.batch_size)
            secrets, noise = self._draw(support, k, generator)
            spread = noise * np.exp(leader.value)
            inputs = np.hstack([outputs[secrets] + spread, np.ones((self.batch_size, 1))])
            posterior = softmax(inputs @ follower.value, axis=1)
            rows = np.arange(self.batch_size)
            entropy = -float(np.mean(np.log(np.maximum(posterior[rows, secrets], 1e-300))))
            posterior[rows, secrets] -= 1
            slope = np.mean((posterior @ follower.value[:-1].T) * spread, axis=0)
            power = 2 * np.mean(spread**2, axis=0)
            leader.descend(power + 2 * self.penalty * (entropy - wanted) * slope)
            recent = [*recent[-99:], entropy]
        return np.exp(leader.value), support.entropy - float(np.mean(recent))

    def _draw(
        self, support: Support, k: int, generator: np.random.Generator
    ) -> tuple[NDArray[np.intp], Floats]:
        secrets = generator.choice(support.n_candidates, size=self.batch_size, p=support.weights)
        return secrets, generator.standard_normal((self.batch_size, k))


class _Adam:
    """Kingma and Ba's stochastic gradient steps on one array."""

    def __init__(self, value: Floats, rate: float) -> None:
        self.value, self._rate, self._time = value, rate, 0
        self._mean, self._square = np.zeros_like(value), np.zeros_like(value)

    def descend(self, gradient: Floats) -> None:
        self._time += 1
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.001 * (gradient**2 - self._square)
        mean = self._mean / (1 - 0.9**self._time)
        square = self._square / (1 - 0.999**self._time)
        self.value = self.value - self._rate * mean / (np.sqrt(square) + 1e-12)
