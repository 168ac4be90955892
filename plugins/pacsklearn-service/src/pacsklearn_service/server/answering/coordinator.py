"""The one process that holds the secrets: it answers what web workers ask it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from typing import Any, Final, TypeAlias, final

import prometheus_client as prometheus

from pacsklearn.exceptions import LedgerError, PacsklearnError
from pacsklearn.kernel.secret.owner_process import OwnerProcess
from pacsklearn_service.server.answering.callers import Callers
from pacsklearn_service.server.answering.catalog import Catalog
from pacsklearn_service.server.answering.desk import Desk
from pacsklearn_service.server.answering.hosted_model import HostedModel
from pacsklearn_service.server.answering.predecessor import end, own_name
from pacsklearn_service.server.answering.records import forget_replies
from pacsklearn_service.server.answering.released_model import ReleasedModel
from pacsklearn_service.server.answering.warm_up import warm_up
from pacsklearn_service.server.caller import Ask, Caller
from pacsklearn_service.server.log import LOG
from pacsklearn_service.server.problem import Problem, problem_of
from pacsklearn_service.server.recipe import versioned
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.store.database import FencedError, ServiceDatabase
from pacsklearn_service.server.vault import Vault

Hosted: TypeAlias = HostedModel | ReleasedModel
_FORGET_SECONDS: Final = 3600.0
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 60.0
_HOLDER: Final = "holder"


@final
class Coordinator:
    """Owner of the key, the sessions and the lease.

    Parameters
    ----------
    settings : Settings
    vault : Vault
    estimator_of : callable
        Gives an estimator for a name and its parameters.

    Notes
    -----
    Two coordinators of one database: the second is a standby, which answers nothing, and takes over
    when the first has not held its lease longer for :attr:`Settings.lease` seconds.
    """

    def __init__(
        self,
        settings: Settings,
        vault: Vault,
        estimator_of: Callable[[str, str | None], Any],
    ) -> None:
        self._owner = OwnerProcess("The secrets of the service")
        self.settings, self.vault = settings, vault
        self.database = ServiceDatabase(settings.database)
        self.catalog = Catalog(self.database, vault, estimator_of, settings.ledger_ends)
        self.callers = Callers(self.database, vault, settings)
        # Sealed, because a successor kills whom it names: nobody who can write the database may.
        self._holder = vault.seal(own_name().encode(), _HOLDER).hex()
        self.metrics = Metrics(lambda: len(self._missing))
        self._desks: dict[str, Desk] = {}
        # Published models that could not be loaded; they are tried again.
        self._missing: set[str] = set()
        self._on_lead: list[Callable[[], None]] = [self.callers.forget]
        self._on_forget: list[Callable[[], None]] = []
        self._lock, self._loading = threading.Lock(), threading.RLock()
        self._taking = threading.Lock()
        self._ended, self._ready = threading.Event(), threading.Event()
        self._keeper = threading.Thread(target=self._keep_on, name="lease", daemon=True)
        self._warm = threading.Event()
        self._is_stopping = False
        self._forget_at = 0.0

    @property
    def is_live(self) -> bool:
        """Whether this process keeps the lease, or asks for it; also while it stands by."""
        return self._keeper.is_alive()

    @property
    def is_ready(self) -> bool:
        """Whether this process holds the lease, and has tried to load every published model.

        A model that it could not load is refused by its own name until it is there.
        """
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
        self._owner.check()
        self.catalog.datasets()  # opens all ledgers
        self._keep()
        if not self.database.is_held:
            LOG.warning("standing by: another process holds the lease")
        threading.Thread(target=self._warm_up, name="warm up", daemon=True).start()
        self._keeper.start()

    def wait_until_ready(self, seconds: float) -> bool:
        """Return whether it was ready within the time."""
        return self._ready.wait(seconds)

    def stop(self) -> None:
        """Answer what waits, then give the lease back."""
        with self._lock:
            self._is_stopping = True
        # Before the keeper ends: a desk may answer longer than the lease would last without it.
        self._stand_by()
        self._ended.set()
        if self._keeper.is_alive():
            self._keeper.join(timeout=10)
        if self.database.is_held:
            try:
                self.database.release()
            except LedgerError as error:  # it ends by itself, a little later
                LOG.warning("the lease could not be given back", error=type(error).__name__)
        self.database.close()

    def infer(self, caller: Caller, name: str, ask: Ask) -> Future[dict[str, Any]]:
        """Return the reply to a request for answers, when it is there."""
        caller.need("ask")
        began, desk = time.monotonic(), self._desk(name)
        future = desk.ask(ask)
        future.add_done_callback(lambda done: self._count(desk.model, ask, done, began))
        return future

    def ask(self, caller: Caller, name: str, content: bytes, **facts: Any) -> Ask:
        """Return a request for answers of a model, from its packed columns."""
        signature, most = self.hosted(name).signature, self.settings.most_rows
        columns = signature.checked(signature.unpacked(content), most=most)
        return Ask(caller, columns, **facts | {"body": bytes.fromhex(facts.get("body", ""))})

    def answering(self) -> list[Hosted]:
        """Return the models that can be asked now."""
        self._check_ready()
        with self._lock:
            return [self._desks[name].model for name in sorted(self._desks)]

    @contextmanager
    def at_rest(self, dataset: str) -> Iterator[dict[str, tuple[float, float]]]:
        """Hold at rest a data set, and give what all its users were charged and their ceiling."""
        with ExitStack() as stack:
            # Of its models together: a debit on its way to the ledger would be in neither sum.
            budgets = {
                f"the model {model.name!r}": stack.enter_context(model.at_rest())
                for model in self.answering()
                if model.dataset == dataset
            }
            ledger = self.catalog.ledger(dataset)
            yield {"the data set": (ledger.spent, ledger.ceiling)} | budgets

    def load(self, name: str) -> bool:
        """Begin to answer for a model; whether it did not before.

        Raises
        ------
        Problem
            Where the status of its guarantee does not allow it.
        """
        # One after the other, and beside the other models, which answer meanwhile.
        with self._loading:
            token = self.database.token
            if name in self._desks:
                return False
            # Whoever marked it as published: nobody can ask what does not pass the check.
            self.catalog.check_for_release(name)
            model: Hosted = (
                ReleasedModel(self.database, self.vault, name)
                if self.catalog.model(name)["released"]
                else HostedModel(self.database, self.vault, name, self.catalog.estimator)
            )
            model.load()
            with self._lock:
                if self._is_stopping or token is None or self.database.token != token:
                    model.close()
                    raise FencedError("The lease was lost while a model was loaded.")
                self._desks[name] = Desk(model)
                self._missing.discard(name)
            return True

    def unload(self, name: str) -> None:
        """Answer for a model no more."""
        with self._loading, self._lock:
            self._missing.discard(name)
            desk = self._desks.pop(name, None)
        if desk is not None:
            desk.close()

    def hosted(self, name: str) -> Hosted:
        """Return the model that is answering: the version that is named, or else the newest."""
        return self._desk(name).model

    def _count(self, model: Hosted, ask: Ask, done: Future[dict[str, Any]], began: float) -> None:
        name = model.name
        self.metrics.seconds.labels(name).observe(time.monotonic() - began)
        if done.cancelled():
            self.metrics.requests.labels(name, "gone").inc()
            return
        error = done.exception()
        outcome = "answered" if error is None else problem_of(error).kind
        self.metrics.requests.labels(name, outcome).inc()
        if error is None and not ask.dry_run:
            self.metrics.rows.labels(name).inc(ask.n_rows)
            self.metrics.charged.labels(name).set(model.debited)

    def _desk(self, name: str) -> Desk:
        self._check_ready()
        with self._lock:
            known = {*self._desks, *self._missing}
            own = [key for key in known if key == name or key.partition("@")[0] == name]
            # A name alone is that of the newest version; the first one is asked for by "@1".
            key = max(own, key=lambda each: versioned(each)[1], default=name.removesuffix("@1"))
            desk = self._desks.get(key)
        if key in known and desk is None:
            raise Problem(
                "unavailable", "The model could not be loaded yet; try again.", retry_after=2
            )
        if desk is None:
            raise Problem("not-found", "There is no published model of this name and version.")
        return desk

    def _check_ready(self) -> None:
        self._owner.check()
        if not self.is_ready:
            raise Problem(
                "unavailable", "This process is standing by or starting; try again.", retry_after=2
            )

    def _warm_up(self) -> None:
        try:
            warm_up()
        finally:  # what fails there fails again where somebody is told
            self._warm.set()
        if not self.database.is_held:
            LOG.warning("ready to take over")

    def _keep_on(self) -> None:
        # Often enough that one or two attempts may fail before the lease ends.
        while not self._ended.wait(self.settings.lease / 5):
            try:
                self._keep()
                self._forget_old()
            except Exception as error:  # noqa: BLE001 - tried again until the service ends
                # Its kind alone, here and below: a message may quote rows.
                LOG.error("the lease could not be kept", error=type(error).__name__)

    def _forget_old(self) -> None:
        """Delete replies whose time is over, now and then."""
        if not self.is_ready or time.monotonic() < self._forget_at:
            return
        with self.database.writing() as connection:
            forget_replies(connection, self.settings.keep_replies)
        for work in self._on_forget:
            work()
        self._forget_at = time.monotonic() + _FORGET_SECONDS

    def _keep(self) -> None:
        """Hold the lease longer; where it was just taken, take over everything with it."""
        if not self.database.take(self._holder, self.settings.lease, self._end):
            if self._ready.is_set():
                LOG.error("another process has taken over; standing by")
            self._stand_by()
            return
        if self._ready.is_set() or self._is_stopping:
            return
        # Beside the keeper: loading many models may last longer than the lease, which must be kept.
        threading.Thread(target=self._take_over, name="take over", daemon=True).start()

    def _end(self, holder: str) -> None:
        if end(self.vault.open(bytes.fromhex(holder), _HOLDER).decode()):
            LOG.error("the process that held the lease stood still, and was killed")

    def _take_over(self) -> None:
        self._warm.wait()  # whoever asks first does not wait for it
        if not self._taking.acquire(blocking=False):
            return  # it is being done
        token, wait = self.database.token, _FIRST_WAIT
        try:
            if self._ready.is_set() or self._is_stopping:
                return
            self._load_published(wait)
            with self._lock:
                if self.database.token != token or self._is_stopping:
                    return
                self._ready.set()
        finally:
            self._taking.release()
        self.metrics.leads.set(1)
        for work in self._on_lead:
            work()
        # Whatever it was may be over soon; if not, somebody may mend it.
        while self._missing and not self._ended.wait(wait) and self.database.token == token:
            wait = min(2 * wait, _LONGEST_WAIT)
            self._load_published(wait)

    def _load_published(self, wait: float) -> None:
        """Load what is published and not there; what fails is tried again after some seconds."""
        models = self.catalog.models()
        with self._lock:
            published = {each["name"] for each in models if each["status"] == "published"}
            self._missing = published - self._desks.keys()
            missing = sorted(self._missing)
        for name in missing:
            try:
                with self._loading:
                    for each in self.catalog.models(name):
                        if each["status"] == "published":  # and was not withdrawn meanwhile
                            self.load(name)
            except FencedError:
                break
            except Exception as error:  # noqa: BLE001 - the others go on
                # An error of ours quotes no rows.
                why = str(error) if isinstance(error, PacsklearnError) else type(error).__name__
                LOG.error("a model could not be loaded", model=name, why=why, again_after=wait)

    def _stand_by(self) -> None:
        with self._lock:
            self._ready.clear()
            self.metrics.leads.set(0)
            # Closed outside the lock: closing waits for a desk, whose last replies need it.
            desks, self._desks = self._desks, {}
            self._missing.clear()
        for desk in desks.values():
            desk.close()


@final
class Metrics:
    """What one coordinator counts; read on the curator's plane only.

    Parameters
    ----------
    missing : callable
        Gives the number of published models that are not there.
    """

    def __init__(self, missing: Callable[[], float]) -> None:
        self.registry = prometheus.CollectorRegistry()
        own: dict[str, Any] = {"registry": self.registry}
        by_model = own | {"labelnames": ["model"]}
        about = "Requests for answers, by model and how they ended."
        self.requests = prometheus.Counter(
            "pacsklearn_requests", about, ["model", "outcome"], **own
        )
        self.rows = prometheus.Counter("pacsklearn_rows", "Rows answered.", **by_model)
        about = "Seconds from a request's arrival at the coordinator to its answer."
        self.seconds = prometheus.Histogram("pacsklearn_request_seconds", about, **by_model)
        about = "Nats that callers were charged since the model was loaded."
        self.charged = prometheus.Gauge("pacsklearn_charged_nats", about, **by_model)
        self.leads = prometheus.Gauge(
            "pacsklearn_holds_lease", "1 while this process holds the lease.", **own
        )
        about = "Published models that could not be loaded, and are tried again."
        prometheus.Gauge("pacsklearn_models_missing", about, **own).set_function(missing)
