"""Sliced Pufferfish releases, played by their noise law."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.game import Game, Round
from pacsklearn.core.noise_law import LATTICE_SCALE
from pacsklearn.core.scenario import Worlds, all_pairs
from pacsklearn.core.sliced_law import SlicedLaw
from pacsklearn.information import posterior_success
from pacsklearn.noise.sampler import SeededSampler

__all__ = ["SlicedGame"]

Floats = NDArray[np.float64]


@final
class SlicedGame(Game):
    """One sliced release, over and over, with the secret drawn anew from a prior over secrets.

    Parameters
    ----------
    law : SlicedLaw
        The curator's.
    worlds : Worlds
        What it was calibrated on; a round draws one of the secret's data sets, each equally
        likely.
    prior : array-like of shape (n_secrets,), optional
        Of the secrets; uniform when not given.
    prior_index : int, default=0
        Under which of the scenario's priors data sets are drawn.

    Raises
    ------
    ValueError
        When ``prior`` is not a distribution over the secrets.

    Notes
    -----
    The noise is a rounded Gaussian of the lattice's scale from the round's generator. What is
    shown is the released vector in units of the noise, in the axes of the noise.

    The guarantee bounds Renyi divergences; those of the full view, ``rate * order`` at every
    order, also bound the mutual information between the secret and the release by ``rate`` times
    the chance that two secrets drawn from the prior differ, and with it the success of any guess.
    Where not all pairs of secrets are protected nothing is promised.
    """

    def __init__(
        self, law: SlicedLaw, worlds: Worlds, prior: Any = None, *, prior_index: int = 0
    ) -> None:
        n_secrets = len(worlds.secrets)
        weights = np.full(n_secrets, 1 / n_secrets) if prior is None else np.array(prior, float)
        usable = weights.shape == (n_secrets,) and bool(np.all(weights >= 0))
        if not usable or not abs(weights.sum() - 1) <= 1e-9:
            raise ValueError(
                f"prior must be {n_secrets} probabilities, one for each secret, that sum to 1, got "
                f"an array of shape {weights.shape}."
            )
        self._law, self._prior = law, weights / weights.sum()
        self._members = [list(worlds.law(i, prior_index).members) for i in range(n_secrets)]
        unit = law.scale or 1
        self._means = np.stack([law.centres[rows].mean(axis=0) / unit for rows in self._members])
        protected = {tuple(sorted(pair)) for pair in worlds.pairs}
        self._all_protected = protected >= set(all_pairs(n_secrets))
        self._prior.flags.writeable = self._means.flags.writeable = False

    @property
    def prior(self) -> Floats:
        return self._prior

    @property
    def members(self) -> None:
        return None

    @property
    def means(self) -> Floats:
        """Mean output of each secret, in units of the noise; shape (n_secrets, d)."""
        return self._means

    def bound(self, blind: float) -> float | None:
        if not self._all_protected:
            return None
        rate = self._law.costs.full / self._law.costs.order
        information = rate * (1 - float(self._prior @ self._prior))
        return posterior_success(information, blind)

    def play(self, generator: np.random.Generator) -> Round:
        sampler = SeededSampler(generator)
        secret = sampler.index(self._prior)
        world = self._members[secret][int(generator.integers(len(self._members[secret])))]
        size = self._law.dimension
        still = self._law.is_noiseless
        noise = np.zeros(size, dtype=np.int64) if still else sampler.noise(size)
        observed = self._law.observe(world, noise)
        posterior = self._posterior(self._law.log_likelihood(observed))
        return Round(secret, posterior, observed / (1 if still else LATTICE_SCALE))

    def _posterior(self, log_likelihood: Floats) -> Floats:
        top = log_likelihood.max()
        likelihood = np.exp(log_likelihood - top)
        joint = self._prior * [likelihood[rows].mean() for rows in self._members]
        return np.asarray(joint / joint.sum())
