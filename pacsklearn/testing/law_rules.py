"""Rules of one calibrated noise law, and supports and metrics on which a backend is tried."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, NoiseLaw, Support
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.testing.rule import Rule
from pacsklearn.universe.metrics import DiagonalMetric, MatrixMetric


class Example(NamedTuple):
    """A support, a metric on its outputs, and what is special about it."""

    name: str
    support: Support
    metric: Metric


def example_supports(generator: np.random.Generator) -> list[Example]:
    """Return ordinary and awkward supports, none large."""
    normal = generator.normal
    full = normal(size=(12, 4)) * [1.0, 0.1, 5.0, 1e-3] + 2.0
    flat = normal(size=(10, 2)) @ normal(size=(2, 6))
    twins = np.repeat(normal(size=(5, 3)), 2, axis=0)
    partly = normal(size=(9, 5))
    partly[:, 1], partly[:, 3] = 0.1, -7.3
    wide = normal(size=(8, 40))
    weights = generator.uniform(0.2, 1.0, 12)
    weights[3] = 0.0
    root = normal(size=(5, 5))
    examples = [
        ("random outputs", full, None, IdentityMetric()),
        ("random outputs, diagonal metric", full, None, DiagonalMetric(np.array([1, 50, 0.1, 9]))),
        ("unequal weights, one of them zero", full, weights, IdentityMetric()),
        ("rank-deficient outputs", flat, None, IdentityMetric()),
        ("rank-deficient metric", flat, None, DiagonalMetric(np.array([1, 0, 2, 0, 3, 1]))),
        ("duplicated outputs", twins, None, IdentityMetric()),
        ("outputs on which all candidates agree", partly, None, IdentityMetric()),
        ("agreed outputs, full metric", partly, None, MatrixMetric(root @ root.T)),
        ("more outputs than candidates", wide, None, IdentityMetric()),
        ("a secret of one bit", normal(size=(2, 3)), None, IdentityMetric()),
        ("equal outputs", np.tile(normal(size=3), (6, 1)), None, IdentityMetric()),
    ]
    return [
        Example(name, Support(outputs, np.empty(0) if belief is None else belief), metric)
        for name, outputs, belief, metric in examples
    ]


_BOUND = Rule("bound")
_EXACTNESS = Rule("exactness")
_INTEGERS_ONLY = Rule("integers only")

_USE_LATTICE = "build the law with pacsklearn.kernel.noise.lattice.lattice_law or exact_law."


def check_law(law: NoiseLaw, example: Example, budget: float) -> None:
    """Check the form of the law, its bound and the powers it reports."""
    where = f"On {example.name}, at {budget:.4g} nats,"
    _BOUND.require(
        math.isfinite(law.bound) and 0 <= law.bound <= budget,
        f"{where} the law's bound is {law.bound:.6g} nats.",
        "enlarge the noise until the bound, evaluated on the integer centres, is at most the "
        "budget.",
    )
    m, d = example.support.outputs.shape
    k = law.dimension
    _INTEGERS_ONLY.require(
        np.ndim(law.centres) == 2
        and np.issubdtype(law.centres.dtype, np.integer)
        and law.centres.shape == (m, k),
        f"{where} the centres are not an array of integers with one row for each candidate.",
        _USE_LATTICE,
    )
    parts = law.step, law.axes, law.origin
    _INTEGERS_ONLY.require(
        [part.shape for part in parts] == [(k,), (k, d), (d,)]
        and all(np.isfinite(part).all() for part in parts)
        and np.all(law.step > 0),
        f"{where} step, axes and origin do not describe a lattice in the space of the outputs.",
        _USE_LATTICE,
    )
    _INTEGERS_ONLY.require(
        law.scale in (0, LATTICE_SCALE),
        f"{where} the scale is {law.scale}; the sampler draws noise of scale {LATTICE_SCALE}.",
        "set the amount of noise by the step, not by the scale.",
    )
    _BOUND.require(
        0 < law.confidence <= 1 and law.proof and law.backend,
        f"{where} confidence, proof or backend is missing.",
        "say in proof why the bound holds, and with which confidence.",
    )
    added = float(np.sum(example.metric.root(law.axes * (law.step * law.scale)[:, None]) ** 2))
    Rule("power").require(
        np.isclose(law.released_power, added, rtol=1e-6, atol=0.0)
        and law.noise_power >= law.released_power * (1 - 1e-9),
        f"{where} the law reports a power of {law.released_power:.6g} released, "
        f"{law.noise_power:.6g} in total; the noise it adds has a power of {added:.6g}.",
        "report the variances that are used, after every correction of the noise.",
    )


def check_exact_law(law: NoiseLaw, example: Example) -> None:
    """Check that a budget that covers the secret's entropy needs no noise."""
    _EXACTNESS.require(
        law.is_noiseless and law.noise_power == 0 and law.released_power == 0,
        f"On {example.name} the budget covers the entropy of the secret and noise is added.",
        "return pacsklearn.kernel.noise.lattice.exact_law when target.budget >= support.entropy.",
    )
    likely = example.support.weights > 0
    wanted = example.support.outputs[likely]
    released = np.stack([law.decode(centre) for centre in law.centres[likely]])
    largest = float(np.max(np.abs(example.metric.root(wanted)), initial=0.0))
    _EXACTNESS.require(
        np.allclose(example.metric.root(released - wanted), 0.0, rtol=0.0, atol=1e-9 * largest),
        f"On {example.name} the law without noise does not release the outputs.",
        _USE_LATTICE,
    )


def check_measured_information(
    law: NoiseLaw, example: Example, generator: np.random.Generator
) -> None:
    """Check the bound against what an adversary gains, and the likelihood she would use."""
    noise = np.rint(generator.normal(0, LATTICE_SCALE, law.dimension)).astype(np.int64)
    observed = law.centres[0] + noise
    exact = -np.sum(((law.centres - observed) / LATTICE_SCALE) ** 2, axis=1) / 2
    likelihood = law.log_likelihood(observed)
    if not law.is_noiseless:
        _INTEGERS_ONLY.require(
            np.allclose(likelihood - likelihood[0], exact - exact[0], rtol=1e-9, atol=1e-9),
            f"On {example.name} log_likelihood is not the one of the noise that is drawn.",
            _USE_LATTICE,
        )
    elif law.dimension:
        _BOUND.require(
            False,
            f"On {example.name} outputs that differ are released without noise, below the entropy "
            "of the secret.",
            "add noise: the budget does not cover the secret.",
        )
    measured = measured_information(law, example.support.weights, generator)
    _BOUND.require(
        measured.nats <= law.bound + 4 * measured.standard_error + 1e-12,
        f"On {example.name} the law claims at most {law.bound:.6g} nats and "
        f"{measured.nats:.6g} +- {measured.standard_error:.2g} are measured.",
        "the proof does not hold for this law; evaluate the bound on the centres and the scale "
        "that are released.",
    )


def check_agreed_outputs_are_exact(
    law: NoiseLaw, example: Example, generator: np.random.Generator
) -> None:
    """Check that what all candidates agree on is no secret, and gets no noise."""
    outputs = example.support.outputs
    agreed = np.ptp(outputs, axis=0) == 0
    noise = np.rint(generator.normal(0, LATTICE_SCALE, law.dimension)).astype(np.int64)
    released = law.decode(law.observe(0, noise))
    _EXACTNESS.require(
        np.array_equal(released[agreed], outputs[0, agreed]),
        f"On {example.name} outputs on which all candidates agree are not released exactly.",
        "work with support.deviations, which are exactly zero there.",
    )


class MeasuredInformation(NamedTuple):
    """Estimate in nats and its standard error."""

    nats: float
    standard_error: float


def measured_information(
    law: NoiseLaw,
    weights: NDArray[np.float64],
    generator: np.random.Generator,
    *,
    n_draws: int = 20_000,
) -> MeasuredInformation:
    """Return the mutual information between the candidate and the release, by simulation.

    The noise is a rounded Gaussian of the law's scale, and every candidate of positive weight
    gets the same number of draws. Draws come in pairs of opposite sign, which cancels the term
    linear in the noise: the relative error is small at small budgets too.

    Parameters
    ----------
    law : NoiseLaw
        With noise.
    weights : ndarray of shape (m,)
        The adversary's belief.
    generator : numpy.random.Generator
    n_draws : int, default=20000
        Draws in total.

    Returns
    -------
    MeasuredInformation
    """
    likely = np.flatnonzero(weights > 0)
    belief = weights[likely]
    centres = law.centres[likely]
    pairs = max(n_draws // (2 * likely.size), 2)
    nats = variance = 0.0
    for position, own in enumerate(centres):
        noise = np.rint(generator.normal(0.0, law.scale, (pairs, law.dimension)))
        offsets = (centres - own).astype(np.float64)
        gains = np.zeros(pairs)
        for sign in (1.0, -1.0):
            difference = (offsets[None, :, :] - sign * noise[:, None, :]) / law.scale
            log_likelihood = -np.sum(difference**2, axis=2) / 2
            mixture = logsumexp(log_likelihood, axis=1, b=belief)
            gains += (log_likelihood[:, position] - mixture) / 2
        nats += belief[position] * gains.mean()
        variance += belief[position] ** 2 * gains.var(ddof=1) / pairs
    return MeasuredInformation(float(nats), float(np.sqrt(variance)))
