"""Grid search over a private estimator whose whole budget is set aside before the first fit."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline

from pacsklearn._validation import has_params, warn_user
from pacsklearn.estimators.private_estimator import JudgedByBudget, warn_of_parts_beside
from pacsklearn.exceptions import BudgetError, BudgetWarning, LedgerError
from pacsklearn.kernel.ledger.ledger import Ledger, MemoryLedger, Reservation
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn.universe.stated_budget import as_budget

# Stands for the reservation while nothing is reserved yet; never charged.
_PLACEHOLDER = MemoryLedger(1.0)


class PrivateGridSearchCV(JudgedByBudget, GridSearchCV):
    """Grid search that pays for all its fits, and fails before the first one if it cannot.

    ``fit`` adds up the budgets of all fits (candidates times folds, and the refit), reserves the
    sum in the ledger, and runs an ordinary :class:`~sklearn.model_selection.GridSearchCV` whose
    fits are charged to the reservation. An error in a fit ends the search: no score is replaced
    by NaN.

    Parameters
    ----------
    estimator : PACPrivate or Pipeline
        A private estimator, with parameters ``budget`` and ``ledger``, or a pipeline with such
        steps. Preprocessing outside the private estimator is not private: put it inside.
    param_grid : dict or list of dict
        As for ``GridSearchCV``. The budget may be searched over; the private estimator itself and
        its ledger may not be replaced.
    ledger : str, Ledger or None, default=None
        Where the search is charged: ``"sqlite:///path"``, a ledger, or None for an account of this
        search alone. Worker processes need one in a database.
    budget : float, optional
        Ceiling of the account when it does not exist yet, in nats; for ``ledger=None`` it has to be
        given.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, return_train_score
        As for ``GridSearchCV``.

    Attributes
    ----------
    reservation_ : Reservation
        Account of the fits. When the search ends, what the fits did not use goes back to the
        ledger and the reservation is closed, unless the best estimator still has answers to charge
        (``release=Answers()``): then call ``reservation_.release_unspent()`` after the last one.
    reserved_ : float
        Nats that were set aside.
    best_estimator_, best_params_, best_score_, cv_results_, ...
        As for ``GridSearchCV``.

    Raises
    ------
    BudgetExhaustedError
        From ``fit``, before anything is fitted, when the whole search does not fit the ledger.

    Notes
    -----
    *Guarantee.* All models of the search together reveal at most ``reserved_`` nats about their
    secrets. Every fit draws a secret of its own, so this bounds what they reveal about all those
    draws together; a row that is in no drawn subset of one fit is probably in one of another.

    *Not covered.* Scores are computed on held-out rows without noise, and so is the choice of the
    best candidate: ``cv_results_``, ``best_score_`` and ``best_params_`` are functions of rows
    that no secret hides. Keep them to yourself, or search inside the subsets:
    ``PACPrivate(GridSearchCV(...))`` costs one release and covers the choice.

    *Mostly the wrong tool.* Two options in five folds cost eleven releases, and each gets a share
    of the budget so small that noise decides. ``PACPrivate(Tuned(...))`` chooses by simulated
    releases for the price of one, and states what the choice tells about the whole table.

    *Edge case.* When the process is killed the reservation stays; find it in the ``reservations``
    of the ledger.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import LinearSVC
    >>> from pacsklearn import PACPrivate
    >>> from pacsklearn.estimators.private_search import PrivateGridSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = PrivateGridSearchCV(
    ...     PACPrivate(LinearSVC()), {"budget": [1 / 4, 1]}, budget=2, cv=5
    ... )
    >>> search.total_budget(X, y)
    7.25
    >>> search.fit(X, y)
    Traceback (most recent call last):
        ...
    pacsklearn.exceptions.BudgetExhaustedError: The budget is exhausted: 0 nats are spent, ...
    """

    _instead: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        ledger: str | Ledger | None = None,
        budget: float | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score="raise",
            return_train_score=return_train_score,
        )
        self.ledger = ledger
        self.budget = budget

    def total_budget(self, X: Any, y: Any = None, groups: Any = None) -> float:
        """Compute the nats that ``fit`` would reserve; fit nothing and charge nothing.

        The refit counts with the largest budget of the grid, since the best candidate is not known.
        """
        return self._cost(
            check_cv(self.cv, y, classifier=is_classifier(self.estimator)), X, y, groups
        )

    def fit(self, X: Any, y: Any = None, **params: Any) -> PrivateGridSearchCV:
        """Reserve the whole search's budget, then run it.

        Parameters
        ----------
        X, y : array-likes
            The rows.
        **params : dict
            As for ``GridSearchCV``.

        Returns
        -------
        PrivateGridSearchCV
            Fitted.
        """
        warn_of_parts_beside(self, "PrivateGridSearchCV(PACPrivate(make_pipeline(...)), ...)")
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        total = self._cost(cv, X, y, params.get("groups"))
        if self.ledger is None and self.budget is None:
            raise BudgetError(
                "PrivateGridSearchCV needs budget=, the nats that all fits of the search may "
                f"reveal together, or a ledger=. This search would reserve {total:g} nats "
                "(every fit is a release of its own); choosing among options inside one "
                "release, PACPrivate(GridSearchCV(...)), costs the budget of one."
            )
        own = None if self.ledger is not None else _nats(self.budget)
        ledger = open_ledger(self.ledger, ceiling=own)
        # All of it before the first fit: a search that stops halfway has paid for nothing.
        reservation = ledger.reserve(total, note="PrivateGridSearchCV")
        search = copy.copy(self)
        search.cv = cv  # an iterable of splits can be read only once
        search.estimator = _with_ledger(self.estimator, reservation)
        answering = False
        try:
            super(PrivateGridSearchCV, search).fit(X, y, **params)
            answering = _still_answers(search)
        except BaseException as error:
            error.add_note(
                f"The fits of the search before this were charged {reservation.spent:g} of the "
                f"{total:g} nats set aside; the rest goes back."
            )
            raise
        finally:
            if not answering:
                # Kept open where the best estimator goes on answering from it.
                _give_back(reservation)
        parameters = self.get_params(deep=False)
        fitted = {name: value for name, value in vars(search).items() if name not in parameters}
        self.__dict__.update(fitted)
        self.reservation_: Reservation = reservation
        self.reserved_ = total
        return self

    def _cost(self, cv: Any, X: Any, y: Any, groups: Any) -> float:
        template = _with_ledger(self.estimator, _PLACEHOLDER)
        budgets = [
            _budget_of(clone(template).set_params(**clone(candidate, safe=False)))
            for candidate in ParameterGrid(self.param_grid)
        ]
        if not budgets:
            raise ValueError("param_grid must list at least one candidate, got an empty list.")
        # Exact sums: the reservation must cover the fits to the last bit.
        refit = max(budgets) if self.refit else Fraction(0)
        return float(sum(budgets) * cv.get_n_splits(X, y, groups) + refit)


def _with_ledger(estimator: Any, ledger: Ledger) -> Any:
    """Return a clone whose private steps charge ``ledger``."""
    template = clone(estimator)
    steps = dict(_private_steps(template))
    if not steps:
        raise TypeError(
            "estimator must be a private estimator with the parameters 'budget' and 'ledger' (such "
            f"as PACPrivate) or a pipeline with such a step, got {estimator!r}."
        )
    if any(step.ledger is not None for step in steps.values()):
        raise ValueError(
            "Give the ledger to PrivateGridSearchCV, not to the private estimator: all fits of a "
            "search are charged to one reservation."
        )
    return template.set_params(**{f"{path}ledger": ledger for path in steps})


def _budget_of(candidate: Any) -> Fraction:
    """Return the sum of the budgets of a candidate's private steps."""
    steps = dict(_private_steps(candidate))
    everything = candidate.get_params(deep=True)
    hidden = [
        name
        for name, value in everything.items()
        if _is_private(value) and not any(f"{name}__".startswith(path) for path in steps)
    ]
    if hidden or not steps or any(step.ledger is not _PLACEHOLDER for step in steps.values()):
        raise ValueError(
            "param_grid may change the parameters of the private estimator, but neither replace it "
            "nor set its ledger, and private estimators must be the estimator or steps of a "
            "pipeline: otherwise fits could go uncharged."
        )
    return sum((Fraction(_nats(step.budget)) for step in steps.values()), Fraction(0))


def _nats(value: Any) -> float:
    budget = as_budget(value, warn=False)
    if not budget.adds:
        raise BudgetError(
            f"budget must be in nats in a private search, got {budget!r}: each fit is a release, "
            "and caps on the adversary's success do not add up over them."
        )
    return budget.amount


def _private_steps(estimator: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if _is_private(estimator):
        yield path, estimator
    elif isinstance(estimator, Pipeline):
        for name, step in estimator.steps:
            yield from _private_steps(step, f"{path}{name}__")


def _is_private(value: Any) -> bool:
    if not has_params(value):
        return False
    return {"budget", "ledger"} <= value.get_params(deep=False).keys()


def _give_back(reservation: Reservation) -> None:
    try:
        reservation.release_unspent()
    except LedgerError as error:
        # What was paid for is not lost with what was not, nor is the error that ended the search.
        warn_user(
            f"What the search left of its reservation could not be given back: {error} Call "
            "release_unspent() on it later: it is among the reservations of the ledger.",
            BudgetWarning,
        )


def _still_answers(search: Any) -> bool:
    best = getattr(search, "best_estimator_", None)
    # What answers has a budget left; a released model has none.
    return any(getattr(step, "remaining_budget_", 0) > 0 for _, step in _private_steps(best))
