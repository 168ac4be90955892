"""From a user's ``random_state`` to where the secret and the noise come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import PrivacyLeakWarning
from pacsklearn.kernel.noise.sampler import Sampler, SecureSampler, SeededSampler


def sampler_for(random_state: Any) -> Sampler:
    """Return the secure sampler for None, else a reproducible one, with a warning."""
    if random_state is None:
        return SecureSampler()
    warn_user(
        "random_state makes the secret and the noise predictable: the result is reproducible but "
        "NOT private. Use random_state=None for anything that leaves your hands.",
        PrivacyLeakWarning,
    )
    seed = check_random_state(random_state).randint(0, 2**31 - 1)
    return SeededSampler(np.random.default_rng(seed))


def resumed_sampler(generator: np.random.Generator | None) -> Sampler:
    """Return sampler of a session that was saved: secure, or the reproducible one where it was."""
    return SecureSampler() if generator is None else SeededSampler(generator)
