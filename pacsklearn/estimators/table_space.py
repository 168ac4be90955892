"""Candidates of a kind of table that plugins bring, found by the class of ``X``."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.secret.space import Space


class TableSpace(Space):
    """Candidates of a kind of table: whoever gives such a table as ``X`` gets its space.

    Attributes
    ----------
    name, description : str
        Of the plugin.
    estimators : tuple of str or type
        Classes of ``X`` that it claims.
    """

    name: ClassVar[str]
    description: ClassVar[str] = ""
    estimators: ClassVar[tuple[str | type, ...]]

    @classmethod
    @abstractmethod
    def over(cls, X: Any, y: Any, design: Any) -> Self:
        """Return the space of a table that the kind claims, by a :class:`Design`.

        Raises
        ------
        DesignError
            When the design asks for what such a table cannot give.
        """

    @classmethod
    @abstractmethod
    def sample_of(cls, X: Any) -> tuple[Any, Any]:
        """Return rows of a table that are in memory, and their targets."""

    @classmethod
    @abstractmethod
    def check_fits(cls, estimator: Any) -> None:
        """Refuse an estimator that cannot be fitted on such a table.

        Raises
        ------
        ValueError
        """


def space_for(X: Any) -> type[TableSpace] | None:
    """Return the kind of space that claims the class of ``X``; None for rows in memory."""
    claimer = registry().claiming("secret_space", type(X))
    return None if claimer is None else claimer.made
