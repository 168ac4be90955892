"""What callers and the curator can ask of the coordinator, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from itertools import accumulate
from typing import Any, Final, final

import prometheus_client as prometheus

from pacsklearn_service.server.answering.catalog import checked_name
from pacsklearn_service.server.answering.coordinator import Coordinator
from pacsklearn_service.server.answering.jobs import Jobs
from pacsklearn_service.server.caller import Ask, Caller
from pacsklearn_service.server.link import Operation
from pacsklearn_service.server.model_card import model_card
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.store.api_keys import ApiKeys
from pacsklearn_service.server.store.audit_log import AuditLog
from pacsklearn_service.server.store.connection import Connection
from pacsklearn_service.server.store.members import Members
from pacsklearn_service.server.store.quotas import Quotas

_LONGEST_KEY: Final = 3660.0
Facts = dict[str, Any]


@final
class Operations:
    """What may be asked, and by whom.

    A worker may have been taken over, so it sends the key or token that it was shown, and both
    identity and scope are checked here. A method's first word says who may ask: anybody, whoever is
    known, who has the scope ``ask`` or the scope ``curate``.

    Parameters
    ----------
    coordinator : Coordinator
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator, self._database = coordinator, coordinator.database
        self.jobs = Jobs(coordinator)

    def __call__(self, what: str) -> Operation:
        """Operation of a name."""
        for who, checked in _RIGHTS.items():
            operation = getattr(self, f"{who}_{what}", None)
            if operation is not None:
                return lambda shown, facts, content: operation(
                    checked(None if shown is None else self._coordinator.callers.find(shown)),
                    facts,
                    content,
                )
        raise Problem("not-found", "There is no such operation.")

    # The planes of callers

    def anybody_ready(self, caller: Caller | None, facts: Facts, content: bytes) -> bool:
        return self._coordinator.is_ready

    def anybody_who(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts | None:
        return None if caller is None else asdict(caller) | {"scopes": sorted(caller.scopes)}

    def asker_models(self, caller: Caller, facts: Facts, content: bytes) -> list[str]:
        return self._coordinator.models(caller)

    def asker_model(self, caller: Caller, facts: Facts, content: bytes) -> Facts:
        return self._coordinator.model(caller, facts["model"])

    def asker_admit(self, caller: Caller, facts: Facts, content: bytes) -> Facts:
        return self._coordinator.admit(caller, facts["model"])

    def asker_infer(self, caller: Caller, facts: Facts, content: bytes) -> Any:
        ask = self._ask(caller, facts, content)
        return self._coordinator.infer(ask.caller, facts["model"], ask)

    def asker_budget(self, caller: Caller, facts: Facts, content: bytes) -> Facts:
        return self._coordinator.budget(caller, facts["model"])

    def asker_statement(self, caller: Caller, facts: Facts, content: bytes) -> Facts:
        return self._coordinator.statement(caller, facts["model"])

    def asker_card(self, caller: Caller, facts: Facts, content: bytes) -> str:
        statement = self._coordinator.statement(caller, facts["model"])["statement"]
        return model_card(self._coordinator.model(caller, facts["model"]), statement)

    def asker_answer_job(self, caller: Caller, facts: Facts, content: bytes) -> Facts:
        self._coordinator.model(caller, facts["model"])
        ask = self._ask(caller, facts, content)
        return self.jobs.answer(ask, facts["model"], content)

    def known_job(self, caller: Caller, facts: Facts, content: bytes) -> Facts:
        return self.jobs.get(caller, facts["job"])

    def known_delete_job(self, caller: Caller, facts: Facts, content: bytes) -> Facts:
        return self.jobs.delete(caller, facts["job"])

    def known_job_result(self, caller: Caller, facts: Facts, content: bytes) -> Any:
        return self.jobs.result(caller, facts["job"])

    def asker_reserve(self, caller: Caller, facts: Facts, content: bytes) -> Facts:
        with self._coordinator.quotas(caller, facts["model"], write=True) as quotas:
            made = quotas.reserve(caller.user, facts["amount"], facts["seconds"], facts["note"])
            return made.facts()

    def asker_reservations(self, caller: Caller, facts: Facts, content: bytes) -> Any:
        with self._coordinator.quotas(caller, facts["model"]) as quotas:
            return [each.facts() for each in quotas.reservations.open(caller.user)]

    def asker_release(self, caller: Caller, facts: Facts, content: bytes) -> Facts:
        with self._coordinator.quotas(caller, facts["model"], write=True) as quotas:
            own = quotas.reservations.find(caller.user, facts["reservation"])
            return {"id": own.id, "returned": quotas.reservations.close(own)}

    # The curator's plane

    def curator_datasets(self, curator: Caller, facts: Facts, content: bytes) -> Any:
        return self._coordinator.catalog.datasets(facts.get("dataset"))

    def curator_add_dataset(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        columns = Signature.from_facts(facts["signature"]).unpacked(content)
        with self._audited(curator, "register data set", facts["name"]):
            return self._coordinator.catalog.add_dataset(
                facts["name"], columns, facts["target"], facts["ceiling"]
            )

    def curator_quotas(self, curator: Caller, facts: Facts, content: bytes) -> Any:
        with self._database.reading() as connection:
            return [
                {name: getattr(each, name) for name in ("kind", "name", "ceiling", "remaining")}
                | {"spent": float(each.spent)}
                for each in Quotas(connection, facts["dataset"]).all()
            ]

    def curator_set_quota(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        self._need_dataset(facts["dataset"])
        what = f"{facts['dataset']}/{facts['kind']}/{facts['name']}"
        action = "set quota" + ", overcommit" * facts["overcommit"]
        with (
            self._coordinator.at_rest(facts["dataset"]) as budgets,
            self._changing(curator, action, what) as connection,
        ):
            Members(connection).need(facts["kind"], facts["name"])
            quotas = Quotas(connection, facts["dataset"])
            quotas.set_ceiling(facts["kind"], facts["name"], facts["ceiling"])
            quota = quotas.get(facts["kind"], facts["name"])
            assert quota is not None
            if not facts["overcommit"]:
                quotas.check_covered(budgets)
            return {"ceiling": quota.ceiling, "remaining": quota.remaining}

    def curator_delete_quota(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        dataset, kind, name = facts["dataset"], facts["kind"], facts["name"]
        self._need_dataset(dataset)
        with (
            # What was debited is charged, or given back, before the account is gone.
            self._coordinator.at_rest(dataset),
            self._changing(curator, "delete quota", f"{dataset}/{kind}/{name}") as connection,
        ):
            own = {"dataset": dataset, kind: name} if kind == "user" else {}
            if not connection.delete("service_accounts", dataset=dataset, kind=kind, name=name):
                raise Problem("not-found", f"This {kind} has no quota for the data set.")
            if own:
                connection.delete("service_reservations", **own)
        return {"name": name}

    def curator_delete_member(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        kind, name = facts["kind"], facts["name"]
        with ExitStack() as stack:
            for each in self._coordinator.catalog.datasets():
                stack.enter_context(self._coordinator.at_rest(each["name"]))
            connection = stack.enter_context(self._changing(curator, f"delete {kind}", name))
            if not connection.delete("service_users", kind=kind, name=name):
                raise Problem("not-found", f"There is no {kind} of this name.")
            connection.delete("service_accounts", kind=kind, name=name)
            if kind == "user":
                ApiKeys(connection, self._coordinator.vault).delete(name)
                for table in ("reservations", "paid", "requests", "jobs"):
                    connection.delete(f"service_{table}", user=name)
        self._coordinator.callers.forget()
        return {"name": name}

    def curator_members(self, curator: Caller, facts: Facts, content: bytes) -> Any:
        with self._database.reading() as connection:
            return Members(connection).all(facts["kind"])

    def curator_add_member(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        kind = facts["kind"]
        name = checked_name(facts["name"], kind)
        with self._changing(curator, f"add {kind}", name) as connection:
            return Members(connection).add(kind, name, facts["facts"])

    def curator_keys(self, curator: Caller, facts: Facts, content: bytes) -> Any:
        with self._database.reading() as connection:
            return ApiKeys(connection, self._coordinator.vault).all()

    def curator_issue_key(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        days = _days(facts["days"])
        with self._changing(curator, "issue key", facts["user"]) as connection:
            members = Members(connection)
            members.need("user", facts["user"])
            if facts["project"] is not None:
                members.need("project", facts["project"])
            name, key = ApiKeys(connection, self._coordinator.vault).issue(
                facts["user"], facts["project"], facts["scopes"], days
            )
            return {"name": name, "key": key}

    def curator_rotate_key(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        days = _days(facts["days"])
        with self._changing(curator, "rotate key", facts["key"]) as connection:
            name, key = ApiKeys(connection, self._coordinator.vault).rotate(
                facts["key"], days, facts["grace"]
            )
            self._coordinator.callers.forget()
            return {"name": name, "key": key}

    def curator_revoke_key(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        with self._changing(curator, "revoke key", facts["key"]) as connection:
            ApiKeys(connection, self._coordinator.vault).revoke(facts["key"])
            self._coordinator.callers.forget()
            return {"name": facts["key"]}

    def curator_all_models(self, curator: Caller, facts: Facts, content: bytes) -> Any:
        return [
            model | {"rows_left": self._coordinator.rows_left(model["name"])}
            for model in self._coordinator.catalog.models(facts.get("model"))
        ]

    def curator_fit(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        recipe = facts["recipe"]
        checked_name(recipe["name"], "model")
        catalog = self._coordinator.catalog
        with self._audited(curator, "fit", recipe["name"]):
            if recipe["name"] in self.jobs.fitting or catalog.models(recipe["name"]):
                raise Problem("conflict", "There is a model of this name already.")
            self._need_dataset(recipe["dataset"])
            catalog.estimator(recipe)
            return self.jobs.fit(curator, recipe)

    def curator_publish(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        name, coordinator = facts["model"], self._coordinator
        with self._audited(curator, "publish" + ", overcommit" * facts["overcommit"], name):
            if name in self.jobs.fitting:
                raise Problem("conflict", f"The model {name!r} is being fitted; wait for its job.")
            if not coordinator.catalog.models(name):
                raise Problem("not-found", f"There is no model {name!r}.")
            is_new = coordinator.load(name)
            try:
                if is_new and not facts["overcommit"]:
                    self._check_covered(coordinator.hosted(name).dataset)
                coordinator.catalog.publish(name)
            except BaseException:
                if is_new:
                    coordinator.unload(name)
                raise
        return {"name": name, "status": "published"}

    def curator_withdraw(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        name = facts["model"]
        with self._audited(curator, "withdraw", name):
            self._coordinator.catalog.withdraw(name)
            self._coordinator.unload(name)
        return {"name": name, "status": "withdrawn"}

    def curator_delete_model(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        name = facts["model"]
        with self._changing(curator, "delete model", name) as connection:
            if connection.delete("service_models", name=name, status="published"):
                raise Problem("conflict", f"The model {name!r} is published; withdraw it first.")
            if not connection.delete("service_models", name=name):
                raise Problem("not-found", f"There is no model {name!r}.")
            for table in ("progress", "answers", "paid", "requests"):
                connection.delete(f"service_{table}", model=name)
        return {"name": name}

    def curator_delete_dataset(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        name = facts["dataset"]
        with self._changing(curator, "delete data set", name) as connection:
            if connection.ask("SELECT name FROM service_models WHERE dataset = ?", name):
                raise Problem("conflict", f"The data set {name!r} has models; delete them first.")
            if not connection.delete("service_datasets", name=name):
                raise Problem("not-found", "There is no data set of this name.")
            for table in ("accounts", "reservations"):
                connection.delete(f"service_{table}", dataset=name)
        return {"name": name}

    def curator_guarantee(self, curator: Caller, facts: Facts, content: bytes) -> Any:
        return self._coordinator.hosted(facts["model"]).guarantee().to_dict()

    def curator_verify(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        dataset = facts["dataset"]
        self._need_dataset(dataset)
        with self._audited(curator, "verify", dataset):
            position = self._coordinator.catalog.ledger(dataset).verify()
        with self._database.reading() as connection:
            wrong = AuditLog(connection).first_wrong()
        return {
            "dataset": dataset,
            "rows": position.sequence,
            "position": str(position),
            "audit_log_is_whole": wrong is None,
        }

    def curator_ledger(self, curator: Caller, facts: Facts, content: bytes) -> Any:
        """What was charged, for a burn-down: time is the ledger's own."""
        self._need_dataset(facts["dataset"])
        ledger = self._coordinator.catalog.ledger(facts["dataset"])
        first = facts["after"]
        events = ledger.events[first : first + facts["limit"]]
        return {
            "ceiling": ledger.ceiling,
            "spent": ledger.spent,
            "after": first,
            "events": [
                {"kind": each.kind, "charge": each.charge, "rows": each.n_noisy} for each in events
            ],
        }

    def curator_burn_down(self, curator: Caller, facts: Facts, content: bytes) -> Any:
        """What was left after every charge, or after every so many where there are more."""
        self._need_dataset(facts["dataset"])
        ledger = self._coordinator.catalog.ledger(facts["dataset"])
        left = [ledger.ceiling]
        left += [ledger.ceiling - sum_ for sum_ in accumulate(e.charge for e in ledger.events)]
        step = -(-len(left) // facts["most"])
        shown = list(enumerate(left))[:-1:step]
        return {
            "ceiling": ledger.ceiling,
            "points": [*shown, (len(left) - 1, ledger.remaining)],
        }

    def curator_price(self, curator: Caller, facts: Facts, content: bytes) -> Facts:
        """The most that a batch can cost a user, who is not told."""
        ask = self._ask(Caller(facts["user"], None, frozenset({"ask"})), facts, content)
        count, worst = self._coordinator.hosted(facts["model"]).worst_price(ask)
        return {"n_rows": ask.n_rows, "free": ask.n_rows - count, "worst_case": worst}

    def curator_audit(self, curator: Caller, facts: Facts, content: bytes) -> Any:
        with self._database.reading() as connection:
            return AuditLog(connection).lines(after=facts["after"], limit=facts["limit"])

    def curator_metrics(self, curator: Caller, facts: Facts, content: bytes) -> str:
        return prometheus.generate_latest(self._coordinator.metrics.registry).decode()

    def _ask(self, caller: Caller, facts: Facts, content: bytes) -> Ask:
        signature = self._coordinator.signature(facts["model"])
        columns = signature.checked(
            signature.unpacked(content), most=self._coordinator.settings.most_rows
        )
        return Ask(
            caller,
            columns,
            facts.get("key"),
            bytes.fromhex(facts.get("body", "")),
            facts.get("max_charge"),
            facts.get("dry_run", False),
            facts.get("reservation"),
        )

    def _check_covered(self, dataset: str) -> None:
        with (
            self._coordinator.at_rest(dataset) as budgets,
            self._database.reading() as connection,
        ):
            Quotas(connection, dataset).check_covered(budgets)

    def _need_dataset(self, name: str) -> None:
        if not self._coordinator.catalog.datasets(name):
            raise Problem("not-found", "There is no data set of this name.")

    @contextmanager
    def _audited(self, curator: Caller, action: str, what: Any) -> Iterator[None]:
        """Block whose end, and how it came, goes into the audit log."""
        outcome = "done"
        try:
            yield
        except BaseException as error:
            outcome = f"refused ({type(error).__name__})"
            raise
        finally:
            with self._database.writing() as connection:
                who = f"{curator.user} {curator.key}".strip()
                AuditLog(connection).add(who, action, str(what), outcome)

    @contextmanager
    def _changing(self, curator: Caller, action: str, what: Any) -> Iterator[Connection]:
        with self._audited(curator, action, what), self._database.writing() as connection:
            yield connection


def _known(caller: Caller | None) -> Caller:
    if caller is None:
        raise Problem("unauthenticated", "Show a key: Authorization: Bearer ...")
    return caller


def _with(scope: str) -> Callable[[Caller | None], Caller]:
    def checked(caller: Caller | None) -> Caller:
        known = _known(caller)
        known.need(scope)
        return known

    return checked


_RIGHTS: Final[dict[str, Callable[[Caller | None], Caller | None]]] = {
    "anybody": lambda caller: caller,
    "known": _known,
    "asker": _with("ask"),
    "curator": _with("curate"),
}


def _days(days: float) -> float:
    if not 0 < days <= _LONGEST_KEY:
        raise Problem("invalid", f"days must be above 0 and at most {_LONGEST_KEY:g}.")
    return days
