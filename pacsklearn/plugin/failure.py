"""A plugin that was left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

__all__ = ["PluginFailure", "describe_failures"]


@final
@dataclass(frozen=True)
class PluginFailure:
    """Why a plugin is not there.

    Parameters
    ----------
    distribution, version : str
        What is installed.
    error_type, message : str
        Class and text of the exception.
    """

    distribution: str
    version: str
    error_type: str
    message: str

    def __str__(self) -> str:
        label = f"{self.distribution} {self.version}".rstrip()
        return f"{label} ({self.error_type}: {self.message})"


def describe_failures(failures: Iterable[PluginFailure]) -> str:
    """Sentence to append to an error message; empty when no plugin failed."""
    listed = "; ".join(str(failure) for failure in failures)
    return f" Plugins that failed to load: {listed}." if listed else ""
