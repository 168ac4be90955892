"""A private value of a function whose secret can be sampled but not listed."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.nats import as_budget
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.ledger.event import Event, Provenance
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger
from pacsklearn.kernel.noise.noise_law import Integers, Target
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
from pacsklearn.kernel.release.account import Account, Secret, open_shared, sampler_for
from pacsklearn.kernel.release.plan import Plan
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.release import Release
from pacsklearn.kernel.release.terms import Terms
from pacsklearn.sampled.confident import confident_law, confident_provenance
from pacsklearn.sampled.sampled_law import SampledLaw
from pacsklearn.sampled.sampled_secret import SampledSecret


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
    stated = as_budget(budget)
    check_nats(stated)
    own = MemoryLedger(stated.amount)
    account = Account(own, open_shared(ledger))
    secret = Secret(np.ones(1), sampler_for(random_state))
    terms = SampledTerms(function_name(function), guard)
    procedure = ReleaseProcedure(terms, secret, account, nullcontext(), stated.allow_exact)
    target = procedure.check(stated.amount)
    n_calibration = check_integer(name="n_calibration", value=n_calibration, minimum=2)
    n_certificate = check_integer(name="n_certificate", value=n_certificate, minimum=2)
    seed = check_integer(name="seed", value=seed, minimum=0)
    cost = as_metric(metric)

    @wraps(function, assigned=("__name__",), updated=())
    def trial(entropy: Any) -> Any:
        return function(sample_secret(np.random.default_rng(entropy)))

    n_trials = n_calibration + n_certificate
    values = function_values(trial, lambda number: ([seed, number],), n_trials)
    law = confident_law(
        values.vectors[:n_calibration],
        values.vectors[n_calibration:],
        target,
        gamma=gamma,
        metric=cost,
        guard=guard,
    )
    plan = _SampledPlan(trial, values, law, target, terms.name, (confident_provenance(),))
    return procedure.release(plan)[0]


@final
@dataclass(frozen=True, eq=False, repr=False)
class _SampledPlan(Plan):
    """A value of a fresh secret, under a law that its trials have given."""

    trial: Callable[[Any], Any]
    values: FunctionValues
    law: SampledLaw
    target: Target
    name: str
    provenance: tuple[Provenance, ...]

    kind = "sampled"
    public = ("the function", "shape of its value")

    @property
    def n_outputs(self) -> int:
        return int(self.values.vectors.shape[1])

    @property
    def released(self) -> tuple[str, ...]:
        return (f"value of {self.name}",)

    def calibrate(self, belief: Floats) -> SampledLaw:
        return self.law

    def observe(self, law: SampledLaw, secret: Secret) -> Integers:
        point = _secret_point(self.trial, law, self.values, secret.sampler)
        return point + secret.sampler.noise(law.dimension)

    def value(self, law: SampledLaw, observed: Integers) -> Any:
        return self.values.restore(law.decode(observed))


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


@final
@dataclass(frozen=True, eq=False, repr=False)
class SampledTerms(Terms):
    """The secret is what a sampler drew; one value of the function called ``name`` is released."""

    name: str
    guard: float

    def guarantee(
        self, events: Sequence[Event], laws: Sequence[SampledLaw], **facts: Any
    ) -> Guarantee:
        own: dict[str, Any] = {
            "definition": (
                "mutual information between the secret and the release; the secret space has "
                "sample access only"
            ),
            "unit": self.unit,
            "secret": SampledSecret(),
            "public": (*facts["public"], "the trials: centre, span, guard and shape of the noise"),
            "not_covered": (*SampledSecret.limits, _TRIALS, _GUARD),
            "sources": (
                "posterior success: pac-private-algorithms, eq. 3",
                "certificate: divergence from a fixed Gaussian; betting, empirical Bernstein",
            ),
            "noiseless": False,
            "metered": None,
            "details": tuple(fact for law in laws for fact in self._trials(law)),
        }
        return Guarantee(**(facts | own))

    def _trials(self, law: SampledLaw) -> tuple[tuple[str, str], ...]:
        return (
            ("trials", f"{law.n_calibration:,} for the shape, {law.n_certificate:,} for the size"),
            (
                "guard",
                f"q_max = {law.span.q_max:.6g}, {self.guard:g} times the farthest first trial",
            ),
            ("cost of certainty", f"{law.enlargement:.4g} times the noise without a certificate"),
        )


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
