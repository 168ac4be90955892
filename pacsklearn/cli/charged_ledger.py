"""The ledger that options name, and whose charge it is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pacsklearn.cli.console import note
from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.ledger_interface import Ledger

UNCOUNTED: Final = "none"
"""What a user names in the place of a ledger who wants none."""
_BESIDE: Final = "pacsklearn-ledger.db"
_COUNTS_ONLY: Final = 2.0**20
"""Ceiling of a ledger that was founded beside an output: it counts, and refuses nothing."""


def ledger_uri(address: str) -> str:
    """Address of a ledger that a user named by its file or its URL."""
    return address if "://" in address else f"sqlite:///{address}"


def charged_ledger(
    address: str | None,
    dataset: str | None,
    user: str | None,
    project: str | None,
    *,
    unit: str | None = "nats",
) -> Ledger | None:
    """Ledger that a release is charged to, on whose behalf it is said to be.

    Raises
    ------
    ValueError
        When something is said about a ledger that was not named.
    """
    if address in (None, UNCOUNTED):
        if (dataset, user, project) != (None, None, None):
            raise ValueError(
                "--dataset, --user and --project say whose charge to a ledger it is; name the "
                "ledger with --ledger."
            )
        return None
    from pacsklearn.kernel.ledger.open_ledger import open_ledger

    assert address is not None
    ledger = open_ledger(ledger_uri(address), ceiling=None, unit=unit, dataset=dataset or "default")
    if user is None and project is None:
        return ledger
    return ledger.on_behalf_of(user=user, project=project)


def ledger_beside(data: Path, output: Path, *, unit: str = "nats") -> Ledger:
    """Ledger in the output's folder that counts the releases of a file, by the file's name.

    Parameters
    ----------
    data : Path
        Its name is the data set's: a digest of its rows would stand in every statement.
    output : Path
    unit : str
        What the release is charged in; every unit has a data set of its own.

    Notes
    -----
    Where it holds a release of the file already, a note says what all of them come to.
    """
    from pacsklearn.kernel.ledger.open_ledger import found_ledger, open_ledger

    place = output.parent / _BESIDE
    address = ledger_uri(str(place))
    dataset = data.name if unit == "nats" else f"{data.name}, {unit}"
    try:
        ledger = open_ledger(address, ceiling=None, unit=unit, dataset=dataset)
    except LedgerError:  # none yet; one that cannot be read is not founded anew, which says why
        ledger = found_ledger(address, _COUNTS_ONLY, dataset=dataset, unit=unit)
    if events := ledger.events:
        together = (
            f"They are charged {ledger.spent:.6g} nats, to which this one is added"
            if unit == "nats"
            else "Their caps do not add: nothing is promised about all of them together"
        )
        note(
            f"Warning: this is release {len(events) + 1} of {data.name} that {place} holds, each "
            "with a secret of its own; a statement is about its release alone. "
            f"{together}. To keep them under a ceiling: 'pacsklearn ledger found', and --ledger."
        )
    return ledger
