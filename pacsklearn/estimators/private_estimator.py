"""What private meta-estimators share: they show what was released, and nothing else."""

from __future__ import annotations

import copy
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pacsklearn._sklearn_compat import (
    html_diagram,
    in_container,
    routing_enabled,
    set_output_config,
)
from pacsklearn._validation import warn_user
from pacsklearn.estimators.alternatives import options_of
from pacsklearn.exceptions import NoCanonicalizerError, PrivacyLeakWarning
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.universe.frame import with_gaps
from pacsklearn.universe.open_ledger import as_parameter

_ABOUT_ANSWERS = ("answers_given_", "remaining_budget_")
_ABOUT_A_MODEL = ("released_estimator_", "transform", "inverse_transform", "score_samples")


def _can(method: str) -> Any:
    """Make a method available when what was released has it, or will have it once fitted."""
    return available_if(lambda self: self._offers(method))


def _with_gaps(X: Any) -> Any:
    # scikit-learn reads what is behind a mask as known; a fit sees a gap there.
    return with_gaps(X) if isinstance(X, np.ma.MaskedArray) else X


def _can_score(self: PrivateEstimator) -> bool:
    return hasattr(self, "predict") and hasattr(options_of(self.estimator).template, "score")


def _can_fit_predict(self: PrivateEstimator) -> bool:
    return hasattr(options_of(self.estimator).template, "fit_predict") and hasattr(self, "predict")


class JudgedByBudget:
    """Estimators whose budget decides how good they are: scikit-learn's checks expect no score."""

    # Objects to give in place of a bare value, before nested names reach into them.
    _instead: ClassVar[dict[str, str]]

    def set_params(self, **params: Any) -> Self:
        """Set parameters; nested names reach into objects (``budget__nats``).

        Raises
        ------
        ValueError
            Where a nested name has no object to reach into.
        """
        for name in params:
            head, nested, _ = name.partition("__")
            given = params.get(head, getattr(self, head, None))
            if nested and head in self._instead and not hasattr(given, "get_params"):
                raise ValueError(
                    f"{name} reaches into {head}, which is {given!r}: give the object first, "
                    f"{head}={self._instead[head]}."
                )
        made: Self = super().set_params(**params)  # type: ignore[misc]
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, as_parameter(value) if name == "ledger" else value)

    def __sklearn_tags__(self) -> Tags:
        return self._unjudged(super().__sklearn_tags__())  # type: ignore[misc]

    @staticmethod
    def _unjudged(tags: Tags) -> Tags:
        for kind in (tags.classifier_tags, tags.regressor_tags):
            if kind is not None:
                kind.poor_score = True
        return tags


class ShowsItsGuarantee:
    """Estimators that display the guarantee, and whose copies forget what is for the curator."""

    # Fitted attributes that are functions of the private rows.
    _curators: ClassVar[frozenset[str]] = frozenset()

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in self._curators}

    def _repr_html_inner(self) -> str:
        diagram = html_diagram(copy.copy(self))
        guarantee = getattr(self, "guarantee_", None)
        return diagram if guarantee is None else f"{diagram}{guarantee._repr_html_()}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class PrivateEstimator(ShowsItsGuarantee, JudgedByBudget, MetaEstimatorMixin, BaseEstimator, ABC):
    """Prediction, transformation and scoring by what was released and by nothing else.

    Pickles without what the wrapped estimator learned, and displays the guarantee.

    Attributes
    ----------
    estimator : estimator
        The wrapped one.
    draws_its_own_secret : bool
        Read where candidates are fitted, which must not.
    """

    estimator: Any
    random_state: Any
    released_methods_: tuple[str, ...]
    draws_its_own_secret = True
    # As scikit-learn marks transformers whose output is put into a container.
    _sklearn_auto_wrap_output_keys: ClassVar[frozenset[str]] = frozenset({"transform"})

    @abstractmethod
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Release something private."""

    def _released(self) -> Any:
        """Return what was released; NotFittedError when nothing was."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # says so; it asks for the tags first, which takes a while
        return self._answering if "_answering" in vars(self) else self.released_estimator_

    @abstractmethod
    def _offered(self) -> Iterable[str]:
        """Return the methods of what a fit would release."""

    def _offers(self, method: str) -> bool:
        """Return whether the method can be asked of what was, or will be, released."""
        if self.__sklearn_is_fitted__():
            return method in self.released_methods_ and hasattr(self._released(), method)
        if not hasattr(options_of(self.estimator).template, method):
            return False
        try:
            return method in self._offered()
        except NoCanonicalizerError:  # fit says so
            return True

    def _learn(self, learned: Mapping[str, Any]) -> None:
        """Forget the last fit and keep this one, which is whole."""
        # At once and at the end: a fit that fails leaves the last one as it was.
        for name in self.__dict__.pop("_last_fit", ()):
            self.__dict__.pop(name, None)
        self.__dict__.update(learned, _last_fit=tuple(learned))

    def _routed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        if not routing_enabled():
            return dict(fit_params)
        return dict(process_routing(self, "fit", **fit_params).estimator.fit)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where metadata goes.

        What ``fit`` names stays here, the rest reaches the inner fits.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=options_of(self.estimator).template,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "released_methods_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        own = super().__sklearn_tags__()
        tags = copy.deepcopy(get_tags(self.estimator))
        tags.requires_fit = own.requires_fit
        tags.array_api_support = False
        # Noise is new in every fit, whatever the wrapped estimator does.
        tags.non_deterministic = self.random_state is None
        if not hasattr(self, "transform"):
            tags.transformer_tags = None
        return self._unjudged(tags)

    def __getstate__(self) -> dict[str, Any]:
        # The wrapped estimator may have been fitted before, on all rows: a copy forgets that.
        return {**super().__getstate__(), "estimator": clone(self.estimator, safe=False)}

    def __getattr__(self, name: str) -> Any:
        """Say why something is not there; called when it is nowhere else."""
        plain = f"This {type(self).__name__!r} has no attribute {name!r}"
        if name in _ABOUT_ANSWERS and "released_estimator_" in vars(self):
            raise AttributeError(
                f"{plain}: it is about private answers, and this fit released a model, "
                "released_estimator_, which costs nothing to ask."
            )
        if name.endswith("_") and not name.startswith("_") and not self.__sklearn_is_fitted__():
            raise AttributeError(f"{plain} before fit, which learns what ends in an underscore.")
        if name.endswith("_") and hasattr(vars(self).get("released_estimator_"), name):
            raise AttributeError(f"{plain}: released_estimator_ has it.")
        if name.startswith("__") or "_answering" not in vars(self):
            raise AttributeError(plain)
        if name in ("predict_proba", "predict_log_proba", "decision_function"):
            raise AttributeError(
                f"{plain}: labels are answered, one by one. Class probabilities are with "
                "PACPrivate(..., release=Answers(of='probabilities'))."
            )
        if name in _ABOUT_A_MODEL or name.endswith("_"):
            raise AttributeError(
                f"{plain}: private answers are released and no model, since no canonicalizer "
                "supports the estimator or release=Answers() was given. Ask predict, publish a "
                "student of the answers (distill), or wrap an estimator whose parameters can be "
                "released (release=Parameters() says why this one's cannot)."
            )
        raise AttributeError(plain)

    @_can("predict")
    def predict(self, X: Any) -> Any:
        """Return the predictions of the released model."""
        return self._released().predict(_with_gaps(X))

    @_can("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities of the released model."""
        return self._released().predict_proba(_with_gaps(X))

    @_can("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the class probabilities of the released model."""
        return self._released().predict_log_proba(_with_gaps(X))

    @_can("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision function of the released model."""
        return self._released().decision_function(_with_gaps(X))

    @_can("transform")
    def transform(self, X: Any) -> Any:
        """Return the rows transformed by the released model."""
        # Around the whole: inside it a step that was fitted without names would be given some.
        return in_container(self, self._released().transform(_with_gaps(X)), X)

    @_can("inverse_transform")
    def inverse_transform(self, X: Any) -> Any:
        """Return the rows transformed back by the released model."""
        return self._released().inverse_transform(_with_gaps(X))

    @_can("transform")
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then transform ``X`` by the *released* model."""
        return self.fit(X, y, **fit_params).transform(X)

    @available_if(_can_fit_predict)
    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then predict ``X`` by the *released* model."""
        return self.fit(X, y, **fit_params).predict(X)

    @available_if(_can_score)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score the released model, which costs nothing, or answers, which are charged."""
        params = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self._released().score(_with_gaps(X), y, **params))

    @_can("transform")
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the released transformer's outputs."""
        return self._released().get_feature_names_out(input_features)

    @_can("transform")
    def set_output(self, *, transform: Any = None) -> Self:
        """Set what ``transform`` returns: ``"default"``, ``"pandas"`` or ``"polars"``."""
        if transform is not None:
            set_output_config(self, transform)
        return self


def unfitted(value: Any) -> Any:
    """Copy estimators, also in lists and dicts, without what they learned from rows."""
    if isinstance(value, Mapping):
        return {name: unfitted(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(unfitted(one) for one in value)
    return clone(value) if hasattr(value, "get_params") else value


# What some wrappers, by the names of their classes, learn from rows beside the parts they name.
_LEARNED_BY_WRAPPERS = {
    "calibration": ["CalibratedClassifierCV"],
    "choice of columns": ["RFECV", "SequentialFeatureSelector"],
    "final_estimator": ["StackingClassifier", "StackingRegressor"],
    "threshold": ["TunedThresholdClassifierCV", "ThresholdOptimizer"],
    "weights of its parts": ["AdaBoostRegressor", "ExponentiatedGradient"],
    "what it keeps of rows": ["SelfTrainingClassifier", "RANSACRegressor", "IterativeImputer"],
}


def warn_of_parts_beside(estimator: Any, inside: str = "PACPrivate(make_pipeline(...))") -> None:
    """Warn when ``estimator`` is fitted inside a plain one of which other parts learn from rows.

    ``inside`` shows how the whole is made private. A part is told nothing of what it stands in, and
    is often a clone there: who calls is looked up.
    """
    frame: FrameType | None = sys._getframe(1)
    outermost = None
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, BaseEstimator) and caller is not estimator:
            if isinstance(caller, JudgedByBudget):
                break  # private itself, and has warned of what stands around it
            if any(type(part) is type(estimator) for part in _parts(caller).values()):
                outermost = caller
        frame = frame.f_back
    learned = [] if outermost is None else _learned_in(outermost)
    if learned:
        name = type(outermost).__name__
        whole = inside if name == "Pipeline" else inside.replace("make_pipeline", name)
        warn_user(
            f"Parts of {name} around {type(estimator).__name__} learn from all rows and are "
            f"covered by no guarantee: {', '.join(learned)}. Do not release them; put the whole "
            f"inside: {whole}.",
            PrivacyLeakWarning,
        )


def _parts(whole: Any) -> dict[str, Any]:
    try:
        params = whole.get_params(deep=True)
    except AttributeError:  # it keeps its parameters under other names: nobody can ask for them
        return {}
    return {
        name: params[name]
        for name in sorted(params, key=lambda name: name.count("__"))
        if hasattr(params[name], "fit") and not isinstance(params[name], type)
    }


def _learned_in(whole: Any) -> list[str]:
    """Return what learns from rows in an estimator that has private parts, and is not noised."""
    parts = {"": whole, **_parts(whole)}
    private = [name for name, part in parts.items() if isinstance(part, JudgedByBudget)]
    learned: list[str] = []
    for name, part in parts.items():
        own = [what for what, of in _LEARNED_BY_WRAPPERS.items() if type(part).__name__ in of]
        if any(f"{one}__".startswith(f"{name}__" if name else "") for one in private):
            # It holds a private part, or is one.
            learned += [f"{name}__{what}" if name else what for what in own]
        elif not name.startswith(tuple(f"{one}__" for one in [*private, *learned])):
            learned += [name] if _learns(part) else []
    return list(dict.fromkeys(learned))


def _learns(part: Any) -> bool:
    """Return whether a part takes anything from rows that is not noised."""
    if hasattr(part, "guarantee_"):
        return False
    try:
        return bool(registry().canonicalizer_for(part).noised)
    except NoCanonicalizerError:
        return True
