"""ONNX graphs in double precision, a node at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats

OPSET: Final = 18
ML_OPSET: Final = 3
DOUBLE: Final = "DOUBLE"
NAME: Final = "converted"
"""Of all graphs: skl2onnx draws one at random otherwise, and no two bundles would be alike."""

_ML_OPERATORS: Final = frozenset({"LabelEncoder"})


class OnnxGraph:
    """Graph under construction; values are referred to by their names.

    Parameters
    ----------
    width : int
        Columns of the matrix that it reads, if it reads one.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._count = 0

    @cached_property
    def rows(self) -> str:
        """Its input "X", a matrix of doubles, added where it is first named."""
        return self.input("X", DOUBLE, self._width)

    def input(self, name: str, kind: str, width: int) -> str:
        """Add an input of shape (rows, width), of ``kind`` "DOUBLE" or "STRING"."""
        from onnx import TensorProto, helper

        shape = [None, width]
        self._inputs.append(helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape))
        return name

    def output(self, value: str, name: str, kind: str, shape: Sequence[int | None]) -> None:
        """Let a value leave under a name."""
        from onnx import TensorProto, helper

        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(
            helper.make_tensor_value_info(name, getattr(TensorProto, kind), list(shape))
        )

    def constant(self, value: Any) -> str:
        """Add a constant of the type of an array; texts become strings."""
        from onnx import TensorProto, helper, numpy_helper

        array = np.asarray(value)
        name = self._name("constant")
        if array.dtype.kind in "OU":
            texts: Any = [str(one).encode() for one in array.ravel()]
            made = helper.make_tensor(name, TensorProto.STRING, array.shape, texts)
        else:
            made = numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._constants.append(made)
        return name

    def node(self, operator: str, *inputs: Any, n_outputs: int = 1, **attributes: Any) -> str:
        """Add an operator and return its first output.

        Inputs that are no names become constants.
        """
        from onnx import helper

        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        out, *others = (self._name(operator) for _ in range(n_outputs))
        domain = "ai.onnx.ml" if operator in _ML_OPERATORS else ""
        outputs = [out, *others]
        self._nodes.append(helper.make_node(operator, names, outputs, domain=domain, **attributes))
        return out

    def labels(self, scores: str, classes: NDArray[Any]) -> None:
        """Add the output "label": the class of the largest score."""
        best = self.node("ArgMax", scores, axis=1, keepdims=0)
        kind = "INT64" if classes.dtype.kind in "iub" else "STRING"
        known = classes.astype(np.int64) if kind == "INT64" else classes.astype(str)
        self.output(self.node("Gather", self.constant(known), best), "label", kind, [None])

    def after_zero(self, scores: str) -> str:
        """Return a column of zeros and the scores: the second class wins where they are above 0."""
        return self.node("Concat", self.node("Sub", scores, scores), scores, axis=1)

    def probabilities(self, value: str, n_classes: int) -> None:
        """Add the output "probabilities"."""
        self.output(value, "probabilities", DOUBLE, [None, n_classes])

    def matrix(self, rows: str, values: Floats) -> str:
        """Multiply the rows by a constant matrix."""
        return self.node("MatMul", rows, np.asarray(values, dtype=np.float64))

    def reshape(self, value: str, *shape: int) -> str:
        """Return a value in another shape; -1 is what is left."""
        return self.node("Reshape", value, np.array(shape, dtype=np.int64))

    def model(self) -> Any:
        """Return the finished model, checked."""
        import onnx
        from onnx import helper

        graph = helper.make_graph(self._nodes, NAME, self._inputs, self._outputs, self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(
            graph, opset_imports=opsets, producer_name="pacsklearn", ir_version=9
        )
        onnx.checker.check_model(made)
        return made

    def _name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"


def kinds(model: Any) -> list[str]:
    """Return the names of scikit-learn's and our classes that an estimator is of, its own first."""
    ours = ("sklearn", "pacsklearn")
    return [c.__name__ for c in type(model).__mro__ if c.__module__.partition(".")[0] in ours]
