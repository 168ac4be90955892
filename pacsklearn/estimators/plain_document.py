"""Numbers, texts, arrays and tables as a file whose reading runs no code: JSON beside ``.npy``."""

from __future__ import annotations

import base64
import json
import zipfile
from collections.abc import Callable
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_FACTS: Final = "facts.json"
_KINDS: Final = frozenset("biufcSUmM")
_INTEGERS: Final = {f"{sign}{bits}" for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)}
_NUMBERS: Final = frozenset(_INTEGERS | {"Float32", "Float64"})
_EXTENSIONS: Final = _NUMBERS | {"boolean", "string", "str"}
_POLARS: Final = _NUMBERS | {"Boolean", "String"}
_SPARSE: Final[dict[str, Any]] = {
    kind.__name__: kind
    for kind in (
        sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix
    )
}  # fmt: skip


def write_document(file: IO[bytes], document: Any) -> None:
    """Write a document as the members of an uncompressed ``.npz``.

    Parameters
    ----------
    file : file
        Need not be able to seek.
    document : object
        None, bool, int, float, complex, str, bytes, tuples, lists, sets and dicts of such;
        arrays and scalars of NumPy, also of such objects; sparse matrices by rows or columns;
        tables of pandas and polars.

    Raises
    ------
    TypeError
        Naming the type of anything else: it could be read again only by running code.
    """
    arrays: list[NDArray[Any]] = []
    facts = json.dumps(_Writer(arrays).node(document), allow_nan=False).encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_FACTS, facts)
        for i, array in enumerate(arrays):
            with archive.open(f"{i}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_document(file: IO[bytes]) -> Any:
    """Read what :func:`write_document` wrote.

    Only constructors of a fixed list are called, with numbers and texts: nothing is unpickled, and
    no name in the file is imported.

    Raises
    ------
    Exception
        Of any class when the file is something else.
    """
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        # Stored members are no larger than the file: nothing can be inflated here.
        if any(each.compress_type != zipfile.ZIP_STORED for each in members):
            raise ValueError("a member is compressed")
        if [each.filename for each in members] != [
            _FACTS,
            *(f"{i}.npy" for i in range(len(members) - 1)),
        ]:
            raise ValueError("the members are not those of a document")
        facts = json.loads(archive.read(_FACTS))
        arrays = [_array(archive, each) for each in members[1:]]
    return _Reader(arrays).value(facts)


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(info) as member:
        array = np.asarray(np.lib.format.read_array(member, allow_pickle=False))
        if member.read(1) or array.dtype.kind not in _KINDS:
            raise ValueError("an array is not as it was written")
    return array


class _Writer:
    """Values as nodes of JSON; a dict of one entry names its kind."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self._arrays = arrays

    def node(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if np.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return [self.node(each) for each in value]
        if kind in (tuple, set, frozenset):
            # Sets in one order, so that a file does not tell how it was hashed.
            parts = value if kind is tuple else sorted(value, key=repr)
            return {kind.__name__: [self.node(each) for each in parts]}
        if kind is dict:
            return {"dict": [[self.node(key), self.node(one)] for key, one in value.items()]}
        if kind is bytes:
            return {"bytes": base64.b64encode(value).decode()}
        if kind is complex:
            return {"complex": [self.node(value.real), self.node(value.imag)]}
        return self._numbers(value)

    def _numbers(self, value: Any) -> Any:
        if type(value) is np.ndarray and value.dtype.kind in _KINDS:
            self._arrays.append(value)
            return {"array": len(self._arrays) - 1}
        if type(value) is np.ndarray and value.dtype == object:
            items = [self.node(each) for each in value.ravel().tolist()]
            return {"objects": [list(value.shape), items]}
        if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
            return {"scalar": self._numbers(np.asarray(value))["array"]}
        if type(value).__name__ in _SPARSE and type(value) is _SPARSE[type(value).__name__]:
            parts = [self._numbers(each) for each in (value.data, value.indices, value.indptr)]
            return {"sparse": [type(value).__name__, list(value.shape), parts]}
        package = type(value).__module__.partition(".")[0]
        if package in ("pandas", "polars"):
            return self._table(value, package)
        raise _unwritable(value)

    def _table(self, value: Any, package: str) -> Any:
        if package == "polars":
            import polars as pl

            if type(value) is pl.Series:
                return {"polars series": self._polars(value)}
            if type(value) is pl.DataFrame:
                return {"polars": [self._polars(each) for each in value.get_columns()]}
            raise _unwritable(value)
        import pandas as pd

        if value is pd.NA:
            return {"missing": None}
        if type(value) is pd.Series:
            return {
                "series": [*self._index(value.index), self.node(value.name), self._pandas(value)]
            }
        if type(value) is pd.DataFrame and type(value.columns) is not pd.MultiIndex:
            columns = [self._pandas(value.iloc[:, i]) for i in range(value.shape[1])]
            return {"frame": [*self._index(value.index), *self._index(value.columns), columns]}
        raise _unwritable(value)

    def _index(self, index: Any) -> list[Any]:
        import pandas as pd

        if isinstance(index, pd.MultiIndex):
            raise _unwritable(index)
        if type(index) is pd.RangeIndex:
            return [self.node(index.name), {"range": [index.start, index.stop, index.step]}]
        return [self.node(index.name), self._pandas(index)]

    def _pandas(self, column: Any) -> Any:
        import pandas as pd

        dtype = column.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            codes = pd.Categorical(column).codes.astype(np.int64)
            return {
                "categories": [
                    self.node(np.asarray(codes)),
                    self._pandas(dtype.categories),
                    bool(dtype.ordered),
                ]
            }
        if isinstance(dtype, np.dtype):
            return self.node(np.asarray(column.to_numpy()))
        if str(dtype) not in _EXTENSIONS:
            raise TypeError(f"a column of the type {dtype} cannot be written without code")
        return {"extension": [str(dtype), self.node(column.to_numpy(dtype=object))]}

    def _polars(self, column: Any) -> Any:
        if str(column.dtype) not in _POLARS:
            raise TypeError(f"a column of the type {column.dtype} cannot be written without code")
        return [column.name, str(column.dtype), self.node(column.to_list())]


def _unwritable(value: Any) -> TypeError:
    return TypeError(f"an object of type {type(value).__qualname__} cannot be written without code")


class _Reader:
    """The other way; a kind that is not named here is refused."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self._arrays = arrays
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "float": lambda text: {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[text],
            "tuple": lambda parts: tuple(self._list(parts)),
            "set": lambda parts: set(self._list(parts)),
            "frozenset": lambda parts: frozenset(self._list(parts)),
            "dict": lambda pairs: {self.value(key): self.value(one) for key, one in pairs},
            "bytes": lambda text: base64.b64decode(text, validate=True),
            "complex": lambda parts: complex(*map(float, self._list(parts))),
            "array": self._stored,
            "scalar": lambda number: self._stored(number)[()],
            "objects": self._objects,
            "sparse": self._sparse,
            "missing": lambda _: _missing(),
            "range": self._range,
            "categories": self._categories,
            "extension": self._extension,
            "series": self._series,
            "frame": self._frame,
            "polars": self._polars_frame,
            "polars series": self._polars,
        }

    def value(self, node: Any) -> Any:
        if isinstance(node, dict):
            ((kind, content),) = node.items()
            return self._kinds[kind](content)
        return self._list(node) if isinstance(node, list) else node

    def _list(self, parts: Any) -> list[Any]:
        if not isinstance(parts, list):
            raise TypeError("parts are no list")
        return [self.value(each) for each in parts]

    def _stored(self, number: Any) -> NDArray[Any]:
        stored: NDArray[Any] = self._arrays[range(len(self._arrays))[number]]
        return stored

    def _objects(self, content: Any) -> NDArray[Any]:
        shape, items = content
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(self._list(items)):  # one by one: lists inside are no axes
            array[i] = item
        return array.reshape([int(each) for each in shape])

    def _sparse(self, content: Any) -> Any:
        name, shape, parts = content
        made: Any = _SPARSE[name](
            tuple(self._list(parts)), shape=tuple(int(each) for each in shape)
        )
        # Compiled code follows the indices without looking: one outside would read other memory.
        made.check_format(full_check=True)
        return made

    def _range(self, content: Any) -> Any:
        import pandas as pd

        return pd.RangeIndex(*(int(each) for each in content))

    def _index(self, name: Any, node: Any) -> Any:
        import pandas as pd

        return pd.Index(**self._typed(node), name=self.value(name))

    def _typed(self, node: Any) -> dict[str, Any]:
        """Return values for pandas, which would make words of objects that are words."""
        values = self.value(node)
        # What is no array knows its own type.
        return {"data": values, "dtype": values.dtype if isinstance(values, np.ndarray) else None}

    def _categories(self, content: Any) -> Any:
        import pandas as pd

        codes, categories, ordered = content
        dtype = pd.CategoricalDtype(pd.Index(**self._typed(categories)), bool(ordered))
        return pd.Categorical.from_codes(self.value(codes), dtype=dtype)

    def _extension(self, content: Any) -> Any:
        import pandas as pd

        name, values = content
        if name not in _EXTENSIONS:
            raise ValueError("a column is of no known type")
        return pd.array(self.value(values), dtype=name)

    def _series(self, content: Any) -> Any:
        import pandas as pd

        index_name, index, name, column = content
        index = self._index(index_name, index)
        return pd.Series(**self._typed(column), index=index, name=self.value(name))

    def _frame(self, content: Any) -> Any:
        import pandas as pd

        index_name, index, name, labels, columns = content
        rows = self._index(index_name, index)
        made = {i: pd.Series(**self._typed(each), index=rows) for i, each in enumerate(columns)}
        frame = pd.DataFrame(made, index=rows)
        frame.columns = self._index(name, labels)
        return frame

    def _polars(self, content: Any) -> Any:
        import polars as pl

        name, dtype, values = content
        if dtype not in _POLARS:
            raise ValueError("a column is of no known type")
        return pl.Series(name, self._list(values), dtype=getattr(pl, dtype))

    def _polars_frame(self, content: Any) -> Any:
        import polars as pl

        return pl.DataFrame([self._polars(each) for each in content])


def _missing() -> Any:
    import pandas as pd

    return pd.NA
