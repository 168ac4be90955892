"""What a release promises, in numbers and in words."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, NamedTuple, final

from pacsklearn.core.criterion import MEMBERSHIP_AIM, NAMING_AIM
from pacsklearn.core.event import Provenance
from pacsklearn.core.statement_rendering import as_html, as_text, percent_up, rounded_up
from pacsklearn.information.dp_equivalent import dp_epsilon
from pacsklearn.information.posterior_success import posterior_success

__all__ = [
    "CANDIDATE",
    "SAMPLED",
    "Guarantee",
    "KnownRows",
    "other_promise",
    "other_secret",
]

CANDIDATE: Final = "candidate"
"""Unit of privacy of a list of arbitrary candidates: which of them was used."""

SAMPLED: Final = "sampled secret"
"""Unit of privacy of a secret that can be sampled but not listed."""


def other_promise(
    unit: str, seen: str, n_candidates: int, posterior: float, prior: float, even: float
) -> str:
    """Promise about a secret that is a candidate or was sampled.

    Parameters
    ----------
    unit : str
        ``CANDIDATE`` or ``SAMPLED``.
    seen : str
        What the adversary sees.
    n_candidates : int
    posterior, prior : float
        Success at naming the candidate, afterwards and blindly.
    even : float
        Success at a question that blind guessing gets right half of the time.
    """
    if unit == CANDIDATE:
        return (
            f"Whoever sees {seen}, with unlimited computing power and knowing all "
            f"{n_candidates:,} candidates, names the one that was used with a success of at most "
            f"{percent_up(posterior)} %; guessing blindly has {percent_up(prior)} %."
        )
    return (
        f"Whoever sees {seen}, with unlimited computing power and knowing how the secret is drawn, "
        "answers any question about it that blind guessing gets right half of the time with a "
        f"success of at most {percent_up(even)} %."
    )


def other_secret(
    unit: str, n_candidates: int, entropy: float | None, posterior: float, even: float
) -> list[tuple[str, str]]:
    """Rows of the text about the secret, for a candidate or a sampled secret."""
    if unit == CANDIDATE:
        return [
            ("secret", f"1 of {n_candidates} candidates ({entropy:.4g} nats)"),
            ("naming the candidate", f"at most {percent_up(posterior)} %"),
            ("at even odds", f"at most {percent_up(even)} %"),
        ]
    return [("secret", "drawn afresh by a sampler, of which only trials can be seen")]


_LISTED = "public: who knows a few memberships can look the others up in it"
_HIDDEN = "drawn in secret; every figure is that of an adversary who knows it"
_CHOSEN = ("knowing k of them", "the k that tell most")


@final
class KnownRows(NamedTuple):
    """Success at the membership of other units than the known ones, on average over them.

    Attributes
    ----------
    blind, chosen_blind : float
        Before any release: known units drawn uniformly, and those that tell most.
    bound, chosen_bound : float
        At most, after the release.
    """

    blind: float
    chosen_blind: float
    bound: float
    chosen_bound: float


@final
@dataclass(frozen=True)
class Guarantee:
    """The promise that comes with a release. Prints as text and as HTML; round-trips JSON.

    Parameters
    ----------
    framework : str
        ``"PAC privacy"``.
    definition : str
        What is bounded.
    budget, spent : float
        What was allowed and what is revealed at most, in ``unit``: by this release together with
        those before it in its session.
    unit : str
        ``"nats"``.
    bound : str
        Why the spent figure is a bound.
    confidence : float
        Probability that the bound holds; 1.0 when it is a proof.
    secret_entropy : float or None
        Nats needed to name the secret; None when it can only be sampled.
    n_subsets, n_units, n_rows : int
        Candidates; units of privacy and rows in the universe (0 when there are none).
    privacy_unit : str
        ``"row"`` or ``"group"``; ``"candidate"`` when the secret is one of a list of arbitrary
        inputs, ``"sampled secret"`` when it can be sampled but not listed.
    prior_membership : float
        Success of guessing the membership of the least protected unit blindly; 1/2, for a question
        at even odds, when the secret is no subset of rows.
    n_unprotected : int
        Units that are in all candidate subsets or in none: their membership is no secret.
    released : tuple of str
        What came out of the noisy vector.
    public : tuple of str
        What was released as it is because it is public or does not depend on the data.
    not_covered : tuple of str
        What the promise does not say.
    sources : tuple of str
        Theorems behind the bounds.
    noise : str
        Noise backend.
    noiseless : bool
        Whether the budget covers the whole secret, so that no noise was added.
    for_release : bool
        False when the noise can be predicted (``random_state``).
    provenance : tuple of Provenance
        Plugins involved.
    prior_identification : float, optional
        Success of guessing the secret subset blindly: the largest prior weight. When not given it
        is ``1 / n_subsets`` if ``secret_entropy`` says that all are equally likely, else 1.
    n_releases : int
        Releases of the session so far, this one included; all figures are about them together.
    metered : float, optional
        Nats charged so far, where steps depend on the ones before them. It is not a bound: the
        bound is ``spent``, which holds whatever the session went on to release.
    details : tuple of (str, str)
        Further facts, by name, for the text.
    criterion : str, optional
        Name of the criterion whose success is capped; ``budget`` and ``spent`` are then
        probabilities instead of nats.
    mutual_information : float, optional
        Bound on the mutual information in nats, where ``spent`` is something else.
    capped : str
        What attacks call the success that the criterion caps (:class:`Criterion.aim`).
    known_rows : tuple of (float, float)
        Entry k: blind success, before any release, at the membership of other units for an
        adversary who knows the candidates and the membership of k units; on average over units
        drawn uniformly, and for the k units that tell most.
    is_listed : bool
        Whether the list of candidates is public. No figure depends on it.
    ledger_head : str
        Where the shared ledger stood after the release, as
        ``pacsklearn ledger verify --against`` reads it: an older copy of it does not hold this.
    certified_membership : float, optional
        Bound on the success of the optimal adversary at the worst unit's membership, computed for
        the law of this release; ``posterior_membership`` is what the information alone implies.
    certified_confidence : float, optional
        Probability that it holds.
    """

    framework: str
    definition: str
    budget: float
    spent: float
    unit: str
    bound: str
    confidence: float
    secret_entropy: float | None
    n_subsets: int
    n_units: int
    n_rows: int
    privacy_unit: str
    prior_membership: float
    n_unprotected: int
    released: tuple[str, ...]
    public: tuple[str, ...]
    not_covered: tuple[str, ...]
    sources: tuple[str, ...]
    noise: str
    noiseless: bool
    for_release: bool
    provenance: tuple[Provenance, ...] = ()
    prior_identification: float | None = None
    n_releases: int = 1
    metered: float | None = None
    details: tuple[tuple[str, str], ...] = ()
    criterion: str | None = None
    mutual_information: float | None = None
    capped: str = ""
    known_rows: tuple[tuple[float, float], ...] = ()
    is_listed: bool = True
    ledger_head: str = ""
    certified_membership: float | None = None
    certified_confidence: float | None = None

    def knowing(self, k: int) -> KnownRows:
        """What an adversary achieves who knows whether ``k`` units were used.

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
        if not 0 <= k < len(self.known_rows):
            raise ValueError(
                f"k must be from 0 to {len(self.known_rows) - 1}, got {k!r}."
                if self.known_rows
                else "The secret is no subset of rows, so there are no memberships to know."
            )
        uniform, greedy = self.known_rows[k]
        after = (posterior_success(self.information, blind) for blind in (uniform, greedy))
        return KnownRows(uniform, greedy, *after)

    @property
    def posterior_membership(self) -> float:
        """Most that any adversary's success at a unit's membership can be, after the release."""
        bound = posterior_success(self.information, self.prior_membership)
        return min(bound, self.spent) if self.capped == MEMBERSHIP_AIM else bound

    @property
    def information(self) -> float:
        """Bound on the mutual information between the secret and the release, in nats."""
        return self.spent if self.mutual_information is None else self.mutual_information

    @property
    def remaining_entropy(self) -> float | None:
        """Least that remains unknown of the secret, in nats; None when it can only be sampled.

        ``H(S | Y) >= H(S) - I(S; Y)``. Source: residual-pac, equation 10.
        """
        if self.secret_entropy is None:
            return None
        return max(self.secret_entropy - self.information, 0.0)

    @property
    def intrinsic_privacy(self) -> float | None:
        """Minus the divergence of the secret's prior from the uniform one, in nats; 0 at best.

        Source: residual-pac, section 4.
        """
        if self.secret_entropy is None:
            return None
        return min(self.secret_entropy - math.log(self.n_subsets), 0.0) + 0.0

    @property
    def residual_privacy(self) -> float | None:
        """Part of the intrinsic privacy that the release leaves, in nats.

        ``intrinsic_privacy - I(S; Y)``, at least, and never below that of a secret that is known:
        no release tells more than the entropy. Source: residual-pac, Definition 9 and Corollary 2,
        with the uniform reference.
        """
        if self.intrinsic_privacy is None or self.secret_entropy is None:
            return None
        return self.intrinsic_privacy - min(self.information, self.secret_entropy)

    @property
    def posterior_identification(self) -> float:
        """Most that any adversary's success at naming the secret subset can be."""
        bound = posterior_success(self.information, self._prior_identification)
        return min(bound, self.spent) if self.capped == NAMING_AIM else bound

    def dp_epsilon(self, delta: float = 0.0) -> float:
        """Epsilon of an (epsilon, delta)-DP mechanism with the same membership bound.

        Source: pac-private-algorithms, equation 2. The two notions protect different things: this
        compares their membership bounds, it does not make the release differentially private.
        """
        return dp_epsilon(self.posterior_membership, delta)

    @property
    def status(self) -> str:
        """One line: how far the promise can be relied on."""
        if not self.for_release:
            return "NOT FOR RELEASE: the noise is reproducible (random_state was given)"
        if self.confidence <= 0:
            return "ESTIMATED, NOT PROVED: for comparison only, nothing is promised"
        if self.noiseless and self.spent > 0:
            return "NO NOISE: the budget covers the whole secret, so nothing is hidden"
        if self.confidence < 1:
            return f"holds with confidence {self.confidence:.8g}"
        return "proved"

    @property
    def promise(self) -> str:
        """The promise in one plain sentence."""
        rows = "row" if self.privacy_unit == "row" else "group of rows"
        seen = "this release"
        if self.n_releases == 0:
            seen = "all that this session may release"
        if self.n_releases > 1:
            seen = f"all {self.n_releases} releases of this session so far"
        if self._is_other:
            return other_promise(
                self.privacy_unit,
                seen,
                self.n_subsets,
                self.posterior_identification,
                self._prior_identification,
                self.posterior_membership,
            )
        text = (
            f"Whoever sees {seen}, with unlimited computing power and knowing all "
            f"{self.n_rows:,} rows, can tell whether any one {rows} was used with a success of at "
            f"most {percent_up(self.posterior_membership)} %; guessing blindly has "
            f"{percent_up(self.prior_membership)} %."
        )
        if self.certified_membership is not None:
            these = "this very release" if self.n_releases == 1 else "these very releases together"
            text += f" Certified for {these}: at most {percent_up(self.certified_membership)} %."
        if self.n_unprotected:
            text += (
                f" This does not hold for {self.n_unprotected:,} {rows}(s) that all candidate "
                "subsets contain, or none: their membership is public."
            )
        return text

    def _rows(self) -> list[tuple[str, str]]:
        epsilon = self.dp_epsilon()
        same = "no finite epsilon" if epsilon == float("inf") else f"{rounded_up(epsilon)}-DP"
        if self._is_other:
            secret = other_secret(
                self.privacy_unit,
                self.n_subsets,
                self.secret_entropy,
                self.posterior_identification,
                self.posterior_membership,
            )
        else:
            secret = self._secret_rows()
        charged = (
            ()
            if self.metered is None or self.criterion is not None
            else (("charged so far", f"{self.metered:.6g} {self.unit}"),)
        )
        return [
            *self._spending(),
            *charged,
            *self.details,
            (
                "same at even odds" if self._is_other else "same membership bound",
                f"{same} (a comparison, not a claim of DP)",
            ),
            *secret,
            ("unit of privacy", self.privacy_unit),
            ("noise", self.noise),
            ("bound", self.bound),
            ("released with noise", ", ".join(self.released) or "nothing"),
            ("public as it is", ", ".join(self.public) or "nothing"),
            ("sources", "; ".join(self.sources)),
            (
                "software",
                ", ".join(f"{p.name} ({p.distribution} {p.version})" for p in self.provenance),
            ),
        ]

    def _spending(self) -> list[tuple[str, str]]:
        remaining = self.remaining_entropy
        left = (
            []
            if remaining is None
            else [("remains unknown", f"at least {remaining:.6g} nats of the secret")]
        )
        if self.criterion is None:
            spent = f"{self.spent:.6g} of {self.budget:.6g} {self.unit} of mutual information"
            return [("spent", spent), *left]
        spent = (
            f"at most {percent_up(self.spent)} %, the cap being {percent_up(self.budget)} %; "
            f"criterion {self.criterion}"
        )
        return [
            ("success", spent),
            ("mutual information", f"at most {self.information:.6g} nats"),
            *left,
        ]

    def _secret_rows(self) -> list[tuple[str, str]]:
        rate = 1 - self.prior_membership
        inclusion = (
            f"each {self.privacy_unit} is in {rate:.3g} or {self.prior_membership:.3g} of them"
            if abs(rate - 0.5) > 1e-12
            else f"each {self.privacy_unit} is in half of them"
        )
        return [
            (
                "secret",
                f"1 of {self.n_subsets} subsets ({self.secret_entropy:.4g} nats); {inclusion}",
            ),
            *self._membership_rows(),
            ("naming the subset", f"at most {percent_up(self.posterior_identification)} %"),
            ("list of subsets", _LISTED if self.is_listed else _HIDDEN),
            *(self._known_row(name, i) for i, name in enumerate(_CHOSEN) if self.known_rows),
        ]

    def _membership_rows(self) -> list[tuple[str, str]]:
        if self.certified_membership is None:
            return []
        return [
            (
                "membership",
                (
                    f"certified at most {percent_up(self.certified_membership)} % at confidence "
                    f"{self.certified_confidence:.8g}; implied by the information "
                    f"{percent_up(self.posterior_membership)} %"
                ),
            )
        ]

    def _known_row(self, name: str, which: int) -> tuple[str, str]:
        cells = [self.knowing(k) for k in range(1, len(self.known_rows))]
        shown = "; ".join(
            f"{k}: {percent_up(cell[which])} to {percent_up(cell[which + 2])} %"
            for k, cell in enumerate(cells, start=1)
        )
        return name, f"others' membership, guessed blindly and at most after: {shown}"

    @property
    def _prior_identification(self) -> float:
        if self.prior_identification is not None:
            return self.prior_identification
        if self.secret_entropy is None:
            return 1.0
        uniform = self.secret_entropy >= math.log(self.n_subsets) * (1 - 1e-13)
        return 1 / self.n_subsets if uniform else 1.0

    @property
    def _is_other(self) -> bool:
        """Whether the secret is something else than a subset of rows."""
        return self.privacy_unit in {CANDIDATE, SAMPLED}

    def __str__(self) -> str:
        return as_text(self._title, self.promise, self._rows(), self.not_covered)

    def _repr_html_(self) -> str:
        return as_html(self._title, self.promise, self._rows(), self.not_covered)

    @property
    def _title(self) -> str:
        return f"{self.framework} guarantee: {self.status}"

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary with the derived bounds added, for JSON."""
        data = asdict(self)
        data["posterior_membership"] = self.posterior_membership
        data["posterior_identification"] = self.posterior_identification
        data["remaining_entropy"] = self.remaining_entropy
        data["intrinsic_privacy"] = self.intrinsic_privacy
        data["residual_privacy"] = self.residual_privacy
        return data

    def to_json(self, **options: Any) -> str:
        """JSON text; :meth:`from_json` reads it back. ``options`` go to :func:`json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    @classmethod
    def from_json(cls, text: str) -> Guarantee:
        """Guarantee written by :meth:`to_json`; derived bounds are computed anew."""
        data = json.loads(text)
        known = {field.name for field in fields(cls)}
        kept: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in data.items()
            if name in known
        }
        kept["known_rows"] = tuple((a, b) for a, b in data.get("known_rows", ()))
        kept["details"] = tuple((name, text) for name, text in data.get("details", ()))
        kept["provenance"] = tuple(Provenance(**entry) for entry in data.get("provenance", ()))
        return cls(**kept)
