"""One answering model: its session, and the order in which requests are charged and answered."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.plain_document import read_document
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.estimators.row_keys import row_keys
from pacsklearn.estimators.session_document import document_state
from pacsklearn.estimators.stored_session import caught_up
from pacsklearn.exceptions import BudgetExhaustedError
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.ledger.open_ledger import open_ledger
from pacsklearn.kernel.secret.home_process import HomeProcess
from pacsklearn_service.server.answering.answer_book import Answer, AnswerBook
from pacsklearn_service.server.answering.batch import (
    Batch,
    Outcome,
    Share,
    WrittenBatches,
    as_stored,
    shares_of,
)
from pacsklearn_service.server.answering.evaluated import Evaluated
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.store.database import FencedError, ServiceDatabase
from pacsklearn_service.server.store.quotas import Quotas
from pacsklearn_service.server.store.replies import Replies
from pacsklearn_service.server.vault import Vault

_LOG: Final = logging.getLogger("pacsklearn_service")


@final
class HostedModel:
    """A fitted black box that answers over HTTP; lives in the process that holds the lease.

    Parameters
    ----------
    database : ServiceDatabase
    vault : Vault
    name : str
    estimator : callable
        Gives an estimator for a recipe.

    Notes
    -----
    *Order.* A batch of requests that arrived together is written down with its debits (1), charged
    to the data set's ledger under the session's next number (2), drawn (3), stored with the belief
    it leaves (4), and only then told (5). A process that is killed before (2) has told and charged
    nothing; one that is killed between (2) and (4) has told nothing, and whoever takes over draws
    what that charge was for. Nothing is charged a second time.

    *What a caller sees of others.* A row's price is the step budget when candidates disagree about
    it under the prior, else nothing: a function of the row alone. A caller pays it once, whether or
    not somebody else has, out of a quota and out of reservations that others do not share. Only
    where the curator has granted more than there is can a caller within the quota be refused: when
    the data set could not bear the price, whether or not it has to.
    """

    def __init__(
        self,
        database: ServiceDatabase,
        vault: Vault,
        name: str,
        estimator: Callable[[dict[str, Any]], Any],
    ) -> None:
        self._database, self._vault, self.name = database, vault, name
        self._estimator = estimator
        self._home = HomeProcess(f"The secret behind the model {name!r}")
        self._lock = threading.Lock()
        self._is_stale = True
        self.debited = 0.0
        self.replies = Replies(database, vault, name)
        self._batches = WrittenBatches(vault, name)

    @property
    def responder(self) -> Responder:
        """What answers."""
        return self._responder

    @property
    def step_budget(self) -> float:
        """Nats that a contested row costs."""
        return self._responder.step_budget

    def load(self) -> None:
        """Bring session, belief and answers to what database and ledger say, and finish the rest.

        A batch that was charged and never answered is answered now; one that was written down and
        not charged is undone.
        """
        self._home.check()
        # To resume a session takes it from whoever has it: only the holder of the lease may.
        self._database.check_lease()
        with self._database.reading() as connection:
            (row,) = connection.ask("SELECT * FROM service_models WHERE name = ?", self.name)
            outcomes, pending = self._batches.read(connection)
        self.facts: dict[str, Any] = json.loads(row["facts"])
        self.dataset, self.signature = row["dataset"], Signature.from_facts(self.facts["signature"])
        # Sealed by this service: whoever has not its key cannot have put models there.
        stored = read_document(io.BytesIO(self._vault.open(row["state"], f"model/{self.name}")))
        state = document_state(stored["session"], models=True)
        self.book, belief, counts = AnswerBook(), None, (0, 0)
        for learned in outcomes:
            self._learn(learned)
            belief, counts = learned.belief, learned.counts
        ledger = open_ledger(self._database.address, ceiling=None, dataset=self.dataset)
        now = caught_up(state, ledger, None if belief is None else np.asarray(belief))
        self._session = PrivacySession.resume(now.state, ledger=ledger)
        estimator = self._estimator(stored["recipe"])
        self._responder = self._session.responder(estimator, **stored["options"])
        self._responder.n_answered, self._responder.n_contested = counts
        weights = np.asarray(state.space.weights)
        self._prior: NDArray[np.float64] = np.log(weights / weights.sum())
        if pending is not None:
            self._recover(pending, is_charged=pending.event in now.charged)
        self._is_stale = False

    def worst_price(self, ask: Ask) -> tuple[int, float]:
        """Rows that are new to the caller, and the most that they can cost."""
        rows = self._names(ask)
        count = len(self.book.new_to(ask.caller.user, rows))
        return count, count * self.step_budget

    def answer(self, asks: Sequence[Ask]) -> list[dict[str, Any] | Exception]:
        """Answer requests that arrived together; a refusal stands in the place of its answer."""
        self._home.check()
        with self._lock:
            try:
                self._database.check_lease()
                if self._is_stale:
                    self.load()
                return self._answer(asks)
            # A new holder of the lease has the session now; what this process remembers is old.
            except FencedError:
                self._is_stale = True
                return [Problem("unavailable", _NOT_IN_CHARGE, retry_after=2) for _ in asks]
            except BaseException:
                # Whatever was under way is finished from the database before anything else.
                self._is_stale = True
                raise

    def close(self) -> None:
        """Answer nothing more."""
        with self._lock:
            if not self._is_stale:
                self._session.close()
            self._is_stale = True

    def guarantee(self) -> Any:
        """What is promised about everything that was answered so far."""
        with self._lock:
            if self._is_stale:
                self.load()
            return self._responder.guarantee_

    @contextmanager
    def at_rest(self) -> Iterator[tuple[float, float]]:
        """Charged to the session and its ceiling, while no request is answered."""
        with self._lock:
            if self._is_stale:
                self.load()
            yield self._session.ledger.spent, self._session.ledger.ceiling

    def _answer(self, asks: Sequence[Ask]) -> list[dict[str, Any] | Exception]:
        replies: list[dict[str, Any] | Exception | None] = []
        names: dict[int, list[bytes]] = {}
        for i, ask in enumerate(asks):
            try:
                names[i] = self._names(ask)
                replies.append(self._refusal(ask, names[i]))
            except Problem as problem:
                replies.append(problem)
        open_ = {i: names[i] for i, reply in enumerate(replies) if reply is None}
        shares, later = shares_of(self.book, asks, open_)
        for i, share in list(shares.items()):
            if not share.new:
                replies[i] = self._paid_before(share)
                del shares[i]
        for i, reply in self._answer_new(asks, shares).items():
            replies[i] = reply
        if later:
            for i, reply in zip(later, self._answer([asks[i] for i in later]), strict=True):
                replies[i] = reply
        return [each or Problem("defect", "Nothing was answered.") for each in replies]

    def _paid_before(self, share: Share) -> dict[str, Any] | Exception:
        """Reply of rows that the caller has paid for."""
        with self._database.reading() as connection:
            try:
                left = Quotas(connection, self.dataset).standing(share.user).remaining
            except Problem as problem:
                return problem
        reply = self._reply(replace(share, remaining=left), {})
        if share.key is not None:
            with self._database.writing() as connection:
                self.replies.store(connection, share, reply)
        return reply

    def _answer_new(
        self, asks: Sequence[Ask], shares: dict[int, Share]
    ) -> dict[int, dict[str, Any] | Exception]:
        """Answer requests that hold rows which are new to their callers."""
        if not shares:
            return {}
        parts = [(asks[i], share) for i, share in shares.items()]
        try:
            evaluated = Evaluated.of(self._responder, self.signature, parts, self._prior)
        except Exception as error:  # noqa: BLE001 - its words may quote rows
            if len(shares) > 1:  # what one caller asks is refused to nobody else
                all_, half = list(shares.items()), len(shares) // 2
                first = self._answer_new(asks, dict(all_[:half]))
                return first | self._answer_new(asks, dict(all_[half:]))
            _LOG.warning("rows could not be evaluated: %s", type(error).__name__)
            return dict.fromkeys(shares, Problem("invalid", _NOT_READ))
        return self._debited(
            {
                i: replace(each, price=evaluated.contested(each.new) * self.step_budget)
                for i, each in shares.items()
            },
            evaluated,
        )

    def _debited(
        self, shares: dict[int, Share], evaluated: Evaluated
    ) -> dict[int, dict[str, Any] | Exception]:
        """Debit, charge, draw and tell; a caller's own quota refuses before anything shared."""
        replies: dict[int, dict[str, Any] | Exception] = {}
        paid: dict[int, Share] = {}
        with self._database.writing() as connection:
            quotas = Quotas(connection, self.dataset)
            for i, share in shares.items():
                try:
                    left = quotas.debit(share.user, share.project, share.price, share.reservation)
                    paid[i] = replace(share, remaining=left)
                except Problem as problem:
                    replies[i] = problem
            quotas.flush()
            batch, rows = self._batch(paid, evaluated)
            if paid:
                # With the debits, in one transaction: whoever takes over finds both, or neither.
                self._batches.write(connection, batch)
        if not paid:
            return replies
        # Only where quotas exceed the budget: else it covers whatever they have let through.
        borne = evaluated.borne(self._responder, paid)
        if len(borne) < len(paid):
            self._give_back(batch)
            refused = dict.fromkeys(paid.keys() - borne, Problem("budget-exhausted", _NOT_BORNE))
            kept = {i: share for i, share in shares.items() if i in borne}
            return replies | refused | (self._debited(kept, evaluated) if kept else {})
        try:
            # Charged while no transaction is open: the ledger has its own, in the same database.
            outcome = self._drawn(batch, rows, self._charge(rows))
        except BudgetExhaustedError:
            self._give_back(batch)
            return replies | {i: Problem("budget-exhausted", _NOT_BORNE) for i in paid}
        made = self._store(outcome, batch.shares)
        self.debited += sum(share.price for share in batch.shares)
        return replies | dict(zip(paid, made, strict=True))

    def _refusal(self, ask: Ask, names: list[bytes]) -> dict[str, Any] | None:
        """What is known before anything is computed: a reply given before, or a refusal."""
        reply = self.replies.find(ask)
        if reply is not None:
            return reply
        count = len(self.book.new_to(ask.caller.user, names))
        worst = count * self.step_budget
        if ask.dry_run:
            return {
                "n_rows": ask.n_rows,
                "charged": 0.0,
                "worst_case": worst,
                "free": ask.n_rows - count,
            }
        if ask.max_charge is not None and worst > ask.max_charge:
            raise Problem(
                "price-too-high",
                "The rows that you have not asked before could cost more than max_charge; nothing "
                "was charged. Ask fewer rows, or allow more.",
                worst_case=worst,
            )
        return None

    def _names(self, ask: Ask) -> list[bytes]:
        try:
            rows = self._responder.models.checked(self.signature.rows(ask.columns))
        except ValueError:  # its words may quote rows
            raise Problem("invalid", _NOT_READ) from None
        return [self._vault.name(digest, self.name) for digest in row_keys(rows)]

    def _batch(self, shares: dict[int, Share], evaluated: Evaluated) -> tuple[Batch, NDArray[Any]]:
        """What is written down, and what candidates say of the rows that nobody has asked."""
        new = dict.fromkeys(name for share in shares.values() for name in share.new)
        # What was answered to anybody has its answer: asked again it costs the data set nothing.
        fresh = [name for name in new if self.book.get(name) is None]
        places = np.asarray([evaluated.place[name] for name in fresh], dtype=np.intp)
        rows = {name: column[places] for name, column in evaluated.columns.items()}
        flags = [bool(evaluated.flags[k]) for k in places]
        packed = self.signature.packed(rows) if fresh else b""
        batch = Batch(self._responder.next_event, fresh, flags, packed, list(shares.values()))
        return batch, evaluated.predictions[places]

    def _recover(self, batch: Batch, *, is_charged: bool) -> None:
        """Draw what another process charged and never told; undo what it did not even charge."""
        if not is_charged:
            self._give_back(batch)
            return
        rows = self.signature.rows(self.signature.unpacked(batch.rows))
        predictions = self._responder.predictions(self._responder.models.checked(rows))
        engine, belief = self._responder.kind.engine, self._responder.log_belief
        contested = engine.contested(predictions, belief)
        # Under their keys the requests get the reply that they have paid for, when they come again.
        self._store(
            self._drawn(batch, predictions, int(contested.sum())),
            batch.shares,
        )

    def _charge(self, predictions: NDArray[Any]) -> int:
        return self._responder.charge(predictions) if len(predictions) else 0

    def _drawn(self, batch: Batch, predictions: NDArray[Any], contested: int) -> Outcome:
        """Draw a batch that was written down and charged; nothing of it may be told yet."""
        # Drawn after the lease has ended, the batch could be drawn a second time by its new holder.
        if not self._database.is_held:
            raise FencedError(_NOT_IN_CHARGE)
        drawn: list[tuple[Any, float]] = []
        if batch.names:
            drawn = list(zip(*self._responder.draw(predictions, contested), strict=True))
        owners: dict[str, list[bytes]] = {}
        for share in batch.shares:
            owners.setdefault(share.user, []).extend(share.new)
        outcome = Outcome(
            batch.names,
            [Answer(*each, flag) for each, flag in zip(drawn, batch.flags, strict=True)],
            owners,
            [float(each) for each in self._responder.log_belief],
            (self._responder.n_answered, self._responder.n_contested),
        )
        return as_stored(outcome)

    def _store(self, outcome: Outcome, shares: Sequence[Share]) -> list[dict[str, Any]]:
        """Put answers and replies on disk; from then on the replies may be told."""
        fresh = dict(zip(outcome.names, outcome.answers, strict=True))
        made = [self._reply(share, fresh) for share in shares]
        with self._database.writing() as connection:
            self._batches.finish(connection, outcome)
            for share, reply in zip(shares, made, strict=True):
                self.replies.store(connection, share, reply)
        self._learn(outcome)
        return made

    def _give_back(self, batch: Batch) -> None:
        """Undo a batch that somebody else's charge left no budget for."""
        with self._database.writing() as connection:
            quotas = Quotas(connection, self.dataset)
            for share in batch.shares:
                quotas.refund(share.user, share.project, share.price, share.reservation)
            quotas.flush()
            self._batches.remove(connection)

    def _learn(self, outcome: Outcome) -> None:
        self.book.add(outcome.names, outcome.answers)
        for user, names in outcome.owners.items():
            self.book.give(user, names)

    def _reply(self, share: Share, fresh: dict[bytes, Answer]) -> dict[str, Any]:
        answers = {name: fresh.get(name) or self.book.get(name) for name in share.names}
        values, kind = [answers[name] for name in share.names], self._responder.kind
        decoded = kind.decoded([each.value for each in values if each is not None])
        new = [answers[name] for name in share.new]
        contested = sum(each is not None and each.contested for each in new)
        outputs = {"predict": kind.predicted(decoded).tolist()}
        if kind.answers == "probabilities":
            outputs["predict_proba"] = decoded.tolist()
        return {
            "outputs": outputs,
            "charged": share.price,
            "contested": contested,
            "free": len(share.names) - contested,
            "remaining": share.remaining,
        }


_NOT_IN_CHARGE: Final = "Another process is taking over this service; try again."
_NOT_READ: Final = (
    "The model cannot answer these rows; nothing was charged. Their values must be finite, and "
    "within the range that the model computes with."
)
_NOT_BORNE: Final = (
    "What remains of the data set's budget does not cover this request; nothing was charged. Rows "
    "that you have asked before are free."
)
