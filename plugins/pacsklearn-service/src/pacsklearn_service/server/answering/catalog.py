"""Data sets and models as the curator registers them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.estimators.plain_document import read_document, write_document
from pacsklearn.estimators.privacy_session import PrivacySession
from pacsklearn.estimators.session_document import state_document
from pacsklearn.estimators.session_state import SessionState
from pacsklearn.estimators.subsets import design_of
from pacsklearn.exceptions import LedgerError
from pacsklearn.kernel.budget.nats import Nats
from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.kernel.ledger.book import time_text
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger
from pacsklearn.universe.open_ledger import open_ledger
from pacsklearn.universe.stated_budget import equivalent_nats
from pacsklearn_service.server.problem import Problem, taken
from pacsklearn_service.server.recipe import NAME, Recipe, versioned
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.store.audit_log import AuditLog
from pacsklearn_service.server.store.database import ServiceDatabase
from pacsklearn_service.server.vault import Vault


def checked_name(name: Any, what: str) -> str:
    """Return the name that is safe in an address, a log and a file."""
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise Problem(
            "invalid",
            f"The name of a {what} must be 1 to 63 small letters, digits, dots, dashes or "
            "underscores, the first one a letter or a digit.",
        )
    return name


@final
class Catalog:
    """What the curator has registered.

    Parameters
    ----------
    database : ServiceDatabase
    vault : Vault
    high_water : Path
        Folder of the files that state where the ledgers end.
    """

    def __init__(self, database: ServiceDatabase, vault: Vault, high_water: Path) -> None:
        self._database, self._vault, self._high_water = database, vault, high_water

    def add_dataset(
        self, name: str, columns: dict[str, NDArray[Any]], target: str, ceiling: float
    ) -> dict[str, Any]:
        """Register a table, sealed, and found its ledger with a ceiling that is never changed."""
        checked_name(name, "data set")
        if target not in columns:
            raise Problem("invalid", "target must name a column of the table.")
        if self.datasets(name):
            raise taken("data set", name)
        signature = Signature.of({n: c for n, c in columns.items() if n != target})
        facts = {"target": target, "signature": signature.facts(), "rows": len(columns[target])}
        content = io.BytesIO()
        write_document(content, columns)
        sealed = self._vault.seal(content.getvalue(), f"dataset/{name}")
        self._make_ledger(name, ceiling)
        with self._database.founding(name) as connection:
            connection.insert(
                "service_datasets",
                name=name,
                facts=json.dumps(facts),
                rows=sealed,
                created=time_text(),
            )
        return self.datasets(name)[0]

    def _make_ledger(self, name: str, ceiling: float) -> None:
        """Found a ledger; one that was founded for a data set that was never stored will do."""
        self._high_water.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark = self._high_water / f"{name}.high-water"
        try:
            SharedLedger.found(self._database.address, ceiling, dataset=name, high_water=str(mark))
        except LedgerError as error:
            why = f"The ledger of a data set {name!r} that was deleted stays; give another name."
            try:
                ledger = self.ledger(name)
                is_same = ledger.ceiling == ceiling and not ledger.events
            except LedgerError:  # the file of a database that was lost, say
                is_same, why = False, str(error)
            if not is_same:
                raise Problem("conflict", why) from None

    def datasets(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return the facts and the state of the ledger of one data set, or of all."""
        states = []
        for row in self._rows("name, facts, created FROM service_datasets", name):
            ledger = self.ledger(row["name"])
            figures = ("ceiling", "spent", "remaining")
            states.append(row | {each: getattr(ledger, each) for each in figures})
        return states

    def dataset(self, name: str) -> dict[str, Any]:
        """Return the facts of a data set, which must be there."""
        return _one(self.datasets(name), "data set", name)

    def ledger(self, dataset: str) -> Any:
        """Return the ledger of a data set."""
        return open_ledger(self._database.address, ceiling=None, dataset=dataset)

    def fit(self, stated: Recipe, report: Callable[[int], None]) -> None:
        """Fit the candidates of a model and store its session, sealed; not published yet."""
        dataset = stated.dataset
        found = self._rows("facts, rows AS sealed FROM service_datasets", dataset)
        facts = _one(found, "data set", dataset)
        content = self._vault.open(facts["sealed"], f"dataset/{dataset}")
        columns: dict[str, NDArray[Any]] = read_document(io.BytesIO(content))
        y, signature = columns.pop(facts["target"]), Signature.from_facts(facts["signature"])
        if y.dtype == object:
            y = y.astype(str)
        X = signature.rows(signature.checked(columns, most=len(y)))
        space: Any = design_of(stated.subsets(), None, None).space(X, y)
        # Answers add up in nats: those that imply the success of the attack that is capped.
        nats = Nats(equivalent_nats(stated.stated_budget(), space))
        session = PrivacySession(X, y, budget=nats, secret=space, ledger=self.ledger(dataset))
        report(1)
        self._keep_session(stated, session, signature, report)

    def add_session(self, state: SessionState, recipe: dict[str, Any]) -> str:
        """Host a session that was opened in Python on a ledger of this service.

        Returns
        -------
        str
            Key of the model.

        Raises
        ------
        SessionRolledBackError
            When it was opened on another ledger, or has gone on elsewhere.
        """
        stated = Recipe(**recipe | {"budget": state.ceiling})
        stated.check_new()
        self.check_new(stated)
        state = self._rehearsed(state, stated)
        session = PrivacySession.resume(state, ledger=self.ledger(stated.dataset))
        X = state.X
        named = X.items() if hasattr(X, "columns") else ((f"x{i}", x) for i, x in enumerate(X.T))
        table = {str(name): np.asarray(column) for name, column in named}
        self._keep_session(stated, session, Signature.of(table), lambda _: None)
        return stated.key

    def _rehearsed(self, state: SessionState, stated: Recipe) -> SessionState:
        """Return the state with its models fitted; once resumed, a refused recipe would cost it."""
        with TemporaryDirectory() as folder:
            place = f"sqlite:///{folder}/rehearsal.db"
            ledger = SharedLedger.found(place, state.ceiling, dataset=stated.dataset)
            session = PrivacySession.resume(replace(state, position=ledger.position), ledger=ledger)
            stated.responder(session)
            fitted = session.state()
            session.close()
        return replace(state, models=fitted.models, responders=fitted.responders)

    def add_bundle(self, bundle: Any, stated: Recipe) -> str:
        """Host the model of a bundle whose signature was checked; its answers are free.

        Returns
        -------
        str
            Key of the model.
        """
        self.check_new(stated)
        inputs = bundle.inputs
        fields, classes = inputs["columns"]["fields"], inputs.get("classes")
        answers = "values" if classes is None else "labels"
        if "predict_proba" in inputs["methods"]:
            answers = "probabilities"
        bundle.model()  # or says what is wrong with it
        facts = {
            "recipe": stated.model_dump(),
            "released": True,
            "signature": [{"name": each["name"], "kind": _kind(each)} for each in fields],
            "answers": answers,
            "classes": classes,
            "width": 1 if classes is None else len(classes),
            "step_budget": 0.0,
            "guarantee": bundle.guarantee.to_dict(),
        }
        self._insert(stated, facts, bundle.read("model.skops"))
        return stated.key

    def check_new(self, stated: Recipe) -> None:
        """Refuse a model that is there, or whose other versions are of another data set.

        Raises
        ------
        Problem
        """
        self.dataset(stated.dataset)
        for each in self._rows("name, dataset FROM service_models", None):
            if each["name"] == stated.key:
                raise taken("model", stated.key)
            # Who asks for the newest is sent to the one coordinator that leads all versions.
            if versioned(each["name"])[0] == stated.name and each["dataset"] != stated.dataset:
                raise Problem("conflict", "All versions of a model must have the same dataset.")

    def _keep_session(
        self,
        stated: Recipe,
        session: PrivacySession,
        signature: Signature,
        report: Callable[[int], None],
    ) -> None:
        responder, recipe = stated.responder(session), stated.model_dump(exclude_none=True)
        report(2)
        kind = responder.kind
        classes = None if kind.classes is None else np.asarray(kind.classes).tolist()
        # Before any answer: what is told to callers must not say how much others have asked.
        guarantee = responder.guarantee_.to_dict() | {"ledger_head": ""}
        # After the responder: whoever loads the state finds its models fitted.
        state = io.BytesIO()
        document = state_document(session.state(), models=True)
        write_document(state, {"session": document, "recipe": recipe})
        # The state goes on in another process: one of the two would be refused by the ledger.
        session.close()
        model = {
            "recipe": recipe,
            "released": False,
            "signature": signature.facts(),
            "answers": kind.answers,
            "classes": classes,
            "width": kind.width,
            "step_budget": responder.step_budget,
            "guarantee": guarantee,
        }
        self._insert(stated, model, state.getvalue())

    def _insert(self, stated: Recipe, facts: dict[str, Any], state: bytes) -> None:
        key, database = stated.key, self._database
        # Also at the machine's console, where another process leads the data set.
        is_at_console = not database.is_held
        with database.writing("" if is_at_console else stated.dataset) as connection:
            if connection.ask("SELECT name FROM service_models WHERE name = ?", key):
                raise taken("model", key)
            connection.insert(
                "service_models",
                name=key,
                dataset=stated.dataset,
                status="fitted",
                facts=json.dumps(facts),
                state=self._vault.seal(state, f"model/{key}"),
                created=time_text(),
            )
            connection.insert("service_progress", model=key)
            if is_at_console:
                AuditLog(connection).add("the machine's console", "add model", key)

    def models(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return the facts of one model, or of all."""
        return self._rows("name, dataset, status, facts, created FROM service_models", name)

    def listed(self, dataset: str | None = None) -> list[dict[str, Any]]:
        """Return what a list shows of the models, of one data set or of all."""
        # Without times: in a row they stand behind the session, all of which would be read.
        models = self._rows("name, dataset, status, facts FROM service_models", dataset, "dataset")
        for each in models:
            del each["guarantee"]
        return models

    def model(self, name: str) -> dict[str, Any]:
        """Return the facts of a model, which must be there."""
        return _one(self.models(name), "model", name)

    def published(self) -> dict[str, str]:
        """Return the data sets of the published models, by name."""
        rows = self._rows("name, dataset, status FROM service_models", None)
        return {row["name"]: row["dataset"] for row in rows if row["status"] == "published"}

    def for_release(self, name: str) -> dict[str, Any]:
        """Return the facts of a model, whose guarantee's status lets callers ask it.

        Raises
        ------
        Problem
        """
        facts = self.model(name)
        status = Guarantee.from_dict(facts["guarantee"]).status
        if not status.for_release:
            raise Problem("conflict", f"The model {name!r} must not be published. {status}.")
        return facts

    def mark(self, name: str, status: str) -> None:
        """Let callers ask a model, where the status of its guarantee allows it, or nobody.

        Parameters
        ----------
        name : str
        status : {"published", "withdrawn"}

        Raises
        ------
        Problem
        """
        facts = self.for_release(name) if status == "published" else self.model(name)
        with self._database.writing(facts["dataset"]) as connection:
            if not connection.update("service_models", {"status": status}, name=name):
                raise Problem("not-found", f"There is no model {name!r}.")

    def _rows(self, columns: str, name: str | None, of: str = "name") -> list[dict[str, Any]]:
        """Return columns of the rows of one name, or of all; facts as what they hold."""
        only = () if name is None else (name,)
        which = f"WHERE {of} = ? " * len(only)
        with self._database.reading() as connection:
            rows = connection.ask(f"SELECT {columns} {which}ORDER BY name", *only)
        return [row | json.loads(row.pop("facts", "{}")) for row in rows]


def _kind(field: dict[str, Any]) -> str:
    """Return the kind of a bundle's column; of a boolean it is that of what stands for yes."""
    if field["type"] == "boolean":
        said = type(field.get("trueValues", [True])[0])
        return {bool: "boolean", int: "integer", float: "number"}.get(said, "text")
    return field["type"] if field["type"] in ("number", "integer") else "text"


def _one(found: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    if not found:
        raise Problem("not-found", f"There is no {kind} {name!r}.")
    return found[0]
