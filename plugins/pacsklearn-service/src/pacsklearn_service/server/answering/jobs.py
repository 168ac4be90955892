"""Work that outlasts a request: fits, and long batches in parts that a restart does not lose."""

from __future__ import annotations

import json
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, final

from pacsklearn.exceptions import LedgerError
from pacsklearn_service.server.caller import Ask, Caller
from pacsklearn_service.server.problem import Problem, problem_of, words_of
from pacsklearn_service.server.recipe import Recipe, versioned

if TYPE_CHECKING:
    from pacsklearn_service.server.answering.coordinator import Coordinator

_PART: Final = 500
_SECONDS: Final = 600.0
_PAUSE: Final = 5.0
_OPEN: Final = ("queued", "running")
_LATER: Final = ("unavailable", "elsewhere", "in-progress")
_FORGOTTEN: Final = (
    "The model that answered the job was deleted, and its answers with it. Delete the job, and ask "
    "the model that has its name now."
)


@final
class Jobs:
    """Jobs of one coordinator.

    Parameters
    ----------
    coordinator : Coordinator

    Attributes
    ----------
    busy : dict of str to str
        Data sets, by the names of models that are being fitted and of jobs that are at work here.

    Notes
    -----
    A long batch is asked in parts, each a request of its own; the rows that were paid for are free
    when it is asked again, so after a crash the job begins anew and pays only for the rest. Each
    part has an idempotency key, under which whoever takes over finds what the part has cost. The
    job's answers are read from what is stored.
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator, self._database = coordinator, coordinator.database
        self._settings = coordinator.settings
        self._fits = ThreadPoolExecutor(1, "fit")
        self._batches = ThreadPoolExecutor(4, "job")
        self.busy: dict[str, str] = {}
        # Held from when a job can be found to when it is busy: nothing is begun twice.
        self._beginning = threading.RLock()
        # Data sets of jobs that were broken off: the database was away, or full.
        self._broken_off: set[str] = set()
        self._again_at = 0.0

    def fit(self, curator: Caller, stated: Recipe) -> dict[str, Any]:
        """Begin to fit a model."""
        with self._beginning:
            if stated.key in self.busy:
                raise Problem("conflict", f"The model {stated.key!r} is being fitted.")
            # Now: a fit of the same name that has just ended is there, and no longer busy.
            self._coordinator.catalog.check_new(stated)
            id_ = self._add("fit", curator, stated.dataset, 3, b"")
            self.busy[stated.key] = stated.dataset
        self._fits.submit(self._run_fit, id_, stated)
        return self.known_job(curator, id_)

    def answer(self, ask: Ask, model: str, rows: bytes) -> dict[str, Any]:
        """Begin to answer a long batch."""
        hosted = self._coordinator.hosted(model)
        # By its version: of a newer one the answers would be others, and cost something.
        model, dataset = "{}@{}".format(*versioned(hosted.name)), hosted.dataset
        facts = json.dumps({"model": model, "max_charge": ask.max_charge}).encode()
        with self._beginning:  # of jobs that are begun at once each counts those before it
            self._check_room(ask.caller.user, len(rows))
            id_ = self._add("answers", ask.caller, dataset, ask.n_rows, facts + b"\n" + rows)
        self._batches.submit(self._run_answers, id_, dataset, model, ask)
        return self.known_job(ask.caller, id_)

    def known_job(self, caller: Caller, job: str) -> dict[str, Any]:
        """Return how far a job of the caller is."""
        row = self._row(caller, job)
        status, _, detail = row["status"].partition(": ")
        return {
            "id": job,
            "kind": row["kind"],
            "status": status,
            "done": row["done"],
            "total": row["total"],
            **({"detail": detail} if detail else {}),
        }

    def known_job_result(self, caller: Caller, job: str) -> dict[str, Any]:
        """Return the answers of a finished job."""
        row = self._row(caller, job)
        if row["kind"] != "answers" or row["status"] != "done":
            raise Problem("conflict", "The job has no answers yet.", status_of_job=row["status"])
        model, ask = self._stored(caller, job, row["content"])
        # All of it was paid for: only of another model, fitted under the name since, it is not.
        parts = _parts(replace(ask, max_charge=0.0))
        try:
            replies = [self._coordinator.infer(model, part).result(_SECONDS) for part in parts]
        except Problem as problem:
            gone = problem.kind == "price-too-high"
            raise (Problem("not-found", _FORGOTTEN) if gone else problem) from None
        outputs = {
            name: [value for each in replies for value in each["outputs"][name]]
            for name in replies[0]["outputs"]
        }
        return {"outputs": outputs}

    def known_delete_job(self, caller: Caller, job: str) -> dict[str, Any]:
        """Forget a job that has ended; what it was answered stays free for who paid."""
        if self._row(caller, job)["status"] in _OPEN:
            raise Problem("conflict", "The job has not ended yet.")
        with self._database.writing() as connection:
            connection.delete("service_jobs", id=job)
        return {"id": job}

    def forget_old(self) -> None:
        """Delete jobs that ended long ago."""
        with self._database.writing() as connection:
            connection.change(
                "DELETE FROM service_jobs WHERE status NOT IN (?, ?) AND created < ?",
                *_OPEN,
                time.time() - self._settings.keep_jobs,
            )

    def resume(self, dataset: str) -> None:
        """Go on with what was begun for a data set, and is not at work here."""
        question = "SELECT * FROM service_jobs WHERE dataset = ? AND status IN (?, ?)"
        with self._beginning:
            busy = {*self.busy}  # before it is read: what ends in between is not gone on with
            with self._database.reading() as connection:
                rows = connection.ask(question, dataset, *_OPEN)
            found = [row for row in rows if row["id"] not in busy]
            self.busy |= {row["id"]: dataset for row in found}
        for row in found:
            owner, id_ = Caller(row["user"], row["project"], frozenset({"ask"})), row["id"]
            try:
                if row["kind"] == "fit":
                    raise Problem("conflict", "The fit was broken off; fit again.")
                model, ask = self._stored(owner, id_, row["content"])
            except Exception as error:  # noqa: BLE001 - the others go on
                self._end(id_, dataset, problem_of(error), 0)
                continue
            self._batches.submit(self._run_answers, id_, dataset, model, ask)

    def go_on(self) -> None:
        """Go on with what was broken off, now that the database can be used."""
        if time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + _PAUSE
            for dataset in [each for each in self._broken_off if each in self._database.led]:
                self._broken_off.discard(dataset)
                try:
                    self.resume(dataset)
                except LedgerError:
                    self._broken_off.add(dataset)

    def close(self) -> None:
        """Begin nothing more."""
        self._fits.shutdown(wait=False, cancel_futures=True)
        self._batches.shutdown(wait=False, cancel_futures=True)

    def _run_fit(self, id_: str, stated: Recipe) -> None:
        dataset, error = stated.dataset, None
        try:
            self._coordinator.catalog.fit(stated, partial(self._update, id_, dataset, "running"))
        except Exception as caught:  # noqa: BLE001 - the curator reads how it ended
            error = Problem("defect", words_of(caught))
        finally:
            self.busy.pop(stated.key, None)
        self._end(id_, dataset, error, 0 if error else 3)

    def _run_answers(self, id_: str, dataset: str, model: str, ask: Ask) -> None:
        done, left, ended = 0, ask.max_charge, None
        try:
            for part in _parts(ask):
                # The reply with its charge is stored under the key, in one transaction: nothing
                # that another process paid for this job is left out of what it may still pay.
                allowed = replace(part, key=f"{id_}/{done}", max_charge=left)
                reply = self._coordinator.infer(model, allowed).result(_SECONDS)
                done += part.n_rows
                left = None if left is None else left - reply["charged"]
                self._update(id_, dataset, "running", done)
        except Exception as error:  # noqa: BLE001 - the caller reads how it ended
            ended = problem_of(error)
            if done:  # where it says that nothing was charged, that is of the rest
                ended.detail = f"The first {done} rows are answered; the others are not: " + (
                    ended.detail
                )
        self._end(id_, dataset, ended, done)

    def _end(self, id_: str, dataset: str, problem: Problem | None, done: int) -> None:
        """Write how a job has ended; one that was broken off goes on, here or with who leads."""
        status = "done" if problem is None else f"failed: {problem.detail}"
        try:
            if problem is not None and problem.kind in _LATER:
                self._broken_off.add(dataset)
            else:
                self._update(id_, dataset, status, done)
        except LedgerError:
            self._broken_off.add(dataset)
        self.busy.pop(id_, None)

    def _check_room(self, user: str, size: int) -> None:
        question = (
            "SELECT count(*) AS number, coalesce(sum(length(content)), 0) AS size "
            "FROM service_jobs WHERE kind = 'answers' AND \"user\" = ?"
        )
        with self._database.reading() as connection:
            (kept,) = connection.ask(question, user)
        most, most_bytes = self._settings.most_jobs, self._settings.most_job_bytes
        if kept["number"] >= most or kept["size"] + size > most_bytes:
            raise Problem(
                "too-many-requests",
                f"A user has at most {most} jobs, of {most_bytes} bytes together; delete one "
                "that has ended.",
                retry_after=60,
            )

    def _stored(self, caller: Caller, id_: str, content: bytes) -> tuple[str, Ask]:
        text, _, rows = self._coordinator.vault.open(content, f"job/{id_}").partition(b"\n")
        facts = json.loads(text)
        columns = self._coordinator.hosted(facts["model"]).signature.unpacked(rows)
        return facts["model"], Ask(caller, columns, max_charge=facts["max_charge"])

    def _add(self, kind: str, caller: Caller, dataset: str, total: int, content: bytes) -> str:
        id_ = secrets.token_hex(16)
        with self._beginning:
            with self._database.writing(dataset) as connection:
                connection.insert(
                    "service_jobs",
                    id=id_,
                    kind=kind,
                    dataset=dataset,
                    user=caller.user,
                    project=caller.project,
                    status="queued",
                    done=0,
                    total=total,
                    content=self._coordinator.vault.seal(content, f"job/{id_}"),
                    created=time.time(),
                )
            self.busy[id_] = dataset
        return id_

    def _row(self, caller: Caller, id_: str) -> dict[str, Any]:
        with self._database.reading() as connection:
            rows = connection.rows("service_jobs", id=id_)
        # The same for another's job: a name that exists is not to be told from one that does not.
        if not rows or rows[0]["user"] != caller.user:
            raise Problem("not-found", "You have no job of this name.")
        return rows[0]

    def _update(self, id_: str, dataset: str, status: str, done: int) -> None:
        with self._database.writing(dataset) as connection:
            connection.update("service_jobs", {"status": status, "done": done}, id=id_)


def _parts(ask: Ask) -> list[Ask]:
    return [
        replace(ask, columns=ask.part(slice(at, at + _PART))) for at in range(0, ask.n_rows, _PART)
    ]
