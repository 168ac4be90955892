"""What a session's releases are about, and the guarantee that states it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, final

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import FewCandidatesWarning
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.ledger.event import Event
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.canonicalizer import Layout
from pacsklearn.kernel.release.account import NATS, SUCCESS
from pacsklearn.kernel.secret.space import Space

ONE_SIDED: Final = "one_sided"
"""Name of the noise that only adds, in events and arguments."""

_RULED_OUT = (
    "What padding cannot hide: a padded value rules out every candidate whose own value is larger."
)

_PUBLISHED = (
    "facts looked up in the table are published exactly, and presence in the table is not "
    "protected; which rows were used is"
)

_OTHER_AIMS = (
    "Other aims: only the success named above is capped; what an adversary achieves otherwise is "
    "bounded by the mutual information alone."
)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Terms:
    """What the releases of a session are about: its secret, and what is capped.

    Parameters
    ----------
    space : Space
    criterion : Criterion, optional
        What is capped instead of the mutual information. Successes do not add up, so such a session
        makes one release.
    looked_up : tuple of str, default=()
        Facts of the table that were looked up by consent, before candidates were drawn, and are
        published exactly with whatever is released.
    """

    space: Space
    criterion: Criterion | None = None
    looked_up: tuple[str, ...] = ()

    @cached_property
    def unit(self) -> str:
        """What the session's ledger counts."""
        return NATS if self.criterion is None else f"{SUCCESS}{self.criterion.name}"

    @cached_property
    def n_candidates(self) -> int:
        """Candidates for the secret; 0 where they cannot be listed."""
        return self.space.n_candidates

    def target(self, amount: float, n_planned: int = 1) -> Target:
        """Return what a release may reveal that is planned as one of so many."""
        return Target(amount, self.criterion, self.space.backend(n_planned))

    def warn_of_few(self, event: Event) -> None:
        """Warn when more candidates would hide more of what is released."""
        # Where they span less than they could, numbers are alike in all, and more would be too.
        m = self.n_candidates
        if self.space.has_members and m - 1 <= event.n_noisy < event.n_outputs:
            warn_user(
                f"{m} candidate subsets span at most {m - 1} of the {event.n_outputs} directions "
                "of what is released; the others are a function of the whole table, are released "
                "without noise, and nothing is promised about them. The guarantee states the "
                "share; use more subsets, or release fewer numbers.",
                FewCandidatesWarning,
            )

    def directions(self, event: Event) -> tuple[tuple[str, str], ...]:
        """Return how much of a released vector depends on the secret at all, for the guarantee."""
        # Outputs of m candidates span m - 1 directions at most; in the others all candidates agree
        # and no noise is added, so that what is released there is a function of the whole table.
        fixed = event.n_outputs - event.n_noisy
        if not self.space.has_members or event.n_noisy == 0 or fixed <= 0:
            return ()
        stated = (
            f"{fixed} of {event.n_outputs} directions of what is released "
            f"({100 * fixed / event.n_outputs:.3g} %) are a function of the whole table, "
            "without noise: the candidates do not differ in them"
        )
        return (("whole table", stated),)

    def guarantee(self, events: Sequence[Event], laws: Sequence[Any], **facts: Any) -> PACGuarantee:
        """Return the guarantee of what was charged.

        Parameters
        ----------
        events : sequence of Event
            All charges of the session.
        laws : sequence of Law
            Those used in this process.
        **facts
            Fields of the guarantee that only the procedure knows.
        """
        secret, criterion = self.space.stated(), self.criterion
        only_adds = any(event.backend == ONE_SIDED for event in events)
        if criterion is None:
            definition = f"mutual information between the secret {secret.noun} and the release"
            # From the entropy on the bound is met without any noise.
            facts.setdefault("noiseless", facts["spent"] >= self.space.entropy)
        else:
            definition = f"success of the optimal adversary, who wants to {criterion.statement}"
            facts.setdefault("noiseless", False)
            facts["criterion"], facts["capped"] = criterion.name, criterion.aim
            # Of the one release under a criterion, or of any.
            facts["mutual_information"] = events[-1].bound if events else self.space.entropy
        facts |= {
            "definition": definition,
            "unit": self.unit,
            "secret": secret,
            "not_covered": (
                *secret.limits,
                *((_RULED_OUT,) if only_adds else ()),
                *((_OTHER_AIMS,) if criterion is not None else ()),
            ),
            "sources": (
                "posterior success: pac-private-algorithms, eq. 3",
                "DP comparison: pac-private-algorithms, eq. 2",
                "noise bound: see the backend",
            ),
        }
        if self.looked_up:
            facts |= {"headline": _PUBLISHED, "public": (*facts["public"], *self.looked_up)}
        return PACGuarantee(**(facts | self.space.statement(laws, facts)))


def public_facts(layout: Layout) -> tuple[str, ...]:
    """Return the names of the structure that a release shows as it is."""
    names = {"hyper-parameters", "public seeds"}

    def collect(part: Layout) -> None:
        names.update(name for name, _ in part.facts if name.endswith("_"))
        for _, child in part.children:
            collect(child)

    collect(layout)
    return tuple(sorted(names))
