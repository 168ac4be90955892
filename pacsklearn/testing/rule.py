"""How a check says which rule was broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar, final

E = TypeVar("E", bound=Exception)


@final
@dataclass(frozen=True)
class Rule:
    """A rule of a contract, by the name that the check's documentation has for it."""

    name: str

    def broken(self, finding: str, remedy: str) -> AssertionError:
        """Return the error that names the rule, what was found and what to do."""
        return AssertionError(f"Rule broken: {self.name}. {finding} What to do: {remedy}")

    def require(self, condition: object, finding: str, remedy: str) -> None:
        """Raise :meth:`broken` unless ``condition`` holds."""
        if not condition:
            raise self.broken(finding, remedy)

    def require_instance(self, value: object, kind: type) -> None:
        """Raise unless ``value`` is of the kind that is checked."""
        article = "an" if kind.__name__[0] in "AEIO" else "a"
        self.require(
            isinstance(value, kind),
            f"An object of type {type(value).__qualname__} is not {article} {kind.__name__}.",
            f"give an instance of a subclass of pacsklearn.plugins.{kind.__name__}.",
        )

    @contextmanager
    def completes(self, finding: str, remedy: str) -> Iterator[None]:
        """Raise when the body raises: ``finding`` says what it is that fails."""
        try:
            yield
        except Exception as error:
            text = f"{finding}: {type(error).__name__}: {error}."
            raise self.broken(text, remedy) from error

    def refused(self, kind: type[E], finding: str, call: Callable[[], object]) -> E:
        """Return error of the kind that a call must raise; ``finding`` says what it was given."""
        try:
            call()
        except kind as error:
            return error
        except Exception as error:
            text = f"{finding}: {type(error).__name__} is raised."
            raise self.broken(text, f"raise {kind.__name__}.") from error
        raise self.broken(f"{finding}: it is accepted.", f"raise {kind.__name__}.")
