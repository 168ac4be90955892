"""Mechanisms that are broken on purpose, as a careless plugin might be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pacsklearn.audit.game import Game, Round
from pacsklearn.kernel.bounds.belief import update_belief
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import NoiseLaw
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.shaping.closed_forms import EigenBackend


class TooQuiet(NoiseBackend):
    """Noise scaled by 0.05, under the bound of the whole."""

    def calibrate(self, support, target, metric):
        law = EigenBackend().calibrate(support, target, metric)
        return replace(law, centres=law.centres * 20, step=law.step / 20)


class OneExactNumber(NoiseBackend):
    """One coordinate is released as it is."""

    def calibrate(self, support, target, metric):
        law = EigenBackend().calibrate(support, target, metric)
        centres, step = law.centres.astype(object), law.step.copy()
        # Far below what the lattice can resolve: the coordinate comes out to the last digit.
        centres[:, 0] *= 2**22
        step[0] /= 2**22
        return replace(law, centres=centres.astype(np.int64), step=step)


class FloatingPointLaw(NoiseLaw):
    """Adds noise to doubles, in doubles; on paper the same law."""

    def observe(self, index, noise):
        generator = np.random.default_rng(abs(int(noise.sum())) % 2**32)
        spread = np.sqrt(np.sum((self.axes * (self.step * self.scale)[:, None]) ** 2, axis=0))
        return self.outputs[index] + generator.normal(size=spread.size) * spread

    def decode(self, observed):
        whole = np.asarray(observed)
        return super().decode(whole) if whole.dtype.kind == "i" else whole

    def log_likelihood(self, observed):
        return np.zeros(len(self.centres))


class InFloatingPoint(NoiseBackend):
    def calibrate(self, support, target, metric):
        law = EigenBackend().calibrate(support, target, metric)
        careless = FloatingPointLaw(**vars(law))
        object.__setattr__(careless, "outputs", support.outputs)
        return careless


class Redrawing(Game):
    """A session that draws its secret anew for every release."""

    def __init__(self, laws, space):
        self.laws, self.space = laws, space
        self.information = sum(law.bound for law in laws)

    @property
    def prior(self):
        return self.space.weights

    @property
    def members(self):
        return self.space.membership().T

    def bound(self, blind):
        return posterior_success(self.information, blind)

    def play(self, generator):
        sampler = SeededSampler(generator)
        belief, used = np.log(self.prior), []
        for law in self.laws:
            used.append(sampler.index(self.prior))
            observed = law.observe(used[-1], sampler.noise(law.dimension))
            belief = update_belief(belief, law.log_likelihood(observed))
        return Round(used[-1], np.exp(belief), None, tuple(used[:-1]))
