"""One answering model: its session, and the order in which requests are charged and answered."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.plain_document import read_document
from pacsklearn.estimators.session_document import document_state
from pacsklearn.estimators.stored_answers import row_keys
from pacsklearn.exceptions import BudgetExhaustedError, LedgerError
from pacsklearn.kernel.answers.answered_rows import AnsweredRows
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.secret.owner_process import OwnerProcess
from pacsklearn_service.server.answering.batch import Batch, Evaluated, Learned, Share
from pacsklearn_service.server.answering.records import Answer, Known, Records
from pacsklearn_service.server.answering.resumed_session import Charged, Standing, resumed
from pacsklearn_service.server.answering.told_mark import check_told, write_told
from pacsklearn_service.server.caller import Ask
from pacsklearn_service.server.log import LOG
from pacsklearn_service.server.problem import NOT_READ, Problem
from pacsklearn_service.server.recipe import Recipe
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.store.database import FencedError, ServiceDatabase
from pacsklearn_service.server.store.quotas import Quotas
from pacsklearn_service.server.vault import Vault


@final
class HostedModel:
    """A fitted black box that answers over HTTP; lives in the process that holds the lease.

    Parameters
    ----------
    database : ServiceDatabase
    vault : Vault
    facts : dict
        Of the model, as the catalog has them.
    marks : Path
        Folder of what is noted outside the database.

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
        self, database: ServiceDatabase, vault: Vault, facts: dict[str, Any], marks: Path
    ) -> None:
        self._database, self._vault = database, vault
        # What is promised is long, and seldom asked for.
        self.facts = {key: value for key, value in facts.items() if key != "guarantee"}
        self.name, self.dataset = str(facts["name"]), str(facts["dataset"])
        self.signature = Signature.from_facts(facts["signature"])
        self.step_budget = float(facts["step_budget"])
        marks.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._told = marks / f"{self.name}.told"
        self._owner = OwnerProcess(f"The secret behind the model {self.name!r}")
        self._lock = threading.Lock()
        self._is_stale = True
        self._seen: Standing | None = None
        self.debited = 0.0
        self.records = Records(vault, self.name)

    @property
    def is_unread(self) -> bool:
        """Whether it was looked at, and is loaded when somebody asks it."""
        return self._seen is not None

    def look(self, charged: Charged) -> None:
        """Read what is stored, and leave the models of its candidates until they are asked.

        A batch that was broken off is finished now. Refuses what :meth:`load` refuses, by what the
        data set's ledger holds of each session.
        """
        self._owner.check()
        session = self._stored()["session"]
        with self._database.reading() as connection:
            learned, pending = self.records.progress(connection)
        count, spent = charged.get(session["session"], (0, 0.0))
        if pending or count != (learned.charged if learned else len(session["events"])):
            self.load()  # or says what is wrong
            return
        belief = np.asarray(learned.belief) if learned else session["log_belief"]
        self._seen = Standing(spent, session["ceiling"], belief)

    def rest(self) -> None:
        """Leave what answering takes until somebody asks."""
        with self._lock:
            if not self._is_stale:
                self._seen = self._standing()
                self._session.close()
                del self._session, self.responder
            self._is_stale = True

    def load(self) -> None:
        """Bring session and belief to what database and ledger say, and finish the rest.

        A batch that was charged and never answered is answered now; one that was written down and
        not charged is undone. What this takes does not grow with what was answered.

        Raises
        ------
        LedgerCorruptedError
            When the ledger holds other charges than what was stored of the answers.
        SessionRolledBackError
            When the ledger is an older copy.
        """
        self._owner.check()
        # Whatever is written from here on is written under this token, and under no later one: in
        # between another process may lead the data set, of whose answers this one knows nothing.
        self._token = self._database.led.get(self.dataset, 0)
        stored = self._stored()
        state = document_state(stored["session"], models=True)
        self._session, self._charged, learned, pending, is_charged = resumed(
            self._database, self.records, self.dataset, self._token, state
        )
        self.responder: Responder = Recipe(**stored["recipe"]).responder(self._session)
        self.step_budget = self.responder.step_budget
        if learned is not None:
            self.responder.n_answered, self.responder.n_contested = learned.counts
        if pending is not None and is_charged:
            check_told(self._told, pending.id)
        # Whatever is stored may be told from here on.
        self._last = "" if learned is None else learned.batch
        write_told(self._told, self._last)
        weights = np.asarray(state.space.weights)
        self._prior: NDArray[np.float64] = np.log(weights / weights.sum())
        if pending is not None:
            self._recover(pending, is_charged=is_charged)
        self._is_stale, self._seen = False, None

    def rows_left(self, remaining: float) -> int:
        """Return the contested rows that the session, and what its data set has left, can bear."""
        with self.at_rest() as standing:
            return standing.rows_left(self.step_budget, remaining)

    def answer(self, asks: Sequence[Ask]) -> list[dict[str, Any] | Exception]:
        """Answer requests that arrived together; a refusal stands in the place of its answer."""
        self._owner.check()
        with self._lock:
            try:
                if self._is_stale:
                    self.load()
                return self._answer(asks)
            except BaseException as error:
                # Whatever was under way is finished from the database before anything else.
                self._is_stale = True
                if not isinstance(error, FencedError):
                    raise
            # A new holder of the lease has the session now; what this process remembers is old.
            return [Problem("unavailable", _NOT_IN_CHARGE) for _ in asks]

    def close(self) -> None:
        """Answer nothing more."""
        self.rest()

    def guarantee(self) -> Any:
        """Return what is promised about everything that was answered so far."""
        with self._lock:
            if self._is_stale:
                self.load()
            return self.responder.guarantee_

    @contextmanager
    def at_rest(self) -> Iterator[Standing]:
        """Hold the model at rest: where its session stands while no request is answered."""
        with self._lock:
            if self._is_stale and self._seen is None:
                self.load()
            yield self._seen or self._standing()

    def _standing(self) -> Standing:
        own = self._session.ledger
        return Standing(own.spent, own.ceiling, self.responder.log_belief)

    def _stored(self) -> Any:
        with self._database.reading() as connection:
            return read_document(io.BytesIO(self.records.state(connection)))

    def _answer(self, asks: Sequence[Ask]) -> list[dict[str, Any] | Exception]:
        replies: dict[int, dict[str, Any] | Exception] = {}
        names: dict[int, list[bytes]] = {}
        for i, ask in enumerate(asks):
            try:
                names[i] = self._names(ask)
            except Problem as problem:
                replies[i] = problem
        # What is stored is true whoever leads; the database is asked who does with each writing.
        self._check_leads()
        asked = [(asks[i].caller.user, own) for i, own in names.items()]
        with self._database.reading() as connection:
            known = self.records.look_up(connection, asked)
            for i, own in names.items():
                try:
                    told = self.records.reply(connection, asks[i])
                    told = told or known.preview(asks[i], own, self.step_budget)
                    if told is not None:
                        replies[i] = told
                except Problem as problem:
                    replies[i] = problem
        open_ = {i: own for i, own in names.items() if i not in replies}
        shares, later = known.shares(asks, open_)
        new = {i: share for i, share in shares.items() if share.new}
        for i, share in shares.items():
            if i not in new:
                replies[i] = self._paid_before(share, known)
        replies |= self._answer_new(asks, new, known)
        replies |= zip(later, self._answer([asks[i] for i in later]), strict=True) if later else {}
        return [replies[i] for i in range(len(asks))]

    def _paid_before(self, share: Share, known: Known) -> dict[str, Any] | Exception:
        """Return the reply of rows that the caller has paid for."""
        with self._database.reading() as connection:
            try:
                share.remaining = Quotas(connection, self.dataset).standing(share.user).remaining
            except Problem as problem:
                return problem
        reply = known.reply(share, self.responder.kind)
        if share.key is not None:
            with self._writing() as connection:
                self.records.keep(connection, share, reply)
        return reply

    def _answer_new(
        self, asks: Sequence[Ask], shares: dict[int, Share], known: Known
    ) -> dict[int, dict[str, Any] | Exception]:
        """Answer requests that hold rows which are new to their callers."""
        if not shares:
            return {}
        parts = [(asks[i], share) for i, share in shares.items()]
        try:
            evaluated = Evaluated.of(self.responder, self.signature, parts, self._prior)
        except Exception as error:  # noqa: BLE001 - its words may quote rows
            if len(shares) > 1:  # what one caller asks is refused to nobody else
                all_, half = list(shares.items()), len(shares) // 2
                first = self._answer_new(asks, dict(all_[:half]), known)
                return first | self._answer_new(asks, dict(all_[half:]), known)
            LOG.warning("rows could not be evaluated", error=type(error).__name__)
            return dict.fromkeys(shares, Problem("invalid", NOT_READ))
        return self._debited(shares, evaluated, known)

    def _debited(
        self, shares: dict[int, Share], evaluated: Evaluated, known: Known
    ) -> dict[int, dict[str, Any] | Exception]:
        """Debit, charge, draw and tell; a caller's own quota refuses before anything shared."""
        replies: dict[int, dict[str, Any] | Exception] = {}
        paid: dict[int, Share] = {}
        contested = {i: evaluated.contested(share.new) for i, share in shares.items()}
        with self._writing() as connection:
            learned, pending = self.records.progress(connection)
            if pending is not None or self._last != ("" if learned is None else learned.batch):
                raise LedgerError(_NOT_STORED)
            quotas = Quotas(connection, self.dataset)
            for i, share in shares.items():
                share.price = price = contested[i] * self.step_budget
                who = share.user, share.project
                try:
                    share.remaining = quotas.debit(*who, price, share.reservation)
                    paid[i] = share
                except Problem as problem:
                    replies[i] = problem
            quotas.flush()
            batch, rows = self._batch(paid, evaluated, known)
            if paid:
                # With the debits, in one transaction: whoever takes over finds both, or neither.
                self.records.write(connection, batch)
        if not paid:
            return replies
        # Charged while no transaction is open: the ledger has its own, in the same database. It is
        # looked at beforehand only where it would be charged less than the requests' prices.
        plan = self.responder.plan(rows)
        is_whole = sum(map(contested.__getitem__, paid)) == plan.law.n_noisy
        borne = set(paid) if is_whole else evaluated.borne(self.responder, paid)
        if len(borne) == len(paid):
            try:
                self.responder.charge(plan)
                if plan.law.n_noisy > 0:
                    self._charged, self._last = self._charged + 1, batch.id
                fresh = self._drawn(batch, plan)
            except BudgetExhaustedError:  # only where quotas exceed the budget
                borne = evaluated.borne(self.responder, paid)
                borne = borne if len(borne) < len(paid) else set()
            else:
                made = self._store(fresh, batch.shares, known)
                self.debited += sum(share.price for share in batch.shares)
                return replies | dict(zip(paid, made, strict=True))
        self._give_back(batch)
        refused = dict.fromkeys(paid.keys() - borne, Problem("budget-exhausted", _NOT_BORNE))
        kept = {i: share for i, share in shares.items() if i in borne}
        return replies | refused | (self._debited(kept, evaluated, known) if kept else {})

    def _names(self, ask: Ask) -> list[bytes]:
        try:
            rows = self.responder.models.checked(self.signature.rows(ask.columns))
        except ValueError:  # its words may quote rows
            raise Problem("invalid", NOT_READ) from None
        return self._vault.names(row_keys(rows), self.name)

    def _batch(
        self, shares: dict[int, Share], evaluated: Evaluated, known: Known
    ) -> tuple[Batch, NDArray[Any]]:
        """Return what is stored, and the candidates' predictions for rows nobody has asked."""
        new = dict.fromkeys(name for share in shares.values() for name in share.new)
        # What was answered to anybody has its answer: asked again it costs the data set nothing.
        fresh = [name for name in new if name not in known.answers]
        places = np.asarray([evaluated.place[name] for name in fresh], dtype=np.intp)
        rows = {name: column[places] for name, column in evaluated.columns.items()}
        flags = [evaluated.flags[k] for k in places]
        packed = self.signature.packed(rows) if fresh else b""
        batch = Batch(
            self.responder.procedure.account.n_charged, fresh, flags, packed, list(shares.values())
        )
        return batch, evaluated.predictions[places]

    def _recover(self, batch: Batch, *, is_charged: bool) -> None:
        """Draw what another process charged and never told; undo what it did not even charge."""
        if not is_charged:
            self._give_back(batch)
            return
        rows = self.signature.rows(self.signature.unpacked(batch.rows))
        predictions = self.responder.predictions(self.responder.models.checked(rows))
        with self._database.reading() as connection:
            asked = [(share.user, share.names) for share in batch.shares]
            known = self.records.look_up(connection, asked)
        self._charged, self._last = self._charged + 1, batch.id
        # Under their keys the requests get the reply that they have paid for, when they come again.
        self.responder.paid = plan = self.responder.plan(predictions)
        self._store(self._drawn(batch, plan), batch.shares, known)

    def _check_leads(self) -> None:
        if not self._database.leads(self.dataset, self._token):
            raise FencedError(_NOT_IN_CHARGE)

    def _writing(self) -> AbstractContextManager[Connection]:
        return self._database.writing(self.dataset, self._token)

    def _drawn(self, batch: Batch, plan: AnsweredRows) -> dict[bytes, Answer]:
        """Draw a batch that was written down and charged; nothing of it may be told yet."""
        # Drawn after the lease has ended, the batch could be drawn a second time by its new holder.
        self._check_leads()
        values = np.asarray(self.responder.draw(plan)[0]).tolist()
        return dict(zip(batch.names, map(Answer, values, batch.flags), strict=True))

    def _store(
        self, fresh: dict[bytes, Answer], shares: Sequence[Share], known: Known
    ) -> list[dict[str, Any]]:
        """Put answers and replies on disk; from then on the replies may be told."""
        # From here on nobody's answer to one of these rows is drawn again, whatever fails.
        known.answers |= fresh
        made = [known.reply(share, self.responder.kind) for share in shares]
        learned = Learned(
            [float(each) for each in self.responder.log_belief],
            (self.responder.n_answered, self.responder.n_contested),
            self._charged,
            self._last,
        )
        with self._writing() as connection:
            self.records.finish(connection, learned, fresh, shares)
            for share, reply in zip(shares, made, strict=True):
                self.records.keep(connection, share, reply)
        write_told(self._told, self._last)
        return made

    def _give_back(self, batch: Batch) -> None:
        """Undo a batch that somebody else's charge left no budget for."""
        with self._writing() as connection:
            quotas = Quotas(connection, self.dataset)
            for share in batch.shares:
                quotas.refund(share.user, share.project, share.price, share.reservation)
            quotas.flush()
            self.records.write(connection, None)


_NOT_IN_CHARGE: Final = "Another process is taking over this service; try again."
_NOT_STORED: Final = "The database lacks answers that were told: a server that was behind, perhaps."
_NOT_BORNE: Final = (
    "What remains of the data set's budget does not cover this request; nothing was charged. Rows "
    "that you have asked before are free."
)
