"""How a release is made random, and what it reveals at most."""

from __future__ import annotations

from typing import Any, Protocol

from pacsklearn.kernel.bounds.arrays import Floats


class Law(Protocol):
    """What the laws of this folder have in common; none of them ever sees the secret.

    Attributes
    ----------
    bound : float
        On the mutual information in nats, or on the success that a criterion caps.
    information : float or None
        Bound on the mutual information, where ``bound`` is on something else.
    confidence : float
        Probability that the bound holds; 1.0 when it is a proof.
    proof, backend : str
        Why the bound holds, and what calibrated the law.
    n_noisy : int
        Noisy coordinates; 0 where everything is released as it is.
    laws : tuple of Law
        Of the releases that are planned together; this one alone otherwise.
    channel : ndarray of shape (m, n_outcomes) or None
        Each candidate's probability of every outcome, where these are no integers on a lattice.
    """

    @property
    def bound(self) -> float: ...
    @property
    def information(self) -> float | None: ...
    @property
    def confidence(self) -> float: ...
    @property
    def proof(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @property
    def n_noisy(self) -> int: ...
    @property
    def laws(self) -> tuple[Any, ...]: ...
    @property
    def channel(self) -> Floats | None: ...

    def log_likelihood(self, observed: Any) -> Floats:
        """Return the log-density of what was drawn under each candidate, up to a constant."""
