"""A private value of a function whose secret can be sampled but not listed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.release.account import Account, Secret
from pacsklearn.kernel.release.function import FunctionPlan
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.release import Release
from pacsklearn.kernel.release.terms import Terms
from pacsklearn.sampled.sampled_subsets import SampledSubsets
from pacsklearn.sampled.sampler_space import SamplerSpace
from pacsklearn.universe.autologging import check_unlogged
from pacsklearn.universe.metrics import as_metric
from pacsklearn.universe.open_ledger import open_shared
from pacsklearn.universe.samplers import sampler_for
from pacsklearn.universe.stated_budget import as_budget


def release_sampled(
    function: Callable[[Any], Any],
    sample_secret: Callable[[np.random.Generator], Any],
    *,
    budget: float | Budget,
    n_calibration: int = 500,
    n_certificate: int = 5000,
    gamma: float = 1e-6,
    metric: Any = None,
    guard: float = 2.0,
    seed: int = 0,
    random_state: Any = None,
    ledger: str | Ledger | None = None,
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
    budget : float or Nats
        Of mutual information. What hides nothing of a question at even odds (from about .69 nats
        on) takes consent: ``Nats(1, allow_exact=True)``.
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
    >>> from pacsklearn.secrets import PoissonSubsets, release_sampled
    >>> ages = np.random.default_rng(7).integers(18, 90, 1000)
    >>> release = release_sampled(
    ...     lambda rows: ages[rows].mean(), PoissonSubsets(1000), budget=1 / 8, n_certificate=1000
    ... )
    >>> release.guarantee.confidence
    0.999999
    """
    for name, given in (("function", function), ("sample_secret", sample_secret)):
        if not callable(given):
            raise TypeError(
                f"{name} must be a function, got an object of type {type(given).__name__}."
            )
    check_unlogged()
    stated = as_budget(budget)
    check_nats(stated)
    account = Account(MemoryLedger(stated.amount), open_shared(ledger))
    sizes = SampledSubsets(n_calibration, n_certificate, gamma, guard).sizes
    seed = check_integer(name="seed", value=seed, minimum=0)
    space = SamplerSpace(sample_secret, sizes, seed)
    secret = Secret(space, sampler_for(random_state))
    procedure = ReleaseProcedure(Terms(space), secret, account, nullcontext(), stated.allow_exact)
    target = procedure.check(stated.amount)
    plan = FunctionPlan.of(function, space, None, None, target, metric=as_metric(metric))
    return procedure.release(plan)[0]


def check_nats(budget: Budget) -> None:
    """Refuse a cap about a secret whose candidates are not listed.

    Raises
    ------
    BudgetError
    """
    if not budget.adds:
        raise BudgetError(
            f"budget must be in nats for a sampled secret, got {budget!r}: what an adversary "
            "achieves is computed on a list of candidates, and there is none."
        )
