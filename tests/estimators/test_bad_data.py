"""Bad data: the error names the argument and what to do, and quotes no value."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import NMF, PCA
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LassoCV,
    LinearRegression,
    LogisticRegression,
    MultiTaskLasso,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.model_selection import GroupKFold, PredefinedSplit
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, PowerTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from pacsklearn import (
    Answers,
    AutoPrivateClassifier,
    Membership,
    Nats,
    PACPrivate,
    Parameters,
    PrivacySession,
    Subsets,
)
from pacsklearn.exceptions import (
    AnswersWarning,
    DesignError,
    DesignWarning,
    LedgerError,
    NonDeterministicError,
    SubsetFitError,
)
from pacsklearn.universe.row_rules import check_universe

N = 60
GENERATOR = np.random.default_rng(11)
X = GENERATOR.normal(size=(N, 3)) + 7
Y = np.arange(N) % 2
SIZES = X @ [1.0, 2.0, 3.0]
NAMED = np.where(Y == 1, "geheim", "nein")


class BinaryOnly(LogisticRegression):
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def private(model: Any = None, **params: Any) -> PACPrivate:
    return PACPrivate(LinearSVC() if model is None else model, **{"secret": Subsets(8), **params})


def holding(value: Any) -> Any:
    changed = X.astype(object) if isinstance(value, str) else X.astype(type(value))
    changed[5, 1] = value
    return changed


def refused(error: type[Exception], words: list[str], model: Any, *data: Any, **more: Any) -> None:
    """Fitting raises ``error`` with all ``words``, and nowhere a value of the data."""
    params = {key: more.pop(key) for key in list(more) if key in PACPrivate(None).get_params()}
    with pytest.raises(error) as caught:
        private(model, **params).fit(*data, **more)
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message
    shown = "".join(traceback.format_exception_only(caught.value)) + str(caught.value.__context__)
    values = [*X.ravel(), *SIZES]
    assert not [value for value in values if f"{value:.5f}"[:6] in shown], message
    assert "geheim" not in shown


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (holding(np.nan), ["Input X contains NaN", "LinearSVC", "SchemaEncoder", "Imputer"]),
        (holding(np.inf), ["Input X contains infinity"]),
        (holding("geheim"), ["X must hold numbers", "encode"]),
        (X + 1j, ["Complex data not supported"]),
        (X[:, 0], ["X must be a table", "Expected 2D array, got 1D array"]),
        (None, ["X must be a table", "got scalar array"]),
        (X[None], ["Found array with dim 3"]),
        (X[:, :0], ["0 feature(s)", "a minimum of 1"]),
        (pd.DataFrame(index=range(N)), ["0 feature(s)", "a minimum of 1"]),
        (pd.DataFrame({"a": X[:, 0], "b": NAMED}), ["X must hold numbers", "encode"]),
        ([[1.0, 2.0], [3.0]] * 30, ["inhomogeneous"]),
    ],
    ids=[
        "nan",
        "inf",
        "text",
        "complex",
        "1d",
        "None",
        "3d",
        "no features",
        "no columns",
        "text column",
        "ragged",
    ],
)
def test_rows_that_are_no_numbers(data: Any, words: list[str]) -> None:
    refused(ValueError, words, None, data, Y)


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ("geheim", ["words or dates", "SchemaEncoder(schema)"]),
        (pd.Timestamp("2020-01-01"), ["words or dates", "SchemaEncoder(schema)"]),
        (np.nan, ["missing, infinite or huge values", "Imputer"]),
        (np.inf, ["missing, infinite or huge values", "Imputer"]),
    ],
)
def test_a_step_that_cannot_read_the_table_says_what_would(held: Any, words: list[str]) -> None:
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(object)})
    table.loc[::3, "b"] = held
    step = SimpleImputer() if held == "geheim" else StandardScaler()
    refused(SubsetFitError, words, make_pipeline(step, LinearSVC()), table, Y)


LISTED = make_column_transformer((OneHotEncoder(categories=[["a"]]), ["b"]))
SPARSE = OneHotEncoder(categories=[[7.0]] * 3, handle_unknown="ignore").set_output(
    transform="pandas"
)


@pytest.mark.parametrize(
    ("model", "data", "words", "given"),
    [
        (RidgeCV(cv=GroupKFold(2)), X, "cv= must list no rows", {}),
        (RidgeCV(cv=PredefinedSplit(np.arange(60) % 2)), X, "cv= must list no rows", {}),
        (make_pipeline(SPARSE, LinearSVC()), X, "sparse_output=False", {}),
        (Ridge(), X, "sample_weight of at least 0", {"sample_weight": np.full(60, -1.0)}),
        (
            make_pipeline(LISTED, LinearSVC()),
            pd.DataFrame({"a": X[:, 0], "b": [["a", "geheim"]] * 60}),
            "cells hold lists",
            {},
        ),
    ],
    ids=["groups", "rows", "sparse frame", "weights", "lists"],
)
def test_what_a_public_argument_explains_is_said(
    model: Any, data: Any, words: str, given: dict[str, Any]
) -> None:
    with pytest.raises(SubsetFitError, match=words) as caught:
        private(model).fit(data, Y, **given)
    assert "geheim" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.DesignWarning")
def test_few_rows_are_told() -> None:
    with pytest.raises(SubsetFitError, match="The number of samples must be more"):
        AutoPrivateClassifier(budget=1.0).fit(X[:4], [0, 1, 0, 1])


def test_sparse_columns_of_another_fill_are_told_the_way_out() -> None:
    table = pd.DataFrame(X).astype(pd.SparseDtype(float, np.nan))
    refused(ValueError, ["fill value must be 0", "X.sparse.to_dense()"], Ridge(), table, Y)
    assert private(Ridge()).fit(table.sparse.to_dense(), Y).guarantee_


@pytest.mark.parametrize("model", [LogisticRegression(), Ridge()])
def test_sparse_truths_are_numbers(model: Any) -> None:
    frame = pd.DataFrame(X > 0).astype(pd.SparseDtype(bool, fill_value=False))
    for data in (sparse.csr_array(X > 0), frame):
        assert private(model).fit(data, Y).predict(data).shape == (60,)


@pytest.mark.parametrize(
    ("step", "columns", "words"),
    [
        (StandardScaler(), ["wrd"], ["names columns", "spelling"]),
        (StandardScaler(), [9], ["names columns", "spelling"]),
        (OneHotEncoder(categories=[["north"]]), ["ward"], ["is not on the list", "categories="]),
        (StandardScaler(), make_column_selector("none"), ["names columns"]),
    ],
    ids=["misspelt", "number", "category", "no column"],
)
def test_columns_of_a_step_that_are_not_there(step: Any, columns: Any, words: list[str]) -> None:
    table = pd.DataFrame(
        {"a": X[:, 0], "ward": np.where(X[:, 1] > np.median(X[:, 1]), "north", "geheim")}
    )
    model = make_pipeline(make_column_transformer((step, columns)), LinearSVC())
    refused(SubsetFitError, words, model, table, Y)


def test_a_column_without_a_value_is_named_as_what_may_be_wrong() -> None:
    table = X.copy()
    table[:, 1] = np.nan
    model = make_pipeline(SimpleImputer(), StandardScaler(), LinearSVC())
    refused(SubsetFitError, ["nan or infinite", "columns without any value"], model, table, Y)


@pytest.mark.parametrize(
    ("model", "data", "words"),
    [
        (
            make_pipeline(StandardScaler(), LogisticRegression()),
            X * 1e200,
            ["infinite or huge values", "subset 0"],
        ),
        (
            LinearDiscriminantAnalysis(solver="eigen"),
            np.c_[X, X[:, 0]],
            ["cannot be inverted", "shrinkage="],
        ),
        pytest.param(
            QuadraticDiscriminantAnalysis(),
            np.c_[X, X[:, 0]],
            ["cannot be inverted", "reg_param="],
            marks=pytest.mark.skipif(
                "solver" not in QuadraticDiscriminantAnalysis().get_params(),
                reason="scikit-learn below 1.8 inverts it, into huge numbers",
            ),
        ),
        (CategoricalNB(min_categories=2), np.arange(N * 2).reshape(N, 2) % 5, ["min_categories"]),
    ],
    ids=["overflow", "lda", "qda", "categories"],
)
def test_numbers_that_a_model_cannot_use_say_what_helps(
    model: Any, data: Any, words: list[str]
) -> None:
    refused(SubsetFitError, words, model, data, Y)


@pytest.mark.parametrize(
    ("model", "targets", "words"),
    [
        (MultiOutputRegressor(Ridge()), SIZES, ["at least two dimensions"]),
        (MultiTaskLasso(), SIZES, ["mono-task"]),
        (LassoCV(), np.column_stack([SIZES, SIZES]), ["multi-task"]),
        (PoissonRegressor(), -SIZES, ["out of the valid range", "HalfPoissonLoss"]),
        (MultinomialNB(), Y, ["Negative values"]),
        (NMF(1, max_iter=2), Y, ["Negative values"]),
        (make_pipeline(SelectKBest(chi2, k=1), LinearSVC()), Y, ["non-negative"]),
        (PowerTransformer("box-cox"), Y, ["strictly positive"]),
        (PCA(10), Y, ["n_components=10 must be between 0", "=2 with"]),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_what_scikit_learn_says_without_a_value_is_passed_on(
    model: Any, targets: Any, words: list[str]
) -> None:
    table = np.c_[X[:, 0], -1 - np.abs(X[:, 1])]
    refused(SubsetFitError, words, model, table, targets)


def test_columns_of_different_size_say_to_scale_them() -> None:
    """A date in seconds beside small numbers: the ordinary solver stops short of the minimum."""
    table = np.c_[X[np.arange(300) % N], 1.6e9 + np.random.default_rng(0).integers(0, 1e8, 300)]
    words = ["StandardScaler", "fast_fit=False"]
    refused(NonDeterministicError, words, LogisticRegression(), table, Y[np.arange(300) % N])


@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("model", [GaussianNB(), make_pipeline(StandardScaler(), LinearSVC())])
def test_numbers_of_16_bits_are_read_as_doubles(model: Any, wrap: Any) -> None:
    table = wrap(X.astype(np.float16))
    released = private(model, budget=Nats(50.0, allow_exact=True)).fit(table, Y)
    assert released.predict(table).shape == (N,)


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.UtilityWarning")
def test_columns_next_to_nothing_are_constant() -> None:
    released = private(make_pipeline(StandardScaler(), LogisticRegression()), budget=1 / 4)
    assert released.fit(X * 5e-324, Y).predict(X).shape == (N,)


def test_targets_of_a_wrong_shape_are_said_to_be_so() -> None:
    words = ["y should be a 1d array", "shape (30, 2)"]
    refused(SubsetFitError, words, LogisticRegression(), X, np.c_[Y, Y])


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({"a": X[:, 0].tolist()}, TypeError, ["X must be a table", "dict", "DataFrame"]),
        (np.array([[10**400, 1]] * N, dtype=object), ValueError, ["X", "whole number"]),
        (pd.DataFrame(X).astype(pd.SparseDtype("float", np.nan)), ValueError, ["fill value"]),
    ],
    ids=["dict", "huge", "sparse frame"],
)
def test_tables_of_another_kind(data: Any, error: type[Exception], words: list[str]) -> None:
    refused(error, words, None, data, Y)


def test_answers_of_numbers_say_why_there_is_no_model_before_they_ask_for_a_range() -> None:
    with (
        pytest.warns(AnswersWarning, match="shape"),
        pytest.raises(ValueError, match="prior"),
    ):
        PACPrivate(DecisionTreeRegressor(), secret=Subsets(8)).fit(X, SIZES)


@pytest.mark.parametrize("model", [LinearSVC(), Ridge(), KMeans(2, n_init=1), StandardScaler()])
def test_too_few_rows(model: Any) -> None:
    name = type(model).__name__
    refused(ValueError, ["1 sample(s)", "minimum of 2", name], model, X[:1], Y[:1])
    refused(ValueError, ["0 sample(s)", "minimum of 2", name], model, X[:0], Y[:0])


def test_too_few_rows_for_the_rate() -> None:
    words = ["at least 8 rows", "rate=0.125", "got 5"]
    refused(DesignError, words, Ridge(), X[:5], SIZES[:5], secret=Subsets(8, rate=1 / 8))


def test_missing_values_pass_where_the_estimator_takes_them() -> None:
    scaler = private(StandardScaler()).fit(holding(np.nan))
    assert np.isfinite(scaler.released_estimator_.mean_).all()


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, ["requires y", "None", "fit(X, y)"]),
        (Y[:-1], ["y must have one entry for each of the 60 rows", "(59,)"]),
        (np.zeros(N), ["at least 2 classes in y", "got 1 class"]),
        ([None, *NAMED[1:]], ["y must have a value in every row", "missing"]),
        ([pd.NA, *NAMED[1:]], ["y must have a value in every row", "missing"]),
        ([np.nan, *NAMED[1:]], ["y must have a value in every row", "missing"]),
        (pd.array([pd.NA, *Y[1:]], dtype="Int64"), ["y must have a value in every row"]),
        (np.ma.array(NAMED, mask=Y == 1), ["y must have a value in every row", "missing"]),
        (np.array([0, *NAMED[1:]], dtype=object), ["y must hold words", "types int, str"]),
        (np.array([*NAMED[:-1], 0], dtype=object), ["y must hold words", "types int, str"]),
        (Y.astype(object), ["y must hold words", "y.astype(int)"]),
        (np.where(Y == 1, np.nan, 0.0), ["y must have a value in every row", "missing"]),
        (np.where(Y == 1, np.inf, 0.0), ["Input y contains infinity"]),
        (SIZES, ["Unknown label type: continuous", "classifier"]),
    ],
    ids=[
        "none",
        "short",
        "one class",
        "None",
        "NA",
        "nan among words",
        "nullable",
        "masked",
        "mixed",
        "last",
        "objects",
        "nan",
        "inf",
        "continuous",
    ],
)
def test_targets_of_a_classifier(y: Any, words: list[str]) -> None:
    refused(ValueError, words, None, X, y)


def test_a_class_of_one_row() -> None:
    rare = np.zeros(N, dtype=int)
    rare[7] = 1
    refused(DesignError, ["A class has 1 row(s)", "needs at least 2", "merge"], None, X, rare)
    with pytest.raises(DesignError) as caught:  # a name that no other row has
        private().fit(X, np.where(rare, "geheim", "nein"))
    assert "geheim" not in str(caught.value)
    # Without stratification half of the subsets lack the class: the structure differs.
    refused(
        ValueError,
        ["could not be fitted on subset"],
        None,
        X,
        rare,
        secret=Subsets(8, stratify=False),
    )
    refused(DesignError, ["A class has 1 group(s)"], None, X, rare, groups=np.arange(N) // 1)


@pytest.mark.parametrize("majority", [0, 1])
def test_a_class_that_is_rare_in_its_groups_is_in_every_subset(majority: int) -> None:
    """Two of six visits: it was refused as a class of one group, or subsets lacked it."""
    groups = np.arange(N) // 6
    rare = np.isin(groups, [2, 5]) & (np.arange(N) % 6 < 2)
    rare |= (groups == 2) & bool(majority)
    for seed in range(5):
        model = private(secret=Subsets(8, seed=seed)).fit(X, rare, groups=groups)
        assert model.classes_.tolist() == [False, True]


def test_too_many_classes_for_a_binary_solver() -> None:
    words = ["Only binary classification is supported", "BinaryOnly", "got 3 classes"]
    refused(ValueError, words, BinaryOnly(), X, np.arange(N) % 3)


def test_one_column_by_itself_is_no_table() -> None:
    """A pandas Series was asked for its columns."""
    refused(ValueError, ["must be a table", "Series"], None, pd.Series(X[:, 0]), Y)
    with pytest.raises(ValueError, match="X"):
        private(release=Answers()).fit(pd.DataFrame(X), Y).predict(pd.Series(X[0]))


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, ["requires y", "None"]),
        (SIZES[:-1], ["y must have one entry for each of the 60 rows", "(59,)"]),
        (NAMED, ["y must hold numbers", "encode"]),
        (np.where(Y == 1, np.nan, SIZES), ["Input y contains NaN"]),
        (np.where(Y == 1, np.inf, SIZES), ["Input y contains infinity"]),
        (pd.date_range("2020", periods=N), ["y must hold numbers, got datetime64", "to days"]),
        (pd.Categorical(NAMED), ["y must hold numbers", "encode"]),
        (pd.array([pd.NA, *SIZES[1:]], dtype="Float64"), ["Input y contains NaN"]),
        (np.ma.array(SIZES, mask=Y == 1), ["Input y contains NaN"]),
        (dict(enumerate(SIZES)), ["y must have one entry for each of the 60 rows", "shape ()"]),
        (set(SIZES), ["y must have one entry for each of the 60 rows", "shape ()"]),
    ],
    ids=[
        "none",
        "short",
        "text",
        "nan",
        "inf",
        "dates",
        "categories",
        "nullable",
        "masked",
        "dict",
        "set",
    ],
)
def test_targets_of_a_regressor(y: Any, words: list[str]) -> None:
    refused(ValueError, words, Ridge(), X, y)


@pytest.mark.parametrize("asked", ["predict", "decision_function", "score"])
def test_what_is_behind_a_mask_is_a_gap_to_a_released_model_too(asked: str) -> None:
    released = private().fit(X, Y)
    targets = [Y] if asked == "score" else []
    with pytest.raises(ValueError, match="NaN"):
        getattr(released, asked)(np.ma.array(X, mask=X > 1), *targets)
    getattr(released, asked)(np.ma.array(X, mask=False), *targets)
    imputing = private(make_pipeline(SimpleImputer(strategy="mean"), LinearSVC())).fit(X, Y)
    gaps = np.where(X > 1, np.nan, X)
    masked = getattr(imputing, asked)(np.ma.array(X, mask=X > 1), *targets)
    assert np.array_equal(masked, getattr(imputing, asked)(gaps, *targets))


def test_weights_that_are_no_list_are_not_quoted() -> None:
    """scikit-learn's message about a scalar shows it, and a dictionary is one to NumPy."""
    weights = dict(enumerate(SIZES))
    words = ["sample_weight must hold one number for each row"]
    refused(ValueError, words, LogisticRegression(), X, Y, sample_weight=weights)


def test_groups_with_a_gap_among_words_are_refused() -> None:
    nullable = pd.array([pd.NA, *Y[1:]], dtype="Int64")
    for groups in ([np.nan, *NAMED[1:]], np.ma.array(Y, mask=Y == 1), nullable):
        refused(DesignError, ["groups must name a group for every row"], None, X, Y, groups=groups)


def test_groups_that_blanks_or_capitals_keep_apart_are_told_of() -> None:
    apart = np.array([f"Ann {i // 4}" + " " * (i % 2) for i in range(len(Y))])
    private = PACPrivate(GaussianNB(), budget=Nats(1 / 4))
    with pytest.warns(DesignWarning, match="differ by blanks or capitals only"):
        private.fit(X, Y, groups=apart)
    private.fit(X, Y, groups=np.char.strip(apart))


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("release", [Parameters(), Answers()], ids=str)
@pytest.mark.parametrize("kind", [object, "category", str, "Float64"])
def test_numbers_are_the_same_however_a_frame_holds_them(kind: Any, release: Any) -> None:
    table = pd.DataFrame(X, columns=list("abc"))
    answers = []
    for given in (table, table.astype(kind)):
        design = Subsets(8, seed=0)
        model = private(release=release, budget=1 / 4, secret=design, random_state=1)
        answers.append(model.fit(given, Y).predict(given[:9]).tolist())
    assert answers[0] == answers[1]


@pytest.mark.filterwarnings("ignore::pacsklearn.exceptions.PrivacyLeakWarning")
def test_sparse_frames_are_read_as_sparse_matrices() -> None:
    table = sparse.csr_matrix(np.where(X > 7, X, 0.0))
    models = [
        private(LogisticRegression(), secret=Subsets(8, seed=0), random_state=1).fit(given, Y)
        for given in (table, pd.DataFrame.sparse.from_spmatrix(table))
    ]
    first, second = (model.released_estimator_.coef_.tolist() for model in models)
    assert first == second


@pytest.mark.parametrize(
    "dates", [pd.date_range("2020", periods=N, tz="UTC"), pd.period_range("2020", periods=N)]
)
def test_columns_of_dates_are_named_before_anything_is_fitted(dates: str) -> None:
    table = pd.DataFrame(X, columns=list("abc")).assign(b=dates)
    words = ["X must hold numbers", "columns hold no numbers: b"]
    refused(TypeError, words, None, table, Y)


def test_a_masked_array_has_gaps() -> None:
    table = np.ma.array(X, mask=X[5, 1] == X)
    refused(ValueError, ["Input X contains NaN"], None, table, Y)


@pytest.mark.parametrize(
    ("X", "y", "error", "words"),
    [
        (X, np.where(Y == 1, np.nan, SIZES), ValueError, "y must have a value in every row"),
        (X, pd.Series(NAMED).mask(Y == 1), ValueError, "y must have a value in every row"),
        (X[:0], None, TypeError, "without rows"),
        (pd.DataFrame(X, columns=["a", 1, 2]), Y, TypeError, "Feature names"),
    ],
    ids=["nan", "words", "no rows", "names"],
)
def test_a_session_says_what_is_wrong(X: Any, y: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words), PrivacySession(X, y, budget=1 / 4) as session:
        session.release(LinearSVC())


def test_a_session_deals_objects_that_are_numbers_as_numbers() -> None:
    objects = X.astype(object)
    objects[3, 1] = None
    with_gap = np.where(objects == None, np.nan, X)  # noqa: E711
    drawn = [Subsets(8, seed=0).design().space(table) for table in (objects, with_gap)]
    assert (drawn[0].packed == drawn[1].packed).all()


@pytest.mark.parametrize("model", [LinearSVC(), Ridge(), KMeans(2), StandardScaler()])
def test_complex_targets_are_not_quoted(model: Any) -> None:
    """scikit-learn's message shows the array."""
    refused(ValueError, ["Complex data not supported"], model, X, SIZES + 1j)


def test_targets_that_are_ignored_may_be_anything_of_that_length() -> None:
    for y in (None, NAMED, NAMED.tolist(), pd.Series(NAMED)):
        assert private(StandardScaler()).fit(X, y).n_features_in_ == 3
    refused(ValueError, ["y must have one entry", "(59,)"], StandardScaler(), X, NAMED[:-1])


def test_labels_of_strings_and_columns_of_targets_work() -> None:
    for y in (NAMED, NAMED.tolist(), pd.Series(NAMED), pd.Series(NAMED, dtype="category")):
        assert private().fit(X, y).classes_.tolist() == ["geheim", "nein"]
    with pytest.warns(UserWarning, match="column-vector"):
        private().fit(X, Y[:, None])
    assert private(Ridge()).fit(X, np.c_[SIZES, -SIZES]).predict(X).shape == (N, 2)


@pytest.mark.product(only=1)
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
def test_sparse_rows_work_where_the_estimator_takes_them(form: Any) -> None:
    dense = private(budget=Nats(50.0, allow_exact=True), secret=Subsets(8, seed=1)).fit(X, Y)
    assert private(budget=Nats(50.0, allow_exact=True)).fit(form(X), Y).predict(form(X)).shape == (
        N,
    )
    assert dense.predict(form(X)).shape == (N,)
    kmeans = private(KMeans(2, n_init=1)).fit(form(X))
    assert kmeans.predict(form(X)).shape == (N,)
    for model in (LinearDiscriminantAnalysis(), make_pipeline(StandardScaler(), LinearSVC())):
        refused(TypeError, ["Sparse data was passed for X", ".toarray()"], model, form(X), Y)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1, 2], ["groups must have one entry for each of the 60 rows", "(2,)"]),
        (np.zeros((N, 2)), ["groups must have one entry", "(60, 2)"]),
        ("person", ["groups must have one entry", "X[name]"]),
        (np.zeros(N), ["at least 2 groups", "got 1"]),
        ([None] * 30 + ["a"] * 30, ["groups", "missing"]),
    ],
    ids=["short", "2d", "name", "one", "missing"],
)
def test_groups(groups: Any, words: list[str]) -> None:
    refused(DesignError, words, None, X, Y, groups=groups)


def test_stratification() -> None:
    refused(
        ValueError,
        ["stratify", "'auto'", "got 'yes'"],
        None,
        X,
        Y,
        secret=Subsets(8, stratify="yes"),
    )
    words = ["stratify=True needs y", "stratify=False"]
    refused(ValueError, words, KMeans(2, n_init=1), X, secret=Subsets(8, stratify=True))
    # Targets of a regressor and labels a clusterer ignores are data, unlike classes.
    refused(
        DesignError, ["A class has 1 row(s)"], Ridge(), X, SIZES, secret=Subsets(8, stratify=True)
    )
    rare = np.where(np.arange(N) == 3, "geheim", "nein")
    refused(
        DesignError,
        ["A class has 1 row(s)"],
        KMeans(2, n_init=1),
        X,
        rare,
        secret=Subsets(8, stratify=True),
    )
    assert private(secret=Subsets(8, stratify=False)).fit(X, Y).guarantee_.secret.n_candidates == 8


def test_rows_with_several_labels() -> None:
    labels = np.c_[Y, 1 - Y, np.arange(N) % 3 == 0].astype(int)
    labels[0] = 1  # a combination of its own
    estimator = private(RidgeClassifier()).fit(X, labels)
    assert estimator.predict(X).shape == labels.shape
    refused(
        DesignError,
        ["A class has 1 row(s)"],
        RidgeClassifier(),
        X,
        labels,
        secret=Subsets(8, stratify=True),
    )


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        pytest.param(
            0.0,
            "non-zero",
            marks=pytest.mark.skipif(
                tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9),
                reason="scikit-learn below 1.9 has no words of its own for it",
            ),
        ),
        (-1.0, "Negative values"),
    ],
)
def test_weights_that_no_fit_takes_are_told(weight: float, words: str) -> None:
    weights = np.full(len(Y), weight)
    refused(SubsetFitError, [words, "weight"], LinearRegression(), X, Y, sample_weight=weights)


def test_a_model_of_dense_rows_behind_a_sparse_encoder_is_told() -> None:
    encoder = OneHotEncoder(categories=[[False, True]] * X.shape[1])
    model = make_pipeline(encoder, GaussianNB())
    refused(SubsetFitError, ["Sparse data was passed"], model, np.median(X) < X, Y)


@pytest.mark.parametrize(
    "given",
    [
        {"secret": Subsets(["geheim"] * 9)},
        {"secret": Subsets(8, stratify=["geheim"] * 9)},
        {"budget": ["geheim"] * 9},
        {"budget": Membership(["geheim"] * 9)},
        {"verbose": ["geheim"] * 9},
        {"release": Answers(of=["geheim"] * 9)},
        {"release": Parameters(metric=["geheim"] * 9)},
    ],
    ids=str,
)
def test_a_column_given_for_an_option_is_told_by_its_length(given: dict[str, Any]) -> None:
    """Its elements were quoted; an array was told by its shape."""
    refused(Exception, ["list of length 9"], None, X, Y, **given)
    with pytest.raises(LedgerError, match="list of length 9"):
        private(ledger=["geheim"] * 9).fit(X, Y)


@pytest.mark.parametrize("first", [None, "passthrough", StandardScaler()], ids=str)
def test_a_number_with_which_liblinear_is_never_done_is_refused(first: Any) -> None:
    """The fit went on for ever, in scikit-learn's LinearSVC too."""
    model = LinearSVC() if first is None else make_pipeline(first, LinearSVC())
    rows = [holding(1e200), *([sparse.csr_matrix(holding(-1e200))] if first is None else [])]
    for huge in rows:
        refused(ValueError, ["X holds a number beyond 1e70", "LinearSVC"], model, huge, Y)
    holed = holding(1e200)
    holed[5, 0] = np.nan
    imputed = make_pipeline(SimpleImputer(), LinearSVC(dual=False))
    refused(ValueError, ["X holds a number beyond 1e70", "LinearSVC"], imputed, holed, Y)
    ranks = make_pipeline(KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), LinearSVC())
    assert check_universe(ranks, holding(1e200), Y)[0].max() == 1e200  # bounded by its first step
