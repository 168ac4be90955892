"""What each user and each project may spend of a data set, and what they have been told."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple, final

from pacsklearn.kernel.ledger.exact_sum import exact, fits, largest_refund, nearest
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.store.reservations import Reservations, Reserved


class Quota(NamedTuple):
    """One account of a user or a project."""

    kind: str
    name: str
    ceiling: float
    spent: Fraction

    @property
    def remaining(self) -> float:
        """Nats left, rounded down."""
        return largest_refund(self.ceiling, exact(self.spent))


class Standing(NamedTuple):
    """Where a user stands; what is spent, held and left makes up the quota.

    Parameters
    ----------
    quota, spent : float
    reserved : float
        Held by the user's own open reservations.
    remaining : float
        Nats that may be asked for without any of them.
    """

    quota: float
    spent: float
    reserved: float
    remaining: float


@final
class Quotas:
    """Accounts of one data set, inside a transaction.

    Parameters
    ----------
    connection : Connection
    dataset : str
    """

    def __init__(self, connection: Connection, dataset: str) -> None:
        self._connection, self._dataset = connection, dataset
        self.reservations = Reservations(connection, dataset)
        self._known: dict[tuple[str, str], Quota | None] = {}
        self._changed: dict[tuple[str, str], Quota] = {}

    def get(self, kind: str, name: str) -> Quota | None:
        """Account as it is now; None where there is none."""
        if (kind, name) not in self._known:
            own = self._select("AND kind = ? AND name = ?", kind, name)
            self._known[kind, name] = own[0] if own else None
        return self._known[kind, name]

    def debit(
        self, user: str, project: str | None, price: float, reservation: str | None = None
    ) -> float:
        """Debit a user, the project if one is named, and the reservation that pays.

        Returns
        -------
        float
            What is left of the user's quota beside the user's reservations.

        Raises
        ------
        Problem
            When there is no account, or too little is left; nothing changes then.
        """
        own = self._of("user", user)
        paying = None if reservation is None else self.reservations.find(user, reservation)
        held = self._held(user)
        if paying is None:
            # What reservations hold pays for nothing else.
            covers = fits(exact(own.spent) + held, price, own.ceiling)
        else:
            covers = paying.pays(price) and fits(exact(own.spent), price, own.ceiling)
        if price > 0 and not covers:
            what = "quota of this user for the data set" if paying is None else "reservation"
            raise Problem(
                "quota-exhausted",
                f"The {what} does not cover the request; nothing was charged. Rows that you have "
                "asked before are free.",
            )
        accounts = [own]
        if project is not None:
            shared = self._of("project", project)
            if price > 0 and not fits(exact(shared.spent), price, shared.ceiling):
                raise Problem(
                    "quota-exhausted",
                    "The quota that this project's users share does not cover the request; nothing "
                    "was charged. Rows that you have asked before are free.",
                )
            accounts.append(shared)
        for each in accounts:
            self._add(each, price)
        if paying is not None:
            held += self.reservations.debit(paying, price).unspent - paying.unspent
        return largest_refund(own.ceiling, exact(own.spent) + exact(price) + held)

    def refund(
        self, user: str, project: str | None, price: float, reservation: str | None = None
    ) -> None:
        """Give back what was debited for a request that was refused after all."""
        for kind, name in (("user", user), ("project", project)):
            quota = None if name is None else self.get(kind, name)
            if quota is not None:
                self._add(quota, -price)
        if reservation is not None:
            self.reservations.debit(self.reservations.find(user, reservation), -price)

    def standing(self, user: str) -> Standing:
        """Where a user stands."""
        own = self._of("user", user)
        held = self._held(user)
        left = largest_refund(own.ceiling, exact(own.spent) + held)
        return Standing(own.ceiling, float(own.spent), nearest(held), left)

    def reserve(self, user: str, amount: float, seconds: float, note: str) -> Reserved:
        """Set part of a user's quota aside."""
        own = self._of("user", user)
        if not fits(exact(own.spent) + self._held(user), amount, own.ceiling):
            raise Problem(
                "quota-exhausted",
                "amount must be within what your quota leaves beside your other reservations.",
            )
        return self.reservations.add(user, amount, seconds, note)

    def set_ceiling(self, kind: str, name: str, ceiling: float) -> None:
        """Open an account, or change its ceiling."""
        if self.get(kind, name) is None:
            self._connection.insert(
                "service_accounts",
                dataset=self._dataset,
                kind=kind,
                name=name,
                ceiling=ceiling,
                spent="0",
            )
        else:
            self._update("ceiling", ceiling, kind, name)
        self._known.pop((kind, name), None)

    def check_covered(self, budgets: Mapping[str, tuple[float, float]]) -> None:
        """Refuse quotas that could be used up by other users before a user has spent them.

        Parameters
        ----------
        budgets : mapping of str to (float, float)
            What was charged and the ceiling of everything that a user's request is charged to,
            while nothing is on its way there. Accounts of projects are looked up here.

        Raises
        ------
        Problem
            Names the first budget that does not cover what the users may still spend.

        Notes
        -----
        A request is charged at most its price, and its price is debited to its user: so what all
        users may still spend bounds every charge to come, in any order.
        """
        accounts = self.all()
        open_ = sum(
            max(exact(each.ceiling) - exact(each.spent), 0)
            for each in accounts
            if each.kind == "user"
        )
        shared = {
            f"the project {each.name!r}": (float(each.spent), each.ceiling)
            for each in accounts
            if each.kind == "project"
        }
        for name, (spent, ceiling) in (dict(budgets) | shared).items():
            if nearest(exact(spent) + open_) > ceiling:
                raise Problem(
                    "conflict",
                    f"The users' quotas leave {nearest(open_):.6g} nats to be spent, and {name} "
                    f"has {largest_refund(ceiling, exact(spent)):.6g} of {ceiling:.6g} left. A "
                    "user within a quota could be refused because of what others spent. Give "
                    "smaller quotas, or send overcommit=true, which your users should know of.",
                )

    def check_open(self, user: str, project: str | None) -> None:
        """Refuse a user, or a project, that has no account.

        Raises
        ------
        Problem
        """
        self._of("user", user)
        if project is not None:
            self._of("project", project)

    @staticmethod
    def of_user(connection: Connection, user: str) -> set[str]:
        """Data sets that a user has an account of."""
        question = "SELECT dataset FROM service_accounts WHERE kind = 'user' AND name = ?"
        return {row["dataset"] for row in connection.ask(question, user)}

    def flush(self) -> None:
        """Write what was debited."""
        for each in self._changed.values():
            self._update("spent", str(each.spent), each.kind, each.name)
        self._changed.clear()

    def all(self) -> list[Quota]:
        """Every account of the data set."""
        return self._select()

    def _held(self, user: str) -> int:
        return sum(each.unspent for each in self.reservations.open(user))

    def _add(self, quota: Quota, price: float) -> None:
        # Exact: sums of a million doubles drift from what was charged.
        after = quota._replace(spent=quota.spent + Fraction(price))
        self._known[quota.kind, quota.name] = self._changed[quota.kind, quota.name] = after

    def _select(self, which: str = "", *values: str) -> list[Quota]:
        rows = self._connection.ask(
            "SELECT kind, name, ceiling, spent FROM service_accounts "  # noqa: S608
            f"WHERE dataset = ? {which} ORDER BY kind, name",
            self._dataset,
            *values,
        )
        return [Quota(**row | {"spent": Fraction(row["spent"])}) for row in rows]

    def _of(self, kind: str, name: str) -> Quota:
        quota = self.get(kind, name)
        if quota is None:
            raise Problem(
                "forbidden",
                f"This {kind} has no quota for the data set; the curator gives one.",
            )
        return quota

    def _update(self, what: str, value: str | float, kind: str, name: str) -> None:
        self._connection.change(
            f"UPDATE service_accounts SET {what} = ? "  # noqa: S608
            "WHERE dataset = ? AND kind = ? AND name = ?",
            value,
            self._dataset,
            kind,
            name,
        )
