"""What the curator can ask of the coordinator."""

from __future__ import annotations

import functools
import threading
from array import array
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, final

import prometheus_client as prometheus

from pacsklearn.upkeep.verification import verify_ledger
from pacsklearn_service.server.answering.catalog import checked_name
from pacsklearn_service.server.answering.coordinator import Coordinator
from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.recipe import Recipe
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.store.api_keys import ApiKeys
from pacsklearn_service.server.store.audit_log import AuditLog
from pacsklearn_service.server.store.members import Members
from pacsklearn_service.server.store.quotas import Quotas

Operation = Callable[..., Any]
Facts = dict[str, Any]


def _audited(action: str, what: str) -> Callable[[Operation], Operation]:
    """Run the operation; its end, and how it came, go into the audit log.

    Parameters
    ----------
    action, what : str
        Formats of the facts that it is called with.
    """

    def decorated(operation: Operation) -> Operation:
        @functools.wraps(operation)
        def run(self: Curating, curator: Caller, **facts: Any) -> Any:
            outcome = "done"
            try:
                return operation(self, curator, **facts)
            except BaseException as error:
                outcome = f"refused ({type(error).__name__})"
                raise
            finally:
                done = action.format(**facts) + ", overcommit" * facts.get("overcommit", False)
                who = f"{curator.user} {curator.key}".strip()
                with self._writing_lines:
                    self._lines.append((who, done, what.format(**facts), outcome))
                    with self.database.writing() as connection:
                        for line in self._lines:
                            AuditLog(connection).add(*line)
                    self._lines.clear()

        return run

    return decorated


@final
class Curating:
    """Operations of the curator's plane.

    Parameters
    ----------
    coordinator : Coordinator
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._catalog, self.database = coordinator.catalog, coordinator.database
        # The last row of each data set's ledger that was read, and the sums of charges up to it.
        self._burnt: dict[str, tuple[int, array[float]]] = {}
        self._burning = threading.Lock()
        # Of the audit log, which the database did not take: written with the next one.
        self._lines: list[tuple[str, str, str, str]] = []
        self._writing_lines = threading.Lock()

    def curator_datasets(self, curator: Caller) -> Any:
        return self._catalog.datasets()

    def curator_dataset(self, curator: Caller, dataset: str) -> Any:
        return self._catalog.dataset(dataset)

    @_audited("register data set", "{name}")
    def curator_add_dataset(
        self, curator: Caller, *, signature: Any, content: bytes, **facts: Any
    ) -> Facts:
        columns = Signature.from_facts(signature).unpacked(content)
        return self._catalog.add_dataset(columns=columns, **facts)

    @_audited("delete data set", "{dataset}")
    def curator_delete_dataset(self, curator: Caller, *, dataset: str) -> Facts:
        self._catalog.dataset(dataset)
        self._coordinator.token(dataset)
        with self.database.leaving(dataset) as connection:
            if connection.ask("SELECT name FROM service_models WHERE dataset = ?", dataset):
                raise Problem(
                    "conflict", f"The data set {dataset!r} has models; delete them first."
                )
            connection.delete("service_datasets", name=dataset)
            for table in ("accounts", "leases"):
                connection.delete(f"service_{table}", dataset=dataset)
        return {"name": dataset}

    def curator_quotas(self, curator: Caller, dataset: str) -> Any:
        self._catalog.dataset(dataset)
        with self.database.reading() as connection:
            return [
                {name: getattr(each, name) for name in ("kind", "name", "ceiling", "remaining")}
                | {"spent": float(each.spent)}
                for each in Quotas(connection, dataset).all()
            ]

    @_audited("set quota", "{dataset}/{kind}/{name}")
    def curator_set_quota(
        self, curator: Caller, *, dataset: str, kind: str, name: str, **facts: Any
    ) -> Facts:
        self._catalog.dataset(dataset)
        with (
            self._coordinator.at_rest(dataset) as budgets,
            self.database.writing(dataset) as connection,
        ):
            Members(connection).need(kind, name)
            quotas = Quotas(connection, dataset)
            quota = quotas.set_ceiling(kind, name, facts["ceiling"])
            if not facts["overcommit"]:
                quotas.check_covered(budgets)
            return {"ceiling": quota.ceiling, "remaining": quota.remaining}

    @_audited("delete quota", "{dataset}/{kind}/{name}")
    def curator_delete_quota(self, curator: Caller, *, dataset: str, kind: str, name: str) -> Facts:
        self._catalog.dataset(dataset)
        # What was debited is charged, or given back, before the account is gone.
        with self._coordinator.at_rest(dataset), self.database.writing(dataset) as connection:
            if not connection.delete("service_accounts", dataset=dataset, kind=kind, name=name):
                raise Problem("not-found", f"This {kind} has no quota for the data set.")
        return {"name": name}

    def curator_members(self, curator: Caller, kind: str) -> Any:
        with self.database.reading() as connection:
            return Members(connection).all(kind)

    @_audited("add {kind}", "{name}")
    def curator_add_member(self, curator: Caller, *, kind: str, name: str, note: str) -> Facts:
        checked_name(name, kind)
        with self.database.writing() as connection:
            return Members(connection).add(kind, name, {"note": note})

    @_audited("delete {kind}", "{name}")
    def curator_delete_member(self, curator: Caller, *, kind: str, name: str) -> Facts:
        with ExitStack() as stack:
            led = self.database.led
            for each in led:
                stack.enter_context(self._coordinator.at_rest(each))
            connection = stack.enter_context(self.database.writing())
            # First, and locked: nobody gets a quota any more.
            if not connection.delete("service_users", kind=kind, name=name):
                raise Problem("not-found", f"There is no {kind} of this name.")
            question = "SELECT DISTINCT dataset FROM service_accounts WHERE kind = ? AND name = ?"
            others = {each["dataset"] for each in connection.ask(question, kind, name)} - led.keys()
            if others:
                raise Problem(
                    "conflict",
                    f"This {kind} has quotas for {', '.join(sorted(others))}, which another "
                    "coordinator leads; delete those first.",
                )
            connection.delete("service_accounts", kind=kind, name=name)
            if kind == "user":
                ApiKeys(connection, self._coordinator.vault).delete(name)
                for table in ("paid", "requests", "jobs"):
                    connection.delete(f"service_{table}", user=name)
        self._coordinator.callers.forget()
        return {"name": name}

    def curator_keys(self, curator: Caller) -> Any:
        with self.database.reading() as connection:
            return ApiKeys(connection, self._coordinator.vault).all()

    @_audited("issue key", "{user}")
    def curator_issue_key(
        self, curator: Caller, *, user: str, project: str | None, scopes: list[str], days: float
    ) -> Facts:
        with self.database.writing() as connection:
            members = Members(connection)
            members.need("user", user)
            if project is not None:
                members.need("project", project)
            return ApiKeys(connection, self._coordinator.vault).issue(user, project, scopes, days)

    @_audited("rotate key", "{key}")
    def curator_rotate_key(self, curator: Caller, *, key: str, days: float, grace: float) -> Facts:
        with self.database.writing() as connection:
            made = ApiKeys(connection, self._coordinator.vault).rotate(key, days, grace)
        self._coordinator.callers.forget()
        return made

    @_audited("revoke key", "{key}")
    def curator_revoke_key(self, curator: Caller, *, key: str) -> Facts:
        with self.database.writing() as connection:
            ApiKeys(connection, self._coordinator.vault).revoke(key)
        self._coordinator.callers.forget()
        return {"name": key}

    def curator_all_models(self, curator: Caller, model: str | None = None) -> Any:
        catalog = self._catalog
        return self._shown(catalog.models() if model is None else [catalog.model(model)])

    def curator_listed_models(self, curator: Caller, dataset: str | None = None) -> Any:
        return self._shown(self._catalog.listed(dataset))

    def _shown(self, models: list[Facts]) -> list[Facts]:
        """Return the models, each with the rows that it can still bear; None where it is not."""
        answering = {each.name: each for each in self._coordinator.answering()}
        led = {each["dataset"] for each in models} & self.database.led.keys()
        left = {name: self._catalog.ledger(name).remaining for name in led}
        for each in models:
            hosted = answering.get(each["name"])
            each["rows_left"] = hosted and hosted.rows_left(left.get(each["dataset"], 0.0))
            each["is_led_here"] = each["dataset"] in led
        return models

    @_audited("fit", "{recipe[name]}")
    def curator_fit(self, curator: Caller, *, recipe: Facts) -> Facts:
        stated = Recipe(**recipe)
        self._catalog.dataset(stated.dataset)
        self._coordinator.token(stated.dataset)
        stated.check_new()
        return self._coordinator.jobs.fit(curator, stated)

    @_audited("publish", "{model}")
    def curator_publish(self, curator: Caller, *, model: str, overcommit: bool) -> Facts:
        coordinator = self._coordinator
        if model in coordinator.jobs.busy:
            raise Problem("conflict", f"The model {model!r} is being fitted; wait for its job.")
        is_new = coordinator.load(model)
        try:
            if is_new and not overcommit:
                dataset = coordinator.hosted(_version(model)).dataset
                with coordinator.at_rest(dataset) as budgets, self.database.reading() as connection:
                    Quotas(connection, dataset).check_covered(budgets)
            self._catalog.mark(model, "published")
            if is_new:
                coordinator.hosted(_version(model)).rest()
        except BaseException:
            if is_new:
                coordinator.unload(model)
            raise
        return {"name": model, "status": "published"}

    @_audited("withdraw", "{model}")
    def curator_withdraw(self, curator: Caller, *, model: str) -> Facts:
        self._coordinator.token(self._catalog.model(model)["dataset"])
        self._catalog.mark(model, "withdrawn")
        self._coordinator.unload(model)
        return {"name": model, "status": "withdrawn"}

    @_audited("delete model", "{model}")
    def curator_delete_model(self, curator: Caller, *, model: str) -> Facts:
        dataset = self._catalog.model(model)["dataset"]
        self._coordinator.token(dataset)
        with self.database.writing(dataset) as connection:
            if connection.delete("service_models", name=model, status="published"):
                raise Problem("conflict", f"The model {model!r} is published; withdraw it first.")
            connection.delete("service_models", name=model)
            for table in ("progress", "answers", "paid", "requests"):
                connection.delete(f"service_{table}", model=model)
        return {"name": model}

    def curator_guarantee(self, curator: Caller, model: str) -> Any:
        return self._coordinator.hosted(_version(model)).guarantee().to_dict()

    @_audited("verify", "{dataset}")
    def curator_verify(self, curator: Caller, *, dataset: str) -> Facts:
        self._catalog.dataset(dataset)
        position = verify_ledger(self._catalog.ledger(dataset))
        with self.database.reading() as connection:
            is_whole = AuditLog(connection).first_wrong() is None
        told = {"dataset": dataset, "rows": position.sequence, "position": str(position)}
        return told | {"audit_log_is_whole": is_whole}

    def curator_ledger(self, curator: Caller, dataset: str, after: int, limit: int) -> Any:
        """Return what was charged after a row, for a burn-down: time is the ledger's own."""
        self._catalog.dataset(dataset)
        ledger = self._catalog.ledger(dataset)
        figures = {"ceiling": ledger.ceiling, "spent": ledger.spent, "after": after}
        events = [
            {"row": row, "kind": each.kind, "charge": each.charge, "rows": each.n_noisy}
            for row, each in ledger.charges(after, limit)
        ]
        return figures | {"events": events}

    def curator_burn_down(self, curator: Caller, dataset: str, most: int) -> Any:
        """Return what was left after every charge, or after every so many where there are more."""
        self._catalog.dataset(dataset)
        ledger = self._catalog.ledger(dataset)
        with self._burning:
            last, spent = self._burnt.get(dataset, (0, array("d", [0.0])))
            # Rows are never taken back: those that were read once are not read again.
            for row, event in ledger.charges(last):
                spent.append(spent[-1] + event.charge)
                self._burnt[dataset] = row, spent
            shown = range(0, len(spent) - 1, -(-len(spent) // most))
            points = [(k, ledger.ceiling - spent[k]) for k in shown]
            points.append((len(spent) - 1, ledger.remaining))
            return {"ceiling": ledger.ceiling, "points": points}

    def curator_price(self, curator: Caller, model: str, user: str, content: bytes) -> Facts:
        """Return the most that a batch can cost a user, who is not told."""
        caller = Caller(user, None, frozenset({"ask"}))
        model = _version(model)
        ask = self._coordinator.ask(caller, model, content, dry_run=True)
        (told,) = self._coordinator.hosted(model).answer([ask])
        if isinstance(told, Exception):
            raise told
        return told

    def curator_audit(self, curator: Caller, after: int, limit: int) -> Any:
        with self.database.reading() as connection:
            return AuditLog(connection).lines(after=after, limit=limit)

    def curator_metrics(self, curator: Caller) -> str:
        return prometheus.generate_latest(self._coordinator.metrics.registry).decode()


def _version(model: str) -> str:
    """Return the name of the version that a curator means: the first one, not the newest."""
    return model if "@" in model else f"{model}@1"
