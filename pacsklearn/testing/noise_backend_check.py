"""The contract of a noise backend."""

from __future__ import annotations

import inspect
import itertools

import numpy as np

from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Target
from pacsklearn.testing.law_rules import (
    Example,
    check_agreed_outputs_are_exact,
    check_exact_law,
    check_law,
    check_measured_information,
    example_supports,
)
from pacsklearn.testing.rule import Rule

_CALIBRATION = Rule("calibration")
_NO_FAVOURITE = Rule("no favourite")
_POWER = Rule("power")

_BUDGETS = (1 / 256, 1 / 8, 0.5)
_CLOSE = 1e-4


def check_noise_backend(backend: NoiseBackend, *, random_state: int = 0) -> None:
    """Check a noise backend against the rules that make its bound true.

    Parameters
    ----------
    backend : NoiseBackend
        As the registry or a user would give it.
    random_state : int, default=0
        Seed of the supports and of the noise of the check.

    Raises
    ------
    AssertionError
        Naming the rule that is broken, the support on which it is, and what to do.

    Notes
    -----
    On ordinary and awkward supports (rank-deficient, duplicated, agreed, unequally weighted, more
    outputs than candidates) and metrics:

    1. *Bound*: at most the budget, and at least the mutual information measured by simulation,
       up to four standard errors.
    2. *Integers only*: integer centres on a lattice of the common scale; the likelihood is the
       one of the noise that is drawn.
    3. *Exactness*: no noise at budgets that cover the entropy of the secret, and none on outputs
       on which all candidates agree.
    4. *Power*: reported truly, falls as the budget grows, and is ``a**2`` times as large for
       outputs ``a`` times as large, however small.
    5. *No favourite*: the order of the candidates does not matter, calibrating twice gives the
       same law, and the support is left as it is.

    Examples
    --------
    >>> from pacsklearn.plugins import registry
    >>> from pacsklearn.testing import check_noise_backend
    >>> check_noise_backend(registry().noise_backend("logdet"))
    """
    Rule("declarations").require_instance(backend, NoiseBackend)
    generator = np.random.default_rng(random_state)
    for example in example_supports(generator):
        powers = []
        for budget in _BUDGETS:
            if budget >= example.support.entropy:
                continue
            law = _calibrate(backend, example, budget)
            check_law(law, example, budget)
            check_measured_information(law, example, generator)
            check_agreed_outputs_are_exact(law, example, generator)
            powers.append(law.noise_power)
            if budget == _BUDGETS[1]:
                _check_repeatable(backend, example, law)
                _check_order(backend, example, law, generator)
                _check_scale(backend, example, law)
        if powers[0] > 0:
            _POWER.require(
                all(later < earlier for earlier, later in itertools.pairwise(powers)),
                f"On {example.name} the noise power does not fall as the budget grows.",
                "calibrate to target.budget.",
            )
        for budget in (example.support.entropy, 50.0):
            law = _calibrate(backend, example, budget)
            check_law(law, example, budget)
            check_exact_law(law, example)


def _calibrate(backend: NoiseBackend, example: Example, budget: float) -> NoiseLaw:
    outputs, weights = example.support.outputs.copy(), example.support.weights.copy()
    remedy = "handle every support of finite outputs; see pacsklearn.kernel.noise for examples."
    with _CALIBRATION.completes(f"On {example.name}, at {budget:.4g} nats, it fails", remedy):
        # As it is written: what a release refuses as a whole is named here.
        calibrate = inspect.unwrap(type(backend).calibrate)
        law = calibrate(backend, example.support, Target(budget), example.metric)
    _NO_FAVOURITE.require(
        np.array_equal(example.support.outputs, outputs)
        and np.array_equal(example.support.weights, weights),
        f"On {example.name} calibrate changes the support.",
        "copy arrays before you change them.",
    )
    _CALIBRATION.require(
        isinstance(law, NoiseLaw),
        f"calibrate returns an object of type {type(law).__qualname__}.",
        "return a NoiseLaw, for instance that of pacsklearn.kernel.noise.lattice.lattice_law.",
    )
    return law


def _check_repeatable(backend: NoiseBackend, example: Example, law: NoiseLaw) -> None:
    again = _calibrate(backend, example, _BUDGETS[1])
    _NO_FAVOURITE.require(
        all(
            np.array_equal(getattr(again, name), getattr(law, name))
            for name in ("centres", "step", "axes", "origin", "scale", "bound", "noise_power")
        ),
        f"On {example.name} two calibrations differ.",
        "draw nothing at random in calibrate, or use a fixed public seed.",
    )


def _check_order(
    backend: NoiseBackend, example: Example, law: NoiseLaw, generator: np.random.Generator
) -> None:
    order = generator.permutation(example.support.n_candidates)
    support = type(example.support)(example.support.outputs[order], example.support.weights[order])
    other = _calibrate(backend, example._replace(support=support), _BUDGETS[1])
    _NO_FAVOURITE.require(
        np.isclose(other.noise_power, law.noise_power, rtol=_CLOSE, atol=0.0)
        and np.isclose(other.released_power, law.released_power, rtol=_CLOSE, atol=0.0),
        f"On {example.name} the noise power depends on the order of the candidates.",
        "treat the candidates alike: the backend may not know which of them was drawn.",
    )


def _check_scale(backend: NoiseBackend, example: Example, law: NoiseLaw) -> None:
    for factor in (3.0, 1e-20):
        outputs = example.support.outputs * factor
        support = type(example.support)(outputs, example.support.weights)
        other = _calibrate(backend, example._replace(support=support), _BUDGETS[1])
        _POWER.require(
            np.isclose(other.noise_power, factor**2 * law.noise_power, rtol=_CLOSE, atol=0.0),
            f"On {example.name}, outputs {factor:g} times as large do not get "
            f"{factor**2:g} times the noise power.",
            "use no absolute thresholds or floors: compare with the largest variance.",
        )
