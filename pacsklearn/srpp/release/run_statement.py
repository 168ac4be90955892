"""The guarantee's facts and words for a run of noised gradient steps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict

from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.guarantee.statement_rendering import rounded_up
from pacsklearn.kernel.guarantee.status import REPRODUCIBLE
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.divergence.renyi_conversion import epsilon_at_order
from pacsklearn.srpp.laws.sliced_law import RenyiCosts
from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee
from pacsklearn.srpp.release.run import PrivateRun
from pacsklearn.srpp.scenarios.stated_scenario import SecretBatches

_WORTH_SAYING = 1.01
_LOOKED_UP = "the classes were looked up in the private rows (state them)"

_PROOFS = {
    "worst-case": "clipped gradients move by two clipping norms a differing row, whatever the "
    "batches and all earlier steps (srpp, Proposition 5.1, Theorem 5.6)",
    "subsampling-aware": "mean square number of differing rows in a batch, whatever all earlier "
    "steps (srpp, Proposition 5.2, Theorem 5.7)",
    "secret-batches": "profile of mixtures of Gaussians over the number of differing rows in a "
    "batch, whatever all earlier steps; never above srpp's Lemma J.1",
}
_DEFINITIONS = {
    "worst-case": "RPP: Renyi divergence of everything released, for every draw of the batches",
    "subsampling-aware": "sa-SRPP, full view: mean over the batches of the Renyi divergence of "
    "everything released (srpp, Definitions 5.4 and 5.5)",
    "secret-batches": "RPP: Renyi divergence of everything released, the batches aside",
}
_MEAN = (
    "Single draws of the batches: where more of the differing rows were drawn, more leaks. A mean "
    "of Renyi divergences is not the divergence of the release; the (epsilon, delta) figures and "
    "the line on information are bounds about the release itself."
)
_UNSEEN = (
    "Batches that become known: the figures hold while nobody learns which rows a step looked at."
)
_MATCHED = (
    "Mixtures of data sets: the mean holds for every matched pair of data sets of two secrets. For "
    "someone who weighs several pairs against one another the line on information holds."
)


def run_guarantee(
    run: PrivateRun,
    *,
    delta: float,
    dimension: str,
    public: Iterable[str],
    leaks: Iterable[str] = (),
) -> PufferfishGuarantee:
    """Return the guarantee of everything that a run has released so far.

    Parameters
    ----------
    run : PrivateRun
    delta : float
        For which (epsilon, delta) bounds are reported.
    dimension : str
        What was released with noise.
    public : iterable of str
        What was released as it is.
    leaks : iterable of str
        What was released about the rows without noise, against the rules: not for release then.
    """
    accountant, record, leaks = run.accountant, run.record, tuple(leaks)
    accounting = accountant.accounting
    n_steps = record.n_charged_steps
    costs = accountant.costs(record.noise_multiplier, max(n_steps, 1), delta)
    mixed = len(record.prices) != 1
    if mixed:  # also of none
        costs = _summed(record.prices, costs)
    limits = {"worst-case": (), "subsampling-aware": (_MEAN,), "secret-batches": (_UNSEEN,)}
    more = (_MATCHED,) if accounting == "subsampling-aware" and run.differences.n_draws > 1 else ()
    shared = run.account.shared
    ledger = run.account.own if shared is None else shared
    secret = _secret(run, n_steps, mixed=mixed)
    return PufferfishGuarantee(
        secret=secret,
        releases=run.scenario.releases,
        definition=_DEFINITIONS[accounting],
        budget=run.ceiling,
        spent=run.spent,
        unit=run.unit,
        aggregation="full",
        costs=costs,
        bound=_PROOFS[accounting] + _tightness(accountant, record.noise_multiplier),
        confidence=1.0 - accountant.failure(n_steps),
        assumptions=_assumptions(run, n_steps),
        slices="none needed: every bound is of the full view",
        noise=(
            f"{record.noise_multiplier:.6g} clipping norms on the sum of a batch, the same in "
            "every direction of a block"
        ),
        noiseless=False,
        charged=ledger.spent,
        ledger_head=run.account.head,
        n_releases=len(ledger.events),
        released=(dimension,),
        public=tuple(public),
        not_covered=(
            *leaks,
            *run.scenario.not_covered,
            *limits[accounting],
            *more,
            *secret.limits,
        ),
        sources=(
            "SRPP-SGD: srpp, section 5 and appendices C to J",
            "shifts of discrete Gaussians: at most the continuous divergence",
        ),
        not_for_release=(_LOOKED_UP if leaks else "") if record.secure else REPRODUCIBLE,
        provenance=run.provenance,
    )


def _tightness(accountant: SRPPSGDAccountant, noise_multiplier: float) -> str:
    """Return how far the price is above an attained divergence, if far enough to state."""
    ratio = accountant.looseness(noise_multiplier)
    if ratio is None or ratio < _WORTH_SAYING:
        return ""
    return f"; at most {rounded_up(ratio)} times a divergence that some rows attain"


def _secret(run: PrivateRun, n_steps: int, *, mixed: bool) -> SecretBatches:
    accountant, cap = run.accountant, run.accountant.cap
    sizes = asdict(run.differences)
    del sizes["n_differing"]  # of a batch there is more to say
    mean = accountant.accounting == "subsampling-aware"
    information = None
    if n_steps > 0:
        # The price is never below the order times the divergence of order 1.
        information = run.spent / accountant.order * OUTWARD
        if not mixed:
            # Both hold; with steps at several prices only the first is known.
            information = min(information, accountant.information(run.noise_multiplier, n_steps))
    return SecretBatches(
        protects=run.scenario.protects,
        **sizes,
        averaged_over="draws of the batches, which may be known" if mean else "",
        n_steps=n_steps,
        batch_size=cap.batch_size,
        n_rows=cap.n_rows,
        sampling=cap.sampling,
        largest=cap.largest,
        second_moment=cap.second_moment,
        source=cap.source,
        norms=tuple(map(float, accountant.clipping.norms)),
        n_parameters=accountant.clipping.dimension,
        information=information,
    )


def _assumptions(run: PrivateRun, n_steps: int) -> tuple[str, ...]:
    cap = run.accountant.cap
    assumptions = []
    if cap.tail > 0 and run.accountant.needs_tails:
        assumptions.append(
            f"in each of {n_steps:,} steps more than {cap.largest:,} rows differ with probability "
            f"{cap.tail:g} at most"
        )
    if cap.failure > 0:
        assumptions.append(
            f"simulated counts bound the true ones, but for a chance of {cap.failure:g}"
        )
    if cap.mean_over_data:
        assumptions.append(
            "data sets of two secrets are coupled as the cap assumes, and the adversary's beliefs "
            "are those of the coupling"
        )
    return tuple(assumptions)


def _summed(prices: tuple[tuple[float, int, float], ...], costs: RenyiCosts) -> RenyiCosts:
    """Return the costs of steps at several prices: converted at the order itself."""
    # Outward, as every sum that is stated.
    total = math.fsum(price * count for price, count, _ in prices) * OUTWARD
    release = math.fsum(cost * count for _, count, cost in prices) * OUTWARD
    epsilon = epsilon_at_order(release, costs.order, costs.delta) if release > 0 else 0.0
    return RenyiCosts.of_whole(costs.order, total, costs.delta, epsilon)
