"""The one process that holds the secrets: it answers what web workers ask it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from typing import Any, Final, final

from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.secret.owner_process import OwnerProcess
from pacsklearn_service.server.answering.callers import Callers
from pacsklearn_service.server.answering.catalog import Catalog
from pacsklearn_service.server.answering.desk import Desk
from pacsklearn_service.server.answering.hosted_model import HostedModel
from pacsklearn_service.server.answering.jobs import Jobs
from pacsklearn_service.server.answering.lease_keeper import LeaseKeeper
from pacsklearn_service.server.answering.metrics import Metrics
from pacsklearn_service.server.answering.records import Records, forget_replies
from pacsklearn_service.server.answering.released_model import ReleasedModel
from pacsklearn_service.server.answering.resumed_session import Charged, charges_by_session
from pacsklearn_service.server.answering.shelf import Hosted, Published, Shelf
from pacsklearn_service.server.answering.warm_up import warm_up
from pacsklearn_service.server.caller import Ask, Caller
from pacsklearn_service.server.log import LOG
from pacsklearn_service.server.problem import Problem, problem_of, words_of
from pacsklearn_service.server.recipe import versioned
from pacsklearn_service.server.settings import Settings
from pacsklearn_service.server.store.database import FencedError, ServiceDatabase
from pacsklearn_service.server.vault import Vault

_BROKEN_OFF: Final = (
    "An older version was asked with this Idempotency-Key, and may have charged it; try again "
    "later. Another key asks the newest version, and pays for it."
)
_FORGET_SECONDS: Final = 3600.0
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 60.0


@final
class Coordinator:
    """Owner of the key, of the sessions of the data sets that it leads, and of their leases.

    Parameters
    ----------
    settings : Settings
    vault : Vault

    Notes
    -----
    Coordinators of one database share its data sets. When one has not held its lease longer for
    :attr:`Settings.lease` seconds, the others take over what it led. One that no caller can reach,
    because another one has its address, is a standby: it leads nothing until the address is free.
    """

    def __init__(self, settings: Settings, vault: Vault) -> None:
        self._owner = OwnerProcess("The secrets of the service")
        self.settings, self.vault = settings, vault
        self.database = ServiceDatabase(settings.database)
        self.catalog = Catalog(self.database, vault, settings.ledger_ends)
        self.callers = Callers(self.database, vault, settings)
        self.metrics = Metrics(lambda: len(self._shelf.missing()), lambda: len(self.database.led))
        self._shelf = Shelf()
        self.jobs = Jobs(self)
        self._lock, self._loading = threading.Lock(), threading.RLock()
        self._ended, self._ready = threading.Event(), threading.Event()
        self._keeper = LeaseKeeper(
            self.database, vault, settings.lease, self._change, self._give_back, self._keep_house
        )
        self._warm = threading.Event()
        self._forget_at = 0.0

    @property
    def is_live(self) -> bool:
        """Whether this process keeps the lease, or asks for it; also while it stands by."""
        return self._keeper.is_live

    @property
    def is_ready(self) -> bool:
        """Whether this process holds a lease, and has looked at what it led from the beginning.

        A model that it could not read is refused by its own name until it is there.
        """
        return self._ready.is_set() and self.database.is_held

    def start(self) -> None:
        """Keep others' leases in sight; :meth:`open` begins to share in the service.

        Raises
        ------
        LedgerCorruptedError
            When the database is an older copy than its high-water files say.
        """
        self._owner.check()
        self.catalog.datasets()  # opens all ledgers
        threading.Thread(target=self._warm_up, name="warm up", daemon=True).start()
        self._keeper.start()

    def open(self, url: str = "", curator_url: str = "") -> None:
        """Take a lease and a share of the data sets: callers reach this process by its addresses.

        Parameters
        ----------
        url, curator_url : str
            Told to those who ask here for a data set that is led there.
        """
        self._keeper.open(url, curator_url)

    def stop(self) -> None:
        """Answer what waits, then give the lease back."""
        self.jobs.close()
        with self._lock:
            self._ended.set()
        # Before the keeper ends: a desk may answer longer than the lease would last without it.
        self._ready.clear()
        self._leave(list(self.database.led))
        self._keeper.stop()
        self.database.close()

    def infer(self, name: str, ask: Ask) -> Future[dict[str, Any]]:
        """Return the reply to a request for answers, when it is there."""
        ask.caller.need("ask")
        began, desk = time.monotonic(), self._desk(name)
        future = desk.ask(ask)
        future.add_done_callback(lambda done: self._count(desk, ask, done, began))
        return future

    def told_before(self, name: str, ask: Ask) -> dict[str, Any] | None:
        """Return the reply of an older version to the key of who has not named a version.

        Since then a newer one was published, which would charge for the rows once more; the older
        one may answer no longer.

        Raises
        ------
        Problem
            When the older version is answering it, or was broken off and cannot be loaded.
        """
        if ask.key is None:
            return None
        newest, own = self.hosted(name).name, (ask.caller.user, ask.key)
        for each in self._shelf.versions(name):
            if each.desk is not None and each.name != newest:
                each.desk.check_free(ask)
        question = (
            "SELECT model FROM service_models JOIN service_requests ON model = name "
            'WHERE "user" = ? AND key = ?'
        )
        broken_off = "SELECT model FROM service_progress WHERE intent IS NOT NULL"
        with self.database.reading() as connection:
            for key in [each["model"] for each in connection.ask(question, *own)]:
                if key.partition("@")[0] == name and key != newest:
                    told = Records(self.vault, key).reply(connection, ask)
                    return told and told | {"version": versioned(key)[1]}
            for key in [each["model"] for each in connection.ask(broken_off)]:
                if key.partition("@")[0] == name and key != newest:
                    batch = Records(self.vault, key).progress(connection)[1]
                    if batch and own in [(each.user, each.key) for each in batch.shares]:
                        raise Problem("in-progress", _BROKEN_OFF)
        return None

    def ask(self, caller: Caller, name: str, content: bytes, **facts: Any) -> Ask:
        """Return a request for answers of a model, from its packed columns."""
        signature, most = self.hosted(name).signature, self.settings.most_rows
        columns = signature.checked(signature.unpacked(content), most=most)
        return Ask(caller, columns, **facts | {"body": bytes.fromhex(facts.get("body", ""))})

    def answering(self) -> list[Hosted]:
        """Return the models that can be asked now."""
        self._check_ready()
        return [each.desk.model for each in self._shelf.all() if each.desk is not None]

    @contextmanager
    def at_rest(self, dataset: str) -> Iterator[dict[str, tuple[float, float]]]:
        """Hold at rest a data set, and give what all its users were charged and their ceiling."""
        self.token(dataset)
        with ExitStack() as stack:
            # Of its models together: a debit on its way to the ledger would be in neither sum.
            own = [each for each in self.answering() if each.dataset == dataset]
            held = [(each.name, stack.enter_context(each.at_rest())) for each in own]
            budgets = {f"the model {n!r}": (each.spent, each.ceiling) for n, each in held}
            # Of what could not be read yet nobody knows what is left.
            away = [each.name for each in self._shelf.missing() if each.dataset == dataset]
            budgets |= {f"the model {each!r}, not loaded yet,": (0.0, 0.0) for each in away}
            ledger = self.catalog.ledger(dataset)
            yield {"the data set": (ledger.spent, ledger.ceiling)} | budgets

    def load(self, name: str, charged: Charged | None = None) -> bool:
        """Begin to answer for a model; whether it did not before.

        With what the data set's ledger holds of each session the model is looked at only, and
        loaded when somebody asks it.

        Raises
        ------
        Problem
            Where the status of its guarantee does not allow it.
        """
        # One after the other, and beside the other models, which answer meanwhile.
        with self._loading:
            known = self._shelf.found(name)
            if known is not None and known.desk is not None:
                return False
            # Whoever marked it as published: nobody can ask what does not pass the check.
            facts = self.catalog.for_release(name)
            dataset = facts["dataset"]
            token = self.token(dataset)
            own = self.database, self.vault, facts
            model: Hosted = (
                ReleasedModel(*own)
                if facts["released"]
                else HostedModel(*own, self.settings.ledger_ends)
            )
            model.load() if charged is None else model.look(charged)
            with self._lock:
                if self._ended.is_set() or self.database.led.get(dataset) != token:
                    model.close()
                    raise FencedError("The lease was lost while a model was loaded.")
                self._shelf.add(Published(name, dataset, Desk(model)))
            return True

    def unload(self, name: str) -> None:
        """Answer for a model no more."""
        with self._loading:
            self._shelf.close(name)

    def token(self, dataset: str) -> int:
        """Return the fencing token of a data set that this process leads.

        Raises
        ------
        Problem
            Names the addresses of the coordinator that leads it.
        """
        token = self.database.led.get(dataset)
        if token is None:
            url, curator_url = self._keeper.reached_at(dataset)
            raise Problem(
                "elsewhere",
                "Another coordinator of this service leads the data set; try again, or ask there.",
                url=url,
                curator_url=curator_url,
            )
        return token

    def hosted(self, name: str) -> Hosted:
        """Return the model that is answering: the version that is named, or else the newest."""
        return self._desk(name).model

    def loaded(self, name: str) -> int:
        """Return a number that is another one once the model of the name is."""
        return self._desk(name).number

    def _count(self, desk: Desk, ask: Ask, done: Future[dict[str, Any]], began: float) -> None:
        model, name = desk.model, desk.model.name
        self.metrics.seconds.labels(name).observe(time.monotonic() - began)
        if done.cancelled():
            self.metrics.requests.labels(name, "gone").inc()
            return
        error = done.exception()
        if error is not None and not isinstance(error, Problem) and model.is_unread:
            LOG.error("a model could not be loaded", model=name, why=words_of(error))
            threading.Thread(target=self._try_again, args=(desk,), daemon=True).start()
        outcome = "answered" if error is None else problem_of(error).kind
        self.metrics.requests.labels(name, outcome).inc()
        if error is None and not ask.dry_run:
            self.metrics.rows.labels(name).inc(ask.n_rows)
            self.metrics.charged.labels(name).set(model.debited)

    def _desk(self, name: str) -> Desk:
        self._check_ready()
        has_version = "@" in name
        found = self._shelf.found(name) if has_version else self._shelf.newest(name)
        if found is not None and found.desk is not None:
            return found.desk
        for each, dataset in self.catalog.published().items():
            own = each if has_version else each.partition("@")[0]
            if own == name.removesuffix("@1"):
                self.token(dataset)
                break
        else:
            raise Problem("not-found", "There is no published model of this name and version.")
        raise Problem("unavailable", "The model could not be loaded yet; try again.")

    def _check_ready(self) -> None:
        self._owner.check()
        if not self.is_ready:
            raise Problem("unavailable", "This process is standing by or starting; try again.")

    def _warm_up(self) -> None:
        try:
            warm_up()
        finally:  # what fails there fails again where somebody is told
            self._warm.set()
        if not self._keeper.holder:
            LOG.warning("ready to take over")

    def forget_old(self) -> None:
        """Delete replies and jobs whose time is over."""
        with self.database.writing() as connection:
            forget_replies(connection, self.settings.keep_replies)
        self.jobs.forget_old()

    def _keep_house(self) -> None:
        if not self.is_ready:
            return
        if time.monotonic() >= self._forget_at:
            self.forget_old()
            self._forget_at = time.monotonic() + _FORGET_SECONDS
        self.jobs.go_on()

    def _change(self, lost: list[str], new: dict[str, int]) -> None:
        """Leave what is led by another process, and take over what was just taken."""
        if lost:
            LOG.warning("data sets are led here no longer", datasets=lost)
            self._leave(lost)
        self._take_over(new)

    def _give_back(self, dataset: str) -> None:
        """Let another coordinator lead a data set, once what waits for it is answered."""
        if dataset in [*self.jobs.busy.values()]:  # kept for a job here
            return
        with self._loading:  # nothing is loaded in between
            self._leave([dataset])
            self.database.give_back(dataset)

    def _take_over(self, new: dict[str, int], wait: float = _FIRST_WAIT) -> None:
        self._warm.wait()  # whoever asks first does not wait for it
        # Whatever it was may be over soon; if not, somebody may mend it.
        while self._is_unfinished(new, wait) and not self._ended.wait(wait):
            wait = min(2 * wait, _LONGEST_WAIT)

    def _try_again(self, desk: Desk) -> None:
        """Load a model that could not be loaded when it was first asked, as soon as it can be."""
        name, dataset = desk.model.name, desk.model.dataset
        with self._loading:
            found = self._shelf.found(name)
            if found is None or found.desk is not desk:
                return
            self._shelf.add(Published(name, dataset))
        desk.close()
        token = self.database.led.get(dataset)
        if token is not None:
            self._take_over({dataset: token}, 2 * _FIRST_WAIT)

    def _is_unfinished(self, new: dict[str, int], wait: float) -> bool:
        """Go on with what was just taken; whether some is to be tried again after some seconds."""
        try:
            is_missing = self._load_published(new, wait)
            with self._lock:
                if self._ended.is_set():
                    return False
                self._ready.set()
            for name, token in new.items():
                if self.database.led.get(name) == token:
                    self.jobs.resume(name)
        except (LedgerError, OSError) as error:  # while the lease is kept, nobody else takes it
            LOG.error("what was taken over is tried again", why=words_of(error))
            return True
        return is_missing

    def _load_published(self, new: dict[str, int], wait: float) -> bool:
        """Look at what is published and not there; whether some is to be tried after some seconds.

        Whatever could not be read before is loaded as a whole.
        """
        with self._lock:
            # A process that stops loads nothing: sessions of its last answers would be resumed.
            still = {} if self._ended.is_set() else new
            led = {name for name, token in still.items() if self.database.led.get(name) == token}
        published = {n: d for n, d in self.catalog.published().items() if d in led}
        for name, dataset in published.items():
            self._shelf.add(Published(name, dataset), anew=False)
        missing = [each for each in self._shelf.missing() if each.dataset in led]
        charged = {
            dataset: charges_by_session(self.catalog.ledger(dataset))
            for dataset in {each.dataset for each in missing}
            if wait <= _FIRST_WAIT
        }
        for each in missing:
            try:
                with self._loading:
                    if self._shelf.found(each.name) is each:  # and was not withdrawn meanwhile
                        self.load(each.name, charged.get(each.dataset))
            except FencedError:
                break
            except Exception as error:  # noqa: BLE001 - the others go on
                why, name = words_of(error), each.name
                LOG.error("a model could not be loaded", model=name, why=why, again_after=wait)
        return any(self._shelf.found(each.name) is each for each in missing)

    def _leave(self, datasets: list[str]) -> None:
        """Answer what waits for models of some data sets, and nothing more."""
        for each in self._shelf.all():
            if each.dataset in datasets:
                self._shelf.close(each.name)
