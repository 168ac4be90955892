"""Running one computation for every candidate, so that what goes wrong quotes no data."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from sklearn.utils.parallel import Parallel

from pacsklearn._validation import has_params, warn_user
from pacsklearn.exceptions import GaugeError, SubsetFitError
from pacsklearn.kernel.host import host
from pacsklearn.kernel.outputs.withheld import unprinted, withheld

ABOUT_GAPS = (
    "describe the columns in a public Schema, whose SchemaEncoder reads gaps, or put a "
    "SimpleImputer(strategy='mean') before it inside the pipeline"
)
"""What to do about missing values."""

_WRONG_PARAMETER = re.compile(
    r"The '(?P<name>\w+)' parameter of (?P<owner>\w+) must be .* Got (?P<given>.*) instead\.$",
    re.DOTALL,
)
# Messages that hold no value of a row: of scikit-learn, and of canonicalizers.
_TELLS_NO_VALUE = re.compile(
    r"X has \d+ features, but \w+ is expecting \d+ features as input\.?"
    r"|y should be a 1d array, got an array of shape \(\d+, \d+\) instead\."
    r"|y must have at least two dimensions for multi-output regression but has only one\."
    r"|Negative values in data passed to (X in )?[`\w]+( \(input X\)| initialization)?\."
    r"|Some value\(s\) of y are out of the valid range of the loss '\w+'\."
    r"|loss='poisson' requires non-negative y and sum\(y\) > 0\."
    r"|The Box-Cox transformation can only be applied to strictly positive data|Sample weights "
    r"must contain at least one non-zero number\.|Input X must be non-negative\.|For \w+-task "
    r"outputs, use \w+|n_components=\d+ must be between \d and min\(n_samples, n_features\)=\d+ "
    r"with svd_solver='\w+'|a class has fewer rows than features; use reg_param or fewer features"
    r"|a row has a category beyond min_categories; give a larger one|Sparse data was passed for X, "
    r"but dense data is required\. Use '\.toarray\(\)' to convert to a dense numpy array\."
    r"|The number of samples must be more than the number of classes\."
)
# What helps, by words of messages that may quote rows.
_ADVICE = {
    "are not in class_weight$": "every key of class_weight must be a class, as it is written in y, "
    "of which each subset has rows",
    r"could not convert string to float|float\(\) argument must be|The DType <class": "words or "
    "dates reached a step that reads numbers; describe the columns in a public Schema "
    "(Schema.template drafts one) and begin with SchemaEncoder(schema)",
    "Input (X )?contains (NaN|inf)": "missing, infinite or huge values reached a step that takes "
    f"none; {ABOUT_GAPS}",
    r"^\w+ LinAlgError": "a matrix cannot be inverted: a column may be constant, or follow from "
    "others. Regularise (reg_param=, shrinkage=, alpha=), or leave such columns out",
    "not (a )?column|columns using strings|all features must be in": "a step names columns that "
    "its input does not have; look at the spelling. Steps that come before leave no names, unless "
    "set_output(transform='pandas') is called",
    "array with 0 feature": "a step gets no column: one before kept none, or names columns wrongly",
    "^(en|de)code AttributeError": "it derives from a class that can be released, and has not all "
    "that the canonicalizer of that class reads; let it answer: release=Answers()",
    "Found unknown categories": "a value is not on the list that categories= states, or in no row "
    "of the subset; list it, or give handle_unknown=",
    r"'groups' parameter|^fit IndexError: index \d+ is out": "a step asks for rows or groups that "
    "no candidate has: cv= must list no rows and name no groups; give a number of folds",
    "Pandas output does not support sparse": "give the encoder of categories sparse_output=False",
    "unhashable type: '(list|dict)'": "cells hold lists or dicts; give each part a column",
    "array must not contain infs": "numbers overflow, or there are negative weights: scale the "
    "columns, and give a sample_weight of at least 0",
    "Invalid classes inferred from": "labels must be 0, 1 and so on; encode them before fit",
}


class StageFailure(Exception):  # noqa: N818 - it never leaves this module's callers
    """Something a stage found wrong by itself: ``"finite"``, ``"real"`` or ``"gauge"``."""


@final
@dataclass
class Stage:
    """How far the work on one candidate has come, for the error's text."""

    name: str = "fit"


@final
@dataclass(frozen=True)
class Failure:
    """Where it went wrong, and the error by its kind; ``message`` may quote rows."""

    stage: str
    error: str = ""
    message: str = field(default="", repr=False)


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """What a worker sends back: a value or a failure, and the kinds of warnings it saw."""

    value: Any = None
    failure: Failure | None = None
    warnings: tuple[type[Warning], ...] = ()


def attempt(work: Callable[[], Any], stage: str | Stage = "fit", *, fits: bool = False) -> Outcome:
    """Run ``work`` so that of its errors and warnings only the kinds are told, and of prints none.

    They may quote rows. ``stage`` is what it does, shared with work that goes through several;
    ``fits`` says that it may print by compiled code (a solver's ``verbose``), which costs a moment
    to withhold.
    """
    stage = Stage(stage) if isinstance(stage, str) else stage
    # A worker process has NumPy's own error state; the caller's may stop a fit at an underflow.
    usual = np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
    with usual, withheld() as caught, unprinted() if fits else nullcontext():
        try:
            value = work()
        except StageFailure as failure:
            return Outcome(failure=Failure(str(failure)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - sys.exit too: its words stay here
            return Outcome(failure=Failure(stage.name, type(error).__name__, str(error)))
    return Outcome(value, warnings=tuple(sorted(set(caught), key=lambda kind: kind.__name__)))


class Run(ABC):
    """One computation for every candidate: a subset's model, a function's value, a world's vector.

    Attributes
    ----------
    name : str
        Whose computation.
    verb, others : str
        What is done with the data of a candidate, and what the other candidates are called.
    quoted : str
        What the messages of warnings may quote.
    where : str
        What those of errors may quote, and how to see them.
    """

    verb: ClassVar[str] = "computed"
    others: ClassVar[str]
    quoted: ClassVar[str] = "rows"
    where: ClassVar[str]

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def place(self, index: int) -> str:
        """Return what candidate ``index`` is called."""

    @abstractmethod
    def counted(self, count: int, total: int) -> str:
        """Return how often something happened."""

    def hint(self, failure: Failure, index: int) -> str:
        """Return where the words are, or the words themselves where they quote nothing."""
        return f"its message is withheld because it may quote {self.where.format(index)}"

    @staticmethod
    def outcomes(
        tasks: Iterable[Any], n_jobs: int | None = None, verbose: int = 0
    ) -> list[Outcome]:
        """Return the outcomes of joblib's tasks, one a candidate, in order."""
        # Workers that are threads change the process's filters and put them back in any order.
        known, done = list(tasks), []
        with warnings.catch_warnings(), host().progress("candidates", len(known)) as at:
            for each in Parallel(n_jobs, verbose=verbose, return_as="generator")(known):
                done.append(each)
                at(len(done))
        return done

    def values(self, outcomes: list[Outcome]) -> list[Any]:
        """Return values in order; the first failure as an error, and one warning for each kind."""
        values = [self.value(outcome, index) for index, outcome in enumerate(outcomes)]
        self.warn(outcomes)
        return values

    def value(self, outcome: Outcome, index: int = 0) -> Any:
        """Return the value of an outcome, or its failure as an error."""
        if outcome.failure is not None:
            raise self.error(outcome.failure, index)
        return outcome.value

    def warn(self, outcomes: list[Outcome], total: int | None = None) -> None:
        """Warn of each kind once; ``total`` candidates, where some were run twice."""
        n = len(outcomes) if total is None else total
        for kind, count in Counter(kind for each in outcomes for kind in each.warnings).items():
            warn_user(
                f"{self.name}: {kind.__name__} {self.counted(min(count, n), n)} (the messages are "
                f"withheld because they may quote {self.quoted}).",
                kind,
            )

    def error(self, failure: Failure, index: int) -> Exception:
        """Return a failure in words that quote no data."""
        name, place = self.name, self.place(index)
        if failure.stage == "gauge":
            return GaugeError(
                f"The canonicalizer of {name} does not give back the model it was given: decoded, "
                f"it behaves differently on the rows of {place}. A model whose huge numbers cancel "
                "needs a penalty; a canonicalizer may remove only what changes no prediction: see "
                "pacsklearn.testing.check_canonicalizer."
            )
        broken = {
            "finite": "has nan or infinite numbers, which cannot be noised. Leave out columns "
            "without any value in a subset, scale the features, or regularise it.",
            "real": "gives complex numbers, or none at all: only real ones can be noised. Return a "
            "real number or an array of them; of complex ones the real and the imaginary parts.",
        }
        if failure.stage in broken:
            return self.failed(f"{name} {self.verb} on {place} {broken[failure.stage]}", index)
        what = {
            "fit": f"could not be {self.verb}",
            "encode": f"was {self.verb} but could not be encoded",
            "decode": "was encoded but could not be decoded",
            "align": f"was encoded but could not be aligned with the other {self.others}",
            "predict": f"was {self.verb} but could not answer",
            "score": "was released in simulation and could not be decoded, or scored by scoring",
        }[failure.stage]
        hint = self.hint(failure, index)
        return self.failed(f"{name} {what} on {place}: {failure.error} ({hint}).", index)

    @staticmethod
    def failed(text: str, index: int) -> SubsetFitError:
        """Return the error that knows which candidate it is about."""
        error = SubsetFitError(text)
        error.subset = index
        return error


class SubsetRun(Run):
    """A clone of one estimator, fitted on every subset of the rows."""

    verb = "fitted"
    others = "candidates"
    where = (
        "rows; config_context(debug=True) shows it in your terminal, as does fitting the estimator "
        "yourself on SecretSpace.rows({})"
    )

    def __init__(self, estimator: Any) -> None:
        super().__init__(type(estimator).__name__)
        self._estimator = estimator

    def place(self, index: int) -> str:
        return f"subset {index}"

    def counted(self, count: int, total: int) -> str:
        return f"in {count} of {total} subset fits"

    def hint(self, failure: Failure, index: int) -> str:
        message = failure.message
        if _TELLS_NO_VALUE.fullmatch(message) or _quotes_parameters_only(failure, self._estimator):
            return message
        for words, advice in _ADVICE.items():
            if re.search(words, f"{failure.stage} {failure.error}: {message}"):
                return advice
        return super().hint(failure, index)


def _quotes_parameters_only(failure: Failure, estimator: Any) -> bool:
    """Return whether a message tells only that a parameter of the caller is wrong."""
    quoted = _WRONG_PARAMETER.match(failure.message)
    if failure.error != "InvalidParameterError" or quoted is None:
        return False
    parts = [estimator, *estimator.get_params(deep=True).values()]
    return any(
        type(part).__name__ == quoted["owner"]
        # The very value that the caller gave: a message in the same words could quote a row.
        and repr(part.get_params(deep=False).get(quoted["name"])) == quoted["given"]
        for part in parts
        if has_params(part)
    )
