"""From what was released to the game that plays its mechanism again, a kind of source each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any, NamedTuple

from pacsklearn.audit.attack import Subject
from pacsklearn.audit.descent_game import DescentGame
from pacsklearn.audit.game import Game, RememberedGame
from pacsklearn.audit.replay import replay_fit, replay_session
from pacsklearn.audit.sliced_game import SlicedGame, replay_sliced
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.estimators.released_parameters import Parameters
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.srpp.descent.base import LinearSGD
from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee
from pacsklearn.srpp.srpp_private import SRPPPrivate
from pacsklearn.universe.row_rules import title_of


class Replay(NamedTuple):
    """What a source was fitted on, as :func:`~pacsklearn.audit.run_audit` is given it."""

    X: Any
    y: Any
    estimator: Any
    groups: Any
    secret: Any
    fit_params: Mapping[str, Any] | None
    queries: Any
    n_jobs: int | None

    @property
    def fitting(self) -> dict[str, Any]:
        """Parameters of the fits.

        Raises
        ------
        TypeError, ValueError
            Where there are no rows to fit on, or the parameters have no names.
        """
        if self.X is None:
            raise ValueError("X is missing: an audit replays the fit, so give the rows it was on.")
        if not isinstance(self.fit_params, Mapping | None):
            raise TypeError(
                "fit_params must hold what fit was given by name, as {'sample_weight': weights}, "
                f"got an object of type {type(self.fit_params).__name__}."
            )
        return {"fit_params": self.fit_params, "n_jobs": self.n_jobs}

    def check_used(self, source: Any, *used: str) -> None:
        """Refuse what this kind of source was never given, and an audit would not look at.

        Raises
        ------
        TypeError
        """
        for name in ("estimator", "groups", "secret", "fit_params", "queries"):
            if name not in used and getattr(self, name) is not None:
                raise TypeError(
                    f"{name} does not apply to an audit of {type(source).__name__}; leave it out."
                )


@singledispatch
def subject_of(source: Any, given: Replay) -> Subject:
    """Return what is attacked of a source, whose kinds are registered here.

    Raises
    ------
    TypeError
        Where there is no game of such a source.
    ValueError
        Where something is missing that the fit was given.
    """
    if hasattr(source, "private_"):  # what chose, and had another one release
        if source.private_ is None:
            raise ValueError("source released a public constant: there is nothing to attack.")
        return subject_of(source.private_, given)
    raise TypeError(
        "source must be a fitted PACPrivate, AutoPrivateClassifier or -Regressor, SRPPPrivate, "
        "SRPPSGDClassifier or SRPPSGDRegressor, a PrivacySession or a Game, got "
        f"{type(source).__name__}. What pacsklearn released some other way is audited as a "
        "game: TranscriptGame for answers, ParameterGame for vectors, SlicedGame for sliced "
        "releases."
    )


@subject_of.register
def _(source: Game, given: Replay) -> Subject:
    given.check_used(source)
    return Subject(source, type(source).__name__)


@subject_of.register
def _(source: PACPrivate, given: Replay) -> Subject:
    answers = not isinstance(getattr(source, "release_", None), Parameters)
    given.check_used(source, "groups", "fit_params", *["queries"] * answers)
    replay = partial(replay_fit, source, given.X, given.y, groups=given.groups, **given.fitting)
    game = replay(queries=given.queries)
    chosen = getattr(source, "best_estimator_", source.estimator)
    title = f"{title_of(chosen)} ({game.released}, {source.guarantee_.noise} noise)"
    return replace(_about_nats(game, title, source.guarantee_), replay=replay)


@subject_of.register
def _(source: PrivacySession, given: Replay) -> Subject:
    given.check_used(source, "estimator", "fit_params")
    fitting, listed = given.fitting, given.estimator
    if listed is None:
        raise ValueError(
            "estimator is missing: a session remembers what was charged, not what it was for; give "
            "the estimators that it released, in order."
        )
    listed = list(listed) if isinstance(listed, (list, tuple)) else [listed]
    game = replay_session(source, listed, given.X, given.y, **fitting)
    title = f"a session that released {', '.join(map(title_of, listed))}"
    return _about_nats(game, title, source.guarantee_)


@subject_of.register
def _(source: SRPPPrivate, given: Replay) -> Subject:
    given.check_used(source, "secret", "fit_params")
    replayed = replay_sliced(source, given.X, given.y, secret=given.secret, **given.fitting)
    guarantee = source.guarantee_
    # Held against what was stated of the release; what is replayed may differ from it.
    game = SlicedGame(replace(replayed, success=guarantee.success))
    title = f"{title_of(source.estimator)} (sliced, {guarantee.aggregation})"
    return Subject(RememberedGame(game), title, divergence=_divergence(guarantee))


@subject_of.register
def _(source: LinearSGD, given: Replay) -> Subject:
    given.check_used(source)
    title = f"{type(source).__name__} (every step, the worst tables)"
    game = RememberedGame(DescentGame(source))
    return Subject(game, title, divergence=_divergence(source.guarantee_))


def _about_nats(game: Game, title: str, guarantee: PACGuarantee) -> Subject:
    # One seed for all attacks: they are counted on the same rounds.
    return Subject(RememberedGame(game), title, capped=guarantee.capped, cap=guarantee.spent)


def _divergence(guarantee: PufferfishGuarantee | None) -> dict[str, float]:
    """Return the order and divergence of the whole release, if a guarantee bounds all pairs."""
    if (
        guarantee is None
        or guarantee.secret.averaged_over
        or not math.isfinite(guarantee.costs.full)
    ):
        return {}
    return {"order": float(guarantee.costs.order), "divergence": float(guarantee.costs.full)}
