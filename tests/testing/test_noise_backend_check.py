"""The check passes the built-in backends and catches every planted offender."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pacsklearn.kernel.noise.lattice import exact_law
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.plugins import registry
from pacsklearn.shaping.closed_forms import EigenBackend
from pacsklearn.testing import check_noise_backend


@pytest.mark.product(only=1)
@pytest.mark.parametrize("name", ["isotropic", "diagonal", "eigen", "logdet"])
def test_builtin_backends_pass(name):
    check_noise_backend(registry().noise_backend(name))


@pytest.mark.soak
def test_other_seeds_pass():
    check_noise_backend(registry().noise_backend("logdet"), random_state=5)


class Changed(NoiseBackend):
    """A sound backend with one thing wrong; subclasses say which."""

    def calibrate(self, support, target, metric):
        law = EigenBackend().calibrate(support, target, metric)
        return self.change(law, support, target, metric)

    def change(self, law, support, target, metric):
        raise NotImplementedError


def quieter(law, factor):
    """The same release with noise whose deviation is ``factor`` times smaller."""
    return dataclasses.replace(
        law,
        centres=np.rint(law.centres * factor).astype(np.int64),
        step=law.step / factor,
        noise_power=law.noise_power / factor**2,
        released_power=law.released_power / factor**2,
    )


class TenTimesTooSmall(Changed):
    def change(self, law, support, target, metric):
        return quieter(law, 10.0)


class SlightlyTooSmall(Changed):
    def change(self, law, support, target, metric):
        return quieter(law, 1.2)


class Silent(Changed):
    def change(self, law, support, target, metric):
        span = support.span(metric)
        silent = exact_law(support, span.coordinates, span.mixing @ support.deviations, "silent")
        return dataclasses.replace(silent, bound=0.0)


class OverBudget(NoiseBackend):
    def calibrate(self, support, target, metric):
        return EigenBackend().calibrate(support, Target(2 * target.budget), metric)


class NeverExact(NoiseBackend):
    def calibrate(self, support, target, metric):
        limit = min(target.budget, 0.9 * support.entropy)
        return EigenBackend().calibrate(support, Target(limit), metric)


class IgnoresTheBudget(NoiseBackend):
    def calibrate(self, support, target, metric):
        limit = target.budget if target.budget >= support.entropy else 1 / 256
        return EigenBackend().calibrate(support, Target(limit), metric)


class BlursWhatAllAgreeOn(Changed):
    def change(self, law, support, target, metric):
        if law.is_noiseless:
            return law
        power = np.sum((metric.root(law.axes + 1e-7) * (law.step * law.scale)[:, None]) ** 2)
        return dataclasses.replace(
            law, axes=law.axes + 1e-7, released_power=power, noise_power=max(power, law.noise_power)
        )


class HasAFloor(Changed):
    def change(self, law, support, target, metric):
        if law.is_noiseless or law.dimension == 0:
            return law
        factor = np.sqrt(max(law.noise_power, 1e-12) / law.noise_power)
        return quieter(law, 1 / factor)


class FavoursTheFirst(NoiseBackend):
    def calibrate(self, support, target, metric):
        if target.budget >= support.entropy:
            return EigenBackend().calibrate(support, target, metric)
        outputs = support.outputs - support.mean
        share = np.sum(outputs[0] ** 2) / max(np.sum(outputs**2), 1e-300)
        return EigenBackend().calibrate(support, Target(target.budget * (1 - share)), metric)


class Random(NoiseBackend):
    def calibrate(self, support, target, metric):
        if target.budget >= support.entropy:
            return EigenBackend().calibrate(support, target, metric)
        share = np.random.default_rng().uniform(0.9, 1.0)
        return EigenBackend().calibrate(support, Target(target.budget * share), metric)


class Mutates(Changed):
    def change(self, law, support, target, metric):
        support.outputs[0] += 1.0
        return law


class Misreports(Changed):
    def change(self, law, support, target, metric):
        return dataclasses.replace(law, released_power=law.released_power / 2)


class OtherScale(Changed):
    def change(self, law, support, target, metric):
        return dataclasses.replace(law, scale=law.scale // 2)


class Continuous(Changed):
    def change(self, law, support, target, metric):
        return dataclasses.replace(law, centres=law.centres + 0.25)


class NoProof(Changed):
    def change(self, law, support, target, metric):
        return dataclasses.replace(law, proof="")


class NotALaw(Changed):
    def change(self, law, support, target, metric):
        return law.centres


class FailsOnAgreement(NoiseBackend):
    def calibrate(self, support, target, metric):
        np.linalg.cholesky(np.cov(support.outputs.T))
        return EigenBackend().calibrate(support, target, metric)


class WrongExactLaw(Changed):
    def change(self, law, support, target, metric):
        return dataclasses.replace(law, origin=law.origin + 0.1) if law.is_noiseless else law


@pytest.mark.parametrize(
    ("offender", "rule", "words"),
    [
        (TenTimesTooSmall, "bound", "are measured"),
        (SlightlyTooSmall, "bound", "are measured"),
        (Silent, "bound", "released without noise"),
        (OverBudget, "bound", "the law's bound is"),
        (NeverExact, "exactness", "covers the entropy"),
        (IgnoresTheBudget, "power", "does not fall"),
        (BlursWhatAllAgreeOn, "exactness", "all candidates agree are not released exactly"),
        (HasAFloor, "power", "1e-20 times as large"),
        (FavoursTheFirst, "no favourite", "order of the candidates"),
        (Random, "no favourite", "two calibrations differ"),
        (Mutates, "no favourite", "changes the support"),
        (Misreports, "power", "the noise it adds has a power of"),
        (OtherScale, "integers only", "the sampler draws"),
        (Continuous, "integers only", "not an array of integers"),
        (NoProof, "bound", "proof or backend is missing"),
        (NotALaw, "calibration", "type ndarray"),
        (FailsOnAgreement, "calibration", "it fails: LinAlgError"),
        (WrongExactLaw, "exactness", "does not release the outputs"),
    ],
)
def test_offenders_are_caught(offender, rule, words):
    with pytest.raises(AssertionError, match=f"Rule broken: {rule}. .*{words}"):
        check_noise_backend(offender())


def test_what_is_no_backend_is_refused():
    with pytest.raises(AssertionError, match="NoiseBackend"):
        check_noise_backend(EigenBackend)


def test_supports_are_finite_and_varied():
    from pacsklearn.testing.law_rules import example_supports

    examples = example_supports(np.random.default_rng(0))
    assert len({example.name for example in examples}) == len(examples)
    assert all(isinstance(example.support, Support) for example in examples)
