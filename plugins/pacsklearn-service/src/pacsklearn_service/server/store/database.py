"""The service's tables in the ledger's database: durable transactions behind a lease."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any, Final, final

from pacsklearn.exceptions import LedgerError, LedgerMismatchError
from pacsklearn.kernel.ledger.address import database_address
from pacsklearn.kernel.ledger.log import Log, UnreachableError, scripts, waits
from pacsklearn.kernel.ledger.sqlite_file import SQLITE
from pacsklearn.kernel.ledger.writer import run
from pacsklearn_service.server.problem import taken
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.store.file_connection import FileConnection

_TABLES: Final = Path(__file__).with_name("tables")
_PATIENCE: Final = 30.0
_LEASE: Final = "SELECT token FROM service_leases WHERE dataset = ?"
_OTHERS: Final = (
    "SELECT number, holder, until, seconds FROM service_coordinators WHERE number <> ? "
    "ORDER BY until"
)
_FREE: Final = (
    "SELECT dataset FROM service_leases WHERE dataset <> '' "
    "AND coordinator NOT IN (SELECT number FROM service_coordinators) ORDER BY dataset"
)
_TAKEN: Final = (
    "Another process leads this data set: this one neither draws nor answers for it any more."
)


@final
class FencedError(LedgerError):
    """Another process leads the data set: this one may neither write nor answer for it."""


@final
class ServiceDatabase:
    """Door to the tables of the service.

    Parameters
    ----------
    address : str
        ``"sqlite:///path"`` or ``"postgresql://..."``; made, with the tables, where it is new.

    Attributes
    ----------
    address : str
        What ledgers in it are opened with.
    place : str
        What tells it from a copy of it.
    lost, surplus : list of str
        Data sets that others lead since the lease was asked for last, and those that this process
        leads beyond its share, since another one has begun.
    new : dict of str to int
        Data sets that were taken when the lease was asked for last, with their tokens.
    """

    def __init__(self, address: str) -> None:
        self.address = database_address(address)
        self._lock = threading.RLock()
        self._number, self._until = 0, 0.0
        self._tokens: dict[str, int] = {}
        # Until when others' leases last, by number, and when that was first seen.
        self._watched: dict[int, tuple[float, float]] = {}
        self.lost: list[str] = []
        self.surplus: list[str] = []
        self.new: dict[str, int] = {}
        self._make_ledgers()
        self._connection = _connection(self.address, _PATIENCE)
        # Asked again before long: a lock that stands still is taken from who has it only then.
        self._lease = _connection(self.address, 1.0)
        self._lease_lock = threading.Lock()
        try:
            self._make_tables()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection that sees what was committed."""
        with self._lock, self._connection.transaction(write=False):
            yield self._connection

    @contextmanager
    def writing(self, dataset: str = "", token: int | None = None) -> Iterator[Connection]:
        """Open a transaction, which is on disk when the block has ended.

        Parameters
        ----------
        dataset : str
            Which the transaction is about: of the one that leads it alone. Without one it is about
            what belongs to no data set, which whoever has the machine's key may write.
        token : int, optional
            With which the data set must be led still; without it, with any of this process.

        Raises
        ------
        FencedError
            When another process leads the data set; nothing is written then.
        """
        with self._lock, self._connection.transaction(write=True):
            lease = self._connection.ask(_LEASE + self._connection.locked, dataset)
            # With the lease's row locked: nobody can take it before this is committed.
            if dataset:
                self._check(lease, dataset, token)
            yield self._connection

    @property
    def is_held(self) -> bool:
        """Whether this process's own lease certainly lasts now, by its own clock."""
        return self._number > 0 and time.monotonic() < self._until

    @property
    def led(self) -> dict[str, int]:
        """Fencing tokens of the data sets that this process leads."""
        return dict(self._tokens)

    def leads(self, dataset: str, token: int) -> bool:
        """Return whether a data set that was taken with a token is certainly still led now."""
        return self._tokens.get(dataset) == token and self.is_held

    def check_lease(self, connection: Connection, dataset: str, token: int) -> None:
        """Refuse when the lease has ended, or when the database says that another one has it.

        Raises
        ------
        FencedError
        """
        if not self.is_held:
            raise FencedError(_TAKEN)
        self._check(connection.ask(_LEASE, dataset), dataset, token)

    def _check(self, lease: list[dict[str, Any]], dataset: str, token: int | None) -> None:
        own = self._tokens.get(dataset)
        if own is None or token not in (None, own) or [each["token"] for each in lease] != [own]:
            raise FencedError(_TAKEN)

    def holder(self, connection: Connection, dataset: str) -> str:
        """Return the name of the holder that leads a data set; empty where none does."""
        question = (
            "SELECT holder FROM service_coordinators JOIN service_leases ON coordinator = number "
            "WHERE dataset = ?"
        )
        rows = connection.ask(question, dataset)
        return str(rows[0]["holder"]) if rows else ""

    def take(
        self,
        holder: str,
        seconds: float,
        end: Callable[[list[str]], int] | None = None,
    ) -> dict[str, int]:
        """Hold the lease longer, and lead this process's share of the data sets.

        A data set is led by one process at a time: by the one whose number stands with it, until
        that one's lease has ended. Whoever finds that it has deletes the lease, after which the
        data set is taken with a larger token. The database's clock may be set: its word alone ends
        a lease only for who has not watched it before. The local end is counted from before the
        database was asked, so it is never after the one that others see. All this is done on a
        connection of its own, which no other work in this process keeps waiting.

        Parameters
        ----------
        holder : str
            Another one for each process; empty where callers do not reach it, which has no lease
            then, and ends others' only.
        seconds : float
        end : callable, optional
            Called with the names of holders who have let their leases end without giving them back;
            ends one, and gives its place. It may have stopped within a transaction, which locks
            everybody out, so that the others may have done nothing but wait.

        Returns
        -------
        dict of str to int
            Data sets that this process leads, with their tokens.
        """
        requested, own = time.monotonic(), self._lease
        with self._lease_lock:
            with own.transaction(write=False):
                lapsed = self._lapsed(own.ask(_OTHERS, self._number), own.now())
                is_changing = bool(lapsed or not self._number or own.ask(_FREE))
            if lapsed:
                names = [each["holder"] for each in lapsed]
                gone = lapsed[0 if end is None else end(names)]
                own.end_frozen(seconds / 2)
            if not (lapsed or holder):
                return {}
            with own.transaction(write=True):
                if is_changing:  # one after the other
                    own.ask(_LEASE + own.locked, "")
                if lapsed:
                    gone_still = {name: gone[name] for name in ("number", "until")}
                    own.delete("service_coordinators", **gone_still)
                number = self._renewed(own, holder, seconds, is_changing) if holder else 0
                tokens = self._share(own, number, is_changing) if number else {}
            before = self._tokens
            self.lost = [name for name, token in before.items() if tokens.get(name) != token]
            self.new = {name: each for name, each in tokens.items() if before.get(name) != each}
            self._number, self._tokens, self._until = number, tokens, requested + seconds
        return dict(tokens)

    @contextmanager
    def founding(self, dataset: str) -> Iterator[Connection]:
        """Open a transaction that registers a data set, which this process leads then."""
        with self._lease_lock:
            with self.writing() as connection:
                if not self._number:
                    raise FencedError(_TAKEN)
                if connection.ask(_LEASE, dataset):  # somebody was faster
                    raise taken("data set", dataset)
                token = _next(connection)
                connection.insert(
                    "service_leases", dataset=dataset, coordinator=self._number, token=token
                )
                yield connection
            self._tokens = self._tokens | {dataset: token}

    @contextmanager
    def leaving(self, dataset: str) -> Iterator[Connection]:
        """Open a transaction after which this process leads a data set no more: it is deleted."""
        with self._lease_lock:
            with self.writing(dataset) as connection:
                yield connection
            self._tokens = {name: each for name, each in self._tokens.items() if name != dataset}

    def give_back(self, dataset: str) -> None:
        """Give a data set back, for another process to take it."""
        with self.leaving(dataset) as connection:
            connection.update("service_leases", {"coordinator": 0}, dataset=dataset)

    def release(self) -> None:
        """Give the lease back, and with it all data sets, for others to take at once."""
        with self._lease_lock:
            with self.writing() as connection:
                connection.delete("service_coordinators", number=self._number)
            self._number, self._tokens = 0, {}

    def _lapsed(self, others: list[dict[str, Any]], now: float) -> list[dict[str, Any]]:
        """Return the leases that nobody holds any more."""
        at, before = time.monotonic(), self._watched
        lapsed, self._watched = [], {}
        for each in others:
            until = each["until"]
            known, since = before.get(each["number"], (until, -inf if until <= now else at))
            since = since if until == known else at
            self._watched[each["number"]] = until, since
            if at - since >= each["seconds"]:
                lapsed.append(each)
        return lapsed

    def _renewed(self, own: Connection, holder: str, seconds: float, is_changing: bool) -> int:
        """Return the number of this process's lease, lasting longer; 0 where it was ended."""
        until = own.now() + seconds
        if own.update("service_coordinators", {"until": until}, number=self._number):
            return self._number
        if not is_changing:  # begun anew when it is asked for again
            return 0
        number = _next(own)
        own.insert(
            "service_coordinators", number=number, holder=holder, until=until, seconds=seconds
        )
        return number

    def _share(self, own: Connection, number: int, is_changing: bool) -> dict[str, int]:
        """Return the data sets led under a number, after taking free ones up to its share.

        Shares differ by one at most, and those who began first have the larger ones.
        """
        rows = own.ask("SELECT number FROM service_coordinators ORDER BY number")
        leases = own.ask("SELECT * FROM service_leases WHERE dataset <> '' ORDER BY dataset")
        led = {each["dataset"]: each["token"] for each in leases if each["coordinator"] == number}
        most, rest = divmod(len(leases), len(rows))
        most += [each["number"] for each in rows].index(number) < rest
        for each in own.ask(_FREE)[: max(most - len(led), 0)] if is_changing else ():
            led[each["dataset"]] = token = _next(own)
            taken = {"coordinator": number, "token": token}
            own.update("service_leases", taken, dataset=each["dataset"])
        self.surplus = sorted(led)[most:]
        return led

    def close(self) -> None:
        """Close the connections."""
        with self._lease_lock, self._lock:
            self._connection.close()
            self._lease.close()

    def _make_ledgers(self) -> None:
        """Make the database and the tables of ledgers, or bring them to this version."""
        for _ in waits(_PATIENCE):
            try:
                run(self.address, lambda log: log.create(Log.migrate))
                return
            except UnreachableError as error:  # a server that starts, or was started anew
                lost = error
        raise lost

    def _make_tables(self) -> None:
        """Make the tables of the service, or bring them to this version, by the scripts."""
        connection = self._connection
        with connection.transaction(write=True):
            # Two processes that start at once must not both make the tables.
            made = "CREATE TABLE IF NOT EXISTS service_version (number bigint PRIMARY KEY)"
            for statement in (*connection.claim, made):
                connection.change(statement)
            done = connection.ask("SELECT coalesce(max(number), 0) AS number FROM service_version")
            before, newest = int(done[0]["number"]), len(scripts(_TABLES, 0))
            if before > newest:
                raise LedgerMismatchError(
                    f"The database has version {before} of the service's tables, and this "
                    f"pacsklearn knows up to {newest}: a newer one has changed it. Upgrade "
                    "pacsklearn, then start again."
                )
            for number, script in enumerate(scripts(_TABLES, before), start=before + 1):
                for statement in script.split(";\n"):
                    if statement:
                        connection.change(statement)
                connection.insert("service_version", number=number)
            self.place = connection.place()


def _next(connection: Connection) -> int:
    """Return a number that is larger than all before it, where the row without a name is locked."""
    connection.change("UPDATE service_leases SET token = token + 1 WHERE dataset = ''")
    return int(connection.ask(_LEASE, "")[0]["token"])


def _connection(address: str, patience: float) -> Connection:
    if address.startswith(SQLITE):
        return FileConnection(address, patience)
    from pacsklearn_service.server.store.server_connection import ServerConnection

    return ServerConnection(address, patience)
