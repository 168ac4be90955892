"""Where a table's batches come from, and where they are summed.

Each opening of a source reads it from the beginning; an engine runs in this process, or on the
workers of a cluster.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, final
from urllib.parse import urlsplit

import numpy as np
from joblib import parallel_config
from scipy import sparse

from pacsklearn_bigdata.exceptions import TableError

# By path: no index has what is called pacsklearn-bigdata here.
_INSTALL = 'pip install "./plugins/pacsklearn-bigdata[{}]" in a copy of the repository'
# Arrow's own errors are kinds of these.
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, NotImplementedError)


class Source(Protocol):
    """Batches of columns, again and again the same.

    Attributes
    ----------
    names : tuple of str or None
        Columns; None where they have no names, or are known only once a batch was read.
    n_parts : int
        Pieces that can be read by themselves, by workers elsewhere.
    """

    names: tuple[str, ...] | None
    n_parts: int

    def read(self, part: int, rows: int, columns: Sequence[str]) -> Iterator[Any]:
        """Return the batches of about ``rows`` rows of one piece.

        Record batches, data frames or arrays; of a source with names, ``columns`` at least.
        """
        ...


@final
class ParquetSource:
    """A Parquet file, or a folder of them; a file is a piece.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        files = [path]
        if path.is_dir():  # hidden files are what other programs are still writing
            paths = [(file, file.relative_to(path).parts) for file in path.rglob("*.parquet")]
            files = [file for file, parts in paths if not any(part[0] in "._" for part in parts)]
        self._files = sorted(map(str, files))
        self.n_parts = len(self._files)
        if not self._files:
            raise TableError(f"source: there is no file *.parquet in {path}.")
        self.names: tuple[str, ...] | None = tuple(self._open(self._files).schema.names)

    def _open(self, files: list[str]) -> Any:
        try:
            from pyarrow import dataset
        except ImportError:
            raise TableError(
                f"Reading Parquet needs pyarrow: {_INSTALL.format('tables')}."
            ) from None
        try:
            return dataset.dataset(files, format="parquet")
        except _UNREADABLE as error:
            raise TableError(
                f"{self.path} cannot be read as Parquet ({type(error).__name__}): it is damaged, "
                "or two columns have one name."
            ) from None

    def read(self, part: int, rows: int, columns: Sequence[str]) -> Iterator[Any]:
        """Record batches of one file, read little ahead so that few are in memory."""
        name = Path(self._files[part]).name
        opened = self._open([self._files[part]])
        missing = [column for column in self.names or () if column not in opened.schema.names]
        if missing:
            raise TableError(
                f"{name} has no column {missing[0]!r}, which the first file of {self.path} has. "
                "All files must have the same columns."
            )
        try:
            yield from opened.to_batches(
                columns=list(columns),
                batch_size=rows,
                batch_readahead=1,
                fragment_readahead=1,
            )
        except _UNREADABLE as error:
            raise TableError(
                f"{name} cannot be read to its end ({type(error).__name__})."
            ) from None


@final
class ArraySource:
    """An array in memory or mapped from a file, or a data frame.

    Parameters
    ----------
    array : ndarray, memmap or DataFrame of shape (n_rows, n_columns)
    """

    n_parts = 1

    def __init__(self, array: Any) -> None:
        self.array = array
        columns = getattr(array, "columns", None)
        self.names: tuple[str, ...] | None = None if columns is None else tuple(map(str, columns))

    def read(self, part: int, rows: int, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the slices of it."""
        cut = getattr(self.array, "iloc", self.array)
        for start in range(0, len(self.array), rows):
            yield cut[start : start + rows]


@final
class IterableSource:
    """Whatever a function makes anew at each call.

    Parameters
    ----------
    make : callable
        Returns an iterator over record batches, data frames or arrays, each time from the first.
    """

    names: tuple[str, ...] | None = None
    n_parts = 1

    def __init__(self, make: Callable[[], Iterator[Any]]) -> None:
        self.make = make

    def read(self, part: int, rows: int, columns: Sequence[str]) -> Iterator[Any]:
        """Yield what the function yields."""
        with _quoting_nothing("The function given as source"):
            made = self.make()
            if not hasattr(made, "__iter__"):
                raise TableError(
                    "The function given as source must return an iterator of batches, it returned "
                    f"{type(made).__name__}."
                )
            yield from made


@final
class DaskSource:
    """A dask data frame, or a two-dimensional array whose chunks are blocks of rows.

    Parameters
    ----------
    collection : dask.dataframe.DataFrame or dask.array.Array
    """

    def __init__(self, collection: Any) -> None:
        names = getattr(collection, "columns", None)
        self.names: tuple[str, ...] | None = None if names is None else tuple(map(str, names))
        if names is None:
            if collection.ndim != 2:
                raise TableError(
                    f"source: a dask array must have two dimensions, got {collection.ndim}."
                )
            collection = collection.rechunk({1: -1})
        self._parts = list(np.ravel(collection.to_delayed()))
        self.n_parts = len(self._parts)

    def read(self, part: int, rows: int, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the slices of one partition, made by whoever reads it."""
        # Its own graph alone, so that nothing but this partition is computed.
        with _quoting_nothing("A partition of the source"):
            block = self._parts[part].compute(scheduler="synchronous")
        yield from ArraySource(block).read(0, rows, columns)


@contextmanager
def _quoting_nothing(what: str) -> Iterator[None]:
    """Withhold the messages of a user's own reader, which may quote what it cannot read."""
    try:
        yield
    except TableError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the user's reader raises
        raise TableError(
            f"{what} raised {type(error).__name__} (its message is withheld because it may quote "
            "rows): read it yourself, outside of fit, to see what is wrong."
        ) from None


def source_of(given: Any) -> Source:
    """Return the source of a user's argument."""
    if isinstance(given, (str, Path)):
        if not Path(given).exists():
            raise TableError(f"source: there is no file or folder {given}.")
        return ParquetSource(Path(given))
    if hasattr(given, "dask"):
        return DaskSource(given)
    if sparse.issparse(given):
        raise TableError("source is a sparse matrix; a Table holds dense columns. Use .toarray().")
    if getattr(given, "ndim", None) == 2:
        return ArraySource(given)
    if callable(given):
        return IterableSource(given)
    if hasattr(given, "__next__"):
        raise TableError(
            "source is an iterator, which can be read once; fits need several passes. Give a "
            "function that makes a new one at each call, as in Table(lambda: batches())."
        )
    what = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
    if isinstance(given, np.ndarray):
        what = f"{given.ndim}d array"
    raise TableError(
        "source must be the path of a Parquet file or folder, a two-dimensional array or data "
        "frame of pandas, or a function that returns an iterator of batches; got "
        f"{what}."
    )


_HERE = ("127.0.0.1", "localhost", "::1")
# Times in one step that workers may take with them what was sent.
_MOST_LOST = 10


Seen = Callable[[int], None]
Engine = Callable[[Callable[..., Any], int, Seen], Iterator[Any]]
"""``engine(task, n_parts, saw)`` yields the results of ``task(part)`` in the order of the pieces;
``saw`` counts rows of tasks that run here."""


def run_here(task: Callable[..., Any], n_parts: int, saw: Seen) -> Iterator[Any]:
    """Run one piece after the other, in this process."""
    for part in range(n_parts):
        yield task(part, saw)


def run_on_dask(task: Callable[..., Any], n_parts: int, saw: Seen) -> Iterator[Any]:
    """Run every piece where a worker of the active ``dask.distributed`` client is free.

    Workers get the source, the numbers of the current step and the design's key; secret, noise and
    ledger stay here. A worker that dies is replaced by another one. What a piece sums to does not
    depend on who sums it.
    """
    del saw  # of rows that are read elsewhere
    client = dask_client()
    from distributed.comm import CommClosedError

    n_done = n_lost = 0
    while n_done < n_parts:
        time.sleep(0.1 * n_lost)
        held: list[Any] = []
        try:
            # Unhashed: the scheduler would otherwise hold a digest of the design's key. To one
            # worker: dask never ends to broadcast to one that dies.
            held += client.scatter([task], hash=False)
            # Not pure: the scheduler would keep results by the name of what they come from.
            parts = range(n_done, n_parts)
            held += [client.submit(operator.call, held[0], part, pure=False) for part in parts]
            for future in held[1:]:
                yield future.result()
                n_done += 1
        except (CommClosedError, CancelledError):
            # What was sent went with a worker before another had it: sent again.
            n_lost += 1
            if n_lost > _MOST_LOST:
                raise
        finally:
            client.cancel(held)


def dask_client() -> Any:
    """Return the active client.

    Raises
    ------
    TableError
        When there is none, or rows would cross a network in the clear.
    """
    try:
        from distributed import get_client
    except ImportError:
        raise TableError(f"engine='dask' needs dask: {_INSTALL.format('dask')}.") from None
    try:
        client = get_client()
    except ValueError:
        raise TableError(
            "engine='dask' needs an active client: client = dask.distributed.Client(...)."
        ) from None
    parts = urlsplit(str(client.scheduler_info(n_workers=0)["address"]))
    if parts.scheme not in ("tls", "inproc") and parts.hostname not in _HERE:
        raise TableError(
            f"The scheduler at {parts.scheme}://{parts.hostname} is not on this machine and not "
            "encrypted: rows would cross the network in the clear. Start the cluster with TLS "
            "(dask.distributed.Security), as in tls://host:8786."
        )
    return client


def engine_of(name: str | None, source: Source) -> Engine:
    """Return the engine of a user's argument; a dask collection is summed on its workers."""
    if name not in (None, "dask"):
        raise TableError(f"engine must be None or 'dask', got {name!r}.")
    far = name == "dask" or isinstance(source, DaskSource)
    return run_on_dask if far else run_here


def dask_workers() -> AbstractContextManager[Any]:
    """Return the context in which candidates are fitted on the workers of the active client.

    What is fitted there is sent there: rows, and which of them each candidate holds. Secret, noise
    and ledger stay here.

    Raises
    ------
    TableError
        As for :func:`dask_client`.
    """
    dask_client()
    return parallel_config(backend="dask")
