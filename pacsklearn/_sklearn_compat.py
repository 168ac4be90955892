"""The only door to what scikit-learn keeps private or has changed between versions."""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from functools import cache, lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn._loss.link import LogLink
from sklearn.base import BaseEstimator
from sklearn.cluster._bisect_k_means import _BisectingTree
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV
from sklearn.mixture import GaussianMixture
from sklearn.multiclass import _ConstantPredictor
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import LabelBinarizer, LabelEncoder, OneHotEncoder
from sklearn.utils import _safe_indexing, estimator_html_repr, get_tags
from sklearn.utils._param_validation import Interval as Interval  # noqa: PLC0414 - passed on
from sklearn.utils._param_validation import InvalidParameterError, Options, make_constraint
from sklearn.utils._param_validation import StrOptions as StrOptions  # noqa: PLC0414 - passed on
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.parallel import _get_threadpool_controller
from sklearn.utils.validation import _check_feature_names, _check_n_features, validate_data

from pacsklearn._validation import brief


def check_parameters(estimator: Any, within: str = "") -> None:
    """Hold an estimator's parameters against the ``_parameter_constraints`` of its class.

    They are written as in scikit-learn; a boolean is no number here. ``within`` stands before the
    message: the argument that a value object was given as.

    Raises
    ------
    InvalidParameterError
        A ValueError and a TypeError: names the parameter, what it must be, and what it is.
    """
    for name, allowed in estimator._parameter_constraints.items():
        value = getattr(estimator, name)
        if not any(_satisfies(constraint, value) for constraint in allowed):
            expected = " or ".join(map(_expected, allowed))
            raise InvalidParameterError(f"{within}{name} must be {expected}, got {brief(value)}.")


def check_tags(estimator: Any) -> None:
    """Refuse an estimator that cannot say what it is, in scikit-learn's words where it has some.

    A meta-estimator asks its part for tags, and what is no estimator has none: the constraint that
    scikit-learn would check in ``fit`` says which part is missing.

    Raises
    ------
    InvalidParameterError
        Names the parameter of the meta-estimator, what it must be, and what it is.
    TypeError
        Says how another library's class gets tags.
    """
    try:
        get_tags(estimator)
    except AttributeError as without_tags:
        if isinstance(estimator, BaseEstimator):
            try:
                estimator._validate_params()
            except InvalidParameterError as error:
                raise error from None
            raise
        name = type(estimator).__name__
        raise TypeError(
            f"{name} has no scikit-learn tags, which say what it is. Give an instance of class Own("
            f"ClassifierMixin, {name}, BaseEstimator): pass (or RegressorMixin, of sklearn.base)."
        ) from without_tags


def _satisfies(constraint: Any, value: Any) -> bool:
    # To Python True is the integer 1, and nobody means that by it.
    if isinstance(constraint, Interval) and isinstance(value, bool | np.bool_):
        return False
    return bool(make_constraint(constraint).is_satisfied_by(value))


def _expected(constraint: Any) -> str:
    if constraint is None:
        return "None"
    if isinstance(constraint, Options):
        return f"one of {', '.join(map(repr, sorted(constraint.options)))}"
    if not isinstance(constraint, Interval):
        return str(make_constraint(constraint))
    if constraint.type is Integral:
        at_most = "" if constraint.right is None else f" and at most {constraint.right}"
        return f"an integer of at least {constraint.left}{at_most}"
    low, high = ("-inf" if constraint.left is None else f"{constraint.left:g}"), constraint.right
    first = "[" if constraint.closed in ("left", "both") else "("
    last = "]" if constraint.closed in ("right", "both") else ")"
    return f"a number in {first}{low}, {'inf' if high is None else f'{high:g}'}{last}"


def safe_indexing(X: Any, indices: Any, axis: int = 0) -> Any:
    """Return rows of an array, sparse matrix, DataFrame or list; columns with ``axis=1``.

    Columns by number, name, mask or slice.
    """
    if type(X) is np.ndarray:  # scikit-learn's door costs more than a small fit
        return X[indices] if axis == 0 else X[:, indices]
    return _safe_indexing(X, indices, axis=axis)


def check_features(estimator: Any, X: Any) -> None:
    """Hold names and number of columns against those of the fit, as ``validate_data`` does.

    That one asks for the estimator's tags each time, and what frames there are, which costs more
    than a stored answer.
    """
    if type(X) is not np.ndarray or hasattr(estimator, "feature_names_in_"):
        _check_feature_names(estimator, X, reset=False)
    check_width(estimator, X)


def features_of(X: Any) -> dict[str, Any]:
    """Return what a fit on these rows learns of their features.

    How many there are, and any names.
    """
    learned = BaseEstimator()
    validate_data(learned, X, skip_check_array=True)
    return vars(learned)


def check_width(estimator: Any, X: Any) -> None:
    """Hold the number of columns against that of the fit."""
    _check_n_features(estimator, X, reset=False)


def set_remainder(transformer: Any, remainder: Any) -> None:
    """Put what a ColumnTransformer was given for its remaining columns back where it keeps it."""
    name, _, columns = transformer._remainder
    transformer._remainder = name, remainder, columns


def is_multilabel(estimator: Any) -> bool:
    """Return whether a fitted classifier (ridge) gives several labels to one row."""
    binarizer = getattr(estimator, "_label_binarizer", None)
    return str(getattr(binarizer, "y_type_", "")).startswith("multilabel")


def set_classes(estimator: Any, classes: Any, *, multilabel: bool = False) -> None:
    """Give ``estimator`` its classes, and some classifiers the binarizer they predict with."""
    if isinstance(estimator, (MLPClassifier, RidgeClassifier, RidgeClassifierCV)):
        lowest = 0 if isinstance(estimator, MLPClassifier) else -1
        known = np.asarray(classes)
        labels = _label_binarizer(lowest, multilabel, known.dtype, *known.tolist())
        estimator._label_binarizer = copy(labels)
    # Some versions compute classes_ from the binarizer.
    if not isinstance(getattr(type(estimator), "classes_", None), property):
        estimator.classes_ = np.array(classes)


@lru_cache
def _label_binarizer(lowest: int, multilabel: bool, dtype: Any, *classes: Any) -> LabelBinarizer:
    """Return a fitted binarizer of these classes; fitting it takes longer than decoding a model."""
    labels = np.eye(len(classes), dtype=int) if multilabel else np.array(classes, dtype=dtype)
    return LabelBinarizer(neg_label=lowest, pos_label=1).fit(labels)


def stacked_widths(estimator: Any) -> tuple[int, ...]:
    """Return how many columns each model of a fitted stacking estimator predicts."""
    return tuple(estimator._n_feature_outs)


def set_stacked(estimator: Any, widths: tuple[int, ...], classes: Any) -> None:
    """Give a stacking estimator these, and its classes and their encoder if it has any."""
    estimator._n_feature_outs = list(widths)
    if classes is not None:
        estimator._label_encoder = LabelEncoder().fit(classes)
        estimator.classes_ = estimator._label_encoder.classes_


@cache
def binary_ridge_dimensions() -> tuple[int, int]:
    """Return dimensions of ``coef_`` and ``intercept_`` of a ridge classifier of two classes."""
    # Tried: versions differ in it.
    model = RidgeClassifier().fit(np.array([[0.0], [1.0]]), [0, 1])
    return np.ndim(model.coef_), np.ndim(model.intercept_)


def keeps_lower_bounds() -> bool:
    """Return whether fitted mixtures have ``lower_bounds_``."""
    # By its documentation: an attribute exists only after a fit.
    return "lower_bounds_" in (GaussianMixture.__doc__ or "")


def prepare_for_predict(estimator: Any, n_outputs: int = 1) -> None:
    """Set what ``fit`` leaves behind for ``predict`` and what does not depend on the data."""
    if hasattr(estimator, "_get_loss"):  # generalised linear models keep their link there
        estimator._base_loss = estimator._get_loss()
    if hasattr(estimator, "_check_mkl_vcomp"):  # the K-Means family
        estimator._n_threads = 1
        estimator._n_features_out = n_outputs


def has_log_link(estimator: Any) -> bool:
    """Return whether an unfitted generalised linear model predicts an exponential."""
    return hasattr(estimator, "_get_loss") and isinstance(estimator._get_loss().link, LogLink)


def kernel_width(machine: Any) -> float:
    """Return the ``gamma`` a fitted support vector machine works with."""
    return float(machine._gamma)


def neighbors_table(model: Any) -> Any:
    """Return the rows and class codes of a fitted nearest-neighbour classifier, if doubles."""
    rows, codes = model._fit_X, model._y
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float64 or codes.ndim != 1:
        return None
    return rows, codes


def histogram_booster(model: Any) -> Any:
    """Return what a fitted histogram booster's sums begin with, and its nodes by round and output.

    None where rows go through a preprocessor, as categories do.
    """
    if model._preprocessor is not None:
        return None
    nodes = [[tree.nodes for tree in trees] for trees in model._predictors]
    return model._baseline_prediction, nodes


def histogram_values(model: Any, raw: Any) -> Any:
    """Return the predictions of a histogram booster for numbers from its sums."""
    return model._loss.link.inverse(raw)


def constant_predictor(X: Any, value: float) -> Any:
    """Return what stands for a binary classifier where all its targets are one value."""
    return _ConstantPredictor().fit(X, np.array([int(value)]))


def lda_degrees_of_freedom(n_rows: int, n_classes: int) -> int:
    """Return the divisor of the scatter within classes in ``LinearDiscriminantAnalysis``."""
    return n_rows - n_classes * _lda_counts_classes()


@cache
def _lda_counts_classes() -> bool:
    rows = np.array([[0.0], [2.0], [3.0], [7.0]])
    known = LinearDiscriminantAnalysis().fit(rows, [0, 0, 1, 1]).coef_[0, 0]
    # Means 1 and 5, squares around them 2 + 8: a variance of 10 / 4 or of 10 / (4 - 2).
    return bool(abs(known - 4 / 5.0) < abs(known - 4 / 2.5))


def set_bins(estimator: Any, edges: list[Any], n_bins: Any) -> None:
    """Give ``KBinsDiscretizer`` its bins, and the encoder that names them."""
    estimator.n_bins_ = np.array(n_bins)
    estimator.bin_edges_ = np.empty(len(edges), dtype=object)
    # Filled in, not made from the list: edges of equal length would become a matrix.
    estimator.bin_edges_[:] = edges
    if "onehot" in estimator.encode:
        estimator._encoder = OneHotEncoder(
            categories=[np.arange(count) for count in n_bins],
            sparse_output=estimator.encode == "onehot",
            dtype=np.float64 if estimator.dtype is None else estimator.dtype,
        ).fit(np.zeros((1, len(edges))))


def plant_bisecting_tree(estimator: Any, shape: Any, centres: Any) -> None:
    """Give ``BisectingKMeans`` a tree of a nested shape, its pairs of centres from the root down.

    A tree without bisections has one centre, the root's.
    """
    leaves: list[Any] = []
    pairs = iter(centres)

    def plant(center: Any, shape: Any) -> Any:
        node = _BisectingTree(center=center, indices=None, score=None)
        if not shape:
            node.label = len(leaves)
            leaves.append(center)
            return node
        left, right = next(pairs)
        node.left, node.right = plant(left, shape[0]), plant(right, shape[1])
        return node

    root = None if shape else centres[0]
    estimator._bisecting_tree = plant(root, shape)
    estimator.cluster_centers_ = np.array(leaves)


def prepare_factorisation(estimator: Any, components: Any) -> None:
    """Set what ``fit`` of a non-negative factorisation leaves behind for ``transform``."""
    estimator._check_params(components)
    estimator._n_components = len(components)


def html_diagram(estimator: Any) -> str:
    """Return the HTML diagram of an estimator."""
    return str(estimator_html_repr(estimator))


def routing_enabled() -> bool:
    """Return whether scikit-learn's metadata routing is switched on."""
    return bool(get_config()["enable_metadata_routing"])


def output_config(estimator: Any) -> dict[str, Any]:
    """Return what ``set_output`` asked of an estimator; ``clone`` carries it along."""
    return dict(getattr(estimator, "_sklearn_output_config", {}))


def set_output_config(estimator: Any, transform: str) -> None:
    """Remember what ``set_output`` asked, where scikit-learn looks for it."""
    estimator._sklearn_output_config = {**output_config(estimator), "transform": transform}


def in_container(estimator: Any, transformed: Any, X: Any) -> Any:
    """Return the transformed rows in the container that ``set_output`` asked of an estimator."""
    return _wrap_data_with_container("transform", transformed, X, estimator)


def initial_raw_prediction(booster: Any) -> Any:
    """Return what the sums of a fitted gradient booster begin with on any row.

    Shape (1, outputs).
    """
    return booster._raw_predict_init(np.zeros((1, booster.n_features_in_), dtype=np.float32))


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return the block in which BLAS has one thread: products of small blocks lose by more."""
    limited: AbstractContextManager[Any] = _get_threadpool_controller().limit(
        limits=1, user_api="blas"
    )
    return limited
