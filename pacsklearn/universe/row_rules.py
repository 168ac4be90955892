"""Checks of the rows that a private estimator is fitted on, and asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import InputTags, Tags, assert_all_finite, check_array, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import has_fit_parameter

from pacsklearn._sklearn_compat import features_of
from pacsklearn.kernel.outputs.candidates import check_fit_params, check_wrapped
from pacsklearn.universe.codebook_reader import CodebookReader, readers_of
from pacsklearn.universe.frame import (
    as_doubles,
    as_pandas,
    column_names,
    half_as_double,
    is_missing,
    not_numbers,
    with_gaps,
)
from pacsklearn.universe.quoting import about_columns, quoting_nothing
from pacsklearn.universe.row_parameters import check_holds_no_rows


def checked_rows(estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the rows and targets, validated before anything is fitted on a part of them.

    Candidate subsets and the data sets of a scenario are made from what this gives.
    """
    check_is_estimator(estimator)
    X, y = check_universe(estimator, X, y)
    features_of(X)  # names that are not all texts are refused before anything is fitted
    check_fit_params(estimator, fit_params, X.shape[0])
    for name, value in fit_params.items():
        if name.endswith("sample_weight") and value is not None:
            weights = quoting_nothing(name, partial(with_gaps, value))
            if weights.ndim != 1:
                raise ValueError(
                    f"{name} must hold one number for each row, got an array of shape "
                    f"{weights.shape}."
                )
            quoting_nothing(name, partial(check_array, weights, ensure_2d=False, input_name=name))
    check_holds_no_rows(estimator, X)
    return X, y


def check_is_estimator(estimator: Any, argument: str = "estimator") -> None:
    """Refuse what is no estimator: a class, a name, a function.

    Raises
    ------
    TypeError
    """
    is_class = isinstance(estimator, type)
    if is_class or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        name = (estimator if is_class else type(estimator)).__name__
        given = f"an object of type {name}"
        if is_class:
            given = f"the class; give an instance, {name}()"
        elif callable(estimator):
            given = "a function, whose values PrivacySession(X, y).release_function releases"
        raise TypeError(
            f"{argument} must be a scikit-learn estimator, with fit and get_params, got {given}."
        )


def check_universe(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Validate the universe for ``estimator`` before anything is fitted on a part of it.

    Errors inside a subset may not quote data, so whatever can be said clearly is said here.

    Parameters
    ----------
    estimator : estimator
        The wrapped one, whose tags say what it accepts.
    X, y : array-likes

    Returns
    -------
    X, y
        A DataFrame stays one; anything else becomes an array or a sparse matrix in CSR form.
    """
    check_readable(estimator)
    tags = get_tags(estimator)
    name = type(estimator).__name__
    X = RowRules.of(estimator).check(X, fits=True)
    _check_codebooks(estimator, X)
    _check_ends(estimator, X)
    if y is None:
        # A pipeline's own tags do not say that its last step needs one.
        if tags.target_tags.required or is_classifier(estimator) or is_regressor(estimator):
            raise ValueError(
                f"{name} requires y to be passed, but the target y is None; call fit(X, y)."
            )
        return X, None
    if not (hasattr(y, "iloc") or sparse.issparse(y)):
        y = quoting_nothing("y", partial(with_gaps, y))
    if y.shape[:1] != X.shape[:1]:
        raise ValueError(
            f"y must have one entry for each of the {X.shape[0]} rows of X, got an array of shape "
            f"{y.shape}."
        )
    if is_classifier(estimator):
        y = column_or_1d(y, warn=True) if np.ndim(y) == 2 and np.shape(y)[1] == 1 else y
        _check_classes(y, name, tags)
    elif is_regressor(estimator):
        rules = {"ensure_2d": False, "dtype": "numeric", "input_name": "y", "estimator": name}
        # Twice: of categories the first makes objects, which it takes as they are.
        y = quoting_nothing("y", lambda: check_array(check_array(y, **rules), **rules))
        check_no_dates(y)
        if y.ndim == 2 and y.shape[1] == 1 and tags.target_tags.single_output:
            y = column_or_1d(y, warn=True)
    return X, y


_TEXT_READERS = frozenset({"CountVectorizer", "TfidfVectorizer", "HashingVectorizer"})
_DICT_READERS = frozenset({"DictVectorizer", "FeatureHasher"})


def check_readable(estimator: Any) -> None:
    """Refuse estimators that cannot be fitted on candidates, or read texts and no table.

    Raises
    ------
    TypeError, ValueError
        With what to use instead.
    """
    from pacsklearn.universe.autologging import check_unlogged

    check_unlogged(estimator)
    check_wrapped(estimator)
    first = _first_reader(estimator)
    # One of dictionaries that stands by itself has no canonicalizer, and that error says why.
    name = type(first).__name__
    if name in _TEXT_READERS or (first is not estimator and name in _DICT_READERS):
        raise TypeError(
            f"{name} reads texts or dictionaries, and candidates are rows of a "
            "table. Put the texts into a column, describe it as Column(name, 'text') in a Schema, "
            "with vocabulary= or to be hashed, and use SchemaEncoder(schema) as the first step; or "
            "name the column in a ColumnTransformer, with a HashingVectorizer of few n_features."
        )


def _check_codebooks(estimator: Any, X: Any) -> None:
    """Let the parts that read the table by a public codebook say here what they would refuse.

    They are asked about names, widths and parameters; a count of rows outside the codebook is the
    curator's to see.
    """
    for part in readers_of(estimator):
        part.check_codebook()
    first = _first_reader(estimator)
    if isinstance(first, CodebookReader):
        first.check_table(X)


def _check_ends(estimator: Any, X: Any) -> None:
    """Refuse numbers whose fourth powers overflow: liblinear's primal solver is never done."""
    *before, name = title_of(estimator).split(" + ")
    # Other steps, such as an encoder by a codebook, may bound what it sees.
    passed = all(step.endswith(("Imputer", "StandardScaler", "RobustScaler")) for step in before)
    if name not in ("LinearSVC", "LinearSVR") or not passed or steps_of(estimator)[-1].dual is True:
        return
    numbers = X.data if sparse.issparse(X) else np.asarray(X)
    if numbers.dtype.kind == "f" and (np.abs(numbers) > 1e70).any():  # gaps compare as false
        raise ValueError(f"X holds a number beyond 1e70, with which {name} never ends; clip it.")


@final
@dataclass(frozen=True)
class RowRules:
    """What an estimator takes as rows: its tags and its parts', looked up once.

    Parameters
    ----------
    name : str
        Class of the estimator.
    inputs : InputTags
    first : InputTags
        Of what sees the rows first inside it.
    categories : object
        Which columns it takes for categories: of categorical type where a text; None for none.
    accepts_nan, has_parts : bool
    """

    name: str
    inputs: InputTags
    first: InputTags
    categories: Any
    accepts_nan: bool
    has_parts: bool

    @classmethod
    def of(cls, estimator: Any) -> RowRules:
        """Return the rules of an estimator as it is configured."""
        by_fit = has_fit_parameter(estimator, "categorical_feature")
        return cls(
            type(estimator).__name__,
            get_tags(estimator).input_tags,
            get_tags(_first_reader(estimator)).input_tags,
            # Tags say nothing of it: scikit-learn's boosting has a parameter, LightGBM's fit.
            getattr(estimator, "categorical_features", "from_dtype" if by_fit else None),
            _accepts_nan(estimator),
            bool(_parts(estimator)),
        )

    def check(self, X: Any, *, fits: bool = False) -> Any:
        """Return the rows as the estimator takes them, to fit it or ask it; errors quote no row."""
        if type(X) is np.ndarray:
            enough = X.ndim == 2 and X.shape[0] > fits and X.shape[1] > 0
            # check_array costs more than a stored answer, and would give the same array back.
            if enough and X.dtype == np.float64 and np.isfinite(X).all():
                return X
        else:
            check_names(X)
            X = as_pandas(X)
        X = half_as_double(X)
        if not self._is_numeric(X, fits):
            return X if hasattr(X, "shape") else np.asarray(X)
        if hasattr(X, "iloc"):
            X = quoting_nothing("X", partial(as_doubles, X), partial(about_columns, X))
        elif column_names(X) is not None:  # an array would lose them, and take columns by place
            raise TypeError(
                f"X is a {type(X).__name__} with names, which are read by pandas, and that is not "
                "installed: pip install pandas, or give an array, X.to_numpy()."
            )
        checked = quoting_nothing(
            "X",
            lambda: check_array(
                X,
                accept_sparse="csr" if self.inputs.sparse else False,
                ensure_all_finite=not self.accepts_nan,
                ensure_min_samples=1 + fits,  # two to fit
                estimator=self.name,
                input_name="X",
            ),
        )
        # Columns that are all sparse come as a sparse matrix, whose rows are taken faster.
        return X if hasattr(X, "iloc") and not sparse.issparse(checked) else _short_indices(checked)

    def _is_numeric(self, X: Any, fits: bool) -> bool:
        """Return whether all of ``X`` must be numbers.

        Steps inside the estimator may select columns; words are asked as the categories they were.
        """
        if self.inputs.string or self.inputs.categorical:
            return False
        mixed = not_numbers(X)
        if mixed and self.categories is not None:
            typed = {*map(str, mixed.values())} == {"category"}
            return fits and isinstance(self.categories, str) and not typed
        reads_text = self.first.string or self.first.categorical
        if reads_text and (mixed or getattr(getattr(X, "dtype", None), "kind", "f") in "OSU"):
            return False
        return not (mixed and self.has_parts)


def check_names(X: Any) -> None:
    """Refuse a table in which several columns have one name, and one that is not computed yet."""
    # Of the type: a table that is not computed may take long to say its columns.
    if hasattr(type(X), "columns") and (hasattr(X, "collect") or hasattr(X, "compute")):
        raise TypeError(
            f"X is a {type(X).__name__}, which holds no rows yet: give X.collect(), or X.compute() "
            "of dask. A table that does not fit into memory is read by pacsklearn_bigdata.Table, "
            "which comes with pip install ./plugins/pacsklearn-bigdata in a copy of the repository."
        )
    if hasattr(X, "iloc") and X.ndim == 1:
        raise ValueError(
            "X must be a table, got a Series; give frame[[name]], or series.to_frame()."
        )
    if hasattr(X, "iloc") and not X.shape[1]:  # in scikit-learn's words, which has others here
        raise ValueError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    if isinstance(X, Mapping) and not sparse.issparse(X):
        raise TypeError(f"X must be a table, got a {type(X).__name__}; give pandas.DataFrame(X).")
    counts = Counter(X.columns if hasattr(X, "iloc") else column_names(X) or [])
    twice = sorted(str(name) for name, times in counts.items() if times > 1)[:5]
    if twice:
        raise ValueError(
            f"X has several columns of one name ({', '.join(twice)}), so nothing tells which is "
            "meant; give each a name of its own, or pass an array."
        )


def _short_indices(X: Any) -> Any:
    """Return sparse rows with 32-bit indices, which every estimator takes, and truths as doubles.

    SciPy's sums and products of truths are truths as well.
    """
    X = X.astype(np.float64) if sparse.issparse(X) and X.dtype == bool else X
    if not sparse.issparse(X) or X.indices.dtype == np.int32 or X.nnz >= 2**31:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return type(X)(parts, shape=X.shape)


def check_known(labels: NDArray[Any]) -> None:
    """Refuse targets of which one is missing, whether they are words or numbers.

    Raises
    ------
    ValueError
    """
    numbers, words = labels.dtype.kind == "f", labels.dtype == object
    if (numbers and np.isnan(labels).any()) or (words and any(map(is_missing, labels.flat))):
        raise ValueError("y must have a value in every row, got a missing one; leave the row out.")


def check_no_dates(y: NDArray[Any]) -> None:
    """Refuse targets that are dates or durations, which would be counted in units of their own.

    Raises
    ------
    ValueError
    """
    if y.dtype.kind in "mM":
        raise ValueError(
            f"y must hold numbers, got {y.dtype.name}; convert it, for instance to days: "
            "y / np.timedelta64(1, 'D'), of dates less a fixed one."
        )


def check_labels(labels: NDArray[Any], name: str) -> None:
    """Refuse targets that are no labels of one type, for the classifier of that name.

    Raises
    ------
    TypeError, ValueError
    """
    check_known(labels)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y", estimator_name=name)
    if labels.dtype == object and not all(isinstance(label, str) for label in labels.flat):
        kinds = {type(label).__name__ for label in labels.flat}
        raise ValueError(
            "Unknown label type: y must hold words, or numbers of one dtype, got objects of types "
            f"{', '.join(sorted(kinds))}; convert it: y.astype(str), or y.astype(int)."
        )
    quoting_nothing("y", partial(check_classification_targets, labels))


def _check_classes(y: Any, name: str, tags: Tags) -> None:
    labels = np.asarray(y)
    check_labels(labels, name)
    n_classes = np.unique(labels).size if labels.ndim == 1 else 2
    if n_classes < 2:
        raise ValueError(
            "fit needs rows of at least 2 classes in y, got 1 class; pass rows of every class."
        )
    if n_classes > 2 and tags.classifier_tags is not None and not tags.classifier_tags.multi_class:
        raise ValueError(
            f"Only binary classification is supported. {name}, as configured, got {n_classes} "
            "classes in y; wrap another estimator or another solver."
        )


def _parts(estimator: Any) -> list[Any]:
    return [part for part in estimator.get_params().values() if hasattr(part, "fit")]


def _first_reader(estimator: Any) -> Any:
    """Return what sees the rows first.

    The first step of a pipeline, the part of a meta-estimator.
    """
    steps = [step for _, step in getattr(estimator, "steps", ()) if hasattr(step, "fit")]
    part = steps[0] if steps else getattr(estimator, "estimator", None)
    is_part = hasattr(part, "fit") and not isinstance(part, type)
    return _first_reader(part) if is_part else estimator


def _accepts_nan(estimator: Any) -> bool:
    every = (estimator, *_parts(estimator))
    imputes = any(type(part).__module__.startswith("sklearn.impute") for part in every)
    reads = isinstance(_first_reader(estimator), CodebookReader)
    return imputes or reads or all(get_tags(part).input_tags.allow_nan for part in every)


def steps_of(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline, or the estimator alone."""
    return [step for _, step in getattr(estimator, "steps", [("", estimator)])]


def title_of(estimator: Any) -> str:
    """Return the classes of the steps that do something."""
    named = [step for step in steps_of(estimator) if step not in (None, "passthrough")]
    return " + ".join(type(step).__name__ for step in named)
