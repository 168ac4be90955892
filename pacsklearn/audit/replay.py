"""From something fitted to a game that plays its mechanism again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from pacsklearn.audit.attack import Inserted
from pacsklearn.audit.replayed_game import ReplayedGame
from pacsklearn.audit.transcript_game import TranscriptGame
from pacsklearn.estimators.codebook import through_codebook
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.estimators.released_answers import Answers
from pacsklearn.estimators.released_parameters import Parameters
from pacsklearn.estimators.subsets import listed_design, stated_secret
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.candidates import Candidates, FitOptions
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.universe.design import Design, SubsetSeed, candidates_over
from pacsklearn.universe.row_rules import check_universe
from pacsklearn.universe.stated_budget import as_budget

Insertion = Callable[[Any, Any, Any, Any], Inserted]
"""``insert(estimator, X, y, groups)`` puts canaries among the rows."""


def replay_fit(
    model: PACPrivate,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    queries: Any = None,
    insert: Insertion | None = None,
    probe: Callable[[Any], Any] | None = None,
    n_jobs: int | None = None,
) -> ReplayedGame | TranscriptGame:
    """Return the game of a fitted :class:`PACPrivate`: its parameters, its rows, its public design.

    The candidate that was drawn when it was fitted is neither read nor needed. Subsets that were
    drawn in secret are the same in the process that fitted; a model that was pickled lost them, and
    is attacked with others of the same kind.

    Parameters
    ----------
    model : PACPrivate
        Fitted.
    X, y : array-likes
        What it was fitted on.
    groups, fit_params
        As given to its ``fit``.
    queries : array-like, optional
        What an adversary asks, where answers are released; the rows themselves when not given.
    insert : callable, optional
        Puts canaries among the rows first.
    probe : callable, optional
        ``probe(X)``: what is asked about rows that were put in, where answers are released.
    n_jobs : int, optional
        Workers that fit the candidates; the model's own when not given.

    Raises
    ------
    NotFittedError, ValueError
        When the model is not fitted, or not on so many rows.
    """
    if not model.__sklearn_is_fitted__():
        raise NotFittedError("An audit replays what was fitted: call fit on the model first.")
    guarantee = model.guarantee_
    if not stated_secret(model.secret).is_listed:
        raise ValueError(
            "estimator must have been fitted with Subsets() for an audit: attacks "
            "know the exact posterior over a list of candidates, and a sampled secret has none. "
            "docs/threat_model.md shows an attack on it."
        )
    estimator = fitted_estimator(model, X, groups)
    X, y = check_universe(estimator, X, y)
    _check_same_data(guarantee, model, X, groups)
    canaries: tuple[int, ...] = ()
    if insert is not None:
        check_fit_params(fit_params, X.shape[0])
        X, y, groups, canaries = insert(estimator, X, y, groups)
    options = FitOptions(fit_params or {}, model.n_jobs if n_jobs is None else n_jobs)
    candidates = _design(model, groups).candidates(estimator, X, y, options)
    budget = as_budget(model.budget, warn=False).amount
    match model.release_:
        case Parameters():
            return ReplayedGame(
                [released_plan(model, candidates)],
                information=guarantee.information,
                budget=budget,
                X=candidates.X,
                y=candidates.y,
                canaries=canaries,
            )
        case Answers() as answers:
            if probe is not None:
                queries = probe(X)
            elif canaries:
                raise ValueError(
                    "Rows can be put in to be found in released models only; leave 'canaries' and "
                    "'attribute' out of the attacks."
                )
            return TranscriptGame.rehearse(
                answers.answering(candidates.estimator),
                X,
                y,
                X if queries is None else queries,
                candidates.space,
                answers=answers.of,
                value_range=None if answers.prior is None else answers.prior.bounds,
                fit_params=options.fit_params,
                n_jobs=options.n_jobs,
                step_budget=model.responder().step_budget,
                budget=budget,
                canaries=canaries,
            )
    raise ValueError(
        "estimator must release parameters or answers for an audit, got "
        f"{type(model.release_).__name__}: a student is no function of the secret alone that could "
        "be replayed. Audit the answers it learnt from: release=Answers()."
    )


def check_fit_params(fit_params: Mapping[str, Any] | None, n_rows: int) -> None:
    """Refuse parameters that rows put in would have no value of, or rows taken out too many.

    Raises
    ------
    ValueError
    """
    for name, value in (fit_params or {}).items():
        if np.ndim(value) and np.shape(value)[0] == n_rows:
            raise ValueError(
                "fit_params must have no value for each row where rows are put in or taken out, "
                f"got one in {name!r}."
            )


def fitted_estimator(model: PACPrivate, X: Any, groups: Any) -> Any:
    """Return what a fit has fitted: the one of its options, reading rows by its ``schema``."""
    reading = model if model.schema is None else through_codebook(model, X, groups)
    return getattr(model, "best_estimator_", reading.estimator)


def released_plan(model: PACPrivate, candidates: Candidates) -> ParameterPlan:
    """Return what the release of a fitted model needs for these candidates, except the secret."""
    budget = as_budget(model.budget, warn=False)
    target = Target(budget.amount, budget.criterion(candidates.space))
    choices = model.release_.choices(model.noise)
    return ParameterPlan.of(candidates.estimator, lambda: candidates, target, choices)


def replay_session(
    session: PrivacySession,
    estimators: Sequence[Any],
    X: Any,
    y: Any,
    *,
    fit_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> ReplayedGame:
    """Return the game of the models that a session has released, in the order of its ledger.

    Parameters
    ----------
    session : PrivacySession
        Its ledger, its candidates and its guarantee are read, its secret is not.
    estimators : sequence of estimators
        What was released, one for each event; with canonicalizer and metric by default.
    X, y : array-likes
        The session's universe.
    fit_params : mapping, optional
        As given to every ``release``.
    n_jobs : int, optional

    Raises
    ------
    ValueError
        When the session has released something else than models, or another number of them.
    """
    space, events = session.space, session.ledger.events
    if not space.has_members:
        raise ValueError(
            "The session's secret is no subset of rows; play its noise laws with ParameterGame."
        )
    subsets = space.row_subsets()
    kinds = {event.kind for event in events}
    if kinds != {"parameters"} or len(events) != len(estimators):
        raise ValueError(
            f"estimator must be the models that the session released, in order: its ledger has "
            f"{len(events)} event(s) of kind {', '.join(sorted(kinds)) or 'none'}, got "
            f"{len(estimators)} estimator(s). Only released models can be replayed."
        )
    guarantee = session.guarantee_
    plans, options = [], FitOptions(fit_params or {}, n_jobs)
    for estimator, event in zip(estimators, events, strict=True):
        candidates = candidates_over(estimator, X, y, subsets, options)
        _check_rows(guarantee, candidates.X)
        target, choices = Target(event.charge), ReleaseChoices(noise=event.backend)
        plans.append(ParameterPlan.of(estimator, partial(_given, candidates), target, choices))
    return ReplayedGame(
        plans,
        information=guarantee.information,
        budget=session.ledger.ceiling,
        X=candidates.X,
        y=candidates.y,
    )


def _given(candidates: Candidates) -> Candidates:
    return candidates


def _design(model: PACPrivate, groups: Any) -> Design:
    """Return the design of the fit; where its secret seed is not, one of the same kind."""
    seed = model._subset_seed
    if isinstance(seed, SubsetSeed) and not seed.is_known:
        # The design is attacked, not the list: any list of the same kind will do.
        seed = SubsetSeed()
    return replace(listed_design(model.secret, groups, None, "an audit"), seed=seed)


def _check_same_data(guarantee: PACGuarantee, model: PACPrivate, X: Any, groups: Any) -> None:
    _check_rows(guarantee, X)
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X must be what the model was fitted on, with {model.n_features_in_} features, got "
            f"{X.shape[1]}."
        )
    if (guarantee.secret.unit == "group") != (groups is not None):
        raise ValueError(
            "groups must be what the model was fitted with: its unit of privacy is a "
            f"{guarantee.secret.unit}."
        )


def _check_rows(guarantee: PACGuarantee, X: Any) -> None:
    n_rows = getattr(guarantee.secret, "n_rows", "no")
    if X.shape[0] != n_rows:
        raise ValueError(
            f"X must be what was fitted on: the guarantee is about {n_rows} rows, got {X.shape[0]}."
        )
