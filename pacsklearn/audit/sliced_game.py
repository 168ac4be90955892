"""Sliced releases, played, and a fitted one replayed to all that was known before its draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
from sklearn.exceptions import NotFittedError

from pacsklearn.audit.game import Game, Round, read_only
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.srpp.divergence.world_distances import full_distance
from pacsklearn.srpp.laws.sliced_law import AGGREGATIONS, SlicedLaw
from pacsklearn.srpp.release.calibrated_worlds import (
    CalibratedWorlds,
    calibrated_worlds,
    published_figures,
)
from pacsklearn.srpp.release.world_outputs import drawn_world
from pacsklearn.srpp.scenarios.scenario import all_pairs
from pacsklearn.srpp.srpp_parameters import sliced_options, sliced_query
from pacsklearn.srpp.srpp_private import SRPPPrivate


@final
@dataclass(frozen=True, eq=False)
class Published:
    """What an adversary sees of a sliced release.

    Parameters
    ----------
    vector : ndarray of shape (k,)
        Released whole numbers in units of the noise, in the axes of the noise.
    figures : str
        Everything printed: the guarantee's figures, grid and origin, as one text.
    """

    vector: Floats
    figures: str


@final
class SlicedGame(Game):
    """One sliced release, over and over, with the secret drawn anew from a prior over secrets.

    Each round takes the steps of a release, by the code that takes them, with a known secret.

    Parameters
    ----------
    calibrated : CalibratedWorlds or sequence of CalibratedWorlds
        What the curator knows before the draw; or what that would be under each secret, where a
        mechanism is suspected of letting it depend on the secret.
    prior : array-like of shape (n_secrets,), optional
        Of the secrets; the scenario's own when not given.

    Attributes
    ----------
    means : ndarray of shape (n_secrets, k)
        Mean output of each secret, in units of the noise.
    figures : tuple of str
        What would be printed under each secret.

    Raises
    ------
    ValueError
        When ``prior`` is not a distribution over the secrets, or there is not one calibration for
        each.

    Notes
    -----
    The noise is a rounded Gaussian of the lattice's scale from the round's generator. Where the
    release is made on a table, the scenario's draws stand for it.

    Naming the secret is held against the success that the guarantee states: at the scenario's own
    prior that of all secrets, at 1/2 for each of a protected pair that of the worst pair.

    Any other guess is bounded by the Renyi divergences. They grow with the order, so the full
    view's also bounds the mutual information between the secret and the release, by the divergence
    times the chance that two secrets drawn from the prior differ; of listed data sets half the
    squared distance under the best coupling bounds it as well. Where not all pairs of secrets are
    protected nothing is promised about it.
    """

    beyond = ("figures",)

    def __init__(
        self,
        calibrated: CalibratedWorlds | Sequence[CalibratedWorlds],
        prior: Any = None,
    ) -> None:
        if isinstance(calibrated, CalibratedWorlds):
            calibrated = [calibrated] * len(calibrated.worlds.secrets)
        first, self._calibrated = calibrated[0], list(calibrated)
        n_secrets = len(first.worlds.secrets)
        if len(self._calibrated) != n_secrets:
            raise ValueError(
                f"calibrated must have one calibration for each of {n_secrets} secrets, got "
                f"{len(self._calibrated)}."
            )
        weights = np.array(first.worlds.prior if prior is None else prior, float)
        usable = weights.shape == (n_secrets,) and bool(np.all(weights >= 0))
        if not usable or not abs(weights.sum() - 1) <= 1e-9:
            raise ValueError(
                f"prior must be {n_secrets} probabilities, one for each secret, that sum to 1, got "
                f"an array of shape {weights.shape}."
            )
        self.prior = read_only(weights / weights.sum())
        worlds = first.worlds
        self._draws = [list(worlds.law(i, 0).members) for i in range(n_secrets)]
        laws = zip([each.law for each in self._calibrated], self._draws, strict=True)
        means = [law.centres[rows].mean(axis=0) / (law.scale or 1) for law, rows in laws]
        self.means = np.stack(means)
        self.figures = tuple(map(cache(published_figures), self._calibrated))
        self._rate = _information(first)
        self._protected = {tuple(sorted(pair)) for pair in worlds.pairs}
        self._named = _named(first, self.prior)

    def bound(self, blind: float) -> float | None:
        # The stated success is that of naming, whose blind success is the likeliest secret's.
        named = self._named if abs(blind - float(self.prior.max())) <= 1e-12 else None
        if not self._protected >= set(all_pairs(len(self._calibrated))):
            return named
        information = self._rate * (1 - float(self.prior @ self.prior))
        implied = posterior_success(information, blind)
        return implied if named is None else min(named, implied)

    def play(self, generator: np.random.Generator) -> Round:
        sampler = SeededSampler(generator)
        secret = sampler.index(self.prior)
        calibrated = self._calibrated[secret]
        world = drawn_world(calibrated.worlds, secret, sampler)
        observed = calibrated.law.observe(calibrated.law.centres[world], sampler)
        figures = self.figures[secret]
        shown = Published(observed / (calibrated.law.scale or 1), figures)
        return Round(secret, self._posterior(calibrated.law, observed, figures), shown)

    def _posterior(self, law: SlicedLaw, observed: Any, figures: str) -> Floats:
        log_likelihood = law.log_likelihood(observed)
        likelihood = np.exp(log_likelihood - log_likelihood.max())
        # A figure that depends on the secret gives it away, and the posterior must say so.
        fits = [each == figures for each in self.figures]
        joint = self.prior * [likelihood[rows].mean() for rows in self._draws] * fits
        return np.asarray(joint / joint.sum())


def _named(calibrated: CalibratedWorlds, prior: Floats) -> float | None:
    """Return the stated success at naming the secret under a prior; None where none is stated."""
    worlds, stated = calibrated.worlds, calibrated.success
    if np.allclose(prior, worlds.prior, rtol=0, atol=1e-12):
        return stated.secret
    likely = tuple(np.flatnonzero(prior).tolist())
    pairs = {tuple(sorted(pair)) for pair in worlds.pairs}
    # Of one pair, each as likely; the worst pair's figure holds for every one.
    return stated.pair if likely in pairs and float(prior.max()) == 0.5 else None


def _information(calibrated: CalibratedWorlds) -> float:
    """Return bound on the relative entropy between what any protected pair of secrets releases."""
    law = calibrated.law
    if not calibrated.scenario.redrawn or law.is_noiseless:
        return law.costs.full
    members = [(left.members, right.members) for left, right in calibrated.worlds.instances()]
    farthest, _ = full_distance(law.centres / law.scale, members)
    return min(law.costs.full, farthest**2 / 2)


def replay_sliced(
    model: SRPPPrivate,
    X: Any,
    y: Any = None,
    *,
    secret: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> CalibratedWorlds:
    """Return data sets, outputs and law of a fitted :class:`SRPPPrivate`; the draw is not repeated.

    Which secret is true is not asked for: the law does not depend on it.

    Parameters
    ----------
    model : SRPPPrivate
        Fitted.
    X, y, secret
        As given to its ``fit``.
    fit_params : mapping, optional
        As given to its ``fit``.
    n_jobs : int, optional
        Workers that compute the outputs; the model's own when not given.

    Returns
    -------
    CalibratedWorlds
        Secret material, for the curator alone.

    Raises
    ------
    NotFittedError
    ValueError
        When the rows do not give the guarantee that the model has.
    """
    if not model.__sklearn_is_fitted__():
        raise NotFittedError("An audit replays what was fitted: call fit on the model first.")
    named = "prevalence" if model.scenario is None else model.scenario
    scenario = registry().make("scenario", named)
    params = dict(fit_params or {})
    query, rows = sliced_query(model, scenario, X, y, params, secret=secret)
    fitting = FitOptions(params, model.n_jobs if n_jobs is None else n_jobs)
    calibrated = calibrated_worlds(query, scenario, rows, sliced_options(model), fitting)
    promised, replayed = model.guarantee_.costs, calibrated.law.costs
    # The calibrated cost is the budget whatever the rows are; the others are not.
    for view in (*AGGREGATIONS, "worst_slice"):
        here, there = float(getattr(replayed, view)), float(getattr(promised, view))
        if not abs(here - there) <= 1e-6 * max(here, there):
            raise ValueError(
                f"X, y and secret must be what the model was fitted on: its guarantee says "
                f"{there:.6g} of {view.replace('_', ' ')}, here it is {here:.6g}."
            )
    return calibrated
