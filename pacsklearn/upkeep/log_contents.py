"""What a log holds beside the rows of one data set: names of data sets, and stored answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # a session in memory loads no client of a database
    from pacsklearn.kernel.ledger.log import Log

_AT_ONCE: Final = 1000

_ANSWER: Final = "responder, name, value, margin, seal FROM answers WHERE dataset = ?"


def datasets_of(log: Log) -> list[str]:
    """Return the names of all data sets."""
    log.check_version()  # tables of another version cannot be read
    return [row[0] for row in log.ask("SELECT dataset FROM log WHERE number = 0 ORDER BY 1")]


def answers_named(log: Log, dataset: str, responder: str, names: Sequence[bytes]) -> list[Any]:
    """Return the stored answers with any of some names."""
    lines = []
    for start in range(0, len(names), _AT_ONCE // 2):
        some = names[start : start + _AT_ONCE // 2]
        marks = ", ".join("?" * len(some))
        question = f"SELECT {_ANSWER} AND responder = ? AND name IN ({marks})"
        lines += log.ask(question, dataset, responder, *some)
    return lines


def n_answers(log: Log, dataset: str, responder: str) -> int:
    """Return how many answers of a responder there are."""
    question = "SELECT count(*) FROM answers WHERE dataset = ? AND responder = ?"
    return int(log.ask(question, dataset, responder)[0][0])


def answers_of(log: Log, dataset: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield all stored answers with the numbers of their rows, in the order of these."""
    last: tuple[Any, ...] = -1, "", b""
    question = (
        f"SELECT number, {_ANSWER} AND (number, responder, name) > (?, ?, ?) "
        f"ORDER BY number, responder, name LIMIT {_AT_ONCE}"
    )
    while lines := log.ask(question, dataset, *last):
        for line in lines:
            yield line[0], (line[1], *map(bytes, line[2:]))
        last = lines[-1][:3]
