"""The guarantee's facts and words for PAC-private releases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.criterion import Criterion
from pacsklearn.core.event import Provenance
from pacsklearn.core.guarantee import CANDIDATE, Guarantee
from pacsklearn.core.layout import Layout
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.information.known_rows import known_rows_success
from pacsklearn.release.session_criterion import ledger_unit

__all__ = ["membership_prior", "pac_guarantee", "public_facts"]

_MOST_UNITS = 16384

_WHICH_ROWS_EXIST = (
    "Which rows exist: the adversary is assumed to know all rows of the universe and the list of "
    "candidate subsets; hidden is only which candidate was used. The shape of the noise, the "
    "alignment, the metric and whatever all candidates agree on are functions of the universe."
)
_WHICH_CANDIDATES_EXIST = (
    "Which candidates there are: the adversary is assumed to know all of them, how likely each is, "
    "and the released functions; hidden is only which candidate was used, drawn once with these "
    "probabilities. The shape of the noise, the metric and whatever all candidates agree on are "
    "functions of the list."
)
_SINGLE_OUTCOMES = (
    "Single outcomes: success is averaged over the secret and the noise; one particular release "
    "may tell more about one particular row than the average does."
)
_RULED_OUT = (
    "What padding cannot hide: a padded value rules out every candidate whose own value is larger."
)
_SINGLE_VALUES = (
    "Single outcomes: success is averaged over the secret and the noise; one particular release "
    "may tell more about one particular candidate than the average does."
)
_OTHER_WAYS = (
    "Other ways out: what other sessions, or a program that uses the secret, let out about it; how "
    "long a call takes is not hidden unless it is what is released."
)
_OTHER_FITS = (
    "Other fits: every fit draws its own secret and spends its own budget. What several fits on "
    "the same rows reveal together is bounded only when they share one session."
)
_CHOICES = (
    "Choices made by looking at the private data (budget, hyper-parameters, features, which of "
    "several results to publish): each is a release of its own unless it happens inside the "
    "subsets or stays with the curator."
)

_OTHER_AIMS = (
    "Other aims: only the success named above is capped; what an adversary achieves otherwise is "
    "bounded by the mutual information alone."
)


def pac_guarantee(
    space: SecretSpace | CandidateSpace,
    *,
    budget: float,
    spent: float,
    bound: str,
    confidence: float,
    noise: str,
    noiseless: bool,
    released: Iterable[str],
    public: Iterable[str],
    for_release: bool,
    provenance: Iterable[Provenance],
    n_releases: int = 1,
    metered: float | None = None,
    only_adds: bool = False,
    criterion: Criterion | None = None,
    mutual_information: float | None = None,
    details: tuple[tuple[str, str], ...] = (),
    ledger_head: str = "",
    certified: tuple[float, float] | None = None,
) -> Guarantee:
    """Guarantee of mutual information between the secret candidate and what was released."""
    padding = (_RULED_OUT,) if only_adds else ()
    about: dict[str, Any]
    if isinstance(space, CandidateSpace):
        about = {
            "definition": "mutual information between the secret candidate and the release",
            "n_units": space.n_candidates,
            "n_rows": 0,
            "privacy_unit": CANDIDATE,
            "prior_membership": 0.5,
            "n_unprotected": 0,
            "not_covered": (_WHICH_CANDIDATES_EXIST, _SINGLE_VALUES, _OTHER_WAYS, *padding),
        }
    else:
        prior, n_unprotected = membership_prior(space)
        about = {
            "definition": "mutual information between the secret subset and the release",
            "n_units": space.n_units,
            "n_rows": space.n_rows,
            "privacy_unit": space.unit,
            "prior_membership": prior,
            "n_unprotected": n_unprotected,
            "known_rows": _known_rows(space),
            "is_listed": space.is_listed,
            "not_covered": (
                _WHICH_ROWS_EXIST,
                _SINGLE_OUTCOMES,
                _OTHER_FITS,
                _CHOICES,
                *padding,
            ),
        }
    if criterion is not None:
        about |= {
            "definition": f"success of the optimal adversary, who wants to {criterion.statement}",
            "criterion": criterion.name,
            "capped": criterion.aim,
            "mutual_information": mutual_information,
            "not_covered": (*about["not_covered"], _OTHER_AIMS),
        }
    return Guarantee(
        framework="PAC privacy",
        ledger_head=ledger_head,
        budget=budget,
        spent=spent,
        unit=ledger_unit(criterion),
        bound=bound,
        confidence=confidence,
        secret_entropy=space.entropy,
        n_subsets=space.n_candidates,
        released=tuple(released),
        public=tuple(public),
        sources=(
            "posterior success: pac-private-algorithms, eq. 3",
            "DP comparison: pac-private-algorithms, eq. 2",
            "noise bound: see the backend",
        ),
        noise=noise,
        noiseless=noiseless,
        for_release=for_release,
        provenance=tuple(provenance),
        prior_identification=float(space.weights.max()),
        n_releases=n_releases,
        metered=metered,
        details=details,
        certified_membership=None if certified is None else certified[0],
        certified_confidence=None if certified is None else certified[1],
        **about,
    )


def membership_prior(space: SecretSpace) -> tuple[float, int]:
    """Blind success at the membership of the least protected unit, and how many have no secret."""
    inclusion = space.inclusion()
    protected = inclusion[(inclusion > 0) & (inclusion < 1)]
    prior = float(np.max(np.maximum(protected, 1 - protected))) if protected.size else 1.0
    return prior, int(inclusion.size - protected.size)


# A session states its guarantee after every answer; its space stays the same.
_KNOWN: WeakKeyDictionary[SecretSpace, tuple[tuple[float, float], ...]] = WeakKeyDictionary()


def _known_rows(space: SecretSpace) -> tuple[tuple[float, float], ...]:
    """Blind success of those who know memberships of units that have a secret."""
    if space not in _KNOWN:
        inclusion = space.inclusion()
        hidden = np.flatnonzero((inclusion > 0) & (inclusion < 1))
        if hidden.size < 2:
            return ()
        curves = known_rows_success(space.membership(_sampled(hidden)), space.weights)
        _KNOWN[space] = tuple((float(u), float(g)) for u, g in zip(*curves, strict=True))
    return _KNOWN[space]


def _sampled(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Units of a large universe that the averages are taken over."""
    if units.size <= _MOST_UNITS:
        return units
    return np.random.default_rng(0).choice(units, _MOST_UNITS, replace=False)


def public_facts(layout: Layout) -> tuple[str, ...]:
    """Names of the structure that a release shows as it is."""
    names = {"hyper-parameters", "public seeds"}

    def collect(part: Layout) -> None:
        names.update(name for name, _ in part.facts if name.endswith("_"))
        for _, child in part.children:
            collect(child)

    collect(layout)
    return tuple(sorted(names))
