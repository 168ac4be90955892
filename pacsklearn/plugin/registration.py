"""A record and the distribution it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, final

from pacsklearn.core.event import Provenance
from pacsklearn.exceptions import PluginError
from pacsklearn.plugin.records import (
    AttackRecord,
    BatchPredictorRecord,
    CanonicalizerRecord,
    NoiseBackendRecord,
    Record,
    ScenarioRecord,
    SubsetFitterRecord,
)

__all__ = ["KINDS", "Kind", "Registration", "target_name", "unregistered_provenance"]

Kind: TypeAlias = Literal[
    "canonicalizer", "noise_backend", "scenario", "attack", "batch_predictor", "subset_fitter"
]

KINDS: Final[Mapping[type, Kind]] = MappingProxyType(
    {
        CanonicalizerRecord: "canonicalizer",
        NoiseBackendRecord: "noise_backend",
        ScenarioRecord: "scenario",
        AttackRecord: "attack",
        BatchPredictorRecord: "batch_predictor",
        SubsetFitterRecord: "subset_fitter",
    }
)


@final
@dataclass(frozen=True)
class Registration:
    """A record with its provenance.

    Parameters
    ----------
    record : Record
    distribution, version : str
        What registered it.
    """

    record: Record
    distribution: str
    version: str

    @classmethod
    def by_hand(cls, record: Record) -> Registration:
        """Registration of a record that came through no entry point."""
        return cls(record, *_distribution_of(target_name(record.target)))

    @property
    def kind(self) -> Kind:
        """What sort of record it is."""
        return KINDS[type(self.record)]

    @property
    def provenance(self) -> Provenance:
        """What an event remembers."""
        return Provenance(
            self.record.name, target_name(self.record.target), self.distribution, self.version
        )

    def load(self) -> Any:
        """Object the record points at.

        Raises
        ------
        PluginError
            When it cannot be imported, naming the distribution.
        """
        target = self.record.target
        if not isinstance(target, str):
            return target
        module, _, qualname = target.partition(":")
        try:
            found: Any = import_module(module)
            for part in qualname.split("."):
                found = getattr(found, part)
        except Exception as error:
            raise PluginError(
                f"The {self.kind} {self.record.name!r} of the distribution {self.distribution!r} "
                f"{self.version} cannot be loaded from {target!r}: {type(error).__name__}: "
                f"{error}. Install what it needs, or ask its authors."
            ) from error
        return found


def unregistered_provenance(instance: object) -> Provenance:
    """Provenance of an object whose class no record names."""
    target = target_name(type(instance))
    return Provenance(type(instance).__qualname__, target, *_distribution_of(target))


def target_name(target: Any) -> str:
    """``"module:Object"`` of a record's target."""
    if isinstance(target, str):
        return target
    named = target if hasattr(target, "__qualname__") else type(target)
    return f"{named.__module__}:{named.__qualname__}"


def _distribution_of(target: str) -> tuple[str, str]:
    package = target.partition(":")[0].split(".")[0]
    try:
        return package, metadata.version(package)
    except metadata.PackageNotFoundError:
        owners = metadata.packages_distributions().get(package, [])
    return package, metadata.version(owners[0]) if owners else "unversioned"
