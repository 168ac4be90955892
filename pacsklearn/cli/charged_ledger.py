"""The ledger that options name, and whose charge it is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from pacsklearn.cli.console import note
from pacsklearn.cli.options import Charge
from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.ledger.address import without_password
from pacsklearn.kernel.ledger.ledger import Ledger

UNCOUNTED: Final = "none"
"""What a user names in the place of a ledger who wants none."""
_BESIDE: Final = "pacsklearn-ledger.db"
_COUNTS_ONLY: Final = 2.0**20
"""Ceiling of a ledger that was founded beside an output: it counts, and refuses nothing."""


def ledger_uri(address: str) -> str:
    """Return the address of a ledger that a user named by its file or its URL.

    Raises
    ------
    ValueError
        For an address of a server in another form, whose password a file's name would show.
    """
    if "://" in address:
        return address
    # With what was forgotten of the address's mark, or no password is found behind it.
    meant = re.sub(r"^(postgres\w*)(:/?|//)", r"\1://", address)
    if without_password(meant) != address:
        raise ValueError(
            "A ledger on a server is named as postgresql://user:password@host/database, got "
            f"{without_password(meant)!r}; the name of a file may stand behind sqlite:///."
        )
    return f"sqlite:///{address}"


def charged_ledger(charge: Charge) -> Ledger | None:
    """Return the ledger that a release is charged to, on whose behalf it is said to be.

    Raises
    ------
    ValueError
        When something is said about a ledger that was not named.
    """
    address, user, project = charge.ledger, charge.user, charge.project
    if address in (None, UNCOUNTED):
        if (charge.dataset, user, project) != (None, None, None):
            raise ValueError(
                "--dataset, --user and --project say whose charge to a ledger it is; name the "
                "ledger with --ledger."
            )
        return None
    from pacsklearn.universe.open_ledger import open_ledger

    assert address is not None
    ledger = open_ledger(ledger_uri(address), ceiling=None, dataset=charge.dataset or "default")
    if user is None and project is None:
        return ledger
    return ledger.on_behalf_of(user=user, project=project)


def ledger_beside(data: Path, output: Path, statement: Path) -> Ledger:
    """Return ledger in the output's folder that counts the releases of a file, by the file's name.

    Parameters
    ----------
    data : Path
        Its name is the data set's: a digest of its rows would stand in every statement.
    output, statement : Path
        What is written, which must not take the ledger's place.

    Raises
    ------
    ValueError

    Notes
    -----
    Where it holds a release of the file already, a note says what all of them come to.
    """
    from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
    from pacsklearn.universe.open_ledger import open_ledger

    place = output.parent / _BESIDE
    if os.path.realpath(place) in map(os.path.realpath, (output, statement)):
        raise ValueError(
            f"{place} is the account that the release is charged to; give the model and its "
            "statement other names."
        )
    address = ledger_uri(str(place))
    try:
        ledger = open_ledger(address, ceiling=None, dataset=data.name)
    except LedgerError:  # none yet; one that cannot be read is not founded anew, which says why
        ledger = SharedLedger.found(address, _COUNTS_ONLY, dataset=data.name)
    if events := ledger.events:
        note(
            f"Warning: this would be release {len(events) + 1} of {data.name} that {place} "
            "holds, each with a secret of its own; a statement is about its release alone. "
            f"They are charged {ledger.spent:.6g} nats, to which this one is added. To keep them "
            "under a ceiling: 'pacsklearn ledger found', and --ledger."
        )
    return ledger
