"""The guarantee's facts and words for PAC-private releases."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.canonicalizer import Layout
from pacsklearn.core.criterion import Criterion
from pacsklearn.core.guarantee import Guarantee
from pacsklearn.core.secret_rows import SecretRows
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.stated_secret import SecretCandidate
from pacsklearn.information.known_rows import known_rows_success
from pacsklearn.release.session_criterion import ledger_unit
from pacsklearn.tables.hashed_space import HashedSpace, Space

_MOST_UNITS = 4096

_RULED_OUT = (
    "What padding cannot hide: a padded value rules out every candidate whose own value is larger."
)

_OTHER_AIMS = (
    "Other aims: only the success named above is capped; what an adversary achieves otherwise is "
    "bounded by the mutual information alone."
)


def pac_guarantee(
    space: Space, criterion: Criterion | None, *, only_adds: bool, **facts: Any
) -> Guarantee:
    """Guarantee of mutual information between the secret candidate and what was released.

    Parameters
    ----------
    space : SecretSpace, CandidateSpace or HashedSpace
    criterion : Criterion or None
        What is capped instead.
    only_adds : bool
        Whether noise was added that only grows.
    **facts
        Fields of the guarantee that only the procedure knows.
    """
    secret = _secret(space)
    return Guarantee(
        definition=(
            f"mutual information between the secret {secret.noun} and the release"
            if criterion is None
            else f"success of the optimal adversary, who wants to {criterion.statement}"
        ),
        unit=ledger_unit(criterion),
        criterion=None if criterion is None else criterion.name,
        capped="" if criterion is None else criterion.aim,
        secret=secret,
        not_covered=(
            *secret.limits,
            *((_RULED_OUT,) if only_adds else ()),
            *((_OTHER_AIMS,) if criterion is not None else ()),
        ),
        sources=(
            "posterior success: pac-private-algorithms, eq. 3",
            "DP comparison: pac-private-algorithms, eq. 2",
            "noise bound: see the backend",
        ),
        **facts,
    )


def _secret(space: Space) -> SecretRows | SecretCandidate:
    blind = float(space.weights.max())
    if isinstance(space, CandidateSpace):
        return SecretCandidate(
            n_candidates=space.n_candidates, entropy=space.entropy, prior_identification=blind
        )
    prior, n_unprotected = membership_prior(space)
    known, errors = _known_rows(space)
    return SecretRows(
        n_candidates=space.n_candidates,
        entropy=space.entropy,
        prior_identification=blind,
        unit=space.unit,
        n_rows=space.n_rows,
        n_units=space.n_units,
        prior_membership=prior,
        n_unprotected=n_unprotected,
        known=known,
        known_errors=errors,
        is_listed=space.is_listed,
    )


def membership_prior(space: SecretSpace | HashedSpace) -> tuple[float, int]:
    """Blind success at the membership of the least protected unit, and how many have no secret."""
    inclusion = space.inclusion()
    # Units in all subsets or in none have no secret: their success of 1 would hide the others'.
    # There are others, because subsets differ.
    protected = inclusion[(inclusion > 0) & (inclusion < 1)]
    prior = float(np.max(np.maximum(protected, 1 - protected)))
    return prior, int(inclusion.size - protected.size)


_Known = tuple[tuple[tuple[float, float], ...], tuple[float, ...]]

# A session states its guarantee after every answer; its space stays the same.
_KNOWN: WeakKeyDictionary[SecretSpace | HashedSpace, _Known] = WeakKeyDictionary()


def _known_rows(space: SecretSpace | HashedSpace) -> _Known:
    """Blind success of those who know memberships of units that have a secret, and its errors."""
    if space not in _KNOWN:
        inclusion = space.inclusion()
        hidden = np.flatnonzero((inclusion > 0) & (inclusion < 1))
        if hidden.size < 2:
            return (), ()
        uniform, greedy, errors = known_rows_success(
            space.membership(_sampled(hidden)), space.weights
        )
        known = tuple((float(u), float(g)) for u, g in zip(uniform, greedy, strict=True))
        _KNOWN[space] = known, tuple(errors.tolist())
    return _KNOWN[space]


def _sampled(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Units of a large universe that the averages are taken over."""
    if units.size <= _MOST_UNITS:
        return units
    # A fixed seed: a guarantee says the same whenever it is asked for.
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
