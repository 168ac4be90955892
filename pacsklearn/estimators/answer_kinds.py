"""Labels, shares of the classes or numbers: kinds of answers, and which a user asks for."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from pacsklearn._validation import check_choice
from pacsklearn.estimators.released_parameters import to_answer
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.engine import Engine, StepAnswers
from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.answers.value_engine import ValueEngine
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.models import AnsweringModels
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.priors import checked_range, normal_prior
from pacsklearn.universe.public_prior import PublicPrior
from pacsklearn.universe.row_rules import steps_of


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

    engine: ClassVar[Engine] = ValueEngine()
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
    prior : PublicPrior, optional
        What answers are drawn toward.
    """

    engine: ClassVar[Engine] = ValueEngine()
    answers: ClassVar[str] = "values"
    value_range: tuple[float, float]

    def __init__(
        self, value_range: tuple[float, float], width: int, prior: PublicPrior | None = None
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


_KINDS = (LabelKind, ProbabilityKind, ValueKind)


def answer_kind(
    estimator: Any, y: Any, answers: str, value_range: Any, prior_mean: Any = None
) -> AnswerKind:
    """Check what is asked of ``estimator`` against what it can say."""
    name = type(estimator).__name__
    check_choice(name="of", value=answers, allowed=["auto", *(each.answers for each in _KINDS)])
    if y is None or not (is_classifier(estimator) or is_regressor(estimator)):
        raise ValueError(
            f"Private answers need a classifier or a regressor and its targets; {name} has "
            f"nothing to answer. {_instead_of_answers(estimator)}"
        )
    if is_regressor(estimator):
        if answers not in ("auto", "values"):
            raise ValueError(f"of={answers!r} needs a classifier; {name} answers values.")
        width = 1 if np.ndim(y) == 1 else int(np.shape(y)[1])
        ends = _range(value_range, name)
        return ValueKind(ends, width, normal_prior(prior_mean, ends))
    if answers == "values":
        raise ValueError(f"of='values' needs a regressor; {name} is a classifier.")
    if np.ndim(y) != 1:
        raise ValueError(f"Private answers need one target, got y of shape {np.shape(y)}.")
    # A stack without a final model is given scikit-learn's by its fit, which has them.
    final = getattr(steps_of(estimator)[-1], "final_estimator", "none is missing")
    if answers == "probabilities" and not (final is None or hasattr(estimator, "predict_proba")):
        raise ValueError(
            f"of='probabilities' needs predict_proba, which {name} as configured has not; "
            "use of='labels'."
        )
    # Of the whole table: classes are public, and the same whichever candidate is true.
    classes = np.unique(np.asarray(y))
    return ProbabilityKind(classes) if answers == "probabilities" else LabelKind(classes)


def _instead_of_answers(estimator: Any) -> str:
    try:
        registry().canonicalizer_for(estimator)
    except NoCanonicalizerError as error:
        return f"{error} {to_answer(estimator)}".strip()
    return "Its parameters can be released: release=Parameters()."


def _range(value_range: Any, name: str) -> tuple[float, float]:
    advice = (
        f"{name} answers numbers, which are clipped to a public range; give prior=Range(low, "
        "high), chosen without looking at y"
    )
    if value_range is None:
        raise ValueError(f"prior must have a range: {advice}.")
    return checked_range(value_range, f": {advice}")
