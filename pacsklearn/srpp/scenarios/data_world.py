"""Worlds that bring their own rows."""

from __future__ import annotations

from typing import Any, final

from pacsklearn.srpp.scenarios.scenario import World


@final
class DataWorld(World):
    """A data set of its own, simulated for instance.

    Parameters
    ----------
    X, y : array-likes
        ``y`` may be None.
    """

    def __init__(self, X: Any, y: Any = None) -> None:
        self._X, self._y = X, y

    def data(self, X: Any, y: Any) -> tuple[Any, Any]:
        return self._X, self._y
