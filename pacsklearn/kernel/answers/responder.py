"""Private answers of one estimator within a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.answer_store import AnswerStore
from pacsklearn.kernel.answers.answered_rows import AnsweredRows, DrawnAnswers
from pacsklearn.kernel.answers.statement import responses_guarantee
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.noise.sampler import NoisePool
from pacsklearn.kernel.outputs.models import AnsweringModels
from pacsklearn.kernel.release.procedure import ReleaseProcedure

# Rows evaluated, charged and answered together; more stream through in turns.
_BATCH_ROWS = 2**16


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
    store : AnswerStore
    step_budget : float
        Nats a contested row may reveal.

    Attributes
    ----------
    n_answered, n_contested : int
        Rows answered, stored answers included, and rows charged.
    paid : AnsweredRows or None
        Plan that was charged and not drawn yet; set by whoever takes over another process's charge.

    Notes
    -----
    *Guarantee.* A batch is answered row by row, each row one step of pac-private-responses'
    Algorithm 1 under the belief the rows before it left. Rows on which all candidates agree cost
    nothing; any other is charged the step budget, but a batch never more than the entropy of the
    belief before it, which is all there is to reveal.
    """

    paid: AnsweredRows | None = None

    def __init__(
        self,
        models: AnsweringModels,
        procedure: ReleaseProcedure,
        pool: NoisePool,
        kind: AnswerKind,
        store: AnswerStore,
        *,
        step_budget: float,
    ) -> None:
        procedure.check_answers()
        self.models, self.procedure, self._pool = models, procedure, pool
        self._secret, self._account = procedure.secret, procedure.account
        self.kind, self.store, self.step_budget = kind, store, step_budget
        self._target = Target(step_budget)
        self.n_answered = self.n_contested = 0

    @property
    def guarantee_(self) -> PACGuarantee:
        """What is promised about everything the session has released or answered so far."""
        session = self.procedure.guarantee()
        counts = self.n_answered, self.n_contested
        return responses_guarantee(session, self.kind.answers, *counts, self.step_budget)

    @property
    def remaining_budget(self) -> float:
        """Nats that may still be charged."""
        return self._account.remaining

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
        return self.answer_checked(self.models.checked(X))

    def answer_checked(self, X: Any) -> Answers:
        """Answer as :meth:`answer`, for rows as the models take them."""
        self._account.home.check()
        values: list[Any] = []
        margins: list[float] = []
        for part in batches(X):
            with self.procedure.lock:
                # One batch at a time: rows are counted under the belief that answering starts from.
                answers, sure = self._answer_batch(part)
            values += answers
            margins += sure
        return Answers(self.kind.decoded(values), np.asarray(margins, dtype=np.float64))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the answers to every row: labels, shares of the classes, or numbers."""
        return self.answer(X).values

    def predictions(self, X: Any, most: int | None = None) -> NDArray[Any]:
        """Return what every candidate predicts for rows as the models take them; secret material.

        With ``most``, the first so many candidates.
        """
        models = self.models if most is None else self.models.first(most)
        return self.kind.predictions(models, X)[:, :most]

    @property
    def log_belief(self) -> NDArray[np.float64]:
        """Log-weights of the candidates given everything released so far; shape (m,)."""
        return self._secret.log_belief

    def plan(self, predictions: NDArray[Any]) -> AnsweredRows:
        """Return the rows to be charged and then drawn under the belief of now.

        For who stores them itself.

        Parameters
        ----------
        predictions : ndarray
            From :meth:`predictions`.
        """
        with self.procedure.lock:
            return self._plan(predictions, self._learn)

    def charge(self, plan: AnsweredRows) -> None:
        """Charge what :meth:`draw` needs for the same rows, where any of them is contested.

        Raises
        ------
        BudgetExhaustedError, SessionRolledBackError
            Nothing may be drawn then.
        RuntimeError
            When the session stores its answers in the ledger's database, or has learned something
            since the plan was made; nothing is charged.
        """
        if self.store.last_belief is not None:
            raise RuntimeError(
                "This session stores its answers itself, in the ledger's database: ask with "
                "answer(), or make a session without store='ledger' for a service."
            )
        # The worst case of Algorithm 1: rows contested under the belief that it starts from.
        if plan.law.n_noisy:
            self._charged(plan, self.procedure.charge)
            self.paid = plan

    def draw(self, plan: AnsweredRows) -> tuple[list[Any], list[float]]:
        """Return answers and margins of rows that were charged: each charge is good for one call.

        Parameters
        ----------
        plan : AnsweredRows
            That was charged.

        Raises
        ------
        RuntimeError
            When something was learned since the plan was made, or it was not charged.
        """
        self._account.home.check()
        with self.procedure.lock:
            if plan.law.n_noisy and plan is not self.paid:
                raise RuntimeError("charge(plan) first: a charge is good for one draw of its rows.")
            self.paid = None
            # Refused where the belief has moved on: the draw would take it back to that of then.
            drawn = self.procedure.draw(plan, plan.calibrate(self._secret.belief))
            self.n_contested += plan.law.n_noisy
            self.n_answered += plan.n_outputs
        return drawn.values, drawn.margins

    def _answer_batch(self, X: Any) -> tuple[list[Any], list[float]]:
        self._account.settle_answers()
        keys = self.store.keys(X)
        fresh = self.store.missing(keys)
        if fresh:
            # Stored before they are given, or the same query would be answered, and charged, twice.
            store = partial(self._store, [keys[i] for i in fresh])
            plan = self._plan(self.predictions(safe_indexing(X, fresh)), store)
            if plan.law.n_noisy:
                self._charged(plan, self.procedure.take)
            else:  # all agree: nothing is charged
                self.procedure.draw(plan, plan.law)
            self.n_contested += plan.law.n_noisy
        self.n_answered += len(keys)
        return self.store.answers(keys)

    def _plan(
        self, predictions: NDArray[Any], keep: Callable[[DrawnAnswers], None]
    ) -> AnsweredRows:
        belief = self._secret.log_belief
        return AnsweredRows(self.kind, predictions, belief, self._target, self._pool, keep)

    def _learn(self, drawn: DrawnAnswers) -> None:
        self._secret.log_belief = drawn.log_belief

    def _store(self, keys: list[bytes], drawn: DrawnAnswers) -> None:
        """Learn what came out, and store it: it may be told then."""
        n_charged, moved = self._account.n_charged, drawn.log_belief if drawn.n_contested else None
        # Which comes first, to learn or to store, hangs on which of the two outlives the process.
        on_disk = self.store.last_belief
        if on_disk is None:
            # First: what is told and not learned would make later answers too cheap.
            self._learn(drawn)
        elif drawn.n_contested:
            # Whatever comes between, also an interrupt: the belief is that after what is on disk.
            self._account.doubt = partial(self._settle, n_charged, on_disk)
        self.store.add(keys, drawn.values, drawn.margins, n_charged, moved)
        self._learn(drawn)
        self._account.doubt = None

    def _settle(self, n_charged: int, on_disk: Callable[[], tuple[int, Floats]]) -> None:
        with self.procedure.lock:
            if self._account.doubt is None:
                return
            event, log_belief = on_disk()
            # Otherwise nothing was written: no answer left, and the belief stays as it was.
            if event == n_charged:
                self._secret.log_belief = log_belief
            self._account.doubt = None

    def _charged(self, plan: AnsweredRows, charge: Callable[[AnsweredRows], Any]) -> None:
        """Charge a batch's worst case, before anything of it is computed from the secret."""
        try:
            charge(plan)
        except BudgetExhaustedError as error:
            raise BudgetExhaustedError(
                error.spent,
                error.asked,
                error.ceiling,
                error.owner,
                rows=plan.law.n_noisy,
                rows_left=int((error.ceiling - error.spent) / self.step_budget),
            ) from None


def batches(X: Any) -> Iterator[Any]:
    """Yield the rows that are evaluated, charged and answered together."""
    for start in range(0, X.shape[0], _BATCH_ROWS):
        yield safe_indexing(X, slice(start, start + _BATCH_ROWS))
