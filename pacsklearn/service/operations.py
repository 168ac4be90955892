"""What callers and the curator can ask of the coordinator, by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, Final, final

import prometheus_client as prometheus
import sqlalchemy as sa

from pacsklearn.service.api_keys import ApiKeys
from pacsklearn.service.audit_log import AuditLog
from pacsklearn.service.caller import Ask, Caller
from pacsklearn.service.catalog import checked_name
from pacsklearn.service.coordinator import Coordinator
from pacsklearn.service.jobs import Jobs
from pacsklearn.service.link import Operation
from pacsklearn.service.members import Members
from pacsklearn.service.model_card import model_card
from pacsklearn.service.problem import Problem
from pacsklearn.service.quotas import Quotas
from pacsklearn.service.signature import Signature

_LONGEST_KEY: Final = 3660.0
Facts = dict[str, Any]


@final
class Operations:
    """Every operation checks the caller's scope itself: a worker may have been taken over.

    Parameters
    ----------
    coordinator : Coordinator
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator, self._database = coordinator, coordinator.database
        self.jobs = Jobs(coordinator)

    def __call__(self, what: str) -> Operation:
        """Operation of a name."""
        operation = getattr(self, f"do_{what}", None)
        if operation is None:
            raise Problem("not-found", "There is no such operation.")
        return operation

    # The planes of callers

    def do_ready(self, caller: Caller | None, facts: Facts, content: bytes) -> bool:
        return self._coordinator.is_ready

    def do_key(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        return self._coordinator.key_record(facts["name"])

    def do_models(self, caller: Caller | None, facts: Facts, content: bytes) -> list[str]:
        _known(caller).need("ask")
        return self._coordinator.models()

    def do_model(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        _known(caller).need("ask")
        return self._coordinator.model(facts["model"])

    def do_infer(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        ask = self._ask(_known(caller), facts, content)
        return self._coordinator.infer(ask.caller, facts["model"], ask)

    def do_budget(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        return self._coordinator.budget(_known(caller), facts["model"])

    def do_statement(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        return self._coordinator.statement(_known(caller), facts["model"])

    def do_card(self, caller: Caller | None, facts: Facts, content: bytes) -> str:
        statement = self._coordinator.statement(_known(caller), facts["model"])["statement"]
        return model_card(self._coordinator.model(facts["model"]), statement)

    def do_answer_job(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        ask = self._ask(_known(caller), facts, content)
        ask.caller.need("ask")
        return self.jobs.answer(ask, facts["model"], content)

    def do_job(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        return self.jobs.get(_known(caller), facts["job"])

    def do_job_result(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        return self.jobs.result(_known(caller), facts["job"])

    def do_reserve(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        return self._coordinator.reservations.make(
            _known(caller), facts["model"], facts["amount"], facts["seconds"], facts["note"]
        )

    def do_reservations(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        return self._coordinator.reservations.all(_known(caller), facts["model"])

    def do_release(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        return self._coordinator.reservations.release(
            _known(caller), facts["model"], facts["reservation"]
        )

    # The curator's plane

    def do_datasets(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        _curator(caller)
        return self._coordinator.catalog.datasets(facts.get("dataset"))

    def do_add_dataset(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator = _curator(caller)
        columns = Signature.from_facts(facts["signature"]).unpacked(content)
        with self._audited(curator, "register data set", facts["name"]):
            return self._coordinator.catalog.add_dataset(
                facts["name"], columns, facts["target"], facts["ceiling"]
            )

    def do_quotas(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        _curator(caller)
        with self._database.reading() as connection:
            return [
                {
                    "kind": each.kind,
                    "name": each.name,
                    "ceiling": each.ceiling,
                    "spent": float(each.spent),
                    "remaining": each.remaining,
                }
                for each in Quotas(connection, facts["dataset"]).all()
            ]

    def do_set_quota(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator = _curator(caller)
        self._need_dataset(facts["dataset"])
        what = f"{facts['dataset']}/{facts['kind']}/{facts['name']}"
        with self._changing(curator, "set quota", what) as connection:
            Members(connection).need(facts["kind"], facts["name"])
            quotas = Quotas(connection, facts["dataset"])
            quotas.set_ceiling(facts["kind"], facts["name"], facts["ceiling"])
            quota = quotas.get(facts["kind"], facts["name"])
            assert quota is not None
            return {"ceiling": quota.ceiling, "remaining": quota.remaining}

    def do_members(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        _curator(caller)
        with self._database.reading() as connection:
            return Members(connection).all(facts["kind"])

    def do_add_member(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator, kind = _curator(caller), facts["kind"]
        name = checked_name(facts["name"], kind)
        with self._changing(curator, f"add {kind}", name) as connection:
            return Members(connection).add(kind, name, facts["facts"])

    def do_keys(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        _curator(caller)
        with self._database.reading() as connection:
            return ApiKeys(connection).all()

    def do_issue_key(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator, days = _curator(caller), _days(facts["days"])
        with self._changing(curator, "issue key", facts["user"]) as connection:
            members = Members(connection)
            members.need("user", facts["user"])
            if facts["project"] is not None:
                members.need("project", facts["project"])
            name, key = ApiKeys(connection).issue(
                facts["user"], facts["project"], facts["scopes"], days
            )
            return {"name": name, "key": key}

    def do_rotate_key(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator, days = _curator(caller), _days(facts["days"])
        with self._changing(curator, "rotate key", facts["key"]) as connection:
            name, key = ApiKeys(connection).rotate(facts["key"], days, facts["grace"])
            return {"name": name, "key": key}

    def do_revoke_key(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator = _curator(caller)
        with self._changing(curator, "revoke key", facts["key"]) as connection:
            ApiKeys(connection).revoke(facts["key"])
            return {"name": facts["key"]}

    def do_all_models(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        _curator(caller)
        return self._coordinator.catalog.models(facts.get("model"))

    def do_fit(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator, recipe = _curator(caller), facts["recipe"]
        checked_name(recipe["name"], "model")
        catalog = self._coordinator.catalog
        with self._audited(curator, "fit", recipe["name"]):
            if catalog.models(recipe["name"]):
                raise Problem("conflict", "There is a model of this name already.")
            self._need_dataset(recipe["dataset"])
            catalog.estimator(recipe)
            return self.jobs.fit(curator, recipe)

    def do_publish(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator, name = _curator(caller), facts["model"]
        with self._audited(curator, "publish", name):
            self._coordinator.catalog.set_status(name, "published")
            self._coordinator.load(name)
        return {"name": name, "status": "published"}

    def do_withdraw(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator, name = _curator(caller), facts["model"]
        with self._audited(curator, "withdraw", name):
            self._coordinator.catalog.set_status(name, "withdrawn")
            self._coordinator.unload(name)
        return {"name": name, "status": "withdrawn"}

    def do_guarantee(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        _curator(caller)
        return self._coordinator.hosted(facts["model"]).guarantee().to_dict()

    def do_verify(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        curator, dataset = _curator(caller), facts["dataset"]
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

    def do_ledger(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        """What was charged, for a burn-down: time is the ledger's own."""
        _curator(caller)
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

    def do_burn_down(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        """What was left after every charge, or after every so many where there are more."""
        _curator(caller)
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

    def do_price(self, caller: Caller | None, facts: Facts, content: bytes) -> Facts:
        """The most that a batch can cost a user, who is not told."""
        _curator(caller)
        ask = self._ask(Caller(facts["user"], None, frozenset({"ask"})), facts, content)
        count, worst = self._coordinator.hosted(facts["model"]).worst_price(ask)
        return {"n_rows": ask.n_rows, "free": ask.n_rows - count, "worst_case": worst}

    def do_audit(self, caller: Caller | None, facts: Facts, content: bytes) -> Any:
        _curator(caller)
        with self._database.reading() as connection:
            return AuditLog(connection).lines(after=facts["after"], limit=facts["limit"])

    def do_metrics(self, caller: Caller | None, facts: Facts, content: bytes) -> str:
        _curator(caller)
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
            self._reservation(caller, facts),
        )

    def _reservation(self, caller: Caller, facts: Facts) -> Any:
        id_ = facts.get("reservation")
        if id_ is None:
            return None
        return self._coordinator.reservations.find(caller.user, facts["model"], id_)

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
    def _changing(self, curator: Caller, action: str, what: Any) -> Iterator[sa.Connection]:
        with self._audited(curator, action, what), self._database.writing() as connection:
            yield connection


def _known(caller: Caller | None) -> Caller:
    if caller is None:
        raise Problem("unauthenticated", "Show a key: Authorization: Bearer ...")
    return caller


def _curator(caller: Caller | None) -> Caller:
    known = _known(caller)
    known.need("curate")
    return known


def _days(days: float) -> float:
    if not 0 < days <= _LONGEST_KEY:
        raise Problem("invalid", f"days must be above 0 and at most {_LONGEST_KEY:g}.")
    return days
