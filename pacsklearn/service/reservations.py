"""Part of a data set's budget, set aside for one caller of one model."""

from __future__ import annotations

import pickle
import secrets
from typing import TYPE_CHECKING, Any, Final, final

import sqlalchemy as sa

from pacsklearn.core.ledger import Reservation
from pacsklearn.exceptions import BudgetError, LedgerMismatchError
from pacsklearn.service.caller import Caller
from pacsklearn.service.problem import Problem
from pacsklearn.service.tables import RESERVATIONS

if TYPE_CHECKING:
    from pacsklearn.service.coordinator import Coordinator

_LONGEST: Final = 7 * 86400.0


@final
class Reservations:
    """What callers have set aside; each is a reservation of the ledger.

    Parameters
    ----------
    coordinator : Coordinator
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator, self._database = coordinator, coordinator.database

    def make(
        self, caller: Caller, model: str, amount: float, seconds: float, note: str
    ) -> dict[str, Any]:
        """Set nats aside, within the caller's own quota."""
        if not 0 < seconds <= _LONGEST:
            raise Problem("invalid", f"seconds must be above 0 and at most {_LONGEST:g}.")
        budget = self._coordinator.budget(caller, model)
        # What the caller's open reservations hold cannot be set aside a second time.
        mine = sum(each["remaining"] for each in self.all(caller, model))
        if not 0 < amount <= budget["remaining"] - mine:
            raise Problem(
                "quota-exhausted",
                "amount must be above 0, and within what your quota leaves beside your other "
                "reservations.",
            )
        ledger = self._coordinator.catalog.ledger(budget["dataset"])
        id_ = secrets.token_hex(16)
        try:
            made = ledger.reserve(amount, note=note, seconds=seconds)
        except (BudgetError, LedgerMismatchError) as error:  # a number or a text it cannot hold
            raise Problem("invalid", str(error)) from None
        sealed = self._coordinator.vault.seal(pickle.dumps(made), f"reservation/{id_}")
        with self._database.writing() as connection:
            connection.execute(
                sa.insert(RESERVATIONS).values(
                    id=id_, model=model, user=caller.user, account=sealed
                )
            )
        return self._facts(id_, made)

    def all(self, caller: Caller, model: str) -> list[dict[str, Any]]:
        """Open reservations of the caller."""
        c = RESERVATIONS.c
        with self._database.reading() as connection:
            ids = connection.execute(
                sa.select(c.id).where(c.model == model, c.user == caller.user)
            ).scalars()
            names = list(ids)
        reservations = [(name, self.find(caller.user, model, name)) for name in names]
        return [self._facts(name, each) for name, each in reservations if not each.is_closed]

    def find(self, user: str, model: str, id_: str) -> Reservation:
        """A caller's reservation."""
        c = RESERVATIONS.c
        with self._database.reading() as connection:
            account = connection.execute(
                sa.select(c.account).where(c.id == id_, c.model == model, c.user == user)
            ).scalar_one_or_none()
        if account is None:
            raise Problem("not-found", "You have no reservation of this name for this model.")
        # A handle of texts and numbers, sealed by this service.
        return pickle.loads(  # noqa: S301
            self._coordinator.vault.open(account, f"reservation/{id_}")
        )

    def release(self, caller: Caller, model: str, id_: str) -> dict[str, Any]:
        """Give back what was not spent."""
        reservation = self.find(caller.user, model, id_)
        returned = reservation.release_unspent()
        return {"id": id_, "returned": returned}

    def _facts(self, id_: str, made: Reservation) -> dict[str, Any]:
        return {
            "id": id_,
            "amount": made.ceiling,
            "spent": made.spent,
            "remaining": made.remaining,
            "note": made.note,
        }
