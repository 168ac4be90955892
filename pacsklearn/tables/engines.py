"""Where the pieces of a table are summed: in this process, or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, final
from urllib.parse import urlsplit

from joblib import parallel_config

from pacsklearn.exceptions import TableError
from pacsklearn.tables.sources import DaskSource, Source

_HERE = ("127.0.0.1", "localhost", "::1")


Seen = Callable[[int], None]


class Engine(Protocol):
    """Runs one task for every piece, and gives the results in the order of the pieces."""

    def run(self, task: Callable[..., Any], n_parts: int, saw: Seen) -> Iterator[Any]:
        """Results of ``task(part)``; ``saw`` counts rows of tasks that run here."""
        ...


@final
class LocalEngine:
    """One piece after the other, in this process."""

    def run(self, task: Callable[..., Any], n_parts: int, saw: Seen) -> Iterator[Any]:
        """Results, each as soon as it is there."""
        for part in range(n_parts):
            yield task(part, saw)


@final
class DaskEngine:
    """Every piece where a worker of the active ``dask.distributed`` client is free.

    Workers get the source, the numbers of the current step and the design's key; secret, noise and
    ledger stay here. A worker that dies is replaced by another one.
    """

    def run(self, task: Callable[..., Any], n_parts: int, saw: Seen) -> Iterator[Any]:
        """Results in order; what a piece sums to does not depend on who sums it."""
        client = dask_client()
        # Unhashed: the scheduler would otherwise hold a digest of the design's key.
        (sent,) = client.scatter([task], broadcast=True, hash=False)
        # Not pure: the scheduler would keep results by the name of what they were computed from.
        futures = [client.submit(_call, sent, part, pure=False) for part in range(n_parts)]
        try:
            for future in futures:
                yield future.result()
        finally:
            client.cancel([*futures, sent])


def _call(task: Callable[[int], Any], part: int) -> Any:
    return task(part)


def dask_client() -> Any:
    """The active client.

    Raises
    ------
    TableError
        When there is none, or rows would cross a network in the clear.
    """
    try:
        from distributed import get_client
    except ImportError:
        raise TableError("engine='dask' needs pip install 'pacsklearn[dask]'.") from None
    try:
        client = get_client()
    except ValueError:
        raise TableError(
            "engine='dask' needs an active client: client = dask.distributed.Client(...)."
        ) from None
    address = str(client.scheduler_info(n_workers=0)["address"])
    parts = urlsplit(address)
    if parts.scheme not in ("tls", "inproc") and parts.hostname not in _HERE:
        raise TableError(
            f"The scheduler at {parts.scheme}://{parts.hostname} is not on this machine and not "
            "encrypted: rows would cross the network in the clear. Start the cluster with TLS "
            "(dask.distributed.Security), as in tls://host:8786."
        )
    return client


def engine_of(name: str | None, source: Source) -> Engine:
    """Engine of a user's argument; a dask collection is summed on its workers."""
    _check_name(name)
    far = name == "dask" or isinstance(source, DaskSource)
    return DaskEngine() if far else LocalEngine()


def workers(name: str | None) -> AbstractContextManager[Any]:
    """Context in which joblib fits candidates on an engine; that of the caller where it is None.

    Raises
    ------
    TableError
    """
    _check_name(name)
    if name is None:
        return nullcontext()
    dask_client()
    return parallel_config(backend="dask")


def _check_name(name: str | None) -> None:
    if name not in (None, "dask"):
        raise TableError(f"engine must be None or 'dask', got {name!r}.")
