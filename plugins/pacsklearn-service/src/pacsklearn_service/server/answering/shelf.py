"""Published models that one coordinator leads, by name and version."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TypeAlias, final

from pacsklearn_service.server.answering.desk import Desk
from pacsklearn_service.server.answering.hosted_model import HostedModel
from pacsklearn_service.server.answering.released_model import ReleasedModel
from pacsklearn_service.server.recipe import versioned

Hosted: TypeAlias = HostedModel | ReleasedModel


@final
@dataclass(frozen=True, eq=False)
class Published:
    """One version of a model.

    Parameters
    ----------
    name, dataset : str
    desk : Desk, optional
        None where what is stored could not be read yet.
    """

    name: str
    dataset: str
    desk: Desk | None = None


@final
class Shelf:
    """Finds versions of models, for threads that add and close them meanwhile."""

    def __init__(self) -> None:
        self._models: dict[str, dict[str, Published]] = {}
        self._lock = threading.Lock()

    def found(self, key: str) -> Published | None:
        """Return the version of a key, as it is stored or as somebody wrote it."""
        name, has_version, version = key.partition("@")
        with self._lock:
            return self._models.get(name, {}).get(version if has_version else "1")

    def newest(self, name: str) -> Published | None:
        """Return the newest version of a model."""
        with self._lock:
            versions = self._models.get(name, {})
            return versions.get(max(versions, key=int, default=""))

    def versions(self, name: str) -> list[Published]:
        """Return the versions of a model."""
        with self._lock:
            return list(self._models.get(name, {}).values())

    def all(self) -> list[Published]:
        """Return every version, by name."""
        with self._lock:
            found = [each for versions in self._models.values() for each in versions.values()]
        return sorted(found, key=lambda each: each.name)

    def missing(self) -> list[Published]:
        """Return those that could not be read yet."""
        return [each for each in self.all() if each.desk is None]

    def add(self, published: Published, *, anew: bool = True) -> None:
        """Put a version in its place; unless anew, only where there is none."""
        name, version = versioned(published.name)
        with self._lock:
            versions = self._models.setdefault(name, {})
            if anew or str(version) not in versions:
                versions[str(version)] = published

    def close(self, key: str) -> None:
        """Take a version away, and answer what waits for it."""
        name, version = versioned(key)
        with self._lock:
            gone = self._models.get(name, {}).pop(str(version), None)
        # Outside the lock: closing waits for a desk, whose last replies need it.
        if gone is not None and gone.desk is not None:
            gone.desk.close()
