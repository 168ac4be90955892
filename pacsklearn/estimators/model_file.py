"""A released model as a file without code: skops, with a list of classes that is ours."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from scipy.interpolate import BSpline

from pacsklearn.estimators.archive import packed
from pacsklearn.estimators.model_digest import DIGEST, GUARANTEE, model_digest
from pacsklearn.exceptions import BundleError

# Where users import them from.
_OURS: Final = {
    "AveragedClassifier": "pacsklearn.estimators",
    "AdditiveClassifier": "pacsklearn.tabular",
    "AdditiveRegressor": "pacsklearn.tabular",
    "Column": "pacsklearn.tabular",
    "FixedStructureForestClassifier": "pacsklearn.tabular",
    "FixedStructureForestRegressor": "pacsklearn.tabular",
    "Schema": "pacsklearn.tabular",
    "SchemaColumns": "pacsklearn.tabular",
    "SchemaEncoder": "pacsklearn.tabular",
    "StepwiseClassifier": "pacsklearn.tabular",
    "StepwiseRegressor": "pacsklearn.tabular",
}
# What newer splines make arrays of numbers by.
_ARRAYS: Final = {
    f"{value.__module__}.{value.__name__}"
    for name, value in vars(BSpline([0.0, 1.0], [0.0], 0)).items()
    if name == "_asarray"
}
TRUSTED: Final = (
    *(f"{module}.{name}" for name, module in _OURS.items()),
    *_ARRAYS,
    "numpy.dtype",
    "scipy.interpolate._bsplines.BSpline",
    "scipy.sparse._csr.csr_matrix",
    "sklearn._loss.loss.HalfTweedieLoss",
    "sklearn._loss.loss.HalfTweedieLossIdentity",
    "sklearn.cluster._bisect_k_means._BisectingTree",
    "sklearn.multiclass._ConstantPredictor",
    "sklearn.utils._bunch.Bunch",
)
"""Classes beyond those of skops that a model may consist of. They only hold numbers and names."""

# Kinds of skops's nodes that make data. Others bind a method, call a function or build an operator
# from names in the file; no released model needs them.
_NODES: Final = frozenset(
    {
        "BytearrayNode",
        "BytesNode",
        "CachedNode",
        "DTypeNode",
        "DictNode",
        "FunctionNode",
        "JsonNode",
        "ListNode",
        "LossNode",
        "MaskedArrayNode",
        "NdArrayNode",
        "ObjectNode",
        "SetNode",
        "SliceNode",
        "SparseMatrixNode",
        "TupleNode",
        "TypeNode",
    }
)
_NO_TYPES: Final = frozenset({"builtins", "numpy"})
# Elementwise functions of arrays, which call nothing else: steps of public transformers. NumPy 2.0
# names the module in which they were compiled.
_FUNCTIONS: Final = _ARRAYS | frozenset(
    f"{module}.{name}"
    for name, value in vars(np).items()
    if isinstance(value, np.ufunc)
    for module in ("numpy", "numpy._core._multiarray_umath")
)


def to_file(model: Any) -> bytes:
    """Return the model as skops writes it, without what marks it as released.

    Raises
    ------
    BundleError
        When skops cannot write it, needs classes that are not :data:`TRUSTED`, or reads something
        else than was written.
    """
    from skops.io.exceptions import UnsupportedTypeException

    bare = copy.copy(model)
    for name in (GUARANTEE, DIGEST):
        vars(bare).pop(name, None)
    name = type(model).__name__
    try:
        content = skops_file(bare)
        again = from_file(content)
    except BundleError as error:
        raise BundleError(
            f"{name} cannot be written without code; a bundle holds no trees. {error} A linear "
            "student can be published: release=Student(LogisticRegression(), queries=...)."
        ) from None
    except (UnsupportedTypeException, AttributeError, TypeError, ValueError) as error:
        raise BundleError(
            f"{name} cannot be written without code ({type(error).__name__}); a bundle holds no "
            "pickles."
        ) from None
    if model_digest(again) != model_digest(bare):
        raise BundleError(f"{name} is not the same when it is read from its file.")
    return content


def from_file(content: bytes) -> Any:
    """Return the model in a file.

    Nothing in the file is called or imported beyond :data:`TRUSTED` classes.

    Raises
    ------
    BundleError
        When the file asks for anything else.
    """
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            # Stored members are no larger than the file: nothing can be inflated here.
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise BundleError("it is compressed")
            nodes = list(_nodes(json.loads(archive.read("schema.json"))))
            named = {"schema.json", *(str(node["file"]) for node in nodes if "file" in node)}
            # Whatever else it holds is signed with it, and nobody would know.
            if sorted(named) != sorted(entry.filename for entry in entries):
                raise BundleError("it holds files that are no part of the model")
        kinds = {str(node.get("__loader__")) for node in nodes}
        types = {
            str(node.get("__module__")).partition(".")[0]
            for node in nodes
            if node.get("__loader__") == "TypeNode"
        }
        functions = {
            f"{node.get('__module__')}.{node.get('__class__')}" if "content" not in node else "?"
            for node in nodes
            if node.get("__loader__") == "FunctionNode"
        }
    except BundleError as error:
        raise BundleError(f"The model's file is not as it was written: {error}.") from None
    except Exception as error:  # noqa: BLE001 - whatever a hostile file raises, it is refused
        raise BundleError(f"The model's file cannot be read ({type(error).__name__}).") from None
    strange = sorted(kinds - _NODES) or sorted(types - _NO_TYPES) or sorted(functions - _FUNCTIONS)
    if not strange:
        # Beside our own look at its nodes: skops trusts kinds that no model here needs.
        try:
            return skops.io.loads(content, trusted=list(TRUSTED))
        except UntrustedTypesFoundException:  # before anything was made
            untrusted = set(skops.io.get_untrusted_types(data=content))
            strange = sorted(untrusted - set(TRUSTED)) or ["?"]
        except Exception as error:  # noqa: BLE001 - as above
            wrong = f"The model's file cannot be loaded ({type(error).__name__})."
            raise BundleError(wrong) from None
    raise BundleError(
        f"The model's file asks for {strange[0][:80]!r}, which no released model needs; it was "
        "not loaded."
    )


def skops_file(thing: Any) -> bytes:
    """Return what skops writes, by public names: it says nothing of where memory and modules were.

    Objects are numbered in order, where skops names them by their addresses, and our classes are
    named as users import them.
    """
    import skops.io

    content: bytes = skops.io.dumps(thing)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        document = json.loads(archive.read("schema.json"))
        numbers: dict[Any, int] = {}
        members = {}
        for node in _nodes(document):
            if _is_ours(node):
                node["__module__"] = _OURS[node["__class__"]]
            if "__id__" in node:
                node["__id__"] = numbers.setdefault(node["__id__"], len(numbers))
            if "file" in node:
                stem, _, suffix = node["file"].rpartition(".")
                number = numbers.setdefault(int(stem), len(numbers))
                members[f"{number}.{suffix}"] = archive.read(node["file"])
                node["file"] = f"{number}.{suffix}"
    return packed({**members, "schema.json": json.dumps(document).encode()})


def _is_ours(node: dict[str, Any]) -> bool:
    module = str(node.get("__module__"))
    return module.partition(".")[0] == "pacsklearn" and node.get("__class__") in _OURS


def _nodes(document: Any) -> Iterator[dict[str, Any]]:
    waiting = [document]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            if "__loader__" in here:
                yield here
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
