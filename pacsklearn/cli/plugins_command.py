"""``pacsklearn plugins``: what is there, what failed and why."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

from pacsklearn.cli.console import guarded, say
from pacsklearn.cli.options import Json
from pacsklearn.exceptions import PluginWarning


@guarded
def plugins(*, as_json: Json = False) -> None:
    """List what is registered, by kind; and the plugins that failed."""
    from pacsklearn.kernel.plugins.records import KINDS
    from pacsklearn.kernel.plugins.registry import registry

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # they are listed below
        known = registry()
        failures = known.failures
    listed: dict[str, list[dict[str, Any]]] = {}
    lines: list[str] = []
    for kind in KINDS:
        records = known.records(kind)
        lines += [f"{kind.replace('_', ' ')} ({len(records)})"]
        listed[kind] = []
        for record in records:
            source = known.provenance(kind, record.name)
            made_by = f"{source.distribution} {source.version}"
            lines.append(f"  {record.name:<24} {made_by:<26} {record.description}")
            listed[kind].append(
                {
                    "name": record.name,
                    "target": source.target,
                    "distribution": source.distribution,
                    "version": source.version,
                    "description": record.description,
                    "estimators": [str(each) for each in getattr(record, "estimators", ())],
                }
            )
    lines += [f"failed ({len(failures)})", *(f"  {failure}" for failure in failures)]
    data = {"plugins": listed, "failures": [asdict(failure) for failure in failures]}
    say(data, "\n".join(lines), as_json=as_json)
