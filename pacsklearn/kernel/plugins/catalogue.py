"""Classes of one kind by name and by the estimators that they claim."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, final

from pacsklearn.exceptions import PluginClashError
from pacsklearn.kernel.host import host
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.plugins.kinds import Kind, is_dotted_name, public_name, public_names


@final
@dataclass(frozen=True)
class Registration:
    """What a class says of itself, and the distribution that it came from.

    Parameters
    ----------
    kind : Kind
    name, description : str
        What it is asked for by, and one line for listings.
    estimators : tuple of str or type
        The estimators that it claims, if the kind is found by them.
    made : class
    distribution, version : str
        What registered it.
    """

    kind: Kind
    name: str
    description: str
    estimators: tuple[str | type, ...]
    made: Any
    distribution: str
    version: str

    @classmethod
    def of(cls, kind: Kind, made: Any, distribution: tuple[str, str] | None = None) -> Registration:
        """Read the facts off a class, and refuse what is none of the kind.

        Parameters
        ----------
        kind : Kind
        made : class
        distribution : (str, str), optional
            Name and version; those of the package that defines it when not given.

        Raises
        ------
        TypeError
            When it is not a class that instances can be made of.
        ValueError
            When its name, its description or an estimator is not of the right form.
        """
        if not kind.holds(made):
            what = made if isinstance(made, type) else type(made)
            an = "the class" if isinstance(made, type) else "an object of type"
            raise TypeError(
                f"a {kind.noun} is a subclass of {kind.base.__name__}, got {an} {what.__qualname__}"
            )
        if inspect.isabstract(made):
            missing = ", ".join(sorted(made.__abstractmethods__))
            raise TypeError(f"{made.__qualname__} is abstract; implement {missing}")
        name = getattr(made, "name", "")
        if not isinstance(name, str) or not name or name != name.strip() or name == "auto":
            raise ValueError(
                f"{made.__qualname__}.name must be a non-empty string without surrounding space, "
                f"and not 'auto', got {name!r}"
            )
        description = getattr(made, "description", "")
        if not isinstance(description, str) or not description:
            # A scenario describes each instance: the class is described by its docstring.
            description = (inspect.cleandoc(made.__doc__ or "").splitlines() or [""])[0]
        given: Any = getattr(made, "estimators", ())
        estimators = (given,) if isinstance(given, (str, type)) else tuple(given)
        for claim in estimators:
            if not isinstance(claim, type) and not is_dotted_name(claim):
                raise ValueError(
                    f"{made.__qualname__}.estimators must be classes or qualified names such as "
                    f"'sklearn.svm.LinearSVC', got {claim!r}"
                )
        # By hand: the package that defines the class answers for it in every event.
        source = distribution or host().distribution(host().target(made))
        return cls(kind, name, description, estimators, made, *source)

    @property
    def provenance(self) -> Provenance:
        """What an event remembers."""
        return Provenance(self.name, host().target(self.made), self.distribution, self.version)

    @property
    def claims(self) -> tuple[str | type, ...]:
        """The estimators, by class and by every public name."""
        claims: list[str | type] = []
        for estimator in self.estimators:
            if isinstance(estimator, str):
                claims.append(public_name(estimator))
            else:
                claims += [estimator, *public_names(estimator)]
        return tuple(dict.fromkeys(claims))

    def __str__(self) -> str:
        return f"{self.distribution!r} {self.version}"


def unregistered_provenance(instance: object) -> Provenance:
    """Return the provenance of an object whose class is registered nowhere."""
    target = host().target(type(instance))
    return Provenance(type(instance).__qualname__, target, *host().distribution(target))


_INTERACTIVE: Final = "__main__"
_REMEDY: Final = (
    "Uninstall one, leave it out with the environment variable PACSKLEARN_PLUGINS, or "
    "pacsklearn.plugins.unregister what was registered by hand."
)


@final
class Catalogue:
    """Registrations of one kind by name, and the estimators that they claim."""

    def __init__(self) -> None:
        self._by_name: dict[str, Registration] = {}
        self._by_claim: dict[str | type, Registration] = {}

    def add(self, new: Registration) -> None:
        """Add it, or raise :class:`PluginClashError` and change nothing.

        The same class is added once. A class of an interactive session takes the place of an
        earlier one, so that a notebook's cell can run twice.
        """
        # Kinds are added to, never replaced: a name means one mechanism in every event.
        earlier = self._by_name.get(new.name)
        if earlier is not None and earlier.made is new.made:
            return
        replaces = earlier and new.distribution == earlier.distribution == _INTERACTIVE
        if earlier is not None and not replaces:
            raise PluginClashError(
                f"Two distributions register the {new.kind.noun} {new.name!r}: {earlier} and "
                f"{new}. {_REMEDY}"
            )
        # All claims are looked at before anything is added: a clash changes nothing.
        for claim in new.claims:
            rival = self._by_claim.get(claim)
            if rival is not None and rival is not earlier:
                estimator = claim if isinstance(claim, str) else claim.__qualname__
                raise PluginClashError(
                    f"Two {new.kind.noun}s claim the estimator {estimator}: {rival.name!r} of "
                    f"{rival} and {new.name!r} of {new}. {_REMEDY}"
                )
        if earlier is not None:
            self.remove(earlier.made)
        self._by_name[new.name] = new
        self._by_claim.update(dict.fromkeys(new.claims, new))

    def remove(self, made: Any) -> bool:
        """Remove a class; whether it was there."""
        held = self.holding(made)
        if held is None:
            return False
        del self._by_name[held.name]
        self._by_claim = {claim: by for claim, by in self._by_claim.items() if by is not held}
        return True

    def get(self, name: object) -> Registration | None:
        """Return the registration of that name."""
        return self._by_name.get(name) if isinstance(name, str) else None

    def holding(self, made: Any) -> Registration | None:
        """Return the registration of that class."""
        return next((each for each in self._by_name.values() if each.made is made), None)

    def all(self) -> tuple[Registration, ...]:
        """Return the registrations, by name."""
        return tuple(self._by_name[name] for name in sorted(self._by_name))

    def claiming(self, cls: type) -> Iterator[Registration]:
        """Yield the registrations that claim a class along the MRO, the nearest first."""
        # The nearest class wins, so that a subclass may be claimed apart from its base.
        for ancestor in cls.__mro__:
            claims: tuple[str | type, ...] = (ancestor, *public_names(ancestor))
            claimer = next((self._by_claim[one] for one in claims if one in self._by_claim), None)
            if claimer is not None:
                yield claimer


class Source(Protocol):
    """Where the classes of each kind come from: the rings, and whatever is installed.

    Attributes
    ----------
    kinds : mapping of str to Kind
        What the rings declare.
    failures : sequence
        Why plugins are not there, each printing as a sentence.
    complaint : str
        A sentence about these, to end an error with; empty without any.
    """

    @property
    def kinds(self) -> Mapping[str, Kind]: ...
    @property
    def failures(self) -> Sequence[Any]: ...
    @property
    def complaint(self) -> str: ...

    def catalogue(self, kind: Kind) -> Catalogue:
        """Return all classes of a kind; plugins are imported for the first one."""

    def warn(self) -> None:
        """Warn once for each distribution that was left out."""
