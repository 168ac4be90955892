"""What a guarantee is about: the kinds of secret of PAC privacy, with their words."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, final

from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.guarantee.figure import Figure
from pacsklearn.kernel.guarantee.statement_rendering import Rows, percent_up

PREPARATION: Final = (
    "Preparation outside: what was computed from the rows before they were given to the private "
    "estimator (scaling, imputing, selecting, balancing, looked-up ranges) saw all of them; do not "
    "publish it, and put it inside."
)


class StatedSecret(ABC):
    """What is secret, in the figures and the words that a guarantee needs.

    Attributes
    ----------
    name : str
        How JSON names the kind.
    threats : tuple of str
        What the adversary can do and knows, a sentence each.
    limits : tuple of str
        What no promise about such a secret says.
    unit : str
        Unit of privacy.
    """

    name: ClassVar[str]
    threats: ClassVar[tuple[str, ...]]
    limits: ClassVar[tuple[str, ...]] = ()
    unit: str

    @property
    def exceptions(self) -> str:
        """A sentence on what the promise does not hold for, or nothing."""
        return ""

    @property
    @abstractmethod
    def figures(self) -> tuple[Figure, ...]:
        """Facts about the secret, each with what it means."""


@final
class Bounds(NamedTuple):
    """Most that any adversary reaches after the release.

    Attributes
    ----------
    information : float
        Mutual information with the secret, in nats.
    membership : float
        Success at the question with blind success ``prior_membership``.
    naming : float
        Success at naming the secret.
    """

    information: float
    membership: float
    naming: float


@final
class StatedAttack(NamedTuple):
    """What an adversary may try, as the promise names it.

    Attributes
    ----------
    aim : str
        As an attack that tries it calls it (``AttackResult.criterion``).
    blind : float
        Success of guessing blindly.
    bound : float
        Most that any adversary reaches after the release.
    """

    aim: str
    blind: float
    bound: float


@final
class KnownRows(NamedTuple):
    """Success at the membership of other units than the known ones.

    Attributes
    ----------
    blind, worst_blind : float
        Before any release: on average over other units, the known ones drawn uniformly; and at
        the worst unit, the known ones chosen against it.
    bound, worst_bound : float
        At most, after the release.
    error : float
        Standard error of ``blind``, which ``bound`` allows three of; 0 where it is exact.
    """

    blind: float
    worst_blind: float
    bound: float
    worst_bound: float
    error: float = 0.0


class PACSecret(StatedSecret):
    """A secret that was drawn by a known law; what is bounded is the information about it.

    Attributes
    ----------
    noun : str
        What was drawn.
    even : str
        What a comparison at ``prior_membership`` is called.
    prior_membership : float
        Success of guessing blindly: a unit's membership, or else a question at even odds.
    prior_identification : float
        Success of naming the secret blindly.
    entropy : float or None
        Nats needed to name it; None when it can only be sampled.
    n_candidates : int or None
        Secrets there are; None when they cannot be listed.
    known : tuple of (float, float)
        Entry k: blind success, before any release, at the membership of other units for an
        adversary who knows how subsets are chosen and the membership of k units; on average over
        units drawn uniformly, and at the worst unit for the k units that tell most about it.
    known_errors : tuple of float
        Standard errors of the averages over units drawn uniformly; nothing where they are exact.
    is_searched : bool
        Whether the worst unit, for two known ones or more, is the worst that a search found.
    """

    noun: ClassVar[str]
    even: ClassVar[str] = "same at even odds"
    prior_membership: float
    prior_identification: float
    entropy: float | None
    n_candidates: int | None
    known: tuple[tuple[float, float], ...] = ()
    known_errors: tuple[float, ...] = ()
    is_searched: ClassVar[bool] = False

    def knowing(self, k: int, information: float) -> KnownRows:
        """Bound the success of who knows ``k`` memberships, beside the blind one."""
        if not self.known:
            raise ValueError(
                "The secret is no subset of rows, so there are no memberships to know."
            )
        if not 0 <= k < len(self.known):
            raise ValueError(f"k must be from 0 to {len(self.known) - 1}, got {k!r}.")
        uniform, worst = self.known[k]
        # A bound from an estimate allows for three of its standard errors.
        error = self.known_errors[k] if self.known_errors else 0.0
        highest = min(uniform + 3 * error, 1.0)
        # What is known is a function of the secret: equation 3 from the larger blind success.
        return KnownRows(
            uniform,
            worst,
            posterior_success(information, highest),
            posterior_success(information, worst),
            error,
        )

    @property
    def intrinsic_privacy(self) -> float | None:
        """Minus the divergence of the prior from the uniform one, in nats; None without a list."""
        # residual-pac, section 4: H(S) - ln m is minus the divergence from the uniform prior.
        if self.entropy is None or self.n_candidates is None:
            return None
        # Rounding may put the entropy above its maximum; the sum turns -0.0 into 0.0.
        return min(self.entropy - math.log(self.n_candidates), 0.0) + 0.0

    @abstractmethod
    def promise(self, seen: str, bounds: Bounds) -> str:
        """Return the promise in one sentence, to whoever sees ``seen``."""

    @abstractmethod
    def attacks(self, bounds: Bounds) -> tuple[StatedAttack, ...]:
        """Return the attacks whose success the promise bounds."""

    @property
    def question(self) -> str:
        """What is answered with a success of ``prior_membership`` blindly."""
        return "A question at even odds"

    @property
    def figures(self) -> tuple[Figure, ...]:
        drawn = " from these." if self.n_candidates else "; they are too many to list."
        return (
            Figure("unit of privacy", self.unit, "", "What is in or out together."),
            Figure(
                "candidates",
                self.n_candidates,
                "count",
                f"One {self.noun} was drawn in secret{drawn}",
            ),
        )

    @abstractmethod
    def rows(self, bounds: Bounds) -> Rows:
        """Return the rows of the text about the secret."""


@final
@dataclass(frozen=True, kw_only=True)
class SecretCandidate(PACSecret):
    """Which of a list of arbitrary inputs is in use.

    Parameters
    ----------
    n_candidates, entropy, prior_identification
        As in :class:`~pacsklearn.kernel.secret.secret_rows.SecretRows`.
    """

    n_candidates: int
    entropy: float
    prior_identification: float

    name = "candidate"
    noun = "candidate"
    unit = "candidate"
    prior_membership = 0.5
    threats = (
        "The adversary has unlimited computing power.",
        "The adversary knows all candidates, how likely each is, the functions and the noise.",
        "The adversary sees everything that was released.",
        "Hidden is which candidate is in use.",
    )
    limits = (
        (
            "Which candidates there are: the adversary is assumed to know all of them, how likely "
            "each is, and the released functions; hidden is only which candidate was used, drawn "
            "once with these probabilities. The shape of the noise, the metric and whatever all "
            "candidates agree on are functions of the list."
        ),
        (
            "Equal candidates: those that compare equal (==), such as 1, 1.0 and True, count as "
            "one, with the sum of their weights. The first of them stands for all: which one was "
            "given is never used."
        ),
        (
            "Single outcomes: success is averaged over the secret and the noise; one particular "
            "release may tell more about one particular candidate than the average does."
        ),
        (
            "Other ways out: what other sessions, or a program that uses the secret, let out about "
            "it; how long a call takes is not hidden unless it is what is released."
        ),
    )

    def promise(self, seen: str, bounds: Bounds) -> str:
        return (
            f"Whoever sees {seen}, with unlimited computing power and knowing all "
            f"{self.n_candidates:,} candidates, names the one that was used with a success of at "
            f"most {percent_up(bounds.naming)} %; guessing blindly has "
            f"{percent_up(self.prior_identification)} %."
        )

    def attacks(self, bounds: Bounds) -> tuple[StatedAttack, ...]:
        # Of inputs there are no memberships: whoever learns anything learns which it is.
        return (StatedAttack("naming the candidate", self.prior_identification, bounds.naming),)

    def rows(self, bounds: Bounds) -> Rows:
        return [
            ("secret", f"1 of {self.n_candidates} candidates ({self.entropy:.4g} nats)"),
            ("naming the candidate", f"at most {percent_up(bounds.naming)} %"),
            ("at even odds", f"at most {percent_up(bounds.membership)} %"),
        ]
