"""A released model in ONNX, where every operator exists and the outputs are the same."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import reduce
from typing import Any, Final, NamedTuple, final

import numpy as np

from pacsklearn.estimators.averaged import AveragedClassifier
from pacsklearn_publish import onnx_features, onnx_forest, onnx_linear, onnx_tables
from pacsklearn_publish.inputs import model_schema
from pacsklearn_publish.onnx_graph import ML_OPSET, NAME, OPSET, OnnxGraph, kinds
from pacsklearn_publish.probe_rows import probe_rows, runtime_inputs

_TOLERANCE: Final = 1e-4
"""Of numbers, relative to the largest of them: some operators know single precision only."""


@final
class OnnxFile(NamedTuple):
    """ONNX bytes and how well they agree; None and the reason where there are none."""

    content: bytes | None
    note: str


def onnx_file(model: Any) -> OnnxFile:
    """Convert a released model and compare its outputs on rows made for that purpose.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    OnnxFile
        Without content when an operator is missing, or the outputs differ.
    """
    try:
        content = onnx_model(model).SerializeToString(deterministic=True)
    except NotImplementedError as error:
        return OnnxFile(None, f"no operator for {error}")
    except Exception as error:  # noqa: BLE001 - converters fail in many ways; the bundle says so
        return OnnxFile(None, f"{type(model).__name__} has no converter ({type(error).__name__})")
    try:
        apart, rows = largest_difference(model, content)
    except Exception as error:  # noqa: BLE001 - as above
        return OnnxFile(None, f"its ONNX form does not run ({type(error).__name__})")
    # Written so that NaN is refused.
    if not apart <= _TOLERANCE:
        return OnnxFile(None, f"its ONNX form differs by {apart:.2g} of the largest output")
    return OnnxFile(content, f"the same on {rows} made-up rows up to {apart:.1g}")


def onnx_model(model: Any) -> Any:
    """Return the ONNX model: by our own converters, or by skl2onnx.

    Raises
    ------
    NotImplementedError
        When an operator is missing.
    """
    steps = _steps(model)
    if len(steps) > 1 and not any(map(_own, steps)):
        from sklearn.pipeline import Pipeline

        return _by_skl2onnx(Pipeline([(f"step{k}", step) for k, step in enumerate(steps)]))
    return reduce(_joined, map(_one, steps))


def largest_difference(model: Any, content: bytes) -> tuple[float, int]:
    """Return the largest difference of any output, relative to the largest number.

    Inf where labels differ.

    Returns
    -------
    difference : float
    rows : int
        How many were compared.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Sums in another order differ in their last bits.
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    table = probe_rows(model)
    given = runtime_inputs(table, [one.name for one in session.get_inputs()], model_schema(model))
    names = [one.name for one in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, given), strict=True))
    apart = 0.0
    for name, output in outputs.items():
        reference = _expected(model, name)(table)
        # ONNX knows dense outputs only.
        dense = reference.toarray() if hasattr(reference, "toarray") else reference
        expected = np.asarray(dense)
        if expected.dtype.kind == "b":  # labels of ONNX are integers or texts
            expected = expected.astype(np.int64)
        if name == "label" and expected.dtype.kind != "f":
            same = np.array_equal(np.ravel(output).astype(str), np.ravel(expected).astype(str))
            apart = max(apart, 0.0 if same else np.inf)
            continue
        numbers = np.asarray(output, dtype=np.float64).reshape(expected.shape)
        size = np.abs(expected).max(initial=1e-300, where=np.isfinite(expected))
        with np.errstate(invalid="ignore"):  # both may be infinite
            gaps = np.where(numbers == expected, 0.0, np.abs(numbers - expected))
        # NaN stays NaN, which max() would drop.
        apart = float(np.maximum(apart, gaps.max() / size))
    return apart, len(table)


def _expected(model: Any, output: str) -> Any:
    if output == "label":
        return model.predict
    if output in ("probabilities", "probability_tensor"):
        return getattr(model, "predict_proba", None) or model.decision_function
    order = ("decision_function", "transform", "score_samples")
    if output != "scores":
        order = ("predict", "transform", "predict")
    return next(getattr(model, name) for name in order if hasattr(model, name))


def _steps(model: Any) -> list[Any]:
    """Return the steps that do something; ``passthrough`` does nothing."""
    if isinstance(model, AveragedClassifier) and model.encoder_ is not None:
        return [*_steps(model.encoder_), model]
    if "TransformedTargetRegressor" in kinds(model):
        if model.func is not None or model.transformer is not None:
            raise NotImplementedError("targets that were transformed")
        return _steps(model.regressor_)
    if "VotingRegressor" in kinds(model) and model.weights is not None:
        # What converts it reads an array, of those that vote alone.
        return [copy(model).set_params(weights=np.asarray(model._weights_not_none))]
    if not hasattr(model, "steps"):
        return [model]
    kept = [step for _, step in model.steps if step is not None and step != "passthrough"]
    return [inner for step in kept for inner in _steps(step)]


_OWN: Final[dict[str, Callable[[OnnxGraph, Any], None]]] = {
    "FixedStructureForest": onnx_forest.forest,
    "AdditiveModel": onnx_tables.additive,
    "AveragedClassifier": onnx_linear.averaged,
    "SchemaEncoder": onnx_tables.encoder,
    "NearestCentroid": onnx_forest.centroid,
    **dict.fromkeys(onnx_linear.OWN, onnx_linear.linear),
    "SimpleImputer": onnx_features.imputer,
    **dict.fromkeys(("LinearDiscriminantAnalysis", "StepwiseClassifier"), onnx_linear.discriminant),
    "StepwiseRegressor": onnx_linear.regression,
    "CategoricalNB": onnx_linear.categories,
    "BernoulliNB": onnx_linear.bits,
    **dict.fromkeys(
        ("FactorAnalysis", "FastICA", "SparsePCA", "MiniBatchSparsePCA", "SparseRandomProjection"),
        onnx_features.affine,
    ),
    "RBFSampler": onnx_features.cosines,
    "KBinsDiscretizer": onnx_features.bins,
    "PowerTransformer": onnx_features.powers,
    "OneVsRestClassifier": onnx_linear.rest,
    "OutputCodeClassifier": onnx_linear.code_book,
    "VotingClassifier": onnx_linear.votes,
}
"""What skl2onnx does not know, or not in double precision, by the name of its class."""


def _own(step: Any) -> Callable[[OnnxGraph, Any], None] | None:
    return next((_OWN[name] for name in kinds(step) if name in _OWN), None)


def _one(step: Any) -> Any:
    add = _own(step)
    if add is None:
        return _by_skl2onnx(step)
    graph = OnnxGraph(getattr(step, "n_features_in_", 0))
    add(graph, step)
    return graph.model()


def _by_skl2onnx(model: Any) -> Any:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import DoubleTensorType
    from sklearn.base import is_classifier

    first = getattr(model, "steps", [("", model)])[0][1]
    width = getattr(first, "n_features_in_", None)
    made = convert_sklearn(
        model,
        NAME,
        initial_types=[("X", DoubleTensorType([None, width]))],
        options={id(model): {"zipmap": False}} if is_classifier(model) else None,
        target_opset=OPSET,
    )
    return _of_one_version(made)


def _of_one_version(made: Any) -> Any:
    """Return the model with our graphs' versions of operators, so that both can be joined."""
    from onnx import helper, version_converter

    made = version_converter.convert_version(made, OPSET)
    del made.opset_import[:]
    # Operators for classical models have only gained attributes up to this version.
    made.opset_import.extend(
        [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    )
    return made


def _joined(first: Any, second: Any) -> Any:
    from onnx import TensorProto, compose, helper

    first.ir_version = second.ir_version = min(first.ir_version, second.ir_version)
    # Names inside the second graph, and of its outputs, may be those of the first.
    first = compose.add_prefix(first, "before_", rename_inputs=False)
    (out,) = (value.name for value in first.graph.output)
    (into,) = (value.name for value in second.graph.input)
    if first.graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT:
        first.graph.node.append(helper.make_node("Cast", [out], ["doubled"], to=TensorProto.DOUBLE))
        first.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE
        out = first.graph.output[0].name = "doubled"
    second = compose.add_prefix(second, "then_", rename_inputs=True, rename_outputs=False)
    return compose.merge_models(first, second, io_map=[(out, f"then_{into}")])
