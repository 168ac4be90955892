"""What a model was made with: a bill of materials in CycloneDX."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from importlib import metadata
from typing import Any, Final

from pacsklearn.kernel.ledger.event import Provenance

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def bill_of_materials(title: str, provenance: Iterable[Provenance]) -> dict[str, Any]:
    """Return CycloneDX 1.5 document: the model, Python, pacsklearn and all it needs, and plugins.

    Parameters
    ----------
    title : str
        Of the model.
    provenance : iterable of Provenance
        Plugins that took part in the release.

    Returns
    -------
    dict
        Versions only: no paths, no names of machines or users.
    """
    names = {"pacsklearn", "skops", *(entry.distribution for entry in provenance)}
    needed = _needed(names)
    components = [_component(name, version) for name, version in sorted(needed.items())]
    components.append(
        {
            "type": "platform",
            "bom-ref": "python",
            "name": "python",
            "version": platform.python_version(),
        }
    )
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "machine-learning-model", "bom-ref": "model", "name": title}
        },
        "components": components,
        "dependencies": [
            {"ref": "model", "dependsOn": [component["bom-ref"] for component in components]}
        ],
    }


def _component(name: str, version: str) -> dict[str, str]:
    place = f"pkg:pypi/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": place,
        "name": name,
        "version": version,
        "purl": place,
    }


def _needed(names: Iterable[str]) -> dict[str, str]:
    """Return the version of each distribution that is installed here, and of what they require."""
    versions: dict[str, str] = {}
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for another platform or an older Python
            continue
        versions[name] = distribution.version
        # Without extras: what this machine has besides is nobody's business.
        always = [one for one in distribution.requires or () if "extra ==" not in one]
        waiting += [match.group() for one in always if (match := _NAME.match(one))]
    return versions
