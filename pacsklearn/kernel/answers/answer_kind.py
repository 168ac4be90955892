"""What a black box answers with: kinds are labels, shares of the classes, or numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from numpy.typing import NDArray

from pacsklearn.kernel.answers.engine import Engine, StepAnswers
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
    prior : PublicPrior or None
        What values are drawn toward once they are out.
    width : int
        Numbers in one answer.
    """

    engine: ClassVar[Engine]
    answers: ClassVar[str]
    methods: ClassVar[tuple[str, ...]] = ("predict",)
    classes: NDArray[Any] | None
    value_range: tuple[float, float] | None
    prior: Any = None
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
