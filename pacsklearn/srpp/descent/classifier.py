"""Linear classification by private stochastic gradient descent."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from pacsklearn._sklearn_compat import Interval, StrOptions
from pacsklearn._validation import brief, warn_user
from pacsklearn.estimators.private_estimator import JudgedByBudget
from pacsklearn.exceptions import PrivacyLeakWarning
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.descent.base import LinearSGD
from pacsklearn.srpp.descent.clipped_gradient import LOSSES, HuberLoss
from pacsklearn.srpp.descent.kept_model import kept_if_refused
from pacsklearn.srpp.descent.linear_parameters import LinearChoices
from pacsklearn.srpp.parameters.run_choices import SCENARIO
from pacsklearn.universe.row_rules import check_labels

_WEIGHT = Interval(Real, 0, None, closed="left")
_READ_OFF = (
    "classes_: they were read off the private labels, so that a label which a single row has is "
    "published. Give classes=, all labels there may be."
)


@dataclass(eq=False, repr=False)
class SRPPSGDClassifier(JudgedByBudget, ClassifierMixin, LinearSGD):
    """Linear classifier trained by noised gradient steps, so that a secret about the data stays.

    The private counterpart of scikit-learn's SGDClassifier, in minibatches. With several classes
    one model is trained for each against the rest, all in the same steps: a row's gradient in all
    of them together is clipped.

    Parameters
    ----------
    loss : {"log_loss", "hinge", "squared_error", "huber"} or HuberLoss, default="log_loss"
        The last two take labels as targets of -1 and 1.
    {parameters}
    class_weight : dict, optional
        Weight of each label, chosen without looking at the labels.
    classes : array-like, optional
        All labels there may be, from a codebook and not from ``y``. When not given they are read
        off ``y``: it warns, and the guarantee says "not for release".

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray of shape (n_classes,)
        Public.
    {attributes}

    {notes}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pacsklearn.srpp import SRPPSGDClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SRPPSGDClassifier(budget=4.0, batches=128, classes=[0, 1]).fit(scale(X), y)
    >>> model.guarantee_.spent <= 4.0
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions(set(LOSSES)), HuberLoss],
        "fit_intercept": ["boolean"],
        **SCENARIO,
    }

    loss: Any = "log_loss"
    _: KW_ONLY
    learning_rate: Any = 0.5
    class_weight: dict[Any, float] | None = None
    classes: Any = None

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        secret: Any = None,
        realized: Any = None,
    ) -> SRPPSGDClassifier:
        """Train one more epoch, on the account of the run so far.

        The first call calibrates the noise for all ``epochs`` of its number of rows; calls go on
        until the budget is spent.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        classes : array-like, optional
            All labels there may be, instead of the parameter ``classes``.
        sample_weight, secret, realized : as for ``fit``

        Raises
        ------
        BudgetExhaustedError
            When another step does not fit; steps taken before stay charged and are kept.
        """
        choices, stated = LinearChoices.of(self), (secret, realized)
        with kept_if_refused(self):
            return self._train(choices, X, y, sample_weight, stated, goes_on=True, classes=classes)

    def decision_function(self, X: Any) -> Floats:
        """Compute signed distances, up to the length of the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        decisions = self._decisions(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        """
        decisions = self.decision_function(X)
        codes = (decisions > 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @available_if(lambda self: self.loss == "log_loss")
    def predict_proba(self, X: Any) -> Floats:
        """Predict probabilities of the labels, for the logistic loss.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        decisions = self.decision_function(X)
        likely = expit(decisions)
        if decisions.ndim == 1:
            return np.column_stack([1 - likely, likely])
        total = likely.sum(axis=1, keepdims=True)
        # All shares may underflow: nothing is known then.
        even = np.full_like(likely, 1 / likely.shape[1])
        return np.divide(likely, total, out=even, where=total > 0)

    def _targets(self, y: Any, classes: Any, hides: bool) -> tuple[Floats, Floats | None]:
        check_labels(y, type(self).__name__)
        classes = _distinct(self.classes if classes is None else classes)
        if hasattr(self, "classes_"):
            if classes is not None and not np.array_equal(classes, self.classes_):
                raise ValueError(
                    "classes must be those of the first call, got others; call fit for a new run."
                )
        else:
            self.classes_: NDArray[Any] = np.unique(y) if classes is None else classes
            self._read_off = classes is None and hides
            if self._read_off:
                text = f"{_READ_OFF} The guarantee says 'not for release' until then."
                warn_user(text, PrivacyLeakWarning)
        if self.classes_.size < 2:
            raise ValueError(
                f"{'y' if classes is None else 'classes'} must have at least two classes, got "
                f"{self.classes_.size} class; there is nothing to tell apart."
            )
        try:
            codes = np.searchsorted(self.classes_, y)
        except TypeError:  # words among numbers
            codes = np.full(len(y), self.classes_.size)
        known = codes < self.classes_.size
        if not np.all(known) or not np.all(self.classes_[codes] == y):
            raise ValueError(
                "y has labels that are not among the classes; name all labels there may be, "
                "SRPPSGDClassifier(classes=...)."
            )
        weight = checked_class_weight(self.class_weight, self.classes_.tolist())
        weights = None
        if weight is not None:
            weights = np.array([weight[label] for label in self.classes_.tolist()])[codes]
        if self.classes_.size == 2:
            return np.where(codes == 1, 1.0, -1.0)[:, None], weights
        return np.where(codes[:, None] == np.arange(self.classes_.size), 1.0, -1.0), weights

    def _publish(self, parameters: Floats) -> None:
        self.coef_, self.intercept_ = parameters[:, :-1].copy(), parameters[:, -1].copy()

    def _public(self) -> tuple[str, ...]:
        return (*super()._public(), "classes_")

    def _leaks(self) -> tuple[str, ...]:
        return (_READ_OFF,) if self._read_off else ()


def _distinct(classes: Any) -> NDArray[Any] | None:
    """Return the labels that a user gave, sorted, each once."""
    if classes is None:
        return None
    is_set = not isinstance(classes, str) and not hasattr(classes, "shape")
    try:
        return np.unique(list(classes) if is_set else classes)
    except (TypeError, ValueError):
        raise ValueError(
            f"classes must list the labels, words or numbers of one type, got {brief(classes)}."
        ) from None


def checked_class_weight(class_weight: Any, classes: Any) -> dict[Any, float] | None:
    """Return the weights of the classes that a user gave."""
    if class_weight is None:
        return None
    if class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' counts the labels, which are private, and would be released "
            "without noise. Give a dictionary of weights that you chose without looking at them, "
            "class_weight={label: weight}."
        )
    if not isinstance(class_weight, dict):
        raise TypeError(
            "class_weight must be None or a dictionary {label: weight}, got an object of type "
            f"{type(class_weight).__name__}."
        )
    weights = dict.fromkeys(classes, 1.0)
    for label, weight in class_weight.items():
        if isinstance(weight, bool) or not _WEIGHT.is_satisfied_by(weight):
            raise ValueError(f"class_weight must hold numbers in [0, inf), got {weight!r}.")
        if label not in weights:
            raise ValueError(f"class_weight names {label!r}, which is none of the classes.")
        weights[label] = float(weight)
    return weights
