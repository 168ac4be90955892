"""Probabilities of a released classifier, averaged over the law of its noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, NoReturn, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import NoiseLaw
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Layout
from pacsklearn.kernel.outputs.outputs import CandidateOutputs
from pacsklearn.kernel.outputs.run import SubsetRun, attempt
from pacsklearn.kernel.release.parameters import Reading

LOG_SCALE = "log_scale"
_PAIRS = 32
_SEED = 0
# The logistic function is this mixture of normal ones, whose mean under a normal law is known;
# minimax over all numbers, with an error below 6e-7 (least squares, reweighted).
SHARES = np.array([0.0233387441, 0.2076991949, 0.4297506408, 0.2948860265, 0.0443253936])
SLOPES = np.array([0.2915411023, 0.4109863819, 0.5762610588, 0.8039397859, 1.122728419])


def logistic_normal(mean: Floats, variance: Floats) -> Floats:
    """Return the expected logistic function of normal numbers, to 6e-7 at any variance.

    Parameters
    ----------
    mean, variance : ndarray of equal shape
    """
    spread = np.sqrt(1 + np.square(SLOPES) * np.asarray(variance)[..., None])
    return np.asarray(ndtr(np.asarray(mean)[..., None] * SLOPES / spread) @ SHARES)


@final
class AveragedClassifier(ClassifierMixin, BaseEstimator):
    """A released classifier that knows the law of its noise, and is as sure as that allows.

    What ``Parameters(average=True)`` releases: it is not fitted by itself.

    Parameters
    ----------
    estimator : classifier
        The plain model of the released numbers.

    Attributes
    ----------
    copies_ : list of classifiers
        The released numbers moved by one standard deviation of each axis of the noise, or by draws
        of the noise with a public seed; behind an encoder, their last steps.
    in_closed_form_ : bool
        Whether the probabilities are the exact average, of normal log-odds of two classes;
        otherwise the copies vote with theirs.
    encoder_ : Pipeline or None
        Public steps before the model.
    classes_ : ndarray of shape (n_classes,)
    """

    copies_: list[Any]
    in_closed_form_: bool
    encoder_: Any

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any = None) -> NoReturn:
        """Refuse: the law of the noise belongs to one release.

        Raises
        ------
        TypeError
        """
        raise TypeError(
            "AveragedClassifier is released, and not fitted: "
            "PACPrivate(model, release=Parameters(average=True)).fit(X, y)."
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "copies_")

    @property
    def classes_(self) -> NDArray[Any]:
        """Public class labels."""
        return np.asarray(self.estimator.classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self.estimator.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where the table had any."""
        return np.asarray(self.estimator.feature_names_in_)

    def parts(self) -> Iterator[Any]:
        """Yield the plain model and its copies, whose weights change together."""
        yield self.estimator
        yield from self.copies_

    def moments(self, X: Any) -> tuple[Floats, Floats]:
        """Return mean and variance of the log-odds of the second class; (n_rows,) each."""
        rows, plain = self.encoded(X), self.estimator
        mean = (plain if self.encoder_ is None else plain[-1]).decision_function(rows)
        variance = np.zeros_like(mean)
        for copy in self.copies_:
            variance += np.square(copy.decision_function(rows) - mean)
        return mean, variance

    def encoded(self, X: Any) -> Any:
        """Return rows as the copies take them."""
        return X if self.encoder_ is None else self.encoder_.transform(X)

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, averaged over the noise; (n_rows, n_classes)."""
        check_is_fitted(self)
        if self.in_closed_form_:
            mean, variance = self.moments(X)
            odds = np.column_stack([-mean, mean])
            return logistic_normal(odds, np.column_stack([variance, variance]))
        rows = self.encoded(X)
        return np.asarray(np.mean([copy.predict_proba(rows) for copy in self.copies_], axis=0))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


@final
class AveragedProbabilities(Reading):
    """Reads released numbers as a classifier averaged over the law of their noise.

    Notes
    -----
    The law is known to everybody, so this is post-processing; but its covariance is a function of
    the whole table, and is part of the model. A number :data:`LOG_SCALE` is left as released: its
    noise makes all decisions more or less sure alike, which a temperature accounts for.
    """

    public: ClassVar[tuple[str, ...]] = (
        (
            "the covariance of the noise, over which probabilities are averaged: a function of the "
            "whole table"
        ),
    )

    def check(self, estimator: Any) -> None:
        if not (is_classifier(estimator) and hasattr(estimator, "predict_proba")):
            raise ValueError(
                "average=True needs a classifier with probabilities; "
                f"{type(estimator).__name__} has none. Leave it out."
            )

    def over(self, outputs: CandidateOutputs) -> AveragedProbabilities:
        ask = partial(outputs.reference.predict, safe_indexing(outputs.X, [0]))
        if np.ndim(SubsetRun(outputs.form.template).value(attempt(ask, "predict"))) > 1:
            raise ValueError(
                "average=True needs a classifier of one target; several have no most probable "
                "class. Leave it out, or fit a model for each target."
            )
        return self

    def methods(self, canonicalizer: Canonicalizer) -> Iterable[str]:
        return ("predict", "predict_proba", "predict_log_proba")

    def plain(self, model: AveragedClassifier) -> Any:
        return model.estimator

    def model(self, outputs: CandidateOutputs, law: NoiseLaw, vector: Floats) -> Any:
        released = outputs.decode(vector)
        canonicalizer = outputs.form.canonicalizer
        *inner, (_, last) = getattr(released, "steps", [("", released)])
        is_encoded = bool(inner) and all(
            part.is_public for _, part in getattr(canonicalizer, "steps", [])[:-1]
        )
        model = AveragedClassifier(released)
        model.encoder_ = released[:-1] if is_encoded else None
        # Of other losses the probability is no logistic function of the decision.
        model.in_closed_form_ = (
            canonicalizer.has_affine_score
            and len(released.classes_) == 2
            and getattr(last, "loss", "log_loss") == "log_loss"
        )
        changes = law.axes * (law.step * law.scale)[:, None]
        changes[:, _scales(outputs.layout)] = 0.0
        if not model.in_closed_form_:
            # A public stream of its own: it draws neither secrets nor noise that hides anything.
            # In opposite pairs: the vote of copies leans to no side that the noise does not.
            draws = np.random.default_rng(_SEED).normal(size=(_PAIRS, len(changes))) @ changes
            changes = np.concatenate([draws, -draws])
        copies = [outputs.decode(vector + change) for change in changes]
        model.copies_ = [each[-1] for each in copies] if is_encoded else copies
        return model


def _scales(layout: Layout) -> list[int]:
    """Return the places of the numbers that only say how sure a model is."""
    places: list[int] = []
    for name, where in layout.slices().items():
        child = dict(layout.children).get(name)
        if child is not None:
            places += [where.start + place for place in _scales(child)]
        elif name == LOG_SCALE:
            places += range(where.start, where.stop)
    return places
