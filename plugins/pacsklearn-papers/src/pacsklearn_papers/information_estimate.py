"""The mutual information of a Gaussian mixture: estimated, and certified from above."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mixture import GaussianMixture, MixtureDraws, log_joint
from pacsklearn.trials.mean_bound import upper_mean_bound


def leakage(mixture: GaussianMixture, draws: MixtureDraws) -> Floats:
    """Return ``ln(n_possible) - H(S | Y = y)`` for every draw; shape (n,).

    Between 0 and ``ln(n_possible)``. Its mean less ``ln(n_possible) - H(S)`` is the mutual
    information between candidate and release.
    """
    table = log_joint(mixture, draws)
    joint = np.exp(table)
    np.copyto(table, 0.0, where=joint == 0)
    total = joint.sum(axis=1)
    # -H(S | Y = y) = sum q ln q of the posterior q = joint / total, without dividing.
    known = np.einsum("ij,ij->i", joint, table) / total - np.log(total)
    highest = math.log(mixture.n_possible)
    return np.asarray(np.clip(highest + known, 0.0, highest))


@final
@dataclass(frozen=True)
class InformationEstimate:
    """Monte-Carlo value of a mutual information.

    Parameters
    ----------
    nats : float
    standard_error : float
    """

    nats: float
    standard_error: float


def mixture_information(
    mixture: GaussianMixture, n_draws: int, generator: np.random.Generator
) -> InformationEstimate:
    """Estimate ``I(S; Y) = H(S) - E H(S | Y)`` from the exact posterior of ``n_draws`` releases.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.bounds import GaussianMixture
    >>> from pacsklearn_papers import mixture_information
    >>> far_apart = GaussianMixture(np.array([[-50.0], [50.0]]), np.array([0.5, 0.5]))
    >>> round(mixture_information(far_apart, 100, np.random.default_rng(0)).nats, 4)
    0.6931
    """
    values = _leakages(mixture, n_draws, generator)
    known = math.log(mixture.n_possible) - entropy_of(mixture)
    error = float(np.std(values) / math.sqrt(n_draws))
    return InformationEstimate(max(float(np.mean(values)) - known, 0.0), error)


def certified_information(
    mixture: GaussianMixture, n_draws: int, gamma: float, generator: np.random.Generator
) -> float:
    """Bound ``I(S; Y)`` from above; the bound fails with probability at most ``gamma``.

    Parameters
    ----------
    mixture : GaussianMixture
        Chosen without looking at the draws of this generator.
    n_draws : int
    gamma : float
    generator : numpy Generator
        Fresh.

    Returns
    -------
    float
        Nats.

    Notes
    -----
    The leakage of one draw lies in ``[0, ln n_possible]`` whatever the mixture, so a bound for
    means of bounded variables holds without any assumption; see :func:`upper_mean_bound`.
    """
    if mixture.n_possible < 2:
        return 0.0
    values = _leakages(mixture, n_draws, generator)
    highest = math.log(mixture.n_possible)
    bound = upper_mean_bound(values, 0.0, highest, gamma)
    # Outward: the entropy is a sum of at most a few thousand rounded terms.
    return min(bound - (highest - entropy_of(mixture)) * (1 - 1e-12), entropy_of(mixture)) + 1e-12


def _leakages(mixture: GaussianMixture, n_draws: int, generator: np.random.Generator) -> Floats:
    n_draws = check_integer(name="n_draws", value=n_draws, minimum=1)
    return np.concatenate([leakage(mixture, draws) for draws in mixture.draws(n_draws, generator)])


def entropy_of(mixture: GaussianMixture) -> float:
    """Return the entropy of the belief, in nats."""
    positive = mixture.weights[mixture.weights > 0]
    return float(-np.sum(positive * np.log(positive)))
