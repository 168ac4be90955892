"""The registry that everything in this process shares."""

from __future__ import annotations

from typing import Final, TypeVar

from pacsklearn.plugin.records import Record
from pacsklearn.plugin.registry import Registry

__all__ = ["register", "registry", "unregister"]

RecordT = TypeVar("RecordT", bound=Record)

_REGISTRY: Final = Registry()


def registry() -> Registry:
    """Registry of this process; plugins are loaded at its first question.

    Returns
    -------
    Registry

    Examples
    --------
    >>> from pacsklearn.plugin import registry
    >>> "logdet" in registry().names("noise_backend")
    True
    """
    return _REGISTRY


def register(record: RecordT) -> RecordT:
    """Add a canonicalizer, noise backend, scenario or attack without packaging it.

    Parameters
    ----------
    record : CanonicalizerRecord, NoiseBackendRecord, ScenarioRecord or AttackRecord

    Returns
    -------
    record
        The same object, to be passed to :func:`unregister`.

    Raises
    ------
    PluginClashError
        When the name, or an estimator, belongs to another record.

    Examples
    --------
    >>> from pacsklearn.plugin import NoiseBackendRecord, register, registry, unregister
    >>> record = register(NoiseBackendRecord("mine", "clinic.noise:MyBackend"))
    >>> "mine" in registry().names("noise_backend")
    True
    >>> unregister(record)
    """
    return registry().register(record)


def unregister(record: Record) -> None:
    """Take a registered record away again.

    Parameters
    ----------
    record : CanonicalizerRecord, NoiseBackendRecord, ScenarioRecord or AttackRecord

    Raises
    ------
    UnknownNameError
        When no equal record is registered.
    """
    registry().unregister(record)
