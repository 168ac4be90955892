"""Private answers of one estimator within a session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import check_budget
from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.caller_handle import CallerHandle
from pacsklearn.kernel.answers.label_engine import Stop
from pacsklearn.kernel.answers.ledger_answers import LedgerAnswers
from pacsklearn.kernel.answers.statement import CostPreview, responses_guarantee
from pacsklearn.kernel.answers.stored_answers import ResponderState, StoredAnswers, row_keys
from pacsklearn.kernel.bounds.mixture import belief_entropy
from pacsklearn.kernel.bounds.rounding import OUTWARD
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.ledger.answer_table import AnswerTable
from pacsklearn.kernel.ledger.event import Event, QueryAnswers
from pacsklearn.kernel.noise.sampler import NoisePool
from pacsklearn.kernel.outputs.models import AnsweringModels
from pacsklearn.kernel.release.procedure import ReleaseProcedure

# Rows evaluated, charged and answered together; more stream through in turns.
_BATCH_ROWS = 2**16
_LEAST_NOISE = 64
# A belief may be certain but for what doubles can tell.
_LEAST_CHARGE = 1e-250


@final
@dataclass(frozen=True, eq=False)
class Answers:
    """Private answers and how sure they are.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, width)
        Class labels, or numbers.
    margins : ndarray of shape (n,)
        Smallest test statistic against any other label (pac-private-responses, Proposition 5.1);
        infinite where no noise was needed, nan for numbers.
    """

    values: NDArray[Any]
    margins: NDArray[np.float64]


@final
class Responder:
    """Answers queries with the model of the secret candidate, each row one step of the session.

    Made by :meth:`~pacsklearn.estimators.privacy_session.PrivacySession.responder`.

    Parameters
    ----------
    models : AnsweringModels
    procedure : ReleaseProcedure
        The session's: secret, account and lock, shared by everything it releases.
    pool : NoisePool
    kind : AnswerKind
    step_budget : float
        Nats a contested row may reveal.
    table : (AnswerTable, str), optional
        Where the answers are stored, and under which name; in memory when not given.

    Attributes
    ----------
    n_answered, n_contested : int
        Rows answered, stored answers included, and rows charged.

    Notes
    -----
    *Guarantee.* A batch is answered row by row, each row one step of pac-private-responses'
    Algorithm 1 under the belief the rows before it left. Rows on which all candidates agree cost
    nothing; any other is charged the step budget, but a batch never more than the entropy of the
    belief before it, which is all there is to reveal.
    """

    def __init__(
        self,
        models: AnsweringModels,
        procedure: ReleaseProcedure,
        pool: NoisePool,
        kind: AnswerKind,
        *,
        step_budget: float,
        table: tuple[AnswerTable, str] | None = None,
    ) -> None:
        self._models, self._procedure, self._pool = models, procedure, pool
        self._secret, self._account = procedure.secret, procedure.account
        self.kind, self.step_budget = kind, step_budget
        self.n_answered = self.n_contested = 0
        self._table = None if table is None else table[0]
        self._stored = StoredAnswers() if table is None else LedgerAnswers(*table)

    def export(self) -> ResponderState:
        """What it has answered, for a session file; answers in a ledger stay there."""
        runs = self._stored.export() if isinstance(self._stored, StoredAnswers) else ()
        return ResponderState(self.step_budget, self.n_answered, self.n_contested, runs)

    def restore(self, state: ResponderState) -> None:
        """Take over what :meth:`export` gave."""
        self.n_answered, self.n_contested = state.n_answered, state.n_contested
        if isinstance(self._stored, StoredAnswers):
            self._stored.restore(state.stored)

    @property
    def guarantee_(self) -> Guarantee:
        """What is promised about everything the session has released or answered so far."""
        session = self._procedure.guarantee()
        counts = self.n_answered, self.n_contested
        return responses_guarantee(session, self.kind.answers, *counts, self.step_budget)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns that queries need; None when the rows had none."""
        return self._models.feature_names

    @property
    def remaining_budget(self) -> float:
        """Nats that may still be charged."""
        return self._account.remaining

    def handle(self, quota: float, *, overcommit: bool = False) -> CallerHandle:
        """Return a view for one of several callers, which tells nothing of the others.

        ``quota`` is what the caller may pay, in nats. BudgetError where the session's budget does
        not cover what all handles may still pay, unless ``overcommit`` is given.
        """
        procedure, quota = self._procedure, check_budget(budget=quota, name="quota")
        with procedure.lock:
            handle = CallerHandle(self, procedure.lock, self._secret.log_prior, quota)
            if not overcommit:
                handle.check_covered(procedure.handles, self._account.remaining)
            procedure.handles.add(handle)
        return handle

    def preview(self, X: Any) -> CostPreview:
        """Cost of answering ``X`` now, without touching the secret."""
        self._account.home.check()
        X = self.checked(X)
        stored = unanimous = contested = 0
        seen: set[bytes] = set()
        for part in _batches(X):
            keys = row_keys(part)
            fresh = [i for i in self._stored.missing(keys) if keys[i] not in seen]
            seen.update(keys[i] for i in fresh)
            stored += len(keys) - len(fresh)
            if fresh:
                split = self._contested(
                    self.kind.predictions(self._models, safe_indexing(part, fresh))
                )
                contested += split
                unanimous += len(fresh) - split
        return CostPreview(
            n_queries=X.shape[0],
            n_stored=stored,
            n_unanimous=unanimous,
            n_contested=contested,
            nats=self._bound(contested),
            worst_case=X.shape[0] * self.step_budget,
        )

    def answer(self, X: Any) -> Answers:
        """Answer every row; identical queries get the stored answer.

        Raises
        ------
        BudgetExhaustedError
            When a batch does not fit. Nothing of that batch was computed from the secret or
            charged; the batches before it are charged, and stored: asking again is free.
        ForeignProcessError
            In a forked process, also for stored answers.
        RuntimeError
            When the session is closed, for a batch that needs noise; nothing is charged.
        """
        return self.answer_checked(self.checked(X))

    def answer_checked(self, X: Any) -> Answers:
        """:meth:`answer` for rows that :meth:`checked` gave."""
        self._account.home.check()
        values: list[Any] = []
        margins: list[float] = []
        for part in _batches(X):
            with self._procedure.lock:
                # One batch at a time: rows are counted under the belief that answering starts from.
                answers, sure = self._answer_batch(part)
            values += answers
            margins += sure
        return Answers(self.kind.decoded(values), np.asarray(margins, dtype=np.float64))

    def predict(self, X: Any) -> NDArray[Any]:
        """Answers to every row: labels, shares of the classes, or numbers."""
        return self.answer(X).values

    def checked(self, X: Any) -> Any:
        """Queries as the models take them; errors quote none of them."""
        return self._models.checked(X)

    def predictions(self, X: Any, most: int | None = None) -> NDArray[Any]:
        """What every candidate predicts for rows that :meth:`checked` gave; secret material.

        With ``most``, the first so many candidates.
        """
        models = self._models if most is None else self._models.first(most)
        return self.kind.predictions(models, X)[:, :most]

    def contested(
        self, predictions: NDArray[Any], log_belief: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Rows on which candidates that are possible under a belief disagree; shape (n,)."""
        return self.kind.contested(predictions, log_belief)

    @property
    def log_belief(self) -> NDArray[np.float64]:
        """Log-weights of the candidates given everything released so far; shape (m,)."""
        return self._secret.log_belief

    @property
    def next_event(self) -> int:
        """Number that the session's next charge will have."""
        return self._account.n_charged

    def affords(self, contested: int) -> bool:
        """Whether so many more rows could be charged now; nothing changes."""
        if contested == 0:
            return True
        try:
            with self._procedure.lock:
                self._account.check(self._bound(contested))
        except BudgetExhaustedError:
            return False
        return True

    def charge(self, predictions: NDArray[Any]) -> int:
        """Charge what :meth:`draw` needs for the same rows; for whoever stores answers itself.

        Parameters
        ----------
        predictions : ndarray
            From :meth:`predictions`.

        Returns
        -------
        int
            Rows charged, for :meth:`draw`.

        Raises
        ------
        BudgetExhaustedError, SessionRolledBackError
            Nothing may be drawn then.
        RuntimeError
            When the session stores its answers in the ledger's database; nothing is charged.
        """
        if self._table is not None:
            raise RuntimeError(
                "This session stores its answers itself, in the ledger's database: ask with "
                "answer(), or make a session without store='ledger' for a service."
            )
        with self._procedure.lock:
            contested = self._contested(predictions)
            self._charge(contested, len(predictions))
            return contested

    def draw(self, predictions: NDArray[Any], contested: int) -> tuple[list[Any], list[float]]:
        """Answers and margins of rows that were charged: each charge is good for one call.

        Parameters
        ----------
        predictions : ndarray
            From :meth:`predictions`, the rows that were charged.
        contested : int
            From :meth:`charge`, nothing having been drawn since.
        """
        self._account.home.check()
        with self._procedure.lock:
            values, margins, self._secret.log_belief = self._engine(predictions, contested)
            self.n_contested += contested
            self.n_answered += len(predictions)
            return values, margins

    def _answer_batch(self, X: Any) -> tuple[list[Any], list[float]]:
        self._account.settle_answers()
        keys = row_keys(X)
        fresh = self._stored.missing(keys)
        if fresh:
            predictions = self.kind.predictions(self._models, safe_indexing(X, fresh))
            contested = self._contested(predictions)
            # Answering makes rows unanimous, never contested: this count is the worst case.
            self._charge(contested, len(fresh))
            # Stored before they are given, or the same query would be answered, and charged, twice.
            self._store([keys[i] for i in fresh], predictions, contested)
            self.n_contested += contested
        self.n_answered += len(keys)
        return self._stored.answers(keys)

    def _store(self, keys: list[bytes], predictions: NDArray[Any], contested: int) -> None:
        """Draw answers that were charged, and store them: they may be told then."""
        values, margins, log_belief = self._engine(predictions, contested)
        if isinstance(self._stored, StoredAnswers):
            self._secret.log_belief = log_belief
            self._stored.add(keys, values, margins)
            return
        n_charged = self._account.n_charged
        if contested:
            # Whatever comes between, also an interrupt: the belief is that after what is on disk.
            self._account.doubt = partial(self._settle, n_charged)
        self._stored.add(keys, values, margins, n_charged, log_belief if contested else None)
        self._secret.log_belief = log_belief
        self._account.doubt = None

    def _settle(self, n_charged: int) -> None:
        assert self._table is not None
        with self._procedure.lock:
            if self._account.doubt is None:
                return
            event, log_belief = self._table.last_belief()
            # Otherwise nothing was written: no answer left, and the belief stays as it was.
            if event == n_charged:
                self._secret.log_belief = log_belief
            self._account.doubt = None

    def _contested(self, predictions: NDArray[Any]) -> int:
        return int(self.kind.contested(predictions, self._secret.log_belief).sum())

    def _bound(self, contested: int) -> float:
        """Nats that so many rows reveal at most; never more than is still unknown."""
        unknown = max(belief_entropy(self._secret.log_belief) * OUTWARD, _LEAST_CHARGE)
        return min(contested * self.step_budget, unknown)

    def _charge(self, contested: int, fresh: int) -> None:
        """Charge a batch's worst case, before anything of it is computed from the secret."""
        if contested == 0:
            return
        # Before the charge: there would be no noise to answer with.
        if self._pool.is_closed:
            raise RuntimeError(
                "This session is closed: only stored answers, and those on which all candidates "
                "agree, can still be given. Ask before you leave the session's with block."
            )
        bound = self._bound(contested)
        event = Event(
            kind="responses",
            charge=bound,
            unit="nats",
            backend="diagonal",
            bound=bound,
            n_candidates=self._models.n_models,
            n_outputs=fresh,
            n_noisy=contested,
            mechanism=QueryAnswers(self.kind.answers, self.step_budget, contested),
        )
        try:
            self._account.charge(event)
        except BudgetExhaustedError as error:
            left = int((error.ceiling - error.spent) / self.step_budget)
            raise BudgetExhaustedError(
                error.spent,
                error.asked,
                error.ceiling,
                error.owner,
                rows=contested,
                rows_left=left,
            ) from None

    def _engine(
        self, predictions: NDArray[Any], contested: int
    ) -> tuple[list[Any], list[float], NDArray[np.float64]]:
        """Run Algorithm 1 over the rows, with as much noise as they turn out to need."""
        answers: list[Any] = []
        margins: list[float] = []
        log_belief = self._secret.log_belief
        # Nearly every contested row needs some; an engine that stops for want of it runs twice.
        size = max(_LEAST_NOISE, 2 * contested)
        noise = self._pool.take(size) if contested else np.empty(0, dtype=np.int64)
        while len(answers) < len(predictions):
            rest = predictions[len(answers) :]
            step_answers = self.kind.answer(
                rest, self._secret.index, log_belief, self.step_budget, noise
            )
            margins += step_answers.margins.tolist()
            answers += list(step_answers.answers)
            log_belief = step_answers.log_belief
            # Used once: two answers with the same noise show the difference of what they hide.
            noise = noise[step_answers.noise_used :]
            if step_answers.stop is Stop.NOISE:
                noise = np.concatenate([noise, self._pool.take(size)])
        return answers, margins, log_belief


def _batches(X: Any) -> Iterator[Any]:
    for start in range(0, X.shape[0], _BATCH_ROWS):
        yield safe_indexing(X, slice(start, start + _BATCH_ROWS))
