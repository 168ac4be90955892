"""What a new service begins with: a key for its curator."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from pacsklearn.kernel.ledger.replacement_file import replacement_file
from pacsklearn_service.server.answering.coordinator import Coordinator
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.api_keys import ApiKeys
from pacsklearn_service.server.store.members import Members

CURATOR: Final = "curator"
_DAYS: Final = 365.0


def register_curator(coordinator: Coordinator, path: Path, *, anew: bool = False) -> bool:
    """Write a curator's key to a file that only its owner can read, where no curator has one.

    Parameters
    ----------
    coordinator : Coordinator
    path : Path
    anew : bool, default=False
        End all keys that can curate first, for who has lost one or thinks that somebody has it.

    Returns
    -------
    bool
        False while there is a key that is valid and can curate.
    """
    with coordinator.database.writing() as connection:
        keys = ApiKeys(connection, coordinator.vault)
        valid = [
            each["id"]
            for each in keys.all()
            if "curate" in each["scopes"] and each["expires"] > time.time()
        ]
        if valid and not anew:
            return False
        for each in valid:
            keys.revoke(each)
        with suppress(Problem):  # somebody of this name is there
            Members(connection).add("user", CURATOR, {"note": "the curator at the machine"})
        key = keys.issue(CURATOR, None, ["curate"], _DAYS)["key"]
        with replacement_file(path) as file:  # others may be able to read the one of before
            file.write(f"{key}\n".encode())
    return True
