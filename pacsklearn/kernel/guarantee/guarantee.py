"""What a release promises: what every kind of guarantee states, and how it is written down."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.guarantee.figure import Figure
from pacsklearn.kernel.guarantee.status import Reliance, Status
from pacsklearn.kernel.host import host
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.secret.stated_secret import StatedSecret


@dataclass(frozen=True, repr=False, kw_only=True)
class Guarantee(ABC):
    """The promise that comes with a release. Prints as text and as HTML; round-trips JSON.

    Each framework has its kind, which says what its figures mean and derives the others from them:
    :class:`~pacsklearn.kernel.guarantee.pac_guarantee.PACGuarantee`,
    :class:`~pacsklearn.srpp.PufferfishGuarantee`.

    Parameters
    ----------
    definition : str
        What is bounded.
    budget, spent : float
        What was allowed and what is revealed at most, in ``unit``: by this release together with
        those before it in its session.
    unit : str
        ``"nats"``, or what else amounts are counted in.
    bound : str
        Why the spent figure is a bound.
    confidence : float
        Probability that the bound holds; 1.0 when it is a proof.
    secret : StatedSecret
        What is secret, with its words.
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
        Whether no noise was added.
    not_for_release : str
        Why it must not be given away whatever the figures are, as that the noise can be predicted
        (``random_state``); empty where nothing of the kind happened. :attr:`status` reads it.
    provenance : tuple of Provenance
        Plugins involved.
    n_releases : int
        Releases of the session so far, this one included; all figures are about them together.
    details : tuple of (str, str)
        Further facts, by name, for the text.
    ledger_head : str
        Where the shared ledger stood after the release, as
        ``pacsklearn ledger verify --against`` reads it: an older copy of it does not hold this.
    headline : str
        What must be read before the promise, in the title: of answers and students, that they hold
        what all candidates agree on.
    """

    name: ClassVar[str]

    definition: str
    budget: float
    spent: float
    unit: str
    bound: str
    confidence: float
    secret: StatedSecret
    released: tuple[str, ...]
    public: tuple[str, ...]
    not_covered: tuple[str, ...]
    sources: tuple[str, ...]
    noise: str
    noiseless: bool
    not_for_release: str
    provenance: tuple[Provenance, ...] = ()
    n_releases: int = 1
    details: tuple[tuple[str, str], ...] = ()
    ledger_head: str = ""
    headline: str = ""

    @property
    def status(self) -> Status:
        """How far the promise can be relied on, and why; prints as one line."""
        # Before any figure: noise that can be predicted hides nothing, whatever was calibrated.
        if self.not_for_release:
            return Status(Reliance.NOT_FOR_RELEASE, self.not_for_release)
        return self._reliance()

    @property
    def for_release(self) -> bool:
        """Whether what was released may be given away, as :attr:`status` says."""
        # Rule 15: publishing reads the status and nothing else.
        return self.status.for_release

    @property
    def promise(self) -> str:
        """The promise in plain sentences, which begin with what they are about, alone."""
        # Rule 17: every statement begins with what it is about, alone.
        return f"{self.scope[:1].upper()}{self.scope[1:]}. {self._sentences()}"

    @property
    def scope(self) -> str:
        """What the promise is about: other releases about the same rows are not in it."""
        return "this release alone"

    @property
    @abstractmethod
    def figures(self) -> tuple[Figure, ...]:
        """Bounds and facts, each with its unit and what it means; the headline stands first."""

    @abstractmethod
    def reached(self, limit: Budget) -> float | None:
        """Return the most that is reached of what a budget bounds; None where none is stated."""

    @property
    def summary(self) -> str:
        """Promise and figures on one screen; ``str()`` has all that is stated."""
        return host().laid_out(self, "summary")

    @abstractmethod
    def _sentences(self) -> str:
        """Return what is promised about all in the scope."""

    @abstractmethod
    def _reliance(self) -> Status:
        """Return the status of what nothing but its figures speaks against."""

    @property
    def title(self) -> str:
        """Kind of the promise, its status, and what must be read before it."""
        caveat = f"; {self.headline}" if self.headline else ""
        return f"{self.name} guarantee: {self.status}{caveat}"

    def __repr__(self) -> str:
        return host().laid_out(self, "text")

    def _repr_html_(self) -> str:
        return host().laid_out(self, "html")

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary with the derived bounds added, for JSON."""
        secret = {"kind": self.secret.name, **asdict(self)["secret"]}
        return {
            "scope": self.scope,
            "framework": self.name,
            "status": self.status.to_dict(),
            **asdict(self),
            "secret": secret,
        }

    def to_json(self, **options: Any) -> str:
        """Write JSON text, which :meth:`from_json` reads. ``options`` go to :func:`json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    @classmethod
    @abstractmethod
    def secret_kinds(cls) -> tuple[type[StatedSecret], ...]:
        """List the kinds of secret that such a guarantee may be about."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a guarantee written by :meth:`to_json`; derived bounds are computed anew.

        Raises
        ------
        ValueError
            When the text is of another kind of guarantee, or about no secret that it has.
        """
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read what :meth:`to_dict` gave: the kind of guarantee of its framework.

        Raises
        ------
        ValueError
            As of :meth:`from_json`.
        """
        from pacsklearn.kernel.plugins.registry import registry

        framework = data.get("framework", "") if isinstance(data, Mapping) else ""
        kind = registry().load("guarantee", framework)
        # Whoever reads one kind must not be handed another with other figures.
        if not issubclass(kind, cls):
            raise ValueError(
                f"text must be JSON written by {cls.__name__}.to_json, got one of "
                f"{kind.__name__}.to_json."
            )
        # A text of an earlier version lacks newer fields, which keep their defaults.
        facts = {one.name: _tuples(data[one.name]) for one in fields(kind) if one.name in data}
        # Bounds that follow from the fields are no fields: a text cannot claim better ones.
        secret = dict(facts.get("secret") or {})
        secrets = {each.name: each for each in kind.secret_kinds()}
        stated = secret.pop("kind", None)
        if stated not in secrets:
            raise ValueError(
                f"text must be JSON written by {kind.__name__}.to_json, with a secret whose kind "
                f"is one of {', '.join(map(repr, secrets))}, got kind {stated!r}."
            )
        facts["secret"] = secrets[stated](**{name: _tuples(each) for name, each in secret.items()})
        facts["provenance"] = tuple(Provenance(**each) for each in facts.get("provenance", ()))
        made: Self = kind(**kind._read(facts))
        return made

    @classmethod
    def _read(cls, facts: dict[str, Any]) -> dict[str, Any]:
        """Return the facts with values of other types than JSON has."""
        return facts


def _tuples(value: Any) -> Any:
    """Return lists of any depth as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
