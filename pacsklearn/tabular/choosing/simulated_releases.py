"""Releases as they would come out, scored on rows outside the drawn subset, and by what."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from numbers import Real
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring, get_scorer_names

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import brief, check_choice
from pacsklearn.estimators.encoded_rows import EncodedRows
from pacsklearn.estimators.game_procedure import game_procedure
from pacsklearn.estimators.joint_labels import JointLabels
from pacsklearn.estimators.prediction_table import PredictionTable
from pacsklearn.estimators.stored_answers import StoredAnswers
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.responder import Answers, Responder
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import NoiseLaw
from pacsklearn.kernel.noise.sampler import NoisePool, SeededSampler
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.outputs import CandidateOutputs
from pacsklearn.kernel.outputs.run import SubsetRun, attempt
from pacsklearn.kernel.outputs.withheld import withheld
from pacsklearn.kernel.release.parameters import AS_RELEASED, Reading
from pacsklearn.kernel.secret.space import RowSpace

_MOST_ROWS = 2000
SEED = 0
# Where messages of scorers quote labels.
_LISTED = re.compile(r"[\[{][^\]}]*[\]}]")


@final
@dataclass(frozen=True, eq=False, repr=False)
class HeldOut:
    """Rows and targets that a release of some candidate is scored on, by the candidate's number.

    Parameters
    ----------
    known : callable
        The same objects whenever it is asked for the same candidate.
    encoded : EncodedRows
    """

    known: Callable[[int], tuple[Any, Any]]
    encoded: EncodedRows = field(default_factory=EncodedRows)

    def rows_of(self, index: int) -> tuple[Any, Any]:
        """Return copies: what predicts or scores may work in place, and others come after it."""
        return deepcopy(self.known(index))


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(ABC):
    """Releases of randomly drawn candidates, with noise of a public seed; secret material.

    The draws and the noise come from public streams of their own, so what is simulated is a
    function of the universe and of the list of candidates, never of the candidate in use.

    Parameters
    ----------
    estimator : estimator
        What is simulated, for errors.
    space : RowSpace
    n_releases : int
    seed : int
        Public. Simulations of one seed draw the same candidates.
    is_silent : bool, default=True
        Tell only the kinds of errors and warnings: their messages may quote rows.
    """

    estimator: Any
    space: RowSpace
    _: KW_ONLY
    n_releases: int
    seed: int
    is_silent: bool = True

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """The candidate of each release."""
        # Streams apart for candidates, noise and rows: options are compared on the same draws.
        draw = SeededSampler(np.random.default_rng([self.seed, 0]))
        return tuple(draw.index(self.space.weights) for _ in range(self.n_releases))

    def at(self, law: Any) -> Floats:
        """Return the scores under a law, or at so many nats a contested answer; (n_releases,)."""
        return self._scored(partial(self.score_under, law))

    @abstractmethod
    def score_under(self, law: Any, index: int, sampler: SeededSampler) -> Any:
        """Return the score of one release of candidate ``index``."""

    def _scored(self, release: Callable[[int, SeededSampler], float]) -> Floats:
        """Return the score of each simulated release."""
        sampler = SeededSampler(np.random.default_rng([self.seed, 1]))
        if not self.is_silent:
            return np.array([release(index, sampler) for index in self.candidates])
        run = SubsetRun(self.estimator)
        outcomes = [
            (attempt(partial(release, index, sampler), "score", fits=True), index)
            for index in self.candidates
        ]
        return np.array([run.value(*outcome) for outcome in outcomes])


@final
@dataclass(frozen=True, eq=False, repr=False)
class SimulatedReleases(Simulation):
    """Simulated releases of parameters: a random candidate, noise, decoding, a score.

    Parameters
    ----------
    estimator, space, n_releases, seed, is_silent
        As for :class:`Simulation`.
    outputs : CandidateOutputs
    scorer : callable
        ``scorer(model, X, y)``.
    held_out : HeldOut
    reading : Reading, optional
        How a released vector becomes a model.
    """

    outputs: CandidateOutputs
    scorer: Callable[[Any, Any, Any], Any]
    held_out: HeldOut
    reading: Reading = AS_RELEASED

    def score_under(self, law: NoiseLaw, index: int, sampler: SeededSampler) -> Any:
        vector = law.decode(law.draw(index, sampler))
        model = self.reading.model(self.outputs, law, vector)
        return self._scored_model(model, self.reading.plain(model), index)

    def without_noise(self) -> Floats:
        """Return the scores of the same candidates' models as they are."""
        vectors = self.outputs.vectors
        return self._scored(lambda index, _: self.score(vectors[index], index))

    def score(self, vector: Floats, index: int) -> Any:
        """Return the score of a vector as a release of candidate ``index``."""
        model = self.outputs.decode(vector)
        return self._scored_model(model, model, index)

    def _scored_model(self, model: Any, plain: Any, index: int) -> Any:
        X, y = self.held_out.rows_of(index)
        canonicalizer, known = self.outputs.form.canonicalizer, self.held_out.known(index)[0]
        self.held_out.encoded.look_up(plain, canonicalizer, known, X)
        return self.scorer(model, X, y)


@final
@dataclass(frozen=True, eq=False, repr=False)
class SimulatedAnswers(Simulation):
    """Simulated sessions in which a random candidate answers; a student may learn from it.

    Parameters
    ----------
    estimator, space, n_releases, seed, is_silent
        As for :class:`Simulation`.
    predictions : ndarray of shape (n, m) or (n, m, width)
        What every candidate says of each of n queries: asked once, for all simulations.
    kind : AnswerKind
    scorer : callable
        ``scorer(answers, index)`` of all n answers in a session of candidate ``index``.
    """

    predictions: NDArray[Any]
    kind: AnswerKind
    scorer: Callable[[Any, int], float]

    def score_under(self, law: float, index: int, sampler: SeededSampler) -> float:
        # Never refused: a session charges no more than the entropy of its secret.
        procedure = game_procedure(self.space, sampler, self.space.entropy + 1.0)
        procedure.secret.use(index, np.arange(self.space.n_candidates))
        table = self._table
        store = StoredAnswers(table.keys)
        responder = Responder(
            table, procedure, NoisePool(sampler), self.kind, store, step_budget=law
        )
        queries = np.arange(self.n_queries)[:, None]
        return self.scorer(responder.answer_checked(queries), index)

    @cached_property
    def _table(self) -> PredictionTable:
        return PredictionTable(self.predictions)

    @property
    def n_queries(self) -> int:
        """Queries that are answered in each session."""
        return len(self.predictions)

    @property
    def n_contested(self) -> int:
        """Queries on which candidates that are possible disagree."""
        log_belief = np.log(self.space.weights / self.space.weights.sum())
        return int(self.kind.engine.contested(self.predictions, log_belief).sum())


@final
@dataclass(frozen=True, eq=False, repr=False)
class SimulatedJointLabels(Simulation):
    """Simulated releases of the labels of all queries at once; a student may learn from them.

    Parameters
    ----------
    estimator, space, n_releases, seed, is_silent
        As for :class:`Simulation`.
    joint : JointLabels
    scorer : callable
        ``scorer(answers, index)`` of all labels of candidate ``index``.
    """

    joint: JointLabels
    scorer: Callable[[Any, int], float]

    def score_under(self, law: NoiseLaw, index: int, sampler: SeededSampler) -> float:
        labels = self.joint.labels(law.decode(law.draw(index, sampler)))
        return self.scorer(Answers(labels, np.full(labels.shape, np.nan)), index)


def outside_rows(candidates: Candidates, seed: int, most: int = _MOST_ROWS) -> HeldOut:
    """Return the rows outside the candidate that was drawn, at most so many of them."""
    X, y, space = candidates.space.judged(candidates.X, candidates.y)
    rows_of: dict[int, tuple[Any, Any]] = {}

    def held_out(index: int) -> tuple[Any, Any]:
        if index not in rows_of:
            outside = np.ones(space.n_rows, dtype=bool)
            outside[space.rows(index)] = False
            rows = some_of(np.flatnonzero(outside), most, [seed, 2, index])
            rows_of[index] = safe_indexing(X, rows), None if y is None else safe_indexing(y, rows)
        return rows_of[index]

    return HeldOut(held_out)


def some_of(rows: NDArray[np.intp], most: int, seed: list[int]) -> NDArray[np.intp]:
    """Return at most so many of the rows, in their order, by a public seed."""
    if rows.size <= most:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def as_number(value: Any) -> float:
    """Return what a scorer returned, as one number."""
    if not isinstance(value, Real):
        raise ValueError(f"scoring must return one number, got {type(value).__name__}.")
    return float(value)


def released_scorer(
    scoring: Any, estimator: Any, canonicalizer: Canonicalizer, y: Any
) -> Callable[[Any, Any, Any], float]:
    """Return a function ``(model, X_test, y_test)`` for a user's ``scoring``.

    Raises
    ------
    ValueError
        When a released model does not offer what ``scoring`` needs.
    """
    name, methods = type(estimator).__name__, canonicalizer.methods
    offers = (
        f"a released {name} offers {', '.join(methods)}. Give "
        "scoring=callable(model, X_test, y_test)."
    )
    if scoring is None:
        if "predict" not in methods or not hasattr(estimator, "score"):
            raise ValueError(f"scoring=None needs a model that predicts and scores; {offers}")
        return lambda model, X, y: as_number(_own_score(model, X, y))
    if isinstance(scoring, str):
        check_choice(name="scoring", value=scoring, allowed=get_scorer_names())
        if not {"predict", "predict_proba", "decision_function"}.intersection(methods):
            raise ValueError(f"scoring={scoring!r} needs a model that predicts; {offers}")
        if y is None:
            raise ValueError(f"scoring={scoring!r} compares with true values; pass y.")
    elif not callable(scoring):
        raise ValueError(
            "scoring must be None, the name of one scorer or a callable(model, X_test, y_test), "
            f"got {brief(scoring)}."
        )
    return scorer_for(scoring, estimator, y)


def scorer_for(scoring: Any, estimator: Any, y: Any) -> Callable[[Any, Any, Any], float]:
    """Return scikit-learn's scorer, after a rehearsal on made-up answers, which quotes no row.

    Raises
    ------
    ValueError
        When it scores no such answers.
    """
    scorer = check_scoring(estimator, scoring=scoring)
    predicts = is_classifier(estimator) or is_regressor(estimator)
    if predicts and isinstance(scoring, str) and np.ndim(y) == 1:
        numbers = is_regressor(estimator)
        dummy: Any = DummyRegressor() if numbers else DummyClassifier(strategy="stratified")
        made = np.linspace(1.0, 2.0, 8) if numbers else np.repeat(np.unique(y), 4)
        rows = np.zeros((made.size, 1))
        try:
            with withheld():
                scorer(dummy.fit(rows, made), rows, made)
        except (AttributeError, TypeError, ValueError) as error:
            name = type(estimator).__name__
            labels = tuple(map(repr, made.tolist()))
            words = _LISTED.sub(
                lambda part: "[...]" if any(map(part[0].count, labels)) else part[0], str(error)
            )
            why = words.replace(type(dummy).__name__, name).partition("\n")[0].rstrip(".")
            raise ValueError(
                f"scoring={scoring!r} does not suit {name} with such a y: {why}. Give another "
                "name, or scoring=callable(model, X_test, y_test)."
            ) from None
    return lambda model, X, y: as_number(scorer(model, X, y))


def scoring_name(scoring: Any, model: Any) -> str:
    """Return the name of a score for tables and axes; ``model`` is a fitted one."""
    if isinstance(scoring, str):
        return scoring
    if scoring is not None:
        return str(getattr(scoring, "__name__", type(scoring).__name__))
    while hasattr(model, "steps") or hasattr(model, "best_estimator_"):
        model = model.steps[-1][1] if hasattr(model, "steps") else model.best_estimator_
    method = getattr(type(model), "score", None)
    return {ClassifierMixin.score: "accuracy", RegressorMixin.score: "R²"}.get(method, "score")


def _own_score(model: Any, X: Any, y: Any) -> Any:
    if y is None:
        return model.score(X)
    if type(model).score in (RegressorMixin.score, DummyRegressor.score) and np.ndim(y) == 1:
        # By its formula: of a few hundred rows a score is mostly checks of what is scored.
        true, predicted = np.asarray(y, dtype=np.float64), model.predict(X)
        spread = float(np.sum((true - true.mean()) ** 2))
        if predicted.shape == true.shape and spread > 0 and np.all(np.isfinite(predicted)):
            return 1 - float(np.sum((true - predicted) ** 2)) / spread
    return model.score(X, y)
