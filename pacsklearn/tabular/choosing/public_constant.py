"""The constant that may be released in place of a model: public, whatever the rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor

from pacsklearn.kernel.outputs.run import attempt
from pacsklearn.priors import Constant
from pacsklearn.tabular.choosing.verdict import Utility
from pacsklearn.universe.public_prior import PublicPrior

_NO_REFERENCE = Utility("no constant", ())


def public_constant(estimator: Any, y: Any, prior: PublicPrior | Constant | None = None) -> Any:
    """Return a fitted constant in an estimator's place; None where nothing is publicly expected.

    Parameters
    ----------
    estimator : estimator
    y : array-like of shape (n_rows,)
        Its classes, which are public, are all that is read.
    prior : PublicPrior or Constant, optional
        Of regressors, and of classifiers: without one all classes are equally probable.
    """
    if y is None or np.ndim(y) != 1:
        return None
    constant: Any
    if is_classifier(estimator):
        classes = np.unique(np.asarray(y))
        shares = np.full(classes.size, 1 / classes.size)
        if isinstance(prior, Constant):
            shares = prior.of(classes)
        constant = DummyClassifier(strategy="prior")
        return constant.fit(np.zeros((classes.size, 1)), classes, sample_weight=shares)
    if not is_regressor(estimator) or prior is None or isinstance(prior, Constant):
        return None
    constant = DummyRegressor(strategy="constant", constant=prior.mean)
    return constant.fit(np.zeros((1, 1)), [prior.mean])


def reference_of(
    constant: Any,
    score: Callable[[Any, Any, Any], float],
    held_out: Callable[[int], tuple[Any, Any]],
    draws: Sequence[int],
) -> Utility:
    """Return the utility of a constant in place of releases of the drawn candidates."""
    if constant is None:
        return _NO_REFERENCE

    def work() -> tuple[float, ...]:
        known = {index: score(constant, *held_out(index)) for index in set(draws)}
        return tuple(known[index] for index in draws)

    # A scorer of the user's may ask for what a constant does not offer.
    scores = attempt(work, fits=True).value
    return _NO_REFERENCE if scores is None else Utility(constant_name(constant), scores)


def constant_name(constant: Any) -> str:
    """Return a public constant in words."""
    if hasattr(constant, "classes_"):
        shares = ", ".join(f"{share:.3g}" for share in constant.class_prior_)
        return f"the constant probabilities {shares}"
    return f"the constant {float(np.ravel(constant.constant_)[0]):g}"
