"""What private classifiers and regressors by gradient descent have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    validate_data,
)

from pacsklearn._progress import bar
from pacsklearn.estimators.model_digest import mark_released
from pacsklearn.estimators.private_estimator import warn_of_parts_beside
from pacsklearn.estimators.released_tables import RELEASED
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.srpp.descent.clipped_gradient import clipped_sum
from pacsklearn.srpp.descent.descent import ColumnScales, Descent
from pacsklearn.srpp.descent.gradient_clipping import GradientClipping
from pacsklearn.srpp.descent.kept_model import kept_if_refused
from pacsklearn.srpp.descent.linear_parameters import Epochs, LinearChoices, LinearParameters
from pacsklearn.srpp.parameters.run_choices import RunChoices
from pacsklearn.srpp.release.open_run import PlainRun, opened_run, planned_unit
from pacsklearn.srpp.release.run import PrivateRun
from pacsklearn.srpp.release.run_statement import run_guarantee
from pacsklearn.srpp.release.training_rows import training_rows
from pacsklearn.srpp.scenarios.checks import stated_column
from pacsklearn.universe.frame import as_pandas, column_names, with_gaps
from pacsklearn.universe.quoting import about_columns, quoting_nothing
from pacsklearn.universe.row_rules import check_known, check_names


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows and targets of one call, checked."""

    X: Any
    targets: Floats
    weights: Floats | None
    clip_norm: float


def _known(y: Any) -> Any:
    if y is not None:
        check_known(quoting_nothing("y", partial(with_gaps, y)))
    return y


class LinearSGD(LinearParameters):
    """Training loop of the private linear models."""

    draws_its_own_secret: ClassVar[bool] = True

    @abstractmethod
    def _targets(self, y: Any, classes: Any, hides: bool) -> tuple[Floats, Floats | None]:
        """Return the targets of shape (n, k) and weights of the rows.

        Learns what is public about them.
        """

    @abstractmethod
    def _publish(self, parameters: Floats) -> None:
        """Set coefficients and intercepts."""

    _instead: ClassVar[dict[str, str]] = {
        "budget": "Renyi(1.0)",
        "batches": "Batches(64)",
        "clipping": "Clipping(1.0)",
        "epochs": "Epochs(20)",
        "learning_rate": "LearningRate(0.5)",
        "penalty": "Penalty('l2')",
    }

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        secret: Any = None,
        realized: Any = None,
        public_validation: Any = None,
    ) -> Any:
        """Train a new model; a run of its own.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Scaled by constants that are public: nothing is scaled here.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
            Of the rows' losses, before clipping: a row moves a step no further for its weight. A
            part of the row, which differs where its weight does; refused where the scenario
            draws tables anew, which have none.
        secret : array-like of shape (n_rows,) or str, optional
            What the scenario is about, a value for each row or the name of a column of ``X``; the
            labels, for classifiers, when not given.
        realized : object, optional
            The true secret, for scenarios that must be told; drawn by the mechanism otherwise.
        public_validation : tuple (X, y), optional
            Rows that are nobody's secret, for ``early_stopping``.

        Returns
        -------
        estimator
            Fitted.
        """
        warn_of_parts_beside(self, "SRPPPrivate(make_pipeline(...)), around a plain estimator")
        choices, stated = LinearChoices.of(self), (secret, realized)
        with kept_if_refused(self, forgetting=_PRIVATE):
            return self._train(choices, X, y, sample_weight, stated, validation=public_validation)

    @property
    def ledger_unit(self) -> str:
        """Unit of a ledger that can bear runs like this one."""
        return planned_unit(RunChoices.of(self))

    def _train(
        self,
        choices: LinearChoices,
        X: Any,
        y: Any,
        sample_weight: Any,
        stated: tuple[Any, Any],
        *,
        goes_on: bool = False,
        validation: Any = None,
        classes: Any = None,
    ) -> Any:
        check_names(X)
        first = "_descent" not in vars(self)
        given, names = y, column_names(X)
        X, y, sample_weight = as_pandas(X), _known(as_pandas(y)), as_pandas(sample_weight)
        rules = {"reset": first, "dtype": np.float64, "order": "C", "accept_sparse": "csr"}
        X, y = quoting_nothing(
            "X" if is_classifier(self) else "X and y",
            lambda: validate_data(self, X, y, y_numeric=not is_classifier(self), **rules),
            lambda: about_columns(X),
        )
        if sample_weight is not None:
            sample_weight = quoting_nothing(
                "sample_weight",
                lambda: _check_sample_weight(
                    sample_weight, X, dtype=np.float64, ensure_non_negative=True
                ),
            )
        targets, weights = self._targets(y, classes, choices.run.budget.hides)
        if sample_weight is not None:
            weights = sample_weight if weights is None else sample_weight * weights
        k, width = targets.shape[1], X.shape[1] + 1
        held_out = self._checked_validation(choices.epochs, validation, k)
        is_named = stated[0] is not None or is_classifier(self)
        column = stated_column(stated[0], X, y, given, names) if is_named else None
        record = getattr(self, "_record", None)
        rows = training_rows(
            choices.run,
            X,
            y,
            column,
            stated[1],
            sample_weight=sample_weight,
            record=record,
            goes_on=goes_on,
        )
        table, X, targets = X, rows.of(X), rows.of(targets)
        weights = None if weights is None else rows.of(weights)
        norm = float(choices.clipping.norm)
        if first:
            self._scales = ColumnScales.of(
                choices.clipping.feature_bounds, X.shape[1], norm, intercept=self.fit_intercept
            )
        if self._scales is not None:
            X, norm = self._scales.scaled(X), self._scales.clip_norm
        steps, epochs = -(-rows.n_rows // rows.batch_size), choices.epochs
        n_planned = epochs.n * steps
        if first:
            descent = Descent(
                # A public start: one that looked at the rows would leave with the first step.
                parameters=np.zeros((k, width)),
                learning_rate=choices.learning_rate,
                n_planned=n_planned,
                penalty=choices.penalty,
                average_from=None if epochs.average is False else int(epochs.average),
                fits_intercept=self.fit_intercept,
            )
            descent.check_reach(norm * rows.n_rows)
        run = opened_run(
            choices.run,
            rows,
            clipping=GradientClipping((norm,), (k * width,)),
            n_steps=n_planned,
            record=record,
            begun=not first,
        )
        if first:
            self._descent, self.n_iter_ = descent, 0
        problem = Problem(X, targets, weights, norm)
        before = self._descent.n_steps
        try:
            if first and isinstance(run, PrivateRun):
                RELEASED.add(table, run.ceiling, run.unit, run.account.shared)
            taken = 1 if goes_on else epochs.n
            self._descend(run, problem, choices, epochs=taken, steps=steps, held_out=held_out)
        finally:
            run.close()
            # Also after an interrupt or a spent budget: steps taken are out, and are stated.
            if self._descent.n_steps > before:
                self._record = run.record
                self.n_steps_ = self._descent.n_steps
                self._publish(self._result())
                self.guarantee_ = None
                if isinstance(run, PrivateRun):
                    self.guarantee_ = run_guarantee(
                        run,
                        delta=choices.run.budget.delta,
                        dimension=f"{k * width} coefficients and intercepts, at every step"
                        + ("" if self._scales is None else ", in units of feature_bounds"),
                        public=self._public(),
                        leaks=self._leaks(),
                    )
                    self.released_estimator_ = released_linear_model(self, choices, self.guarantee_)
        return self

    def _descend(
        self,
        run: PrivateRun | PlainRun,
        problem: Problem,
        choices: LinearChoices,
        *,
        epochs: int,
        steps: int,
        held_out: tuple[Any, Any] | None,
    ) -> None:
        descent = self._descent
        best, stale = -np.inf, 0
        with bar("epochs", epochs) as at:
            for epoch in range(epochs):
                for _ in range(steps):
                    rows = run.next_batch()
                    total = clipped_sum(
                        problem.X[rows],
                        problem.targets[rows],
                        descent.parameters,
                        choices.loss,
                        problem.clip_norm,
                        None if problem.weights is None else problem.weights[rows],
                        intercept=self.fit_intercept,
                    )
                    mean = run.noised_mean(total.ravel()).reshape(total.shape)
                    if not self.fit_intercept:
                        # Its noise alone would move an intercept that is not fitted.
                        mean[:, -1] = 0.0
                    descent.step(mean)
                self.n_iter_ += 1
                at(epoch + 1)
                if held_out is None:
                    continue
                self._publish(self._result())
                score = self.score(*held_out)
                stale = 0 if score > best + choices.epochs.tol else stale + 1
                best = max(best, score)
                if stale >= choices.epochs.n_iter_no_change:
                    return

    def _result(self) -> Floats:
        result = self._descent.result
        return result if self._scales is None else self._scales.restored(result)

    def _checked_validation(
        self, epochs: Epochs, validation: Any, n_outputs: int
    ) -> tuple[Any, Any] | None:
        if not epochs.early_stopping:
            if validation is not None:
                raise ValueError(
                    "public_validation is for Epochs(early_stopping=True); leave it out."
                )
            return None
        if validation is None:
            raise ValueError(
                "early_stopping=True needs rows that are nobody's secret, "
                "fit(X, y, public_validation=(X_public, y_public)): a part of the training rows "
                "held out would decide, without noise, when to stop."
            )
        if not isinstance(validation, tuple | list) or len(validation) != 2:
            raise TypeError(
                "public_validation must be a pair (X, y), got an object of type "
                f"{type(validation).__name__}."
            )
        X = check_array(
            validation[0], dtype=np.float64, input_name="public_validation", accept_sparse="csr"
        )
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"public_validation must have {self.n_features_in_} columns like X, got "
                f"{X.shape[1]}."
            )
        if hasattr(self, "feature_names_in_") and hasattr(validation[0], "columns"):
            X = validation[0]
        y = np.asarray(validation[1])
        # Scored before the first step is charged, by a model of zeros, not first after an epoch.
        self._publish(np.zeros((n_outputs, self.n_features_in_ + 1)))
        try:
            # Not every scikit-learn compares words with numbers.
            if is_classifier(self) and not {*np.ravel(y).tolist()} <= {*self.classes_.tolist()}:
                raise ValueError("it has labels that are not among the classes")
            score = self.score(X, y)
        except (TypeError, ValueError) as error:
            raise ValueError(f"public_validation cannot be scored: {error}") from error
        if not np.isfinite(score):
            raise ValueError(f"public_validation cannot be scored: a model of zeros has {score}.")
        return X, y

    def _decisions(self, X: Any) -> Floats:
        check_is_fitted(self, "coef_")
        rules = {"reset": False, "dtype": np.float64, "accept_sparse": "csr"}
        X = quoting_nothing("X", lambda: validate_data(self, as_pandas(X), **rules))
        return np.asarray(X @ np.atleast_2d(self.coef_).T + self.intercept_)

    def _public(self) -> tuple[str, ...]:
        return (
            "number of rows and of columns",
            "batch size, number of steps and every parameter of the estimator",
        )

    def _leaks(self) -> tuple[str, ...]:
        """Return what was released about the rows without noise, against the rules."""
        return ()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.input_tags.sparse = True
        return tags


_PRIVATE = ("_descent", "_read_off", "_record", "_scales")


def released_linear_model(model: Any, choices: LinearChoices, guarantee: Any) -> Any:
    """Return scikit-learn's own counterpart with the noised coefficients, marked as released.

    Parameters
    ----------
    model : SRPPSGDClassifier or SRPPSGDRegressor
        Fitted.
    choices : LinearChoices
    guarantee : PufferfishGuarantee

    Returns
    -------
    SGDClassifier or SGDRegressor
        With the same predictions, decisions and probabilities; it holds nothing of the run but
        coefficients, intercepts and what is public.
    """
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    classes = getattr(model, "classes_", None)
    made = (SGDRegressor if classes is None else SGDClassifier)(
        loss=choices.loss.name,
        penalty=choices.penalty.kind,
        alpha=float(choices.penalty.alpha),
        l1_ratio=float(choices.penalty.l1_ratio),
        fit_intercept=bool(model.fit_intercept),
        epsilon=float(choices.loss.width),
    )
    made.coef_ = np.array(model.coef_, dtype=np.float64)
    made.intercept_ = np.array(model.intercept_, dtype=np.float64)
    made.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        made.feature_names_in_ = model.feature_names_in_.copy()
    if classes is not None:
        made.classes_ = classes.copy()
    return mark_released(made, guarantee)
