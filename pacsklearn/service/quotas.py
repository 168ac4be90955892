"""What each user and each project may spend of a data set, and what they have been told."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any, NamedTuple, final

import sqlalchemy as sa

from pacsklearn.core.accounts import exact, fits, largest_refund
from pacsklearn.service.problem import Problem
from pacsklearn.service.tables import ACCOUNTS


class Receipt(NamedTuple):
    """What a caller is told about its own account after a request.

    Parameters
    ----------
    remaining : float
        Nats left of the caller's own quota.
    position : str
        ``"<count>:<digest>"`` of the caller's own chain of receipts: the ledger's own position
        would tell how much others ask.
    """

    remaining: float
    position: str


class Quota(NamedTuple):
    """One account of a user or a project."""

    kind: str
    name: str
    ceiling: float
    spent: Fraction
    receipts: int
    head: str

    @property
    def remaining(self) -> float:
        """Nats left, rounded down."""
        return largest_refund(self.ceiling, exact(self.spent))

    def after(self, price: float, what: str) -> Quota:
        """The account with one more receipt."""
        text = f"{self.head}|{self.receipts + 1}|{price!r}|{what}"
        return self._replace(
            # Exact: sums of a million doubles drift from what was charged.
            spent=self.spent + Fraction(price),
            receipts=self.receipts + 1,
            head=hashlib.sha256(text.encode()).hexdigest(),
        )


@final
class Quotas:
    """Accounts of one data set, inside a transaction.

    Parameters
    ----------
    connection : Connection
    dataset : str
    """

    def __init__(self, connection: sa.Connection, dataset: str) -> None:
        self._connection, self._dataset = connection, dataset
        self._known: dict[tuple[str, str], Quota | None] = {}
        self._changed: dict[tuple[str, str], Quota] = {}

    def get(self, kind: str, name: str) -> Quota | None:
        """Account as it is now; None where there is none."""
        if (kind, name) not in self._known:
            c = ACCOUNTS.c
            own = self._select(c.kind == kind, c.name == name)
            self._known[kind, name] = own[0] if own else None
        return self._known[kind, name]

    def debit(self, user: str, project: str | None, price: float, what: str) -> Receipt:
        """Debit a user, and the project if one is named.

        Raises
        ------
        Problem
            When there is no account, or too little is left; nothing changes then.
        """
        accounts = [self._of("user", user)]
        if project is not None:
            accounts.append(self._of("project", project))
        for each in accounts:
            if price > 0 and not fits(exact(each.spent), price, each.ceiling):
                raise Problem(
                    "quota-exhausted",
                    f"The quota of this {each.kind} for the data set does not cover the request; "
                    "nothing was charged. Rows that you have asked before are free.",
                )
        for each in accounts:
            after = each.after(price, what)
            self._known[each.kind, each.name] = self._changed[each.kind, each.name] = after
        return self.receipt(user)

    def refund(self, user: str, project: str | None, price: float) -> None:
        """Give back what was debited for a request that was refused after all."""
        for kind, name in (("user", user), ("project", project)):
            quota = None if name is None else self.get(kind, name)
            if quota is not None:
                after = quota.after(-price, "refused")
                self._known[kind, after.name] = self._changed[kind, after.name] = after

    def receipt(self, user: str) -> Receipt:
        """Where a user stands."""
        quota = self._of("user", user)
        return Receipt(quota.remaining, f"{quota.receipts}:{quota.head}")

    def set_ceiling(self, kind: str, name: str, ceiling: float) -> None:
        """Open an account, or change its ceiling."""
        quota = self.get(kind, name)
        if quota is None:
            self._connection.execute(
                sa.insert(ACCOUNTS).values(
                    dataset=self._dataset,
                    kind=kind,
                    name=name,
                    ceiling=ceiling,
                    spent="0",
                    count=0,
                    head="",
                )
            )
        else:
            self._connection.execute(self._update(quota).values(ceiling=ceiling))
        self._known.pop((kind, name), None)

    def flush(self) -> None:
        """Write what was debited."""
        for each in self._changed.values():
            self._connection.execute(
                self._update(each).values(
                    spent=str(each.spent), count=each.receipts, head=each.head
                )
            )
        self._changed.clear()

    def all(self) -> list[Quota]:
        """Every account of the data set."""
        return self._select()

    def _select(self, *which: sa.ColumnElement[bool]) -> list[Quota]:
        c = ACCOUNTS.c
        rows = self._connection.execute(
            sa.select(c.kind, c.name, c.ceiling, c.spent, c.count, c.head)
            .where(c.dataset == self._dataset, *which)
            .order_by(c.kind, c.name)
        )
        return [Quota(*row[:3], Fraction(row[3]), *row[4:]) for row in rows]

    def _of(self, kind: str, name: str) -> Quota:
        quota = self.get(kind, name)
        if quota is None:
            raise Problem(
                "forbidden",
                f"This {kind} has no quota for the data set; the curator gives one.",
            )
        return quota

    def _update(self, quota: Quota) -> Any:
        c = ACCOUNTS.c
        return sa.update(ACCOUNTS).where(
            c.dataset == self._dataset, c.kind == quota.kind, c.name == quota.name
        )
