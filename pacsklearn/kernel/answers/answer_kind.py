"""What a black box answers with: labels, shares of the classes, or numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.answers.engine import Engine, StepAnswers
from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.answers.value_engine import ValueEngine
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Expectation
from pacsklearn.kernel.outputs.models import AnsweringModels


class AnswerKind(ABC):
    """How candidates' models are asked, which engine answers, and what its numbers mean.

    Attributes
    ----------
    engine : Engine
    answers : str
        As users ask for it.
    methods : tuple of str
        What an estimator that answers offers.
    classes : ndarray or None
        Public class labels, sorted.
    value_range : (float, float) or None
        Public range of values.
    width : int
        Numbers in one answer.
    """

    engine: ClassVar[Engine] = ValueEngine()
    answers: ClassVar[str]
    methods: ClassVar[tuple[str, ...]] = ("predict",)
    classes: NDArray[Any] | None
    value_range: tuple[float, float] | None
    prior: Expectation | None = None
    width: int

    @abstractmethod
    def predictions(self, models: AnsweringModels, X: Any) -> NDArray[Any]:
        """Return what every candidate says: label codes (n, m), or numbers (n, m, width)."""

    def given(self, step: StepAnswers) -> NDArray[Any]:
        """Return what is given of an engine's answers, a row each."""
        return step.answers

    @abstractmethod
    def decoded(self, values: list[Any]) -> NDArray[Any]:
        """Return the answers as a user sees them, from those of the engine."""

    def predicted(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return what ``predict`` of an estimator gives."""
        return answers


@final
class LabelKind(AnswerKind):
    """Labels of classifiers.

    Parameters
    ----------
    classes : ndarray
    """

    engine: ClassVar[Engine] = LabelEngine()
    answers: ClassVar[str] = "labels"
    classes: NDArray[Any]

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes, self.value_range, self.width = classes, None, int(classes.size)

    def predictions(self, models: AnsweringModels, X: Any) -> NDArray[Any]:
        return models.labels(X, self.classes)

    def decoded(self, values: list[Any]) -> NDArray[Any]:
        return self.classes[np.asarray(values, dtype=np.intp)]


@final
class ProbabilityKind(AnswerKind):
    """Shares of the classes, clipped to [0, 1] before noise and made to sum to one after it.

    Parameters
    ----------
    classes : ndarray
    """

    answers: ClassVar[str] = "probabilities"
    methods: ClassVar[tuple[str, ...]] = ("predict", "predict_proba")
    classes: NDArray[Any]

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes, self.value_range, self.width = classes, None, int(classes.size)

    def predictions(self, models: AnsweringModels, X: Any) -> NDArray[Any]:
        return np.clip(models.values(X, "predict_proba", self.width, self.classes), 0, 1)

    def decoded(self, values: list[Any]) -> NDArray[Any]:
        shares = np.maximum(_as_table(values, self.width), 0.0)
        total = shares.sum(axis=1, keepdims=True)
        # Noise may leave no positive share: nothing is known then, and all are equal.
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1.0 / self.width)

    def predicted(self, answers: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.classes[answers.argmax(axis=1)])


@final
class ValueKind(AnswerKind):
    """Numbers of regressors, clipped to a public range before and after the noise.

    In between they are drawn toward a public prior, as far as the noise of each asks for.

    Parameters
    ----------
    value_range : (float, float)
    width : int
        Targets.
    prior : Expectation, optional
        What answers are drawn toward.
    """

    answers: ClassVar[str] = "values"
    value_range: tuple[float, float]

    def __init__(
        self, value_range: tuple[float, float], width: int, prior: Expectation | None = None
    ) -> None:
        self.classes, self.value_range, self.width = None, value_range, width
        self.prior = prior

    def given(self, step: StepAnswers) -> NDArray[Any]:
        if self.prior is None:
            return step.answers
        return self.prior.drawn(step.answers, step.deviations)

    def predictions(self, models: AnsweringModels, X: Any) -> NDArray[Any]:
        return np.clip(models.values(X, "predict", self.width), *self.value_range)

    def decoded(self, values: list[Any]) -> NDArray[Any]:
        # Post-processing of released numbers, by a public range.
        clipped = np.clip(_as_table(values, self.width), *self.value_range)
        return clipped[:, 0] if self.width == 1 else clipped


def _as_table(values: list[Any], width: int) -> Floats:
    return np.asarray(values, dtype=np.float64).reshape(len(values), width)
