"""Errors of checks, in words that quote no value of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pacsklearn.kernel.outputs.run import ABOUT_GAPS
from pacsklearn.universe.frame import not_numbers

# How messages of scikit-learn and NumPy begin whose first line holds no value of X or y.
_QUOTES_NOTHING = (
    "Complex data not supported", "Expected ", "Feature names ", "Found array with",
    "Found input variables", "Input ", "Negative values in data", "Sample weights must",
    "Sparse data was passed", "Support for labels", "The feature names", "This ",
    "Unknown label type", "X has ", "fill value must be 0", "np.matrix is not supported",
    "sample_weight.shape", "setting an array element with a sequence", "y should be a 1d array",
)  # fmt: skip


def about_columns(X: Any) -> str:
    """Return which columns are no numbers, and what to do about them."""
    named = [*map(str, not_numbers(X))]
    if not named:
        return ""
    others = f" and {len(named) - 10} more" if len(named) > 10 else ""
    return (
        f" These columns hold no numbers: {', '.join(named[:10])}{others}. Describe them in a "
        "public Schema (Schema.template drafts one from the table). Give it as schema= to "
        "PACPrivate, AutoPrivateClassifier or AutoPrivateRegressor, or begin a pipeline with it: "
        "make_pipeline(SchemaEncoder(schema), estimator)."
    )


def quoting_nothing(what: str, check: Callable[[], Any], advice: Callable[[], str] = str) -> Any:
    """Return the result of scikit-learn's check; keep its words if they quote no value.

    Raises
    ------
    TypeError, ValueError
        As the check, with no cell of the table in the message.
    """
    try:
        return check()
    except (TypeError, ValueError, OverflowError) as error:
        problem = error
    text = str(problem)
    # First lines alone: what follows them in scikit-learn's messages may be rows.
    if text.startswith("Input X contains NaN"):
        name, refuses, _ = text.partition("\n")[2].partition(" does not accept")
        owner = name if refuses else "the estimator"
        text = f"Input X contains NaN, and {owner} takes none; {ABOUT_GAPS}."
    elif not text.startswith(("Input ", "The feature names")):
        text = text.partition("\n")[0].rstrip(":.") + "."
    if isinstance(problem, OverflowError):
        text = f"Input {what} holds a whole number that is too large for a double."
    if not text.startswith(_QUOTES_NOTHING) or "got scalar `" in text:
        why = text if text.startswith("float() argument must be") else "encode everything else."
        text = f"{what} must hold numbers: {why}{advice()}"
    elif text.startswith("Expected 2D array"):
        advised = "Reshape your data: one row for each sample, one column for each feature."
        text = f"{what} must be a table. {text} {advised}"
    elif text.startswith("fill value must be 0"):
        text = f"{what} has sparse columns: {text} Give {what}.sparse.to_dense()."
    # Raised here, not above, so that it does not carry the first error along.
    raise (TypeError if isinstance(problem, TypeError) else ValueError)(text)
