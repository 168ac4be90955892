"""Whether a model is still the one that was released."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from pacsklearn._public_path import public_path
from pacsklearn.kernel.guarantee.guarantee import Guarantee

GUARANTEE: Final = "pacsklearn_guarantee_"
"""Attribute of a released model with what was promised about it, as JSON text."""

DIGEST: Final = "pacsklearn_digest_"
"""Attribute of a released model with the digest of what it was when it was decoded."""

# What we add, how outputs are shown (``set_output``) and who pickles: no part of the model.
_ASIDE: Final = frozenset({GUARANTEE, DIGEST, "_sklearn_output_config", "_sklearn_version"})
# Of objects that are no more than their attributes.
_PLAIN: Final = (object.__getstate__, BaseEstimator.__getstate__)


def mark_released(model: Any, guarantee: Guarantee) -> Any:
    """Give a model what was promised about it, and the digest it has now; returns the model.

    The promise is JSON text, so that a pickle of a scikit-learn model is read without pacsklearn.
    Pickles keep both, and :func:`sklearn.base.clone`, which copies parameters only, drops both.
    ``fit`` on a marked model changes its digest, so that nobody publishes it as released. A value
    that is no estimator (numbers of a function) is returned as it is.
    """
    if not hasattr(model, "get_params"):
        return model
    # The promise before the digest, which leaves both attributes out.
    setattr(model, GUARANTEE, guarantee.to_json())
    setattr(model, DIGEST, model_digest(model))
    return model


def model_digest(model: Any) -> str:
    """Return SHA-256 of everything in a model: its class, its parameters, its fitted attributes.

    Classes count by the name that users import, whatever module they are defined in. Copies,
    pickles and other containers of the same numbers (a scalar of NumPy or of Python, an array in
    another memory order) have the same digest.

    Parameters
    ----------
    model : estimator
        Objects inside are taken apart by their ``__dict__``, or by how they are pickled.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for part in _parts(model, ()):
        # The length keeps two texts in a row apart from one long text.
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _parts(value: Any, inside: tuple[int, ...]) -> Iterator[bytes]:
    # Before integers: to Python True is one of them.
    if value is None or isinstance(value, (bool, np.bool_)):
        yield f"constant {value}".encode()
    elif isinstance(value, (int, np.integer)):
        yield f"integer {int(value)}".encode()
    elif isinstance(value, (float, np.floating)):
        yield b"float" + struct.pack("<d", float(value))
    elif isinstance(value, (str, bytes)):
        text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)
        yield f"{type(value).__name__} ".encode() + text
    elif isinstance(value, np.ufunc):  # has no state that says which it is
        yield f"ufunc {value.__name__}".encode()
    elif isinstance(value, (type, FunctionType, BuiltinFunctionType, ModuleType)):
        yield f"name {_name(value)}".encode()
        if isinstance(value, FunctionType) and id(value) not in inside:
            for part in _code(value):
                yield from _parts(part, (*inside, id(value)))
    elif id(value) in inside:
        # As a distance: an id is another one in every process.
        yield f"cycle {len(inside) - inside.index(id(value))}".encode()
    else:
        yield from _container(value, (*inside, id(value)))


def _container(value: Any, inside: tuple[int, ...]) -> Iterator[bytes]:
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        yield from _array(value, inside)
    elif isinstance(value, Mapping):
        yield f"mapping {_name(type(value))} {len(value)}".encode()
        for key in value:
            yield from _parts(key, inside)
            yield from _parts(value[key], inside)
    elif isinstance(value, (list, tuple)):
        yield f"{_name(type(value))} {len(value)}".encode()
        for item in value:
            yield from _parts(item, inside)
    elif isinstance(value, (set, frozenset)):
        yield f"set {len(value)}".encode()
        # Sorted: sets of texts have another order in every process.
        yield from sorted(b"".join(_parts(item, inside)) for item in value)
    else:
        yield from _object(value, inside)


def _array(value: Any, inside: tuple[int, ...]) -> Iterator[bytes]:
    if sparse.issparse(value):
        rows = value.tocoo()
        order = np.lexsort((rows.col, rows.row))
        yield f"sparse {value.format} {value.shape}".encode()
        for part in (rows.row, rows.col):
            yield part[order].astype(np.int64).tobytes()
        yield rows.data[order].tobytes()
        return
    yield f"array {value.dtype.str} {value.shape}".encode()
    if not value.dtype.hasobject:
        yield np.ascontiguousarray(value).tobytes()
        return
    for item in value.ravel().tolist():
        yield from _parts(item, inside)


def _object(value: Any, inside: tuple[int, ...]) -> Iterator[bytes]:
    yield f"object {_name(type(value))}".encode()
    state = getattr(value, "__dict__", None)
    if state is not None and type(value).__getstate__ not in _PLAIN:
        state = value.__getstate__()  # what wraps a compiled object says what it is
    if not isinstance(state, Mapping):  # compiled classes and slots say how they are made again
        yield from _parts(value.__reduce_ex__(2)[1:3], inside)
        return
    for name in sorted(state.keys() - _ASIDE):
        yield name.encode()
        yield from _parts(state[name], inside)


def _name(value: Any) -> str:
    return ".".join(public_path(value))


def _code(function: FunctionType) -> Iterator[Any]:
    """Yield what a function that nobody can import is made of: its name may stand for several."""
    if "<" not in function.__qualname__:
        return
    waiting = [function.__code__]
    while waiting:
        code = waiting.pop()
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
        yield code.co_code
        yield code.co_names
        yield tuple(each for each in code.co_consts if not isinstance(each, CodeType))
    yield function.__defaults__
    yield function.__kwdefaults__
    yield tuple(cell.cell_contents for cell in function.__closure__ or ())
