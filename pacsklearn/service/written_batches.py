"""Batches of a model as the database holds them, sealed: one row a batch, in order."""

from __future__ import annotations

from typing import final

import sqlalchemy as sa

from pacsklearn.service.batch import Batch, Outcome
from pacsklearn.service.tables import BATCHES
from pacsklearn.service.vault import Vault


@final
class WrittenBatches:
    """What a model has written down before each charge, and after each draw.

    Parameters
    ----------
    vault : Vault
    model : str

    Attributes
    ----------
    sequence : int
        Number of the last batch.
    """

    def __init__(self, vault: Vault, model: str) -> None:
        self._vault, self._model, self.sequence = vault, model, 0

    def read(self, connection: sa.Connection) -> tuple[list[Outcome], Batch | None]:
        """What was drawn so far, and a batch that was written down and not finished."""
        outcomes, pending, self.sequence = [], None, 0
        rows = connection.execute(
            sa.select(BATCHES.c.sequence, BATCHES.c.intent, BATCHES.c.outcome)
            .where(BATCHES.c.model == self._model)
            .order_by(BATCHES.c.sequence)
        )
        for sequence, intent, outcome in rows:
            self.sequence = sequence
            if outcome is None:
                pending = Batch.from_bytes(self._vault.open(intent, self._place("intent")))
            else:
                content = self._vault.open(outcome, self._place("outcome"))
                outcomes.append(Outcome.from_bytes(content))
        return outcomes, pending

    def write(self, connection: sa.Connection, batch: Batch) -> None:
        """Put down what is about to be charged."""
        self.sequence += 1
        sealed = self._vault.seal(batch.to_bytes(), self._place("intent"))
        connection.execute(
            sa.insert(BATCHES).values(model=self._model, sequence=self.sequence, intent=sealed)
        )

    def finish(self, connection: sa.Connection, outcome: Outcome) -> None:
        """Put what was drawn in the last batch's place."""
        sealed = self._vault.seal(outcome.to_bytes(), self._place("outcome"))
        last = sa.update(BATCHES).where(self._is_last())
        # The rows that were asked are not kept longer than a restart could need them.
        connection.execute(last.values(outcome=sealed, intent=None))

    def remove(self, connection: sa.Connection) -> None:
        """Undo the last batch, which was not charged."""
        connection.execute(sa.delete(BATCHES).where(self._is_last()))

    def _is_last(self) -> sa.ColumnElement[bool]:
        return sa.and_(BATCHES.c.model == self._model, BATCHES.c.sequence == self.sequence)

    def _place(self, what: str) -> str:
        return f"{what}/{self._model}/{self.sequence}"
