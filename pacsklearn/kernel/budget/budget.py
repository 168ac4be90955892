"""What is promised, and in which unit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from typing import Any, ClassVar, Self

from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.secret.space import Space


class Budget(ABC):
    """Most that may be revealed, with its unit: nats, or the success of an attack.

    A value that scikit-learn clones and searches over, as it does its kernels; nested names reach
    into it (``budget__cap``). The constructor only assigns; what is wrong with the number is said
    where it is used.

    Attributes
    ----------
    name : str
        As JSON and the command line have it.
    description : str
        What is bounded, in one line.
    adds : bool
        Whether amounts of several releases add up. Successes of attacks do not: under a cap there
        is one release.
    allow_exact : bool
        Whether the curator consents to releases that hide nothing, which are never published.
    """

    name: ClassVar[str]
    description: ClassVar[str] = ""
    adds: ClassVar[bool]
    allow_exact: bool

    @property
    @abstractmethod
    def amount(self) -> float:
        """The number, checked.

        Raises
        ------
        BudgetError
        """

    @abstractmethod
    def criterion(self, space: Space) -> Criterion | None:
        """Return what is capped over the candidates; None where it is their information.

        Parameters
        ----------
        space : Space

        Raises
        ------
        BudgetError
            When guessing blindly passes the budget, or it hides nothing and there is no consent.
        """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn's objects do; ``deep`` changes nothing."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn's objects do."""
        if unknown := params.keys() - self.get_params().keys():
            raise ValueError(
                f"{type(self).__name__} has no parameter {min(unknown)!r}; it has "
                f"{', '.join(self.get_params())}."
            )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        words: list[str] = []
        for name, parameter in signature(type(self)).parameters.items():
            value = getattr(self, name)
            if not words and parameter.default is parameter.empty:
                words.append(repr(value))
            elif value != parameter.default:
                words.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(words)})"

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters, of which the registry's class makes it again."""
        return {"name": self.name, **self.get_params()}
