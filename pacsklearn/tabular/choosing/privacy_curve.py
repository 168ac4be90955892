"""Utility at many budgets from one set of subset fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import validate_data

from pacsklearn._progress import bar
from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import check_integer
from pacsklearn.capping.criterion import CriterionBackend
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.estimators.subsets import Subsets, listed_design
from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.cap import Cap
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM
from pacsklearn.kernel.budget.membership_criterion import MembershipCriterion
from pacsklearn.kernel.budget.nats import Nats
from pacsklearn.kernel.noise.cap_backend import CapBackend
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.outputs.subset_fitting import cut_params, fit_subset
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.tabular.choosing.privacy_utility_curve import (
    PrivacyUtilityCurve,
    PrivacyUtilityPoint,
    budget_label,
)
from pacsklearn.tabular.choosing.simulated_releases import (
    HeldOut,
    SimulatedReleases,
    released_scorer,
    scoring_name,
)
from pacsklearn.universe.balanced_space import units_of
from pacsklearn.universe.metrics import metric_or_auto
from pacsklearn.universe.row_rules import check_is_estimator, check_names, check_universe, title_of
from pacsklearn.universe.stated_budget import as_budget, equivalent_nats

_BUDGETS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4)


def privacy_utility_curve(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    budgets: Iterable[float | Budget] = _BUDGETS,
    noise: Any = "logdet",
    metric: Any = "auto",
    canonicalizer: Any = "auto",
    n_releases: int = 100,
    scoring: Any = None,
    test_size: Any = 0.3,
    X_test: Any = None,
    y_test: Any = None,
    secret: Subsets | None = None,
    groups: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> PrivacyUtilityCurve:
    """Simulate how good a released model would be, at several budgets and noise backends.

    The candidate subsets are fitted once. For each budget and backend, releases are simulated (a
    random candidate, noise, decoding) and scored on rows that no subset ever saw.

    Choosing a budget by looking at private data is itself a release unless the choice stays with
    the curator. Use public data of the same kind, or keep the curve and what you chose to
    yourself.

    Parameters
    ----------
    estimator : estimator
        As for :class:`PACPrivate`; preprocessing and searches belong inside it.
    X, y : array-likes
        All rows, or the training rows when ``X_test`` is given.
    budgets : iterable of float or Budget
        Nats, by default the powers of two from 1/64 to 4, and caps on an attack, such as
        ``Membership(0.55)``. A cap stands in the curve at the nats that imply the same success.
    noise : str or NoiseBackend, or a list of them, default="logdet"
        Noise backends to compare. Nats are simulated with each of them; ``"criterion"``, where it
        is named, caps membership at what the nats promise about it, so that it is compared at an
        equal promise. Caps are simulated with those that can keep one, or with ``"criterion"``.
    metric, canonicalizer
        As for :class:`~pacsklearn.estimators.Parameters`.
    n_releases : int, default=100
        Simulated releases for each budget and backend, at least 2.
    scoring : None, str or callable, default=None
        None takes the released model's own ``score``. A name of a scikit-learn scorer, or a
        callable ``scoring(model, X_test, y_test)`` that returns a number. Transformers need a
        callable.
    test_size : float or int, default=0.3
        Held-out share or number of rows, stratified by class for classifiers, whole groups with
        ``groups``. Not used when ``X_test`` is given.
    X_test, y_test : array-likes, optional
        Held-out rows.
    secret : Subsets, optional
        As for :class:`PACPrivate`.
    groups : array-like of shape (n_rows,), optional
        Unit of privacy: all rows of a group are used together or not at all.
    fit_params : mapping, optional
        Passed to every ``fit``; entries with one value for each row of ``X`` are cut to its rows.
    random_state : int, RandomState or None, default=0
        Decides the split, the simulated releases, and the subsets where they have no seed.
    n_jobs : int, optional
        Workers that fit the candidates' models.

    Returns
    -------
    PrivacyUtilityCurve
        Prints as a table; ``to_json()`` has all scores, and ``PrivacyUtilityDisplay`` draws it.

    Raises
    ------
    BudgetError
        When a budget is not a positive number.
    UnknownNameError
        When no backend has a name in ``noise``.
    ValueError
        When another argument cannot be used; the message names it.

    Notes
    -----
    *Guarantee.* None: the scores are functions of the private rows and of noise that can be
    predicted. Each point's ``posterior_membership`` is the bound one release made by
    :class:`PACPrivate` with that budget would have.

    All points share the same candidates and the same stream of noise, so differences between
    budgets and backends are less noisy than the points themselves.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from pacsklearn.tabular.choosing.privacy_curve import privacy_utility_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LinearSVC(C=0.01))
    >>> curve = privacy_utility_curve(model, X, y, budgets=[1 / 16, 1], n_releases=20)
    >>> [point.median > 0.8 for point in curve.points]
    [True, True]
    """
    grid = _check_budgets(budgets)
    check_integer(name="n_releases", value=n_releases, minimum=2)
    wanted = _pairs(_check_backends(noise), grid)
    check_is_estimator(estimator)
    owner = PACPrivate(estimator)
    check_names(X)
    validate_data(owner, X, skip_check_array=True)
    X, y = check_universe(estimator, X, y)  # all rows, before they are split
    chosen = registry().canonicalizer(canonicalizer, estimator)
    scorer = released_scorer(scoring, estimator, chosen, y)
    params, randomness = dict(fit_params or {}), check_random_state(random_state)
    if X_test is None:
        if y_test is not None:
            raise ValueError("y_test was given without X_test; give both or neither.")
        train, test = _split(estimator, X, y, groups, test_size, randomness)
        params = cut_params(params, train, X.shape[0])
        groups = None if groups is None else np.asarray(groups)[train]
        X, X_test = safe_indexing(X, train), safe_indexing(X, test)
        if y is not None:
            y, y_test = safe_indexing(y, train), safe_indexing(y, test)
    else:
        X_test = _check_held_out(owner, X_test, y, y_test)
    design = listed_design(secret, groups, random_state, "a curve")
    prepared = design.candidates(estimator, X, y, FitOptions(params, n_jobs))
    space, outputs = prepared.space, prepared.outputs(chosen)
    given, support = metric_or_auto(metric), outputs.support()
    cost = outputs.metric() if given is None else given

    everything, own = fit_subset(outputs.form.template, X, y, np.arange(X.shape[0]), params)
    seed = int(randomness.randint(0, 2**31 - 1))
    simulated = SimulatedReleases(
        outputs.form.template,
        space,
        outputs,
        scorer,
        HeldOut(lambda _: (X_test, y_test)),
        n_releases=n_releases,
        seed=seed,
        is_silent=False,
    )
    vector, layout = chosen.encode(everything, own)
    # Through the same form: what the form itself loses is not a price of privacy.
    on_all_rows = chosen.decode(vector, layout, clone(outputs.form.template))
    prior, _ = space.membership_prior()
    names, points = list(dict.fromkeys(name for name, *_ in wanted)), []
    with bar("points", len(wanted)) as at:
        for name, backend, budget in wanted:
            target = _target(backend, budget, space, prior)
            law = backend.calibrate(support, target, cost)
            spent = law.bound if law.information is None else law.information
            capped = target.criterion is not None and target.criterion.aim == MEMBERSHIP_AIM
            points.append(
                PrivacyUtilityPoint(
                    name,
                    equivalent_nats(budget, space),
                    budget_label(budget.amount) if budget.adds else repr(budget),
                    spent,
                    law.bound if capped else posterior_success(spent, prior),
                    law.noise_power,
                    tuple(simulated.at(law).tolist()),
                )
            )
            at(len(points))
    return PrivacyUtilityCurve(
        estimator=title_of(estimator),
        scoring=scoring_name(scoring, everything),
        points=tuple(sorted(points, key=lambda point: (names.index(point.noise), point.budget))),
        noiseless_score=float(
            np.mean([simulated.score(vector, i) for i, vector in enumerate(outputs.vectors)])
        ),
        all_rows_score=scorer(on_all_rows, X_test, y_test),
        prior_membership=prior,
        n_subsets=space.n_subsets,
        n_rows=space.n_rows,
        n_test_rows=int(X_test.shape[0]),
    )


def _check_budgets(budgets: Any) -> list[Budget]:
    if isinstance(budgets, (str, bytes, Mapping)) or not isinstance(budgets, Iterable):
        raise ValueError(f"budgets must be a list of budgets, got {budgets!r}.")
    checked: dict[Budget, None] = {}
    for i, value in enumerate(budgets):
        try:
            budget = as_budget(value, warn=False)
        except BudgetError as error:
            raise BudgetError(f"budgets[{i}]: {error}") from None
        if not isinstance(budget, (Nats, Cap)):
            raise BudgetError(
                f"budgets[{i}] must be nats or a cap, which a curve is drawn over, got {budget!r}."
            )
        checked[budget] = None
    if not checked:
        raise ValueError("budgets must hold at least one number of nats, for instance [1/16, 1].")
    return list(checked)


def _check_backends(noise: Any) -> dict[str, NoiseBackend]:
    values = list(noise) if isinstance(noise, (list, tuple)) else [noise]
    if not values:
        raise ValueError("noise must name at least one noise backend, got an empty list.")
    named: dict[str, NoiseBackend] = {}
    for value in values:
        backend = registry().noise_backend(value)
        name = value if isinstance(value, str) else type(value).__name__
        # Instances of one class may differ in their parameters; both are kept.
        named[name if name not in named else f"{name} ({len(named) + 1})"] = backend
    return named


def _pairs(
    backends: dict[str, NoiseBackend], budgets: list[Budget]
) -> list[tuple[str, NoiseBackend, Budget]]:
    """Pair each budget with the backends that keep it."""
    keeping = {name: each for name, each in backends.items() if isinstance(each, CapBackend)}
    keeping = keeping or {CriterionBackend.name: CriterionBackend()}
    return [
        (name, backend, budget)
        for budget in budgets
        for name, backend in (backends if budget.adds else keeping).items()
    ]


def _target(backend: NoiseBackend, budget: Budget, space: SecretSpace, prior: float) -> Target:
    if not budget.adds:
        return Target(budget.amount, budget.criterion(space))
    if not isinstance(backend, CapBackend):
        return Target(budget.amount)
    return Target(posterior_success(budget.amount, prior), MembershipCriterion(space))


def _split(
    estimator: Any, X: Any, y: Any, groups: Any, test_size: Any, randomness: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = np.arange(X.shape[0])
    if groups is not None:
        units_of(groups, X.shape[0])
        splitter = GroupShuffleSplit(1, test_size=test_size, random_state=randomness)
        train, test = next(splitter.split(rows, groups=groups))
        return train, test
    strata = y if is_classifier(estimator) else None
    train, test = train_test_split(
        rows, test_size=test_size, stratify=strata, random_state=randomness
    )
    return np.sort(train), np.sort(test)


def _check_held_out(owner: Any, X_test: Any, y: Any, y_test: Any) -> Any:
    if (y is None) != (y_test is None):
        raise ValueError("y and y_test must be given together, with X_test.")
    X_test = X_test if hasattr(X_test, "shape") else np.asarray(X_test)
    validate_data(owner, X_test, reset=False, skip_check_array=True)
    check_consistent_length(X_test, y_test)
    return X_test
