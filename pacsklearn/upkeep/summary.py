"""What a ledger holds, for its owner to read."""

from __future__ import annotations

from typing import Any

from pacsklearn.kernel.ledger.exact_sum import largest_refund, nearest
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.kernel.ledger.store import LogBook


def ledger_summary(ledger: SharedLedger) -> dict[str, Any]:
    """Return the ceiling, sums, open reservations, position and all events, as of one moment."""

    def look(book: LogBook) -> dict[str, Any]:
        accounts = book.accounts
        limits = accounts.limits("", ledger.user, ledger.project)
        return {
            "address": ledger.uri,
            "dataset": ledger.dataset,
            "unit": ledger.unit,
            "ceiling": ledger.ceiling,
            "spent": nearest(accounts.total("")),
            "remaining": min(largest_refund(each.ceiling, each.total) for each in limits),
            "position": str(book.fold.position),
            "reservations": [
                {
                    "note": accounts.made(key).note,
                    "spent": nearest(accounts.total(key)),
                    "remaining": largest_refund(accounts.ceiling(key), accounts.total(key)),
                }
                for key in accounts.open_reservations("")
            ],
            "events": [event.to_dict() for event in book.events("")],
        }

    return ledger.store.read(look)
