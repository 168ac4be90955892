"""What all releases of a session share: what they cap, and the order in which one is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, final
from weakref import WeakSet

import numpy as np

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import (
    BudgetError,
    BudgetExhaustedError,
    FewCandidatesWarning,
)
from pacsklearn.kernel.budget.broken_promise import broken_promise
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.status import REPRODUCIBLE
from pacsklearn.kernel.ledger.event import Event, Provenance
from pacsklearn.kernel.ledger.ledger import MemoryLedger, ledger_head
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.one_sided_law import ONE_SIDED
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.fit_report import stage
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.account import Account, Secret, ledger_unit
from pacsklearn.kernel.release.statement import LATER, SessionCertificate, pac_guarantee
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import Space


def as_criterion(value: Any, space: Space) -> Criterion | None:
    """Criterion from a user's argument.

    Parameters
    ----------
    value : None, str, Criterion or callable
        A registered name (``"membership"``, ``"identification"``, ``"35_of_n"``), an instance, or
        a callable that makes one for a secret space.
    space : Space
    """
    if value is None:
        return None
    space.listed()  # it is certified over all candidates
    if isinstance(value, Criterion):
        return _kept(value, space)
    if isinstance(value, str):
        return _kept(registry().criterion(value, space), space)
    if callable(value) and not isinstance(value, type):
        made = value(space)
        if isinstance(made, Criterion):
            return _kept(made, space)
        raise TypeError(
            f"criterion must return a Criterion for a secret space, got {type(made).__name__}."
        )
    raise ValueError(
        f"criterion must be None, one of {', '.join(map(repr, registry().names('criterion')))} "
        "('35_of_n' is 'k_of_n' with a number for k), a Criterion, or a callable that makes one "
        f"for a secret space, got {value!r}."
    )


def _kept(criterion: Criterion, space: Space) -> Criterion:
    """A criterion that is what it declares: noise would be chosen for a success that is not."""
    if isinstance(criterion, (MembershipCriterion, GuessCriterion)):  # the tests compare them
        return criterion
    wrong = broken_promise(criterion, np.asarray(space.weights, dtype=np.float64))
    if wrong is not None:
        raise ValueError(
            f"criterion {criterion.name!r} does not keep what it promises ({wrong.rule}). "
            f"{wrong.finding} What to do: {wrong.remedy} "
            "pacsklearn.testing.check_criterion checks it."
        )
    return criterion


def check_cap(
    criterion: Criterion | None,
    cap: float,
    space: Space,
    *,
    allow_exact: bool = False,
) -> None:
    """Refuse a cap that guessing blindly passes, or that caps nothing.

    Raises
    ------
    BudgetError
    """
    if criterion is None:
        if cap >= space.entropy and not allow_exact:
            raise BudgetError(
                f"budget={cap:.6g} nats covers the whole secret: {space.n_candidates} candidates "
                f"have an entropy of {space.entropy:.6g} nats, so nothing would be hidden, and "
                "results published as they are. Give less, for instance budget=1/16, or "
                "allow_exact=True if that is what you want."
            )
        return
    blind = float(criterion.prior(space.weights).max())
    # At or below the blind success no noise is enough; the comparison refuses NaN as well.
    if not blind < cap < 1:
        raise BudgetError(
            f"budget={cap!r} caps the adversary's success at criterion {criterion.name!r}, where "
            f"guessing blindly has {blind:.6g}; give a cap between that and 1, for instance "
            f"budget={(1 + 9 * blind) / 10:.3g}."
        )


def check_hidden(stated: Guarantee) -> None:
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
            "allow_exact=True if that is what you want; it is never published then."
        )


def chosen_backend(noise: str | NoiseBackend, criterion: Criterion | None) -> str | NoiseBackend:
    """Backend from a user's argument; "auto" is the default one for what is capped."""
    if isinstance(noise, str) and noise == "auto":
        return "logdet" if criterion is None else "criterion"
    return noise


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReleaseProcedure:
    """How one session releases: its space, secret, ledgers and lock, used in one order.

    Parameters
    ----------
    space : Space
    secret : Secret
    account : Account
    lock : lock
        Held while a step is calibrated, charged and drawn.
    criterion : Criterion, optional
        What is capped instead of the mutual information. Successes do not add up, so such a
        session makes one release.
    allow_exact : bool, default=False
        Whether the curator consents to releases that hide nothing.
    certificate : SessionCertificate, optional
    """

    space: Space
    secret: Secret
    account: Account
    lock: AbstractContextManager[Any]
    criterion: Criterion | None = None
    allow_exact: bool = False
    certificate: SessionCertificate = field(default_factory=SessionCertificate)
    handles: WeakSet[Any] = field(default_factory=WeakSet, init=False)

    @classmethod
    def rehearsing(
        cls,
        space: Space,
        sampler: Sampler,
        ceiling: float,
        criterion: Criterion | None = None,
    ) -> ReleaseProcedure:
        """The same procedure for a session of its own, as games need: its secret may be known.

        Parameters
        ----------
        space : Space
        sampler : Sampler
            Draws secret and noise.
        ceiling : float
        criterion : Criterion, optional
        """
        secret = Secret(space.weights, sampler)
        account = Account(MemoryLedger(ceiling, ledger_unit(criterion)), None)
        # Whatever the law hides: a game is played to measure that, and publishes nothing.
        return cls(space, secret, account, nullcontext(), criterion, allow_exact=True)

    def check(self, requested: float | None) -> Target:
        """What the next release may reveal, if it fits under the ceilings.

        Raises
        ------
        BudgetExhaustedError
        """
        return Target(self.check_amount(requested), self.criterion)

    def check_amount(self, requested: float | None) -> float:
        """As :meth:`check`: the amount alone."""
        amount = self.account.check(requested)
        self._check_first()
        return amount

    def _check_first(self) -> None:
        """Refuse a second release where successes are capped: they do not add up."""
        own = self.account.own
        if self.criterion is not None and own.events:
            raise BudgetExhaustedError(own.spent, own.ceiling, own.ceiling)

    def warn_of_few(self, n_outputs: int) -> None:
        """Warn when most of what is released cannot depend on the secret."""
        if isinstance(self.space, SecretSpace) and self.space.n_candidates <= n_outputs:
            warn_user(
                f"{self.space.n_candidates} candidate subsets span at most "
                f"{self.space.n_candidates - 1} of the {n_outputs} directions of what is released; "
                "the others are a function of the whole table, are released without noise, and "
                "nothing is promised about them. The guarantee states the share; use more "
                "subsets, or release fewer numbers.",
                FewCandidatesWarning,
            )

    def event(self, kind: str, law: Any, n_outputs: int, n_noisy: int, used: Any) -> Event:
        """Fact of a release under a law."""
        return Event(
            kind=kind,
            charge=law.bound,
            unit=ledger_unit(self.criterion),
            backend=law.backend,
            bound=law.bound if law.information is None else law.information,
            n_candidates=self.space.n_candidates,
            n_outputs=n_outputs,
            n_noisy=n_noisy,
            provenance=used,
            confidence=law.confidence,
        )

    def take(
        self,
        calibrate: Callable[[Any], Any],
        describe: Callable[[Any], Event],
        draw: Callable[[Any], Any],
        *,
        rehearse: Callable[[Any], Any] | None = None,
        certify: bool = False,
    ) -> tuple[Any, Event, Any]:
        """Calibrate to the belief, charge, and only then draw; the belief learns what came out.

        Parameters
        ----------
        calibrate : callable
            Law under a belief of shape (m,).
        describe : callable
            Event of a law.
        draw : callable
            What is released under a law: the first use of the secret.
        rehearse : callable, optional
            Given the law before anything is charged: does with public numbers what will be done
            with those that are drawn, so that what can go wrong goes wrong here.
        certify : bool
            Certify the success at memberships under the law, where it is the session's first.

        Returns
        -------
        law, event, observed
        """
        with self.lock:
            self._check_first()  # another thread may have released since the step was begun
            # Held until the belief has learned: a law of a belief that another release has since
            # moved on from would be charged for less than it tells.
            belief = self.secret.belief
            law = calibrate(belief)
            # What is released first alone is fixed before the session begins, and so is its
            # figure: later laws depend on what came out, and would tell it.
            if certify and not self.account.own.events:
                with stage("certificate"):
                    self.certificate.fix(law, self.space, belief)
            if rehearse is not None:
                rehearse(law)
            described = describe(law)
            self.need_consent(described)
            # Before the draw: a crash in between loses an answer, never a charge.
            event = self.account.charge(described)
            # Noted before it is drawn, so that no law is used that the curator's figure leaves out.
            self.certificate.note(law)
            observed = draw(law)
            self.secret.learn(law.log_likelihood(observed))
        return law, event, observed

    def need_consent(self, event: Event | None = None) -> None:
        """Refuse, before it is charged, a step after which nothing is hidden.

        Read off the law, whichever budget or criterion was stated.

        Parameters
        ----------
        event : Event, optional
            Of the step; answers to come when not given, whose bound is the ceiling.

        Raises
        ------
        BudgetError
            Unless the curator consented.
        """
        if self.allow_exact:
            return
        own = self.account.own
        is_first = event is not None and not own.events and not event.is_adaptive
        figure = self.certificate.fixed if is_first else None
        stated = replace(
            self.guarantee(),
            spent=event.charge if event is not None and is_first else own.ceiling,
            mutual_information=event.bound if event is not None and self.criterion else None,
            certified_membership=None if figure is None else figure.success,
        )
        check_hidden(stated)

    def promised(self) -> float:
        """Bound that holds whatever was released: the ceiling once steps depend on one another.

        What was charged on this transcript is an average's sample, not a bound; for one release it
        is known before anything is drawn. Before the first release it is what may be spent.
        """
        events = self.account.own.events
        if len(events) != 1 or any(event.is_adaptive for event in events):
            return self.account.own.ceiling
        return self.account.own.spent

    def guarantee(self) -> Guarantee:
        """What is promised about everything released so far."""
        own = self.account.own
        spent = self.promised()
        exact = sum(event.n_noisy == 0 for event in own.events)
        noised = len(own.events) - exact
        return self._stated(
            budget=own.ceiling,
            spent=spent,
            metered=own.spent,
            n_releases=self.n_releases,
            bound="sum of the releases' bounds, each given the releases before it",
            confidence=self._confidence(),
            noise=", ".join(sorted({event.backend for event in own.events})) or "none yet",
            noiseless=self.criterion is None and spent >= self.space.entropy,
            released=(f"{noised} release(s)",) if noised else (),
            public=(
                *(
                    ("the released functions",)
                    if isinstance(self.space, CandidateSpace)
                    else ("hyper-parameters", "public seeds", "classes_")
                ),
                *([f"{exact} release(s), without noise"] if exact else []),
            ),
            provenance=dict.fromkeys(used for event in own.events for used in event.provenance),
            **self._certified(),
        )

    @property
    def n_releases(self) -> int:
        """Releases so far; those that were planned together are charged together."""
        return len(self.account.own.events) + self.certificate.n_planned

    def _certified(self, details: tuple[tuple[str, str], ...] = ()) -> dict[str, Any]:
        """Certified figure of everything released so far, or why there is none."""
        figure = self.certificate.fixed
        if figure is not None and len(self.account.own.events) > 1:
            return {"details": (*details, ("certified membership", LATER))}
        success, confidence = figure or (None, None)
        return {
            "certified_membership": success,
            "certified_confidence": confidence,
            "details": details,
        }

    def guarantee_of(
        self,
        requested: float,
        law: Any,
        *,
        noiseless: bool,
        released: Iterable[str],
        public: Iterable[str],
        provenance: Iterable[Provenance],
    ) -> Guarantee:
        """Guarantee that goes with the release just taken."""
        own = self.account.own
        event = own.events[-1]
        if noiseless:
            public = (*public, *(f"{name}, without noise" for name in released))
            released = ()
        return self._stated(
            **self._certified(_directions(event) if isinstance(self.space, SecretSpace) else ()),
            budget=requested if len(own.events) == 1 else own.ceiling,
            spent=self.promised(),
            n_releases=self.n_releases,
            metered=own.spent,
            bound=law.proof,
            confidence=self._confidence(),
            noise=law.backend,
            noiseless=noiseless,
            released=released,
            public=public,
            provenance=provenance,
        )

    def _confidence(self) -> float:
        """Probability that all bounds hold, by the sum of those that they do not."""
        # A union bound: later laws depend on what came out under the earlier ones.
        doubt = sum(1 - event.confidence for event in self.account.own.events)
        return max(1 - doubt, 0.0)

    def _information(self) -> float:
        """Bound on the mutual information of the one release under a criterion, or of any."""
        events = self.account.own.events
        return events[-1].bound if events else self.space.entropy

    def _stated(
        self,
        released: Iterable[str],
        public: Iterable[str],
        provenance: Iterable[Provenance],
        **facts: Any,
    ) -> Guarantee:
        events = self.account.own.events
        return pac_guarantee(
            self.space,
            self.criterion,
            released=tuple(released),
            public=tuple(public),
            provenance=tuple(provenance),
            mutual_information=self._information() if self.criterion else None,
            not_for_release="" if self.secret.sampler.is_secure else REPRODUCIBLE,
            only_adds=any(event.backend == ONE_SIDED for event in events),
            ledger_head=ledger_head(self.account.shared),
            **facts,
        )


def _directions(event: Event) -> tuple[tuple[str, str], ...]:
    """How much of a released vector depends on the secret at all."""
    fixed = event.n_outputs - event.n_noisy
    if event.n_noisy == 0 or fixed <= 0:
        return ()
    return (
        (
            "whole table",
            (
                f"{fixed} of {event.n_outputs} directions of what is released "
                f"({100 * fixed / event.n_outputs:.3g} %) are a function of the whole table, "
                "without noise: the candidates do not differ in them"
            ),
        ),
    )
