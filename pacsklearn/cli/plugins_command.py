"""``pacsklearn plugins``: what is there, what failed and why."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

from pacsklearn.cli.console import Output, guarded
from pacsklearn.exceptions import PluginWarning


@guarded
def plugins() -> Output:
    """List registered plugins by kind, and those that could not be loaded."""
    from pacsklearn.kernel.plugins.registry import registry

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # they are listed below
        known = registry()
        failures = known.failures
    listed: dict[str, list[dict[str, Any]]] = {}
    lines: list[str] = []
    for kind in known.kinds():
        listing = known.registrations(kind)
        lines += [f"{kind.replace('_', ' ')} ({len(listing)})"]
        listed[kind] = []
        for each in listing:
            made_by = f"{each.distribution} {each.version}"
            lines.append(f"  {each.name:<24} {made_by:<26} {each.description}")
            listed[kind].append(
                {
                    "name": each.name,
                    "target": each.provenance.target,
                    "distribution": each.distribution,
                    "version": each.version,
                    "description": each.description,
                    "estimators": [str(claim) for claim in each.estimators],
                }
            )
    lines += [f"failed ({len(failures)})", *(f"  {failure}" for failure in failures)]
    data = {"plugins": listed, "failures": [asdict(failure) for failure in failures]}
    return Output(data, "\n".join(lines))
