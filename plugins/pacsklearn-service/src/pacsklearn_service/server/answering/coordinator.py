"""The one process that holds the secrets: it answers what web workers ask it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from typing import Any, Final, final

import numpy as np
import prometheus_client as prometheus

from pacsklearn.exceptions import LedgerError, PacsklearnError
from pacsklearn.kernel.answers.label_engine import LabelEngine
from pacsklearn.kernel.answers.value_engine import ValueEngine
from pacsklearn.kernel.bounds.mixture import uniform_belief
from pacsklearn.kernel.noise.sampler import SecureSampler
from pacsklearn.kernel.secret.home_process import HomeProcess
from pacsklearn_service.server.answering.callers import Callers
from pacsklearn_service.server.answering.catalog import Catalog
from pacsklearn_service.server.answering.desk import Desk
from pacsklearn_service.server.answering.hosted_model import HostedModel
from pacsklearn_service.server.answering.predecessor import end, own_name
from pacsklearn_service.server.caller import Ask, Caller
from pacsklearn_service.server.problem import Problem, problem_of
from pacsklearn_service.server.rate_limit import RateLimit
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.store.database import ServiceDatabase
from pacsklearn_service.server.store.quotas import Quotas
from pacsklearn_service.server.vault import Vault

_LOG: Final = logging.getLogger("pacsklearn_service")
_FORGET_SECONDS: Final = 3600.0
_HOLDER: Final = "holder"


@final
class Coordinator:
    """Owner of the key, the sessions and the lease.

    Parameters
    ----------
    address : str
        Of the database.
    vault : Vault
    settings : Settings
    estimator_of : callable
        Gives an estimator for a name and its parameters.

    Notes
    -----
    Two coordinators of one database: the second is a standby, which answers nothing, and takes over
    when the first has not held its lease longer for :attr:`Settings.lease` seconds.
    """

    def __init__(
        self,
        address: str,
        vault: Vault,
        settings: Settings,
        estimator_of: Callable[[str, str | None], Any],
    ) -> None:
        self._home = HomeProcess("The secrets of the service")
        self.settings, self.vault = settings, vault
        self.database = ServiceDatabase(address)
        self.catalog = Catalog(self.database, vault, estimator_of, settings.high_water)
        self.callers = Callers(self.database, vault, settings)
        # Sealed, because a successor kills whom it names: nobody who can write the database may.
        self._holder = vault.seal(own_name().encode(), _HOLDER).hex()
        self._requests = RateLimit(settings.requests_per_minute)
        self._previews = RateLimit(settings.previews_per_minute)
        self.metrics = Metrics()
        self._desks: dict[str, Desk] = {}
        self._on_lead: list[Callable[[], None]] = [self.callers.forget]
        self._on_forget: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self._ended, self._ready = threading.Event(), threading.Event()
        self._keeper: threading.Thread | None = None
        self._is_stopping = False
        self._forget_at = 0.0

    @property
    def is_ready(self) -> bool:
        """Whether this process holds the lease and all published models."""
        return self._ready.is_set() and self.database.is_held

    def on_lead(self, work: Callable[[], None]) -> None:
        """Do something each time this process has taken over."""
        self._on_lead.append(work)

    def on_forget(self, work: Callable[[], None]) -> None:
        """Do something each time what is old is deleted."""
        self._on_forget.append(work)

    def start(self) -> None:
        """Take the lease, or stand by for it.

        Raises
        ------
        LedgerCorruptedError
            When the database is an older copy than its high-water files say.
        """
        self._home.check()
        self.catalog.datasets()  # opens all ledgers
        self._keep()
        if not self.database.is_held:
            _LOG.warning("standing by: another process holds the lease")
            threading.Thread(target=_warm_up, name="warm up", daemon=True).start()
        self._keeper = threading.Thread(target=self._keep_on, name="lease", daemon=True)
        self._keeper.start()

    def wait_until_ready(self, seconds: float) -> bool:
        """Whether it was ready within the time."""
        return self._ready.wait(seconds)

    def stop(self) -> None:
        """Answer what waits, then give the lease back."""
        with self._lock:
            self._is_stopping = True
        # Before the keeper ends: a desk may answer longer than the lease would last without it.
        self._stand_by()
        self._ended.set()
        if self._keeper is not None:
            self._keeper.join(timeout=10)
        if self.database.is_held:
            try:
                self.database.release()
            except LedgerError as error:  # it ends by itself, a little later
                _LOG.warning("the lease could not be given back: %s", type(error).__name__)
        self.database.close()

    def admit(self, caller: Caller, name: str) -> dict[str, Any]:
        """Facts of a model for who may ask it now: its rate is counted before a row is read."""
        self._requests.take(caller.user)
        return self.model(caller, name)

    def infer(self, caller: Caller, name: str, ask: Ask) -> Future[dict[str, Any]]:
        """Reply to a request for answers, when it is there."""
        caller.need("ask")
        if ask.dry_run:  # free: they would be asked for without end
            self._previews.take(caller.user)
        future = self._desk(name).ask(ask)
        future.add_done_callback(lambda done: self._count(name, ask, done))
        return future

    def model(self, caller: Caller, name: str) -> dict[str, Any]:
        """Public facts of a published model, for who has a quota to ask it with.

        Raises
        ------
        Problem
        """
        model = self._desk(name).model
        with self.database.reading() as connection:
            Quotas(connection, model.dataset).check_open(caller.user, caller.project)
        return {
            "name": name,
            "dataset": model.dataset,
            "signature": model.signature.facts(),
            **{key: model.facts[key] for key in ("answers", "classes", "width", "step_budget")},
        }

    def signature(self, name: str) -> Signature:
        """Columns of a published model."""
        return self._desk(name).model.signature

    def models(self, caller: Caller) -> list[str]:
        """Names of the published models that the caller has a quota for."""
        self._check_ready()
        with self._lock:
            datasets = {name: desk.model.dataset for name, desk in self._desks.items()}
        with self.database.reading() as connection:
            own = Quotas.of_user(connection, caller.user)
        return sorted(name for name, dataset in datasets.items() if dataset in own)

    def budget(self, caller: Caller, name: str) -> dict[str, Any]:
        """What the caller has left, and the ceiling; nothing about others."""
        model = self._desk(name).model
        with self.quotas(caller, name) as quotas:
            own = quotas.standing(caller.user)
        return {
            "dataset": model.dataset,
            "ceiling": self.catalog.ledger(model.dataset).ceiling,
            **own._asdict(),
            "step_budget": model.step_budget,
            "unit": "nats",
        }

    @contextmanager
    def quotas(self, caller: Caller, name: str, *, write: bool = False) -> Iterator[Quotas]:
        """Accounts of a model's data set, for what the caller does with its own."""
        self._previews.take(caller.user)
        dataset = self._desk(name).model.dataset
        with self.database.writing() if write else self.database.reading() as connection:
            yield Quotas(connection, dataset)

    @contextmanager
    def at_rest(self, dataset: str) -> Iterator[dict[str, tuple[float, float]]]:
        """Charged and ceiling of all that the users of a data set are charged to, which rests."""
        with self._lock:
            desks = [self._desks[name] for name in sorted(self._desks)]
        with ExitStack() as stack:
            # Of its models together: a debit on its way to the ledger would be in neither sum.
            budgets = {
                f"the model {desk.model.name!r}": stack.enter_context(desk.model.at_rest())
                for desk in desks
                if desk.model.dataset == dataset
            }
            ledger = self.catalog.ledger(dataset)
            yield {"the data set": (ledger.spent, ledger.ceiling)} | budgets

    def statement(self, caller: Caller, name: str) -> dict[str, Any]:
        """The model's guarantee at its ceiling, signed."""
        import base64
        import json

        self.model(caller, name)  # for who may ask it
        model = self._desk(name).model
        statement = {
            "model": name,
            "dataset": model.dataset,
            "step_budget": model.step_budget,
            "guarantee": model.facts["guarantee"],
        }
        # One text for one statement: whoever verifies writes it the same way.
        content = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
        return {
            "statement": statement,
            "algorithm": "Ed25519",
            "signed": "the statement as JSON with sorted keys, without spaces, in ASCII",
            "signature": base64.b64encode(self.vault.sign(content)).decode(),
            "public_key": base64.b64encode(self.vault.public_key).decode(),
        }

    def load(self, name: str) -> bool:
        """Begin to answer for a model; whether it did not before.

        Raises
        ------
        Problem
            Where the status of its guarantee does not allow it.
        """
        with self._lock:
            if name in self._desks:
                return False
            # Whoever marked it as published: nobody can ask what does not pass the check.
            self.catalog.check_for_release(name)
            model = HostedModel(self.database, self.vault, name, self.catalog.estimator)
            model.load()
            self._desks[name] = Desk(model)
            return True

    def unload(self, name: str) -> None:
        """Answer for a model no more."""
        with self._lock:
            desk = self._desks.pop(name, None)
        if desk is not None:
            desk.close()

    def hosted(self, name: str) -> HostedModel:
        """Model that is answering."""
        return self._desk(name).model

    def rows_left(self, name: str) -> int | None:
        """Contested rows that a model can still answer; None for one that does not answer."""
        with self._lock:
            desk = self._desks.get(name)
        return None if desk is None else desk.model.rows_left()

    def _count(self, name: str, ask: Ask, done: Future[dict[str, Any]]) -> None:
        if done.cancelled():
            self.metrics.requests.labels(name, "gone").inc()
            return
        error = done.exception()
        outcome = "answered" if error is None else problem_of(error).kind
        self.metrics.requests.labels(name, outcome).inc()
        if error is None and not ask.dry_run:
            self.metrics.rows.labels(name).inc(ask.n_rows)
            with self._lock:
                desk = self._desks.get(name)
            if desk is not None:
                self.metrics.charged.labels(name).set(desk.model.debited)

    def _desk(self, name: str) -> Desk:
        self._check_ready()
        with self._lock:
            desk = self._desks.get(name)
        if desk is None:
            raise Problem("not-found", "There is no published model of this name.")
        return desk

    def _check_ready(self) -> None:
        self._home.check()
        if not self.is_ready:
            raise Problem(
                "unavailable", "This process is standing by or starting; try again.", retry_after=2
            )

    def _keep_on(self) -> None:
        # Often enough that one or two attempts may fail before the lease ends.
        while not self._ended.wait(self.settings.lease / 5):
            try:
                self._keep()
                self._forget_old()
            except Exception as error:  # noqa: BLE001 - tried again until the service ends
                # Its kind alone, here and below: a message may quote rows.
                _LOG.error("the lease could not be kept: %s", type(error).__name__)

    def _forget_old(self) -> None:
        """Delete replies whose time is over, now and then."""
        if not self.is_ready or time.monotonic() < self._forget_at:
            return
        with self._lock:
            desks = list(self._desks.values())
        with self.database.writing() as connection:
            for desk in desks:
                desk.model.replies.forget_old(connection)
        for work in self._on_forget:
            work()
        self._forget_at = time.monotonic() + _FORGET_SECONDS

    def _keep(self) -> None:
        """Hold the lease longer; where it was just taken, take over everything with it."""
        if not self.database.take(self._holder, self.settings.lease, self._end):
            if self._ready.is_set():
                _LOG.error("another process has taken over; standing by")
            self._stand_by()
            return
        if self._ready.is_set() or self._is_stopping:
            return
        # Beside the keeper: loading many models may last longer than the lease, which must be kept.
        threading.Thread(target=self._take_over, name="take over", daemon=True).start()

    def _end(self, holder: str) -> None:
        if end(self.vault.open(bytes.fromhex(holder), _HOLDER).decode()):
            _LOG.error("the process that held the lease stood still, and was killed")

    def _take_over(self) -> None:
        with self._lock:
            if self._ready.is_set() or self._is_stopping:
                return
            for model in self.catalog.models():
                if model["status"] == "published":
                    try:
                        self.load(model["name"])
                    except Exception as error:  # noqa: BLE001 - the others go on
                        # An error of ours quotes no rows.
                        why = error if isinstance(error, PacsklearnError) else type(error).__name__
                        _LOG.error("the model %r could not be loaded: %s", model["name"], why)
                        if not self.database.is_held:
                            return
            self._ready.set()
        self.metrics.leads.set(1)
        for work in self._on_lead:
            work()

    def _stand_by(self) -> None:
        with self._lock:
            self._ready.clear()
            self.metrics.leads.set(0)
            # Closed outside the lock: closing waits for a desk, whose last replies need it.
            desks, self._desks = self._desks, {}
        for desk in desks.values():
            desk.close()


@final
class Metrics:
    """What one coordinator counts; read on the curator's plane only."""

    def __init__(self) -> None:
        registry = self.registry = prometheus.CollectorRegistry()
        about = "Requests for answers, by model and how they ended."
        self.requests = prometheus.Counter(
            "pacsklearn_requests", about, ["model", "outcome"], registry=registry
        )
        self.rows = prometheus.Counter(
            "pacsklearn_rows", "Rows answered.", ["model"], registry=registry
        )
        about = "Nats that callers were charged since the model was loaded."
        self.charged = prometheus.Gauge(
            "pacsklearn_charged_nats", about, ["model"], registry=registry
        )
        about = "1 while this process holds the lease."
        self.leads = prometheus.Gauge("pacsklearn_holds_lease", about, registry=registry)


def _warm_up() -> None:
    """Answer a row that means nothing, of each kind: that loads libraries and compiled code."""
    belief, budget = uniform_belief(2), 1 / 16
    noise = SecureSampler().noise(8)
    codes, values = np.array([[0, 1]], dtype=np.uint8), np.array([[[0.0], [1.0]]])
    for engine, said in ((LabelEngine(), codes), (ValueEngine(), values)):
        engine.contested(said, belief)
        engine.answer(said, 0, belief, budget, noise)
    _LOG.warning("ready to take over")
