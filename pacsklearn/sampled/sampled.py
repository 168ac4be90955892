"""A private value of a function whose secret can be sampled but not listed."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_budget, check_integer
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.status import REPRODUCIBLE
from pacsklearn.kernel.ledger.event import Event, Provenance
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger, ledger_head
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampled_law import SampledLaw
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.function_values import (
    FunctionValues,
    function_name,
    function_value,
    function_values,
)
from pacsklearn.kernel.outputs.metric import as_metric
from pacsklearn.kernel.outputs.run import attempt
from pacsklearn.kernel.outputs.withheld import silence
from pacsklearn.kernel.plugins.discovery import unregistered_provenance
from pacsklearn.kernel.release.account import Account, open_shared, sampler_for
from pacsklearn.kernel.release.procedure import check_hidden
from pacsklearn.kernel.release.release import Release
from pacsklearn.kernel.secret.stated_secret import SampledSecret
from pacsklearn.sampled.confident import confident_law


def release_sampled(
    function: Callable[[Any], Any],
    sample_secret: Callable[[np.random.Generator], Any],
    *,
    budget: float,
    n_calibration: int = 500,
    n_certificate: int = 5000,
    gamma: float = 1e-6,
    metric: Any = None,
    guard: float = 2.0,
    seed: int = 0,
    random_state: Any = None,
    ledger: str | Ledger | None = None,
    allow_exact: bool = False,
) -> Release:
    """Release a private value of a function of a freshly drawn secret.

    For secret spaces that can be sampled but not listed: Poisson subsets, simulated inputs, long
    keys. Noise is shaped by one set of trials and sized by a second, independent one.

    Parameters
    ----------
    function : callable
        ``function(secret)``, deterministic; returns a number or an array of a fixed shape.
    sample_secret : callable
        ``sample_secret(generator)`` draws a secret with a numpy ``Generator`` and nothing else.
    budget : float
        Nats of mutual information.
    n_calibration, n_certificate : int, default=500, 5000
        Trials for the shape of the noise and for its size; the function is called once for each.
    gamma : float, default=1e-6
        Probability, over the second trials, that the bound does not hold.
    metric : None, array-like or Metric
        What noise costs in each direction of the flattened value.
    guard : float, default=2.0
        How far out a value may be, relative to the farthest of the first trials (in squared
        distance), before it is pulled back. At least 1.
    seed : int, default=0
        Public seed of the trials; to be fixed before looking at any result.
    random_state : None, int or RandomState, default=None
        None draws secret and noise securely. Anything else makes both reproducible, warns, and
        marks the guarantee as not for release.
    ledger : None, str or Ledger, default=None
        Account that the release is charged to, as for :class:`~pacsklearn.PrivacySession`.
    allow_exact : bool, default=False
        Allow a budget that hides nothing of a question at even odds (from about .69 nats on).

    Returns
    -------
    Release
        Its ``value`` has the shape that the function returns.

    Raises
    ------
    BudgetExhaustedError
        Before the function is called; the ledger is unchanged.
    FunctionError
        When a trial fails, or returns no finite numbers of a fixed shape.
    NonDeterministicError
        When a second call on the first trial gives another value.

    Notes
    -----
    *Guarantee.* ``I(S; Y) <= budget`` with confidence ``1 - gamma`` over the trials; see
    :func:`~pacsklearn.sampled.confident.confident_law`. Part of the mechanism: far values are
    pulled back (``guard``), directions in which no calibration trial moved are not released, and a
    secret on which the function fails gives the trials' mean.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn import PoissonSubsets, release_sampled
    >>> ages = np.random.default_rng(7).integers(18, 90, 1000)
    >>> release = release_sampled(
    ...     lambda rows: ages[rows].mean(), PoissonSubsets(1000), budget=1 / 8, n_certificate=1000
    ... )
    >>> release.guarantee.confidence
    0.999999
    """
    own = MemoryLedger(check_budget(budget=budget))
    account = Account(own, open_shared(ledger, own.ceiling))
    requested = account.check(budget)
    n_calibration = check_integer(name="n_calibration", value=n_calibration, minimum=2)
    n_certificate = check_integer(name="n_certificate", value=n_certificate, minimum=2)
    seed = check_integer(name="seed", value=seed, minimum=0)
    cost = as_metric(metric)
    sampler = sampler_for(random_state)

    @wraps(function, assigned=("__name__",), updated=())
    def trial(entropy: Any) -> Any:
        return function(sample_secret(np.random.default_rng(entropy)))

    n_trials = n_calibration + n_certificate
    values = function_values(trial, lambda number: ([seed, number],), n_trials)
    law = confident_law(
        values.vectors[:n_calibration],
        values.vectors[n_calibration:],
        Target(requested),
        gamma=gamma,
        metric=cost,
        guard=guard,
    )
    provenance = (replace(unregistered_provenance(law), name=law.backend),)
    guarantee = sampled_guarantee(
        law,
        name=function_name(function),
        budget=requested,
        guard=guard,
        not_for_release="" if sampler.is_secure else REPRODUCIBLE,
        provenance=provenance,
    )
    if not allow_exact:
        check_hidden(guarantee)
    # Charged first: the function may fail on the secret, or end the process.
    event = account.charge(
        Event(
            kind="sampled",
            charge=law.bound,
            unit="nats",
            backend=law.backend,
            bound=law.bound,
            n_candidates=0,
            n_outputs=values.vectors.shape[1],
            n_noisy=law.dimension,
            provenance=provenance,
            confidence=law.confidence,
        )
    )
    point = _secret_point(trial, law, values, sampler)
    observed = point + sampler.noise(law.dimension)
    guarantee = replace(guarantee, ledger_head=ledger_head(account.shared))
    value = values.restore(law.decode(observed))
    return Release(value, guarantee, event, law.noise_power, law.released_power)


def _secret_point(
    trial: Callable[[Any], Any], law: SampledLaw, values: FunctionValues, sampler: Sampler
) -> NDArray[np.int64]:
    """Lattice point of a fresh secret; that of the centre when the function fails on it."""
    # 256 bits: with fewer an adversary could draw all secrets and compare.
    entropy = secrets.randbits(256) if sampler.is_secure else np.abs(sampler.noise(4))

    def point() -> NDArray[np.int64] | None:
        output = function_value(trial, (entropy,))
        return law.point(output.reshape(-1)) if output.shape == values.shape else None

    with silence():  # whether anything is warned about or printed here is a fact about the secret
        drawn = attempt(point).value
    return law.point(law.span.centre) if drawn is None else np.asarray(drawn)


_TRIALS = (
    "A bad draw of trials: the bound is a confidence statement about independent trials with "
    "public seeds. Choosing among seeds after looking at the results voids it."
)
_GUARD = (
    "Far values: one beyond the guard is replaced by the nearest point towards the centre, and one "
    "of a secret on which the function fails by the centre; directions in which no calibration "
    "trial moved are not released."
)


def sampled_guarantee(
    law: SampledLaw,
    *,
    name: str,
    budget: float,
    guard: float,
    not_for_release: str,
    provenance: tuple[Provenance, ...],
) -> Guarantee:
    """Guarantee of one release of the function called ``name``."""
    return Guarantee(
        definition=(
            "mutual information between the secret and the release; the secret space has sample "
            "access only"
        ),
        budget=budget,
        spent=law.bound,
        unit="nats",
        bound=law.proof,
        confidence=law.confidence,
        secret=SampledSecret(),
        released=(f"value of {name}",),
        public=(
            "the function",
            "shape of its value",
            "the trials: centre, span, guard and shape of the noise",
        ),
        not_covered=(*SampledSecret.limits, _TRIALS, _GUARD),
        sources=(
            "posterior success: pac-private-algorithms, eq. 3",
            "certificate: divergence from a fixed Gaussian; betting, empirical Bernstein",
        ),
        noise=law.backend,
        noiseless=False,
        not_for_release=not_for_release,
        provenance=provenance,
        details=(
            ("trials", f"{law.n_calibration:,} for the shape, {law.n_certificate:,} for the size"),
            ("guard", f"q_max = {law.span.q_max:.6g}, {guard:g} times the farthest first trial"),
            ("cost of certainty", f"{law.enlargement:.4g} times the noise without a certificate"),
        ),
    )
