"""The one procedure that takes a release: calibrate, charge, draw, learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, final

from pacsklearn._sklearn_compat import one_blas_thread
from pacsklearn._validation import check_budget
from pacsklearn.exceptions import BudgetError, BudgetExhaustedError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.guarantee.status import REPRODUCIBLE
from pacsklearn.kernel.host import host, stage
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.law import Law
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.release.account import Account, Secret
from pacsklearn.kernel.release.certificate import (
    Certified,
    SessionCertificate,
    certified_membership,
)
from pacsklearn.kernel.release.plan import Details, Plan, Step
from pacsklearn.kernel.release.release import Release
from pacsklearn.kernel.release.terms import Terms


class Procedure(ABC):
    """How plans are taken about one secret, whatever is promised of it: in one order.

    Attributes
    ----------
    secret : Secret
    account : Account
    lock : lock
        Held while a step is calibrated, charged and drawn.
    """

    secret: Secret
    account: Account
    lock: AbstractContextManager[Any]

    @property
    @abstractmethod
    def n_candidates(self) -> int:
        """Candidates for the secret; 0 where they cannot be listed."""

    @abstractmethod
    def check_again(self) -> None:
        """Refuse a step after those on the account, where their bounds do not add up."""

    @abstractmethod
    def certify(self, law: Any, belief: Floats | None) -> None:
        """Fix what the optimal adversary achieves under the law of a first step, or nothing."""

    @abstractmethod
    def guarantee_after(self, event: Event, plan: Plan, law: Any) -> Guarantee:
        """Return the guarantee of a first step, before it is charged or drawn."""

    @abstractmethod
    def check_hides(self, event: Event, plan: Plan, law: Any) -> None:
        """Refuse a step after which nothing is hidden.

        Raises
        ------
        BudgetError
            Unless the curator consented.
        """

    @abstractmethod
    def note(self, law: Any) -> None:
        """Remember a law that was charged."""

    def take(self, plan: Plan, *, certify: bool = False) -> Step:
        """Calibrate to the belief, charge, and only then draw; the belief learns what came out.

        Parameters
        ----------
        plan : Plan
        certify : bool
            Certify the success at memberships under the law, where it is the session's first.

        Notes
        -----
        *Theorem.* Whatever a session goes on to release, ``I(S; Y_1, ..., Y_T)`` is at most its
        ceiling. Given ``Y_1 = y_1, ..., Y_(t-1) = y_(t-1)`` the belief is the exact posterior of
        ``S``, and the law of step t bounds ``I(S; Y_t | y_1, ..., y_(t-1))`` by its charge. By the
        chain rule ``I(S; Y_1, ..., Y_T)`` is the mean of the sum of these over what may come out,
        and on every way the sum of the charges stays under the ceiling. Source:
        pac-private-responses, Algorithm 1 and Theorem 3.3. Under a criterion there is one step, and
        its law bounds the success itself.
        """
        # Held from the belief until it has learned: a law of a belief that another release has
        # since moved on from would be charged for less than it tells.
        with self.lock:
            law, event, belief = self.charge(plan, certify=certify)
            return Step(law, event, self.draw(plan, law), belief)

    def charge(self, plan: Plan, *, certify: bool = False) -> tuple[Any, Event, Floats]:
        """Do the first half of :meth:`take`: law, event, and the belief it is calibrated to.

        Nothing is computed from the secret; whoever draws later holds the lock, or is alone.
        """
        with self.lock:
            # Another thread may have released since the step was begun.
            self.check_again()
            # 1. Calibrate. The law is a function of the candidates' outputs and of the belief,
            #    which is one of what was released: the secret has no part in noise, grid or price.
            belief = self.secret.belief
            law = plan.calibrate(belief)
            self.certify(law, belief if certify else None)
            # What follows the draw goes wrong here, on public numbers, or not at all: an error
            # afterwards would lose what was paid for, and could be about what was drawn.
            described = plan.event(law, self.account.own.unit, self.n_candidates)
            for part in plan.parts(law, plan.example(law)):
                host().rehearse(part.value, lambda: self.guarantee_after(described, plan, law))
            # To answers the curator consented, up to the ceiling, when their responder was made.
            if not described.is_adaptive:
                self.check_hides(described, plan, law)
            # 2. Charge, before the draw: a crash in between loses an answer, never a charge, so
            #    that the sum on the ledger is never below what has left.
            event = self.account.charge(described)
            # Noted before it is drawn, so that no law is used that the curator's figure leaves out.
            self.note(law)
        return law, event, belief

    def draw(self, plan: Plan, law: Any) -> Any:
        """Do the second half of :meth:`take`, for a law that was charged or is free."""
        with self.lock:
            # 3. Draw: the first use of the secret, which is drawn once a session. What leaves is
            #    an integer of the law's, and everything after it a public function of that.
            observed = plan.observe(law, self.secret)
            # 4. Learn: Bayes' rule on the very integers, so that the next law is calibrated to
            #    what an adversary knows who has seen everything.
            plan.learn(law, observed, self.secret)
        return observed


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReleaseProcedure(Procedure):
    """How one session releases: its terms, secret, ledgers and lock.

    Parameters
    ----------
    terms : Terms
        What its releases are about, and what is capped.
    secret : Secret
    account : Account
    lock : lock
        Held while a step is calibrated, charged and drawn.
    allow_exact : bool, default=False
        Whether the curator consents to releases that hide nothing.
    certificate : SessionCertificate, optional
    """

    terms: Terms
    secret: Secret
    account: Account
    lock: AbstractContextManager[Any]
    allow_exact: bool = False
    certificate: SessionCertificate = field(default_factory=SessionCertificate)

    def check(self, requested: float | None) -> Target:
        """Return what the next release may reveal, if it fits under the ceilings.

        Raises
        ------
        BudgetExhaustedError
        """
        amount = self.account.check(None if requested is None else check_budget(budget=requested))
        self.check_again()
        return self.terms.target(amount)

    @property
    def n_candidates(self) -> int:
        """Candidates for the secret; 0 where they cannot be listed."""
        return self.terms.n_candidates

    def release(
        self,
        plan: Plan,
        *,
        certify: bool = True,
        individually: Callable[[Step], tuple[Details, Any]] | None = None,
    ) -> tuple[Release, ...]:
        """Take a plan, and state what is promised about it.

        Parameters
        ----------
        plan : Plan
        certify : bool, default=True
            As for :meth:`take`.
        individually : callable, optional
            Facts to state beside, and figures for ``individual`` of the releases, of what the step
            tells about single units.

        Returns
        -------
        tuple of Release
            One for each part of the plan, with the same guarantee and the same event.
        """
        with one_blas_thread():
            step = self.take(plan, certify=certify)
            law, event, observed, _ = step
            beside, individual = ((), None) if individually is None else individually(step)
            guarantee = self.guarantee_of(plan, law, beside)
        return tuple(
            Release(
                host().marked(part.value, guarantee),
                guarantee,
                event,
                part.law.noise_power,
                part.law.released_power,
                individual,
                part.noise_variances,
            )
            for part in plan.parts(law, observed)
        )

    def certify(self, law: Law, belief: Floats | None) -> None:
        """Fix what the optimal adversary achieves under the law of a first release, or nothing."""
        # What is released first alone is fixed before the session begins, and so is its figure:
        # later laws depend on what came out, and would tell it.
        criterion, is_first = self.terms.criterion, self.account.own.is_empty
        if is_first and belief is None:
            # What a refused step was certified for, which may have been smaller, is no figure now.
            self.certificate.fixed = None
        elif is_first and criterion is not None and criterion.aim == MEMBERSHIP_AIM:
            # A cap on that very success: what certifies it is the law's own bound.
            self.certificate.fixed = Certified(law.bound, law.confidence)
        elif is_first and belief is not None:
            with stage("certificate"):
                self.certificate.fixed = certified_membership(law, self.terms.space, belief)

    def note(self, law: Law) -> None:
        """Remember a law that was charged, for the curator's figure."""
        # Those of answers are not fixed beforehand, and nothing is certified of them.
        if law.laws:
            self.certificate.note(law)

    def check_hides(self, event: Event, plan: Plan, law: Law) -> None:
        """Refuse a step after which nothing is hidden, by what would be stated of it."""
        if self.allow_exact:
            return
        self.terms.warn_of_few(event)
        own, figure = self.account.own, self.certificate.fixed
        stated = replace(
            self.guarantee(),
            spent=event.charge if own.is_empty else own.ceiling,
            mutual_information=event.bound if self.terms.criterion else None,
            certified_membership=figure.success if own.is_empty and figure is not None else None,
        )
        check_hidden(stated)

    def check_answers(self) -> None:
        """Refuse answers to come, whose bound is the ceiling, where that hides nothing.

        Raises
        ------
        BudgetError
            Unless the curator consented.
        """
        if not self.allow_exact:
            stated = replace(self.guarantee(), spent=self.account.own.ceiling)
            check_hidden(replace(stated, mutual_information=None, certified_membership=None))

    def check_again(self) -> None:
        """Refuse a step after those on the account, where their bounds do not add up."""
        own, once = self.account.own, self.terms.space.once
        # Nats of steps add up (chain rule); successes do not, so a cap holds for one release alone.
        if own.is_empty or (not once and self.terms.criterion is None):
            return
        if once:
            raise RuntimeError(once)
        raise BudgetExhaustedError(own.spent, own.ceiling, own.ceiling, is_cap=True)

    def promised(self) -> float:
        """Return the bound that holds in any case: the ceiling once steps depend on each other.

        What was charged on this transcript is an average's sample, not a bound; for one release it
        is known before anything is drawn. Before the first release it is what may be spent.
        """
        # The information is at most the mean of the sum of charges over what may come out (Theorem
        # 3.3); the sum on the way that was taken may be below it.
        own, events = self.account.own, self.account.own.events
        return own.spent if len(events) == 1 and not events[0].is_adaptive else own.ceiling

    @property
    def n_releases(self) -> int:
        """Releases so far; those that were planned together are charged together."""
        return len(self.account.own.events) + self.certificate.n_planned

    def guarantee(self) -> PACGuarantee:
        """Return what is promised about everything released so far."""
        own = self.account.own
        exact = sum(event.n_noisy == 0 for event in own.events)
        return self._stated(
            budget=own.ceiling,
            bound="sum of the releases' bounds, each given the releases before it",
            noise=", ".join(sorted({event.backend for event in own.events})) or "none yet",
            released=(f"{len(own.events) - exact} release(s)",) * (len(own.events) > exact),
            public=(
                *self.terms.space.public,
                *([f"{exact} release(s), without noise"] if exact else []),
            ),
            provenance=tuple(
                dict.fromkeys(used for event in own.events for used in event.provenance)
            ),
        )

    def guarantee_of(self, plan: Plan, law: Law, beside: Details = ()) -> PACGuarantee:
        """Return the guarantee of the release just taken; ``beside`` are further facts."""
        own = self.account.own
        released, public = plan.released, plan.public
        noiseless = plan.is_noiseless(law)
        if noiseless:
            public += tuple(f"{name}, without noise" for name in released)
            released = ()
        return self._stated(
            (*self.terms.directions(own.events[-1]), *plan.details(law), *beside),
            budget=plan.target.budget if len(own.events) == 1 else own.ceiling,
            bound=law.proof,
            noise=law.backend,
            noiseless=noiseless,
            released=released,
            public=public,
            provenance=plan.provenance,
        )

    def guarantee_after(self, event: Event, plan: Plan, law: Law) -> PACGuarantee:
        """State the guarantee of a first release; nothing is charged or drawn."""
        own = MemoryLedger(self.account.own.ceiling, self.terms.unit)
        own.charge(event)
        apart = replace(self, account=Account(own, None), certificate=SessionCertificate())
        apart.certificate.note(law)
        return apart.guarantee_of(plan, law)

    def _stated(self, details: Details = (), **facts: Any) -> PACGuarantee:
        own, figure = self.account.own, self.certificate.fixed
        if figure is not None and len(own.events) > 1:
            details = (*details, ("certified membership", self.certificate.later))
        elif figure is not None and own.events:
            facts["certified_membership"], facts["certified_confidence"] = figure
        # A union bound: later laws depend on what came out under the earlier ones.
        return self.terms.guarantee(
            own.events,
            self.certificate.laws,
            spent=self.promised(),
            metered=own.spent,
            n_releases=self.n_releases,
            confidence=max(1 - sum(1 - event.confidence for event in own.events), 0.0),
            not_for_release="" if self.secret.sampler.is_secure else REPRODUCIBLE,
            ledger_head=self.account.head,
            details=details,
            **facts,
        )


def check_hidden(stated: PACGuarantee) -> None:
    """Refuse what hides nothing, by the guarantee that would be stated of it.

    Raises
    ------
    BudgetError
    """
    if stated.needs_consent:
        raise BudgetError(
            f"budget={stated.budget:.6g} would hide nothing: once this is released, every figure, "
            f"implied or certified, for {' and '.join(stated.uncovered)} is at least 99.99 %. Give "
            "less, for instance budget=1/4 nats (at most 83.79 % at even odds), or "
            "allow_exact=True on the budget, as in Nats(10, allow_exact=True), if that is what you "
            "want; it is never published then."
        )
