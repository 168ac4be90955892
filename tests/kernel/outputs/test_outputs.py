"""One canonical vector a candidate subset: the same everywhere, and nothing told on the way."""

from __future__ import annotations

import os
import threading
import time
import traceback
import warnings
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn._fit_report import recorded
from pacsklearn.canonical.linear import LinearRegressorCanonicalizer
from pacsklearn.canonical.pca import PCACanonicalizer
from pacsklearn.exceptions import (
    GaugeError,
    NonDeterministicError,
    PacsklearnError,
    PrivacyLeakWarning,
    StructureMismatchError,
    SubsetFitError,
)
from pacsklearn.kernel.outputs.candidates import Candidates, FitOptions
from pacsklearn.kernel.outputs.outputs import CandidateOutputs
from pacsklearn.kernel.outputs.subset_fitting import unfitted_copy
from pacsklearn.plugins import Canonicalizer, Encoding, registry
from pacsklearn.secrets import SecretSpace, balanced_space
from pacsklearn.universe.listed_space import listed_space
from pacsklearn.universe.row_rules import RowRules

M = 4
X, Y = load_diabetes(return_X_y=True)
X, Y = X[:80] * 100, Y[:80]
SPACE = balanced_space(80, n_subsets=M)
LINEAR = LinearRegressorCanonicalizer()


def run(
    estimator: Any,
    canonicalizer: Canonicalizer = LINEAR,
    rows: Any = X,
    targets: Any = Y,
    space: SecretSpace = SPACE,
    **options: Any,
) -> CandidateOutputs:
    how = FitOptions(**options)
    candidates = Candidates(estimator, rows, targets, space, how, RowRules.of)
    return candidates.outputs(canonicalizer)


class Quoting(LinearRegression):
    """Fails and quotes its rows, in the message and in what caused it."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        try:
            raise KeyError(X[0, 0])
        except KeyError as cause:
            raise ValueError(f"bad row {X[0]!r} with target {y[0]!r}") from cause


class Printing(Ridge):
    """Prints as compiled code does, and takes its time."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        os.write(1, b"a row")
        time.sleep(0.01)
        return super().fit(X, y)


def test_nothing_that_fits_print_by_compiled_code_is_seen(capfd: pytest.CaptureFixture) -> None:
    with pytest.warns(PrivacyLeakWarning, match="same"):  # which takes one more fit
        run(Printing(), targets=np.zeros(80))
    assert capfd.readouterr().out == ""


def test_fits_are_reported() -> None:
    with recorded() as together:
        run(Ridge())
    assert (together.together, together.one_by_one) == (M, 0)
    with recorded() as one_by_one:
        run(Printing())
    assert (one_by_one.together, one_by_one.one_by_one) == (0, M)
    assert one_by_one.wall["fits"] > (1 + M) * 0.01


class QuotingParameters(LinearRegression):
    """Builds a part with a parameter taken from its rows, which is refused."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return KMeans(n_clusters=float(X[0, 0])).fit(X)


class QuotingItself(Ridge):
    """Sets a parameter of its own from its rows, which is refused."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.max_iter = 50 + abs(float(X[0, 0]))
        return super().fit(X, y)


class Forgetful(LinearRegression):
    """Depends on numpy's global generator."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X, y + np.random.normal(size=len(y)))  # noqa: NPY002


class Diverging(LinearRegression):
    """Has no finite parameters."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        super().fit(X, y)
        self.coef_[1] = np.nan
        return self


class Loud(LinearRegression):
    """Warns and quotes its rows; twice, of two kinds."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        warnings.warn(f"row {X[0]!r}", UserWarning, stacklevel=1)
        warnings.warn(f"row {X[1]!r}", UserWarning, stacklevel=1)
        if X[0, 0] > 0:
            warnings.warn(f"row {X[2]!r}", RuntimeWarning, stacklevel=1)
        return super().fit(X, y)


def quoted(text: str) -> bool:
    """Whether a text holds any number of the data, however it is printed."""
    numbers = np.concatenate([X.ravel(), Y])
    numbers = numbers[np.abs(numbers) > 1e-3]
    return any(
        f"{abs(number):.4f}"[:-1] in text or repr(float(number)) in text for number in numbers
    )


def everything_told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error) + str(error) + repr(error.args)


# --- the same everywhere ---------------------------------------------------------------------


ESTIMATORS = [
    make_pipeline(StandardScaler(), LogisticRegression()),
    KMeans(3, n_init=2),
    PCA(2),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_every_backend_gives_the_same_vectors(estimator: Any) -> None:
    rows, targets = load_iris(return_X_y=True)
    space = balanced_space(150, n_subsets=M, strata=targets)
    canonicalizer = registry().canonicalizer("auto", estimator)
    vectors = []
    for backend in ("sequential", "threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            found = run(estimator, canonicalizer, rows, targets, space)
        vectors.append(found.vectors)
    assert np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[0], vectors[2])


def test_each_vector_is_that_of_a_fit_on_the_subsets_rows() -> None:
    outputs = run(Ridge(), fast_fit=False)
    assert outputs.vectors.shape == (M, X.shape[1] + 1)
    for i in range(M):
        rows = SPACE.rows(i)
        model = Ridge(random_state=0).fit(X[rows], Y[rows])
        assert np.array_equal(outputs.vectors[i], np.append(model.coef_, model.intercept_))


def test_groups_and_explicit_subsets() -> None:
    groups = np.arange(80) // 4
    space = listed_space([groups < 10, groups >= 10], 80, groups=groups)
    outputs = run(Ridge(), space=space, fast_fit=False)
    for i, rows in enumerate([slice(40), slice(40, 80)]):
        assert np.array_equal(outputs.vectors[i, :-1], Ridge().fit(X[rows], Y[rows]).coef_)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, pd.DataFrame])
def test_kinds_of_rows(kind: Any) -> None:
    rows = kind(X)
    if kind is pd.DataFrame:
        rows.columns = [f"c{i}" for i in range(X.shape[1])]
    outputs = run(Ridge(), rows=rows, targets=pd.Series(Y, index=np.arange(80)[::-1]))
    assert outputs.vectors == pytest.approx(run(Ridge()).vectors, rel=1e-3)


def test_seeds_are_public_and_fixed() -> None:
    outputs = run(KMeans(3, n_init=1), registry().canonicalizer("auto", KMeans()))
    assert outputs.form.template.random_state == 0
    assert outputs.form.template.n_clusters == 3
    assert not hasattr(outputs.form.template, "cluster_centers_")
    given = run(KMeans(3, n_init=1, random_state=7), registry().canonicalizer("auto", KMeans()))
    assert given.form.template.random_state == 7


# --- the caller's things stay as they are ----------------------------------------------------


def test_nothing_of_the_callers_is_changed() -> None:
    estimator = make_pipeline(StandardScaler(copy=False), Ridge())
    rows, targets, weights = X.copy(), Y.copy(), np.linspace(1, 2, 80)
    before = weights.copy()
    state = np.random.get_state(legacy=False)  # noqa: NPY002
    filters = list(warnings.filters)
    canonicalizer = registry().canonicalizer("auto", estimator)
    run(estimator, canonicalizer, rows, targets, fit_params={"ridge__sample_weight": weights})
    assert np.array_equal(rows, X)
    assert np.array_equal(targets, Y)
    assert np.array_equal(weights, before)
    assert not hasattr(estimator[0], "mean_")
    assert warnings.filters == filters
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    assert state["state"]["pos"] == after["state"]["pos"]
    assert np.array_equal(state["state"]["key"], after["state"]["key"])


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series])
def test_sample_weight_is_cut_to_the_rows_of_the_subset(kind: Any) -> None:
    weights = np.linspace(0.1, 5, 80)
    outputs = run(Ridge(), fit_params={"sample_weight": kind(weights)})
    rows = SPACE.rows(3)
    model = Ridge().fit(X[rows], Y[rows], sample_weight=weights[rows])
    assert outputs.vectors[3, :-1] == pytest.approx(model.coef_, rel=1e-12)


class Asking(LinearRegression):
    """Remembers the parameters of its fit."""

    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        super().fit(X, y)
        assert params["mode"] == "x" * 80
        assert len(params["table"]) == 80
        assert params["number"] == 3.0
        assert params["nothing"] is None
        assert params["rows"].shape == (40, 2)
        return self


def test_only_parameters_with_one_value_a_row_are_cut() -> None:
    run(
        Asking(),
        fit_params={
            "mode": "x" * 80,
            "table": dict.fromkeys(range(80)),
            "number": 3.0,
            "nothing": None,
            "rows": np.zeros((80, 2)),
        },
    )


# --- nothing is told -------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_a_failing_subset_gives_one_error_without_data(backend: str) -> None:
    with (
        joblib.parallel_config(backend=backend, n_jobs=2),
        pytest.raises(SubsetFitError, match="ValueError") as caught,
    ):
        run(Quoting())
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert not quoted(everything_told(error))
    assert "SecretSpace.rows(0)" in str(error)


def test_a_failure_in_a_later_subset_comes_from_a_worker_and_tells_as_little() -> None:
    rows = X.copy()
    rows[np.setdiff1d(SPACE.rows(2), SPACE.rows(0)), 0] = np.nan
    with pytest.raises(SubsetFitError, match="ValueError") as caught:
        run(Ridge(), rows=rows)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "NaN" not in everything_told(caught.value)


def test_the_callers_own_wrong_parameter_is_quoted() -> None:
    with pytest.raises(SubsetFitError, match="Ridge"):
        run(Ridge(alpha=-1.0))


def test_a_wrong_parameter_taken_from_the_rows_is_not_quoted() -> None:
    with pytest.raises(SubsetFitError) as caught:
        run(QuotingParameters())
    assert repr(float(X[SPACE.rows(0)[0], 0])) not in str(caught.value)


@pytest.mark.parametrize("stated", [1, 9])
def test_a_parameter_of_the_callers_that_a_fit_replaces_is_not_quoted(stated: int) -> None:
    """By any order of numbers, or of what they are written as."""
    with pytest.raises(SubsetFitError) as caught:
        run(QuotingItself(max_iter=stated))
    told = everything_told(caught.value)
    assert "InvalidParameterError" in told
    assert repr(50 + abs(float(X[SPACE.rows(0)[0], 0]))) not in told


@pytest.mark.parametrize("backend", ["sequential", "loky"])
def test_warnings_are_counted_by_kind_and_their_words_withheld(backend: str) -> None:
    loud = sum(X[SPACE.rows(i)[0], 0] > 0 for i in range(M))
    with (
        joblib.parallel_config(backend=backend, n_jobs=2),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        run(Loud())
    told = {str(warning.message) for warning in caught}
    assert any(f"Loud: UserWarning in {M} of {M} subset fits" in text for text in told)
    assert any(f"RuntimeWarning in {loud} of {M}" in text for text in told) == bool(loud)
    assert not any(quoted(text) for text in told)
    assert len(caught) == 1 + bool(loud)


class Overtaken(LinearRegression):
    """The second of two fits at a time warns after the first has ended."""

    calls = 0
    both_inside = threading.Barrier(2)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        type(self).calls += 1
        turn = self.calls
        if turn > 1:  # the first is the coordinator's
            self.both_inside.wait(timeout=10)
        if turn == 3:
            mine, patience = warnings.filters, time.monotonic() + 5
            while warnings.filters is mine and time.monotonic() < patience:
                time.sleep(0.001)  # until the other fit takes its own filters away
            warnings.warn(f"row {X[0]!r}", UserWarning, stacklevel=1)
        return super().fit(X, y)


def test_threads_cannot_undo_each_others_silence() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filters, show = list(warnings.filters), warnings.showwarning
        space = balanced_space(80, n_subsets=2)
        with joblib.parallel_config(backend="threading", n_jobs=2):
            run(Overtaken(), space=space)
        assert warnings.filters == filters
        assert warnings.showwarning is show
        assert warnings._showwarnmsg_impl.__self__ is caught  # type: ignore[attr-defined]
    assert not any(quoted(str(warning.message)) for warning in caught)


def test_outputs_are_not_in_the_repr_of_the_session_objects() -> None:
    outputs = run(Ridge())
    assert not quoted(repr(outputs.layout))


# --- what cannot be released -----------------------------------------------------------------


def test_an_estimator_with_randomness_of_its_own_is_caught() -> None:
    np.random.seed(0)  # noqa: NPY002
    with pytest.raises(NonDeterministicError, match="fits"):
        run(Forgetful())


def test_parameters_that_are_not_numbers() -> None:
    with pytest.raises(SubsetFitError, match="infinite"):
        run(Diverging())


def test_a_structure_that_differs_is_named_without_values() -> None:
    rows = X.copy()
    rows[np.setdiff1d(np.arange(80), SPACE.rows(0)), 1:] *= 0.01
    with pytest.raises(StructureMismatchError, match="components") as caught:
        run(PCA(n_components=0.9), PCACanonicalizer(), rows)
    assert not quoted(str(caught.value))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classes_that_differ_are_named() -> None:
    labels = np.zeros(80, dtype=int)
    labels[SPACE.rows(0)[:10]] = 1
    labels[np.setdiff1d(SPACE.rows(1), SPACE.rows(0))[:10]] = 2
    estimator = LogisticRegression()
    with pytest.raises(StructureMismatchError, match="classes_"):
        run(estimator, registry().canonicalizer("auto", estimator), targets=labels)


class Liar(Canonicalizer):
    """A linear canonicalizer with one step replaced."""

    def __init__(self, step: str) -> None:
        self.step = step

    def encode(self, estimator: Any, X: Any) -> Encoding:
        if self.step == "encode":
            raise ValueError(f"coefficients {estimator.coef_!r}")
        return LINEAR.encode(estimator, X)

    def decode(self, vector: Any, layout: Any, template: Any) -> Any:
        if self.step == "decode raises":
            raise ValueError(f"vector {vector!r}")
        factor = 1.01 if self.step == "decode" else 1.0
        return LINEAR.decode(vector * factor, layout, template)

    def align(self, vectors: NDArray[np.float64], layout: Any) -> NDArray[np.float64]:
        if self.step == "align raises":
            raise ValueError(f"vectors {vectors!r}")
        aligned = vectors.copy()
        if self.step == "align":
            aligned[:] = vectors.mean(axis=0)
        if self.step == "align others":
            aligned[1:] = vectors[0]
        return aligned


@pytest.mark.parametrize("step", ["decode", "align"])
def test_a_canonicalizer_that_changes_predictions_is_caught(step: str) -> None:
    with pytest.raises(GaugeError, match="LinearRegression"):
        run(LinearRegression(), Liar(step))


@pytest.mark.parametrize("index", [0, 8])
def test_decode_is_checked_on_more_than_one_candidate(index: int) -> None:
    space = balanced_space(80, n_subsets=16)

    class LiesAboutOne(Liar):
        wrong: Any = None

        def encode(self, estimator: Any, X: Any) -> Encoding:
            encoding = super().encode(estimator, X)
            if np.array_equal(X, rows):
                type(self).wrong = encoding.vector
            return encoding

        def decode(self, vector: Any, layout: Any, template: Any) -> Any:
            is_wrong = self.wrong is not None and np.array_equal(vector, self.wrong)
            return super().decode(vector * (1.01 if is_wrong else 1.0), layout, template)

    rows = X[space.rows(index)]
    with pytest.raises(GaugeError, match=f"on the rows of subset {index}[.]"):
        run(LinearRegression(), LiesAboutOne("nothing"), space=space)


class Remembering(LinearRegressorCanonicalizer):
    """Counts from the first model it sees, and releases the last one."""

    def encode(self, estimator: Any, X: Any) -> Encoding:
        vector, layout = super().encode(estimator, X)
        self.reference_ = getattr(self, "reference_", vector)
        self.last_ = vector
        return Encoding(vector - self.reference_ + vector, layout)

    def decode(self, vector: Any, layout: Any, template: Any) -> Any:
        return super().decode(getattr(self, "last_", vector), layout, template)


@pytest.mark.parametrize("fast_fit", [True, False])
def test_what_a_canonicalizer_keeps_of_a_candidate_reaches_no_other_and_no_release(
    fast_fit: bool,
) -> None:
    canonicalizer = Remembering()
    outputs = run(LinearRegression(), canonicalizer, fast_fit=fast_fit)
    np.testing.assert_array_equal(
        outputs.vectors, run(LinearRegression(), fast_fit=fast_fit).vectors
    )
    released = outputs.decode(np.arange(1.0, 12.0))
    np.testing.assert_array_equal([*released.coef_, released.intercept_], np.arange(1.0, 12.0))
    assert vars(canonicalizer) == vars(LINEAR)


@pytest.mark.product(only=8)
@pytest.mark.parametrize(
    ("n_subsets", "wrong"),
    [*((16, [i]) for i in range(16)), *((64, [*range(i, i + 4)]) for i in (0, 21, 60))],
)
def test_sixteen_of_the_candidates_that_an_alignment_changes_are_tried(
    n_subsets: int, wrong: list[int]
) -> None:
    """All are changed, harmlessly but for one of sixteen, or four in a row of 64."""

    class LiesAboutFew(Liar):
        def align(self, vectors: NDArray[np.float64], layout: Any) -> NDArray[np.float64]:
            factors = np.full(len(vectors), 1 + 1e-10)
            factors[wrong] = 1.01
            return vectors * factors[:, None]

    space = balanced_space(80, n_subsets=n_subsets)
    with pytest.raises(GaugeError):
        run(LinearRegression(), LiesAboutFew("nothing"), space=space)
    wrong = []
    run(LinearRegression(), LiesAboutFew("nothing"), space=space)


def test_few_of_many_candidates_are_decoded() -> None:
    """A check of all of them would take longer than joint fits do."""
    decoded: list[Any] = []

    class Counting(Liar):
        def decode(self, vector: Any, layout: Any, template: Any) -> Any:
            decoded.append(vector)
            return super().decode(vector, layout, template)

        def align(self, vectors: NDArray[np.float64], layout: Any) -> NDArray[np.float64]:
            return vectors * (1 + 1e-10)

    run(LinearRegression(), Counting("nothing"), space=balanced_space(80, n_subsets=64))
    assert len(decoded) == 1 + 64 // 8 + 2 * 16


def test_an_alignment_that_changes_the_other_candidates_is_caught() -> None:
    with pytest.raises(GaugeError):
        run(LinearRegression(), Liar("align others"))


@pytest.mark.parametrize(
    ("step", "message"),
    [("encode", "encoded"), ("decode raises", "decoded")],
)
def test_a_failing_canonicalizer_tells_nothing(step: str, message: str) -> None:
    with pytest.raises(SubsetFitError, match=message) as caught:
        run(LinearRegression(), Liar(step))
    fitted = LinearRegression().fit(X[SPACE.rows(0)], Y[SPACE.rows(0)])
    assert not any(f"{abs(c):.4f}" in everything_told(caught.value) for c in fitted.coef_)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_failing_alignment_tells_nothing() -> None:
    with pytest.raises(PacsklearnError):
        run(LinearRegression(), Liar("align raises"))


def test_a_wrapped_step_that_was_replaced_by_a_search_is_caught() -> None:
    rows, targets = load_iris(return_X_y=True)
    estimator = GridSearchCV(
        make_pipeline(StandardScaler(), LinearSVC()),
        {"standardscaler": [QuantileTransformer(n_quantiles=10)]},
        cv=2,
    )
    space = balanced_space(150, n_subsets=2, strata=targets)
    with pytest.raises(GaugeError):
        run(estimator, registry().canonicalizer("auto", estimator), rows, targets, space)


def test_progress_is_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = run(Ridge(), verbose=20)
    assert "elapsed" in capsys.readouterr().err
    assert np.array_equal(outputs.vectors, run(clone(Ridge())).vectors)
    assert capsys.readouterr() == ("", "")


def test_an_unfitted_copy_shares_nothing_that_decoding_writes() -> None:
    for estimator in (Ridge(), make_pipeline(StandardScaler(), Ridge())):
        one = unfitted_copy(estimator)
        one.set_params(**{name: 3.0 for name in one.get_params() if name.endswith("alpha")})
        one.fit(X, Y)
        assert repr(estimator) == repr(clone(estimator))
        assert [name for name in vars(estimator) if name.endswith("_")] == []
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        assert not hasattr(last, "coef_")
