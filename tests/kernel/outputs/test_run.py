"""One runner for subsets, functions and worlds: failures and warnings quote no data."""

from __future__ import annotations

import warnings

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn.exceptions import FunctionError, GaugeError, SubsetFitError
from pacsklearn.kernel.outputs.function_values import FunctionRun
from pacsklearn.kernel.outputs.run import Failure, Outcome, Run, StageFailure, SubsetRun, attempt
from pacsklearn.plugins import registry
from pacsklearn.srpp.release.world_outputs import Query, WorldRun

ROW = "row 17 is (4, 2)"
SUBSETS, FUNCTION = SubsetRun(Ridge()), FunctionRun("mean")
WORLDS = WorldRun(Query.of_model(Ridge(), registry().canonicalizer("auto", Ridge())))


def failing() -> None:
    raise KeyError(ROW)


@pytest.mark.parametrize(
    ("run", "error", "place"),
    [
        (SUBSETS, SubsetFitError, "subset 3"),
        (FUNCTION, FunctionError, "candidate 3"),
        (WORLDS, SubsetFitError, "a data set of the scenario"),
    ],
)
def test_a_failure_names_kind_and_place_and_quotes_nothing(
    run: Run, error: type[Exception], place: str
) -> None:
    with pytest.raises(error) as caught:
        run.value(attempt(failing), 3)
    text = str(caught.value)
    assert place in text
    assert "KeyError" in text
    assert "withheld" in text
    assert ROW not in text


@pytest.mark.parametrize("run", [SUBSETS, WORLDS])
@pytest.mark.parametrize("stage", ["fit", "encode", "decode", "align", "predict", "finite"])
def test_every_stage_has_words(run: Run, stage: str) -> None:
    error = run.error(Failure(stage, "ValueError", ROW), 2)
    assert isinstance(error, SubsetFitError)
    assert error.subset == 2
    assert ROW not in str(error)
    assert isinstance(run.error(Failure("gauge"), 2), GaugeError)


def test_what_a_stage_finds_by_itself_is_its_failure() -> None:
    def work() -> None:
        raise StageFailure("gauge")

    assert attempt(work).failure == Failure("gauge")


def test_a_kind_of_warning_is_told_once_and_counted() -> None:
    outcomes = [Outcome(i, warnings=(UserWarning,) if i else ()) for i in range(4)]
    for run, words in (
        (SUBSETS, "Ridge: UserWarning in 3 of 4 subset fits"),
        (FUNCTION, "mean: UserWarning for 3 of 4 candidates"),
        (WORLDS, "Ridge: UserWarning on 3 data set(s) of the scenario"),
    ):
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            assert run.values(outcomes) == [0, 1, 2, 3]
        assert [str(each.message).startswith(words) for each in shown] == [True]
        assert "withheld" in str(shown[0].message)


def test_wrong_keys_of_class_weight_are_told_and_no_class_is() -> None:
    """The message was withheld: it lists the classes of the subset's rows."""
    words = ["Mallory", "Trent"] * 20
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight={"mallory": 2.0}))
    run = SubsetRun(model)
    with pytest.raises(SubsetFitError, match="class_weight") as caught:
        run.value(attempt(lambda: model.fit([[0.0], [1.0]] * 20, words), fits=True), 3)
    assert "Mallory" not in str(caught.value)
    # Words of another estimator's that end alike: nothing of them is quoted.
    error = SubsetRun(Ridge()).error(
        Failure("fit", "ValueError", f"{ROW}: are not in class_weight"), 0
    )
    assert ROW not in str(error)
