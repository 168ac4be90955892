"""One released model: what it says was charged when it was released, and is free."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import numpy as np
import pandas as pd

from pacsklearn.estimators.model_file import from_file
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn_service.server.answering.records import Records
from pacsklearn_service.server.answering.resumed_session import Charged, Standing
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.log import LOG
from pacsklearn_service.server.problem import NOT_READ, Problem
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.store.database import ServiceDatabase
from pacsklearn_service.server.store.quotas import Quotas
from pacsklearn_service.server.vault import Vault


@final
class ReleasedModel:
    """A model of a signed bundle, for who has a quota for its data set.

    Parameters
    ----------
    database : ServiceDatabase
    vault : Vault
    facts : dict
        Of the model, as the catalog has them.

    Notes
    -----
    It is public: its noise was drawn once, before it was signed, and it says the same to everybody.
    Nothing is charged and nothing is stored.
    """

    step_budget = debited = 0.0

    def __init__(self, database: ServiceDatabase, vault: Vault, facts: dict[str, Any]) -> None:
        self._database, self.facts = database, facts
        self.name, self.dataset = str(facts["name"]), str(facts["dataset"])
        self.signature = Signature.from_facts(facts["signature"])
        self._records = Records(vault, self.name)
        self._model: Any = None

    @property
    def is_unread(self) -> bool:
        """Whether it is loaded when somebody asks it."""
        return self._model is None

    def look(self, _: Charged) -> None:
        """Read what is stored, which must be whole."""
        self._stored()

    def rest(self) -> None:
        """Leave the model until somebody asks it."""
        self._model = None

    def load(self) -> None:
        """Read the model, which was verified when it was added and sealed then."""
        self._model = from_file(self._stored())

    def _stored(self) -> bytes:
        with self._database.reading() as connection:
            return self._records.state(connection)

    def answer(self, asks: Sequence[Ask]) -> list[dict[str, Any] | Exception]:
        """Answer requests; a refusal stands in the place of its answer."""
        if self._model is None:
            self.load()
        return [self._reply(ask) for ask in asks]

    def rows_left(self, _: float) -> int:
        """Return the contested rows that can still be answered: there are none."""
        return 0

    def close(self) -> None:
        """Answer nothing more."""

    def guarantee(self) -> Any:
        """Return what was promised when it was released."""
        return Guarantee.from_dict(self.facts["guarantee"])

    @contextmanager
    def at_rest(self) -> Iterator[Standing]:
        """Give what was charged and the ceiling: nothing, of any budget."""
        yield Standing(0.0, math.inf, np.zeros(1))

    def _reply(self, ask: Ask) -> dict[str, Any] | Exception:
        reply: dict[str, Any] = {"charged": 0.0, "free": ask.n_rows}
        if ask.dry_run:
            return reply | {"n_rows": ask.n_rows, "worst_case": 0.0}
        try:
            with self._database.reading() as connection:
                left = Quotas(connection, self.dataset).standing(ask.caller.user).remaining
            # Of a matrix a model that was fitted to a table cannot select its columns by name.
            is_named = hasattr(self._model, "feature_names_in_")
            rows = pd.DataFrame(ask.columns) if is_named else self.signature.rows(ask.columns)
            outputs = {"predict": np.asarray(self._model.predict(rows))}
            if self.facts["answers"] == "probabilities":
                outputs["predict_proba"] = np.asarray(self._model.predict_proba(rows))
            numbers = [each for each in outputs.values() if each.dtype.kind == "f"]
            if not all(np.isfinite(each).all() for each in numbers):  # no number of JSON
                raise Problem("invalid", NOT_READ)
        except Problem as problem:
            return problem
        except Exception as error:  # noqa: BLE001 - its words may quote rows
            LOG.warning("rows could not be evaluated", error=type(error).__name__)
            return Problem("invalid", NOT_READ)
        told = {name: each.tolist() for name, each in outputs.items()}
        return reply | {"outputs": told, "contested": 0, "remaining": left}
