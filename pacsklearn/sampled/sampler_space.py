"""Secrets that a sampler draws: trials of them, and the secret itself."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, NoReturn, final

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.function_values import (
    FunctionValues,
    function_value,
    function_values,
)
from pacsklearn.kernel.outputs.run import attempt
from pacsklearn.kernel.secret.space import Space, Work
from pacsklearn.sampled.confident import ConfidentBackend
from pacsklearn.sampled.sampled_secret import SampledSecret, of_trials
from pacsklearn.sampled.sampled_subsets import SampledSubsets
from pacsklearn.sampled.trial_support import TrialSupport


@final
@dataclass(frozen=True, eq=False)
class SamplerSpace(Space):
    """Whatever ``sample(generator)`` draws.

    Parameters
    ----------
    sample : callable
        Draws a secret with a numpy ``Generator`` and nothing else.
    sizes : SampledSubsets
        How many trials there are, and how they are used; a secret has no time limit.
    seed : int
        Of the trials.
    """

    sample: Callable[[np.random.Generator], Any]
    sizes: SampledSubsets
    seed: int

    # Of a list of one: there is no belief about secrets that cannot be listed.
    weights = np.ones(1)
    n_candidates = 0
    entropy = math.inf
    size = "sample access only"
    public: ClassVar[tuple[str, ...]] = ()

    def draw(self, sampler: Sampler) -> Any:
        """Return the seed of the secret; secret material."""
        # 256 bits: with fewer an adversary could draw all secrets and compare.
        return secrets.randbits(256) if sampler.is_secure else np.abs(sampler.noise(4))

    def outputs(self, work: Work) -> Any:
        """Return what ``work`` gives for trials, and for the secret."""
        return work.elsewhere(self)

    def evaluated(self, evaluations: Any) -> FunctionValues:
        function, sizes = evaluations.function, self.sizes

        @wraps(function, assigned=("__name__",), updated=())
        def trial(entropy: Any) -> Any:
            return function(self.sample(np.random.default_rng(entropy)))

        n_trials = sizes.n_calibration + sizes.n_certificate
        values = function_values(trial, lambda number: ([self.seed, number],), n_trials)

        def vector(entropy: Any) -> Floats | None:
            def value() -> Floats | None:
                output = function_value(trial, (entropy,))
                return output.reshape(-1) if output.shape == values.shape else None

            return attempt(value).value

        calibration, certificate = np.split(values.vectors, [sizes.n_calibration])
        support = TrialSupport(calibration, certificate, vector)
        return FunctionValues(calibration, values.shape, support.under)

    def backend(self, n_planned: int) -> ConfidentBackend:
        return ConfidentBackend(self.sizes.gamma / n_planned, self.sizes.guard)

    def stated(self) -> SampledSecret:
        return SampledSecret()

    def statement(self, laws: Sequence[Any], facts: dict[str, Any]) -> dict[str, Any]:
        details = []
        farthest = f"{self.sizes.guard:g} times the farthest first trial"
        for law in laws:
            trials = f"{law.n_calibration:,} for the shape, {law.n_certificate:,} for the size"
            cost = f"{law.enlargement:.4g} times the noise without a certificate"
            details.append(("trials", trials))
            details.append(("guard", f"q_max = {law.span.q_max:.6g}, {farthest}"))
            details.append(("cost of certainty", cost))
        return {
            "definition": (
                "mutual information between the secret and the release; the secret space has "
                "sample access only"
            ),
            **of_trials(facts, *details),
        }

    def listed(self) -> NoReturn:
        """Refuse what looks at candidates one by one.

        Raises
        ------
        ValueError
        """
        raise ValueError("secrets that a sampler draws have no list of candidates.")

    row_subsets = listed
