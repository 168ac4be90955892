"""What a guarantee is about: the kinds of secret of PAC privacy, with their words."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, final

from pacsklearn.core.statement_rendering import Rows, percent_up
from pacsklearn.information.posterior_success import posterior_success

__all__ = [
    "PREPARATION",
    "Bounds",
    "KnownRows",
    "PACSecret",
    "RowsSecret",
    "SampledSecret",
    "SecretCandidate",
    "SecretRows",
    "StatedSecret",
]

PREPARATION: Final = (
    "Preparation outside: what was computed from the rows before they were given to the private "
    "estimator (scaling, imputing, selecting, balancing, looked-up ranges) saw all of them; do not "
    "publish it, and put it inside."
)


class StatedSecret(ABC):
    """What is secret, in the figures and the words that a guarantee needs.

    Attributes
    ----------
    kind : str
        How JSON names the kind.
    threats : tuple of str
        What the adversary can do and knows, a sentence each.
    limits : tuple of str
        What no promise about such a secret says.
    """

    kind: ClassVar[str]
    threats: ClassVar[tuple[str, ...]]
    limits: ClassVar[tuple[str, ...]] = ()


@final
class KnownRows(NamedTuple):
    """Success at the membership of other units than the known ones, on average over them.

    Attributes
    ----------
    blind, chosen_blind : float
        Before any release: known units drawn uniformly, and those that tell most.
    bound, chosen_bound : float
        At most, after the release.
    error : float
        Standard error of ``blind``, which ``bound`` allows three of; 0 where it is exact.
    """

    blind: float
    chosen_blind: float
    bound: float
    chosen_bound: float
    error: float = 0.0


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


class PACSecret(StatedSecret):
    """A secret that was drawn by a known law; what is bounded is the information about it.

    Attributes
    ----------
    noun : str
        What was drawn.
    unit : str
        Unit of privacy.
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
    """

    noun: ClassVar[str]
    even: ClassVar[str] = "same at even odds"
    unit: str
    prior_membership: float
    prior_identification: float
    entropy: float | None
    n_candidates: int | None

    @property
    def intrinsic_privacy(self) -> float | None:
        """Minus the divergence of the prior from the uniform one, in nats; None without a list."""
        if self.entropy is None or self.n_candidates is None:
            return None
        return min(self.entropy - math.log(self.n_candidates), 0.0) + 0.0

    @abstractmethod
    def promise(self, seen: str, bounds: Bounds) -> str:
        """The promise in one sentence, to whoever sees ``seen``."""

    @property
    def exceptions(self) -> str:
        """A sentence on what the promise does not hold for, or nothing."""
        return ""

    @abstractmethod
    def rows(self, bounds: Bounds) -> Rows:
        """Rows of the text about the secret."""


class RowsSecret(PACSecret):
    """A subset of the rows that was used.

    Attributes
    ----------
    n_rows : int
        Of the universe.
    known : tuple of (float, float)
        Entry k: blind success, before any release, at the membership of other units for an
        adversary who knows how subsets are chosen and the membership of k units; on average over
        units drawn uniformly, and for the k units that tell most.
    known_errors : tuple of float
        Standard errors of the averages over units drawn uniformly; nothing where they are exact.
    """

    noun = "subset"
    even = "same membership bound"
    n_rows: int
    known: tuple[tuple[float, float], ...]
    known_errors: tuple[float, ...]

    def promise(self, seen: str, bounds: Bounds) -> str:
        return (
            f"Whoever sees {seen}, with unlimited computing power and knowing all "
            f"{self.n_rows:,} rows, can tell whether any one {self._unit} was used with a success "
            f"of at most {percent_up(bounds.membership)} %; guessing blindly has "
            f"{percent_up(self.prior_membership)} %."
        )

    def knowing(self, k: int, information: float) -> KnownRows:
        """Blind and bounded success for who knows ``k`` memberships."""
        if not 0 <= k < len(self.known):
            raise ValueError(f"k must be from 0 to {len(self.known) - 1}, got {k!r}.")
        uniform, chosen = self.known[k]
        # A bound from an estimate allows for three of its standard errors.
        error = self.known_errors[k] if self.known_errors else 0.0
        highest = min(uniform + 3 * error, 1.0)
        return KnownRows(
            uniform,
            chosen,
            posterior_success(information, highest),
            posterior_success(information, chosen),
            error,
        )

    def _knowledge(self, information: float) -> Rows:
        """Rows of the text on adversaries who know some memberships."""
        cells = [self.knowing(k, information) for k in range(1, len(self.known))]
        found = []
        for which, name in enumerate(("knowing k of them", "the k that tell most")):
            shown = "; ".join(
                f"{k}: {percent_up(cell[which])} to {percent_up(cell[which + 2])} %"
                for k, cell in enumerate(cells, start=1)
            )
            if shown:
                found.append((name, f"others' membership, guessed blindly and at most: {shown}"))
        worst = max(self.known_errors, default=0.0)
        if found and worst:
            name, shown = found[0]
            estimated = (
                f"(standard errors of at most {percent_up(worst)} %; the bounds allow three)"
            )
            found[0] = (name, f"{shown} {estimated}")
        return found

    @property
    def _unit(self) -> str:
        return "row" if self.unit == "row" else "group of rows"


@final
@dataclass(frozen=True, kw_only=True)
class SecretRows(RowsSecret):
    """Which of a list of subsets of the rows was used.

    Parameters
    ----------
    n_candidates : int
        Subsets.
    entropy : float
        Nats needed to name the secret one.
    prior_identification : float
        Success of guessing it blindly: the largest prior weight.
    unit : str
        Unit of privacy: ``"row"`` or ``"group"``.
    n_rows, n_units : int
        Rows and units of privacy in the universe.
    prior_membership : float
        Success of guessing the membership of the least protected unit blindly.
    n_unprotected : int
        Units that are in all subsets or in none: their membership is no secret.
    known : tuple of (float, float)
        Entry k: blind success, before any release, at the membership of other units for an
        adversary who knows the subsets and the membership of k units; on average over units drawn
        uniformly, and for the k units that tell most.
    known_errors : tuple of float
        Standard errors of the first of these, where they are estimates.
    is_listed : bool
        Whether the list of subsets is public. No figure depends on it.
    """

    n_candidates: int
    entropy: float
    prior_identification: float
    unit: str
    n_rows: int
    n_units: int
    prior_membership: float
    n_unprotected: int = 0
    known: tuple[tuple[float, float], ...] = ()
    known_errors: tuple[float, ...] = ()
    is_listed: bool = True

    kind = "rows"
    threats = (
        "The adversary has unlimited computing power.",
        (
            "The adversary knows every row of the universe, the list of candidate subsets, how "
            "likely each is, the estimator with its parameters, all public seeds and the law of "
            "the noise."
        ),
        "The adversary sees everything that was released, and may have chosen what to ask.",
        "Hidden is which candidate subset was drawn, once, by the operating system's generator.",
    )
    limits = (
        (
            "Which rows exist: the adversary is assumed to know all rows of the universe and the "
            "list of candidate subsets; hidden is only which candidate was used. The shape of the "
            "noise, the alignment, the metric and whatever all candidates agree on are functions "
            "of the universe."
        ),
        (
            "Single outcomes: success is averaged over the secret and the noise; one particular "
            "release may tell more about one particular row than the average does."
        ),
        (
            "Other fits: every fit draws its own secret and spends its own budget. What several "
            "fits on the same rows reveal together is bounded only when they share one session."
        ),
        PREPARATION,
        (
            "Choices made by looking at the private data (budget, hyper-parameters, features, "
            "which of several results to publish): each is a release of its own unless it happens "
            "inside the subsets or stays with the curator."
        ),
    )

    @property
    def exceptions(self) -> str:
        if not self.n_unprotected:
            return ""
        return (
            f"This does not hold for {self.n_unprotected:,} {self._unit}(s) that all candidate "
            "subsets contain, or none: their membership is public."
        )

    def rows(self, bounds: Bounds) -> Rows:
        rate = 1 - self.prior_membership
        inclusion = (
            f"each {self.unit} is in {rate:.3g} or {self.prior_membership:.3g} of them"
            if abs(rate - 0.5) > 1e-12
            else f"each {self.unit} is in half of them"
        )
        listed = (
            "public: who knows a few memberships can look the others up in it"
            if self.is_listed
            else "drawn in secret; every figure is that of an adversary who knows it"
        )
        found = [
            ("secret", f"1 of {self.n_candidates} subsets ({self.entropy:.4g} nats); {inclusion}"),
            ("naming the subset", f"at most {percent_up(bounds.naming)} %"),
            ("list of subsets", listed),
        ]
        return [*found, *self._knowledge(bounds.information)]


@final
@dataclass(frozen=True, kw_only=True)
class SecretCandidate(PACSecret):
    """Which of a list of arbitrary inputs is in use.

    Parameters
    ----------
    n_candidates, entropy, prior_identification
        As in :class:`SecretRows`.
    """

    n_candidates: int
    entropy: float
    prior_identification: float

    kind = "candidate"
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

    def rows(self, bounds: Bounds) -> Rows:
        return [
            ("secret", f"1 of {self.n_candidates} candidates ({self.entropy:.4g} nats)"),
            ("naming the candidate", f"at most {percent_up(bounds.naming)} %"),
            ("at even odds", f"at most {percent_up(bounds.membership)} %"),
        ]


@final
@dataclass(frozen=True, kw_only=True)
class SampledSecret(PACSecret):
    """What a sampler drew, of which only trials can be seen."""

    kind = "sampled"
    noun = "secret"
    unit = "sampled secret"
    prior_membership = 0.5
    prior_identification = 1.0
    entropy = None
    n_candidates = None
    threats = (
        "The adversary has unlimited computing power.",
        "The adversary knows how the secret is drawn, the function and the noise's law.",
        "The adversary sees everything that was released.",
        "Hidden is which secret was drawn.",
    )
    limits = (
        (
            "How secrets are drawn: the adversary is assumed to know the sampler, and the secret "
            "must have been drawn by it, afresh, from a securely seeded generator."
        ),
        (
            "Single outcomes: success is averaged over the secret and the noise; one particular "
            "release may tell more about one particular secret than the average does."
        ),
        (
            "Other ways out: every call draws a secret of its own; releases about one and the same "
            "secret need a session."
        ),
    )

    def promise(self, seen: str, bounds: Bounds) -> str:
        return (
            f"Whoever sees {seen}, with unlimited computing power and knowing how the secret is "
            "drawn, answers any question about it that blind guessing gets right half of the time "
            f"with a success of at most {percent_up(bounds.membership)} %."
        )

    def rows(self, bounds: Bounds) -> Rows:
        return [("secret", "drawn afresh by a sampler, of which only trials can be seen")]
