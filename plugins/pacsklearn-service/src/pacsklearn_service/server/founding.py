"""What a new service begins with: a key for its curator, and for a demonstration all the rest."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from pacsklearn.kernel.ledger.replacement_file import replacement_file
from pacsklearn_service.server.answering.coordinator import Coordinator
from pacsklearn_service.server.recipe import Recipe, StatedAnswers, StatedSubsets
from pacsklearn_service.server.store.api_keys import ApiKeys
from pacsklearn_service.server.store.members import Members
from pacsklearn_service.server.store.quotas import Quotas

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
        members = Members(connection)
        if members.get("user", CURATOR) is None:
            members.add("user", CURATOR, {"note": "the curator at the machine"})
        key = keys.issue(CURATOR, None, ["curate"], _DAYS)["key"]
        with replacement_file(path) as file:  # others may be able to read the one of before
            file.write(f"{key}\n".encode())
    return True


def register_demo(coordinator: Coordinator) -> str:
    """Register public data, fit and publish a model of it, and let one user in.

    Returns
    -------
    str
        Key of the user ``demo``.
    """
    from sklearn.datasets import load_breast_cancer

    data: Any = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in data.feature_names]
    columns = {name: data.data[:, i] for i, name in enumerate(names)}
    columns["benign"] = np.asarray(data.target, dtype=np.int64)
    catalog = coordinator.catalog
    if not catalog.datasets("demo"):
        catalog.add_dataset("demo", columns, "benign", 4.0)
    if not catalog.models("demo"):
        stated = Recipe(
            name="demo",
            dataset="demo",
            estimator="StandardScaler+LinearSVC",
            budget=1 / 16,
            secret=StatedSubsets(n=64),
            release=StatedAnswers(query_budget=2.0**-12),
        )
        catalog.fit(stated, lambda _: None)
        catalog.mark("demo", "published")
        coordinator.load("demo")
    with coordinator.database.writing("demo") as connection:
        members = Members(connection)
        if members.get("user", "demo") is None:
            members.add("user", "demo", {"note": "a demonstration"})
            Quotas(connection, "demo").set_ceiling("user", "demo", 1 / 16)
        return ApiKeys(connection, coordinator.vault).issue("demo", None, ["ask"], 1.0)["key"]
