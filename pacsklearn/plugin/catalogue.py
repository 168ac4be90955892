"""What is registered, and who may claim what."""

from __future__ import annotations

from typing import final

from pacsklearn.exceptions import PluginClashError
from pacsklearn.plugin.qualified_name import public_name, public_names
from pacsklearn.plugin.records import (
    BatchPredictorRecord,
    CanonicalizerRecord,
    Record,
    SubsetFitterRecord,
)
from pacsklearn.plugin.registration import KINDS, Kind, Registration

__all__ = ["Catalogue"]

_INTERACTIVE = "__main__"


@final
class Catalogue:
    """Registrations by kind and name, and the estimators that they claim."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[Kind, str], Registration] = {}
        self._by_claim: dict[tuple[Kind, str | type], Registration] = {}

    def add(self, registration: Registration) -> None:
        """Add it, or raise :class:`PluginClashError` and change nothing.

        An equal record is added once. A record of an interactive session takes the place of an
        earlier one, so that a notebook's cell can run twice.
        """
        key = (registration.kind, registration.record.name)
        earlier = self._by_name.get(key)
        if earlier is not None and earlier.record == registration.record:
            return
        if earlier is not None and not _replaces(registration, earlier):
            raise PluginClashError(
                f"Two distributions register the {registration.kind} "
                f"{registration.record.name!r}: {_label(earlier)} and {_label(registration)}. "
                + _REMEDY
            )
        claims = [(registration.kind, claim) for claim in _claims(registration.record)]
        for claim in claims:
            rival = self._by_claim.get(claim)
            if rival is not None and rival is not earlier:
                kind, estimator = claim
                name = estimator if isinstance(estimator, str) else estimator.__qualname__
                raise PluginClashError(
                    f"Two {kind.replace('_', ' ')}s claim the estimator {name}: "
                    f"{rival.record.name!r} of "
                    f"{_label(rival)} and {registration.record.name!r} of {_label(registration)}. "
                    + _REMEDY
                )
        if earlier is not None:
            self.remove(earlier.record)
        self._by_name[key] = registration
        self._by_claim.update(dict.fromkeys(claims, registration))

    def remove(self, record: Record) -> bool:
        """Remove the equal record; whether there was one."""
        key = (KINDS[type(record)], record.name)
        found = self._by_name.get(key)
        if found is None or found.record != record:
            return False
        del self._by_name[key]
        self._by_claim = {
            claim: holder for claim, holder in self._by_claim.items() if holder is not found
        }
        return True

    def get(self, kind: Kind, name: str) -> Registration | None:
        """Registration of that name."""
        return self._by_name.get((kind, name))

    def all(self, kind: Kind) -> tuple[Registration, ...]:
        """Registrations of a kind, by name."""
        return tuple(self._by_name[key] for key in sorted(self._by_name) if key[0] == kind)

    def claiming(self, cls: type, kind: Kind = "canonicalizer") -> Registration | None:
        """Registration of that kind for the nearest class along the MRO that one claims."""
        for ancestor in cls.__mro__:
            claims: tuple[str | type, ...] = (ancestor, *public_names(ancestor))
            for claim in claims:
                found = self._by_claim.get((kind, claim))
                if found is not None:
                    return found
        return None


_REMEDY = (
    "Uninstall one, leave it out with the environment variable PACSKLEARN_PLUGINS, or "
    "pacsklearn.unregister what was registered by hand."
)


def _claims(record: Record) -> tuple[str | type, ...]:
    if not isinstance(record, (CanonicalizerRecord, BatchPredictorRecord, SubsetFitterRecord)):
        return ()
    claims: list[str | type] = []
    for estimator in record.estimators:
        if isinstance(estimator, str):
            claims.append(public_name(estimator))
        else:
            claims += [estimator, *public_names(estimator)]
    return tuple(dict.fromkeys(claims))


def _replaces(later: Registration, earlier: Registration) -> bool:
    return later.distribution == earlier.distribution == _INTERACTIVE


def _label(registration: Registration) -> str:
    return f"{registration.distribution!r} {registration.version}"
