"""What a release promises about information on the secret, in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, final

from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM, NAMING_AIM
from pacsklearn.kernel.guarantee.figure import Figure, confidence_figure
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.kernel.guarantee.status import EMPTY_SUCCESS, Reliance, Status, relied_on
from pacsklearn.kernel.secret.stated_secret import Bounds, KnownRows, PACSecret

_IMPLIED: Final = (
    "The same question, for any release of so many nats. Both bounds hold, so the smaller does."
)


@final
@dataclass(frozen=True, repr=False, kw_only=True)
class PACGuarantee(Guarantee):
    """What a release promises about information on a secret that was drawn.

    The fields of every :class:`~pacsklearn.Guarantee`, and those here.

    Parameters
    ----------
    secret : PACSecret
        What is secret: which subset of the rows was used, of a list or of all balanced ones,
        which input of a list, or what a sampler drew.
    metered : float, optional
        Nats charged so far, where steps depend on the ones before them. It is not a bound: the
        bound is ``spent``, which holds whatever the session went on to release.
    criterion : str, optional
        Name of the criterion whose success is capped; ``budget`` and ``spent`` are then
        probabilities instead of nats.
    mutual_information : float, optional
        Bound on the mutual information in nats, where ``spent`` is something else.
    capped : str
        What attacks call the success that the criterion caps (:class:`Criterion.aim`).
    certified_membership : float, optional
        Bound on the success of the optimal adversary at the worst unit's membership, computed for
        the law of this release; ``posterior_membership`` is what the information alone implies.
    certified_confidence : float, optional
        Probability that it holds.
    """

    secret: PACSecret
    metered: float | None = None
    criterion: str | None = None
    mutual_information: float | None = None
    capped: str = ""
    certified_membership: float | None = None
    certified_confidence: float | None = None

    name = "PAC privacy"

    @classmethod
    def secret_kinds(cls) -> tuple[type[PACSecret], ...]:
        """List the kinds of secret that such a guarantee may be about, those of plugins too."""
        from pacsklearn.kernel.plugins.registry import registry

        return tuple(each.made for each in registry().registrations("stated_secret"))

    @property
    def prior_membership(self) -> float:
        """Success of guessing the membership of the least protected unit blindly.

        1/2, for a question at even odds, when the secret is no subset of rows.
        """
        return self.secret.prior_membership

    @property
    def prior_identification(self) -> float:
        """Success of guessing the secret blindly: the largest prior weight."""
        return self.secret.prior_identification

    def knowing(self, k: int) -> KnownRows:
        """Bound what an adversary achieves who knows whether ``k`` units were used.

        Parameters
        ----------
        k : int
            From 0 to 7.

        Returns
        -------
        KnownRows

        Notes
        -----
        The known memberships K are a function of the secret, so ``I(S; Y | K) <= I(S; Y)``, and
        the bound follows from the blind success as for any other question
        (pac-private-algorithms, equation 3).
        """
        return self.secret.knowing(k, self.information)

    @property
    def information(self) -> float:
        """Bound on the mutual information between the secret and the release, in nats."""
        # Under a cap `spent` is a success; its information was bounded beside it.
        return self.spent if self.mutual_information is None else self.mutual_information

    @property
    def posterior_membership(self) -> float:
        """Most that any adversary's success at a unit's membership can be, after the release."""
        return self._posterior(self.prior_membership, MEMBERSHIP_AIM)

    @property
    def posterior_identification(self) -> float:
        """Most that any adversary's success at naming the secret subset can be."""
        return self._posterior(self.prior_identification, NAMING_AIM)

    @property
    def success(self) -> float:
        """Smaller of the implied and the certified bound on success at membership; both hold."""
        certified = self.certified_membership
        implied = self.posterior_membership
        return implied if certified is None else min(implied, certified)

    def reached(self, limit: Budget) -> float | None:
        """Return the most that is reached of what a budget bounds; None where none is stated."""
        return {
            "nats": self.information,
            "membership": self.success,
            "identification": self.posterior_identification,
        }.get(limit.name)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Bounds and facts, each with its unit and what it means; the headline stands first."""
        secret, implied = self.secret, self.posterior_membership
        why = "it follows from the nats, for any release of so many"
        if self.capped == MEMBERSHIP_AIM:
            why = "this is the cap"
        own = self.success < implied
        if own:
            why = (
                "computed for this release's own noise, at the unit for which the best attack does "
                f"best, at confidence {self.certified_confidence:.8g}"
            )
        epsilon = dp_epsilon(implied)
        finite = epsilon < math.inf
        return (
            Figure(
                "success",
                self.success,
                "share",
                f"{secret.question}: no adversary is right more often, on average over the secret "
                f"draw and the noise; {why}.",
                secret.prior_membership,
            ),
            *(
                [Figure("success, implied", implied, "share", _IMPLIED, secret.prior_membership)]
                if own
                else []
            ),
            Figure(
                "information",
                self.information,
                "nats",
                f"Most that is told about which {secret.noun} was used; it bounds every other "
                "question about it.",
            ),
            Figure(
                f"naming the {secret.noun}",
                self.posterior_identification,
                "share",
                f"No adversary names the {secret.noun} that was used more often.",
                secret.prior_identification,
            ),
            Figure(
                "equal-success epsilon",
                epsilon if finite else None,
                "epsilon",
                "A differentially private mechanism with this epsilon has the same implied bound. "
                "A comparison: this release is not differentially private."
                if finite
                else "No differentially private mechanism has a bound that weak.",
            ),
            *secret.figures,
            confidence_figure(self.confidence),
        )

    def _posterior(self, blind: float, aim: str) -> float:
        # Equation 3: by data processing the divergence between the adversary's success and the
        # blind one, as coins, is at most I(S; Y). It is solved for the success, rounded up.
        bound = posterior_success(self.information, blind)
        # Both hold. A cap is a success itself, for what it caps; one on membership caps naming too,
        # as the secret's name tells each membership.
        return min(bound, self.spent) if self.capped in (aim, MEMBERSHIP_AIM) else bound

    @property
    def remaining_entropy(self) -> float | None:
        """Least that remains unknown of the secret, in nats; None when it can only be sampled.

        ``H(S | Y) >= H(S) - I(S; Y)``. Source: residual-pac, equation 10.
        """
        entropy = self.secret.entropy
        # A bound on the information may be above H(S): nothing remains unknown then, and no less.
        return None if entropy is None else max(entropy - self.information, 0.0)

    @property
    def intrinsic_privacy(self) -> float | None:
        """Minus the divergence of the secret's prior from the uniform one, in nats; 0 at best.

        Source: residual-pac, section 4.
        """
        return self.secret.intrinsic_privacy

    @property
    def residual_privacy(self) -> float | None:
        """Part of the intrinsic privacy that the release leaves, in nats.

        ``intrinsic_privacy - I(S; Y)``, at least, and never below that of a secret that is known:
        no release tells more than the entropy. Source: residual-pac, Definition 9 and Corollary 2,
        with the uniform reference.
        """
        intrinsic, entropy = self.intrinsic_privacy, self.secret.entropy
        if intrinsic is None or entropy is None:
            return None
        # Corollary 2: nobody learns more than H(S), whatever the bound says.
        return intrinsic - min(self.information, entropy)

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Stated attacks against which every bound there is, implied or certified, is empty."""
        # Who names the secret knows each unit's membership: what is certified bounds naming too.
        certified = self.certified_membership or 1.0
        return tuple(
            attack.aim
            for attack in self.secret.attacks(self.bounds)
            if attack.blind < EMPTY_SUCCESS <= min(attack.bound, certified)
        )

    @property
    def needs_consent(self) -> bool:
        """Whether nothing at all is hidden, or an attack is certified to succeed.

        Weaker than being :attr:`uncovered`, as answers and later releases are from .69 nats on:
        for want of a law that is fixed beforehand nothing can be certified of them, and naming
        the secret may be prevented all the same.
        """
        # An implied figure is empty from .69 nats on at even odds, long before everything is told:
        # only where no attack at all has a bound, or one is computed to succeed, is it refused.
        attacks = [aim for aim, _, _ in self.secret.attacks(self.bounds)]
        hopeless = self.uncovered
        return hopeless == tuple(attacks) or bool(hopeless and self.certified_membership)

    def _reliance(self) -> Status:
        # Rule 15: read off the figures of the law, whichever budget was stated.
        plain = relied_on(self.confidence, "proved")
        # An estimate is named as one first: its figures, empty or not, are no bounds.
        if self.uncovered and plain.kind is not Reliance.ESTIMATED:
            return Status(
                Reliance.HIDES_NOTHING,
                f"no figure, implied or certified, is below 99.99 % for {self.uncovered[0]}",
            )
        return plain

    @property
    def scope(self) -> str:
        """What the promise is about: other releases about the same rows are not in it."""
        if self.n_releases == 0:
            return "all that this session may release, alone"
        if self.n_releases == 1:
            return "this release alone"
        return f"the {self.n_releases} releases of one session alone"

    def _sentences(self) -> str:
        # Charges of a session add up, so the figures are about all of its releases together.
        few = {0: "all that this session may release", 1: "this release"}
        seen = few.get(self.n_releases, f"all {self.n_releases} releases of this session so far")
        capped = certified = ""
        # The promise is about one unit: a cap on anything else may say more.
        if self.criterion and self.spent < self.secret.attacks(self.bounds)[0].bound:
            aim = self.capped or self.criterion
            capped = f"Capped is success at {aim}: at most {percent_up(self.spent)} %."
        # Its margin may put it above what is proved anyway; then the sentence would say less.
        if self.success < self.posterior_membership:
            these = "this very release" if self.n_releases == 1 else "these very releases together"
            certified = f"Certified for {these}: at most {percent_up(self.success)} %."
        promise = self.secret.promise(seen, self.bounds)
        return " ".join(filter(None, (promise, capped, certified, self.secret.exceptions)))

    @property
    def bounds(self) -> Bounds:
        """Most that any adversary reaches after the release, as the secret's words state it."""
        return Bounds(self.information, self.posterior_membership, self.posterior_identification)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary with the derived bounds added, for JSON."""
        return super().to_dict() | {
            "posterior_membership": self.posterior_membership,
            "posterior_identification": self.posterior_identification,
            "remaining_entropy": self.remaining_entropy,
            "intrinsic_privacy": self.intrinsic_privacy,
            "residual_privacy": self.residual_privacy,
        }
