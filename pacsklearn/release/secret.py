"""Which candidate was drawn, and what an adversary believes about it."""

from __future__ import annotations

from numbers import Integral
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from pacsklearn.core.home_process import HomeProcess
from pacsklearn.exceptions import PrivacyLeakWarning, warn_user
from pacsklearn.information.mixture import update_belief
from pacsklearn.noise.sampler import Sampler, SecureSampler, SeededSampler


@final
class Secret:
    """The drawn candidate and the public belief about it. Drawn once, at the first release.

    Parameters
    ----------
    weights : ndarray of shape (m,)
        Prior probabilities.
    sampler : Sampler
        Draws the candidate and all noise.
    """

    def __init__(self, weights: NDArray[np.float64], sampler: Sampler) -> None:
        self._weights = weights
        self._index: int | None = None
        self._home = HomeProcess("The secret")
        self.sampler = sampler
        self.log_belief = _log_prior(weights)

    @property
    def index(self) -> int:
        """The drawn candidate; drawn now if it has not been."""
        self._home.check()
        # Kept for good: averages over releases of ever new candidates would show who is in.
        if self._index is None:
            self._index = self.sampler.index(self._weights)
        return self._index

    @property
    def belief(self) -> NDArray[np.float64]:
        """Posterior probabilities of the candidates given everything released so far."""
        return np.exp(self.log_belief)

    def learn(self, log_likelihood: NDArray[np.float64]) -> None:
        """Bayes' rule for one more release."""
        # After a fork parent and child would each learn half of what is out, and charge too little.
        self._home.check()
        self.log_belief = update_belief(self.log_belief, log_likelihood)

    def use(self, index: int, numbers: NDArray[np.int64]) -> None:
        """Take a candidate that was drawn elsewhere, before anything is released.

        ``numbers`` says which candidate each of the inputs given is.
        """
        self._home.check()
        m = numbers.shape[0]
        if isinstance(index, bool) or not isinstance(index, Integral) or not 0 <= index < m:
            raise ValueError(
                # The number is not quoted: messages end up in logs.
                f"secret must be the number of a candidate, an integer from 0 to {m - 1}; what was "
                "given is withheld."
            )
        self._index = int(numbers[index])

    def export(self) -> tuple[int, NDArray[np.float64]]:
        """Drawn candidate and belief, for a session file."""
        # Drawn now at the latest, or two copies of a file could draw two candidates.
        return self.index, self.log_belief

    def restore(self, index: int, log_belief: NDArray[np.float64]) -> None:
        """Take over what :meth:`export` gave."""
        self._index, self.log_belief = index, log_belief

    def __repr__(self) -> str:
        return "Secret(...)"


def _log_prior(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(weights / weights.sum()))


def opening_belief(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Belief that the first release of a session is calibrated to, to the last bit."""
    return np.exp(_log_prior(weights))


def sampler_for(random_state: Any) -> Sampler:
    """Secure sampler for None, otherwise a reproducible one and a :class:`PrivacyLeakWarning`."""
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
    """Sampler of a session that was saved: secure, or the reproducible one where it was."""
    return SecureSampler() if generator is None else SeededSampler(generator)
