"""From a user's ``random_state`` to where the secret and the noise come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pacsklearn._validation import brief, warn_user
from pacsklearn.exceptions import PrivacyLeakWarning
from pacsklearn.kernel.noise.sampler import Sampler, SecureSampler, SeededSampler


def sampler_for(random_state: Any) -> Sampler:
    """Return the secure sampler for None, else a reproducible one, with a warning."""
    if random_state is None:
        return SecureSampler()
    seed = seed_from(random_state)
    warn_user(
        "random_state makes the secret and the noise predictable: the result is reproducible but "
        "NOT private. Use random_state=None for anything that leaves your hands.",
        PrivacyLeakWarning,
    )
    return SeededSampler(np.random.default_rng(seed))


def seed_from(random_state: Any) -> int:
    """Return a seed drawn from a user's ``random_state``, which moves on.

    Raises
    ------
    ValueError
    """
    try:
        return int(check_random_state(random_state).randint(0, 2**31 - 1))
    except ValueError:
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1 or a RandomState, got "
            f"{brief(random_state)}."
        ) from None


def resumed_sampler(generator: np.random.Generator | None) -> Sampler:
    """Return sampler of a session that was saved: secure, or the reproducible one where it was."""
    return SecureSampler() if generator is None else SeededSampler(generator)
