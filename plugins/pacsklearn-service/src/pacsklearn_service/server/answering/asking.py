"""What callers can ask of the coordinator."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, final

from pacsklearn_service.server.answering.coordinator import Coordinator
from pacsklearn_service.server.answering.shelf import Hosted
from pacsklearn_service.server.caller import Caller
from pacsklearn_service.server.model_card import model_card
from pacsklearn_service.server.problem import Problem
from pacsklearn_service.server.rate_limit import RateLimit
from pacsklearn_service.server.recipe import versioned
from pacsklearn_service.server.store.quotas import NOT_OFFERED, Quotas
from pacsklearn_service.statement import signed_text

Facts = dict[str, Any]


@final
class Asking:
    """Operations of the data plane and the private plane.

    Parameters
    ----------
    coordinator : Coordinator
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        settings = coordinator.settings
        self._requests = RateLimit(settings.requests_per_minute)
        self._previews = RateLimit(settings.previews_per_minute)

    def anybody_ready(self, caller: Caller | None) -> bool:
        return self._coordinator.is_ready

    def anybody_form_of_keys(self, caller: Caller | None) -> str:
        """Return the form of keys to web workers, so that they pass over guesses unasked."""
        return self._coordinator.vault.form_of_keys.hex()

    def anybody_who(self, caller: Caller | None) -> Facts | None:
        return None if caller is None else asdict(caller) | {"scopes": sorted(caller.scopes)}

    def asker_models(self, caller: Caller) -> list[str]:
        """Return the names of the published models that the caller has a quota for."""
        datasets = self._coordinator.catalog.published()
        with self._coordinator.database.reading() as connection:
            own = Quotas.of_user(connection, caller.user)
        return sorted({versioned(key)[0] for key, dataset in datasets.items() if dataset in own})

    def asker_model(self, caller: Caller, model: str) -> Facts:
        """Return the public facts of a published model, for who has a quota to ask it with."""
        hosted = self._hosted(caller, model)
        name, version = versioned(hosted.name)
        answering = (versioned(each.name) for each in self._coordinator.answering())
        return {
            "name": name,
            "version": version,
            "versions": sorted(number for each, number in answering if each == name),
            "dataset": hosted.dataset,
            "signature": hosted.signature.facts(),
            **{key: hosted.facts[key] for key in ("answers", "classes", "width", "step_budget")},
        }

    def asker_admit(self, caller: Caller, model: str) -> Facts:
        """Return the facts of a model for who may ask it now.

        Its rate is counted before a row is read.
        """
        self._requests.take(caller.user)
        return self.asker_model(caller, model) | {
            "asked": model,
            "loaded": self._coordinator.loaded(model),
            "is_counted": True,
        }

    def asker_infer(
        self,
        caller: Caller,
        model: str,
        content: bytes,
        loaded: int,
        is_counted: bool,
        **facts: Any,
    ) -> Facts | Future[Facts]:
        if not is_counted:
            self._requests.take(caller.user)
        self._check_loaded(model, loaded)
        ask = self._coordinator.ask(caller, model, content, **facts)
        if ask.dry_run:  # free: they would be asked for without end
            self._previews.take(caller.user)
        return self._coordinator.told_before(model, ask) or self._coordinator.infer(model, ask)

    def asker_budget(self, caller: Caller, model: str) -> Facts:
        """Return what the caller has left, and the ceiling; nothing about others."""
        hosted = self._hosted(caller, model)
        with self._quotas(caller, model) as quotas:
            own = quotas.standing(caller.user)
        return {
            "dataset": hosted.dataset,
            "ceiling": self._coordinator.catalog.ledger(hosted.dataset).ceiling,
            **own._asdict(),
            "step_budget": hosted.step_budget,
            "unit": "nats",
        }

    def asker_statement(self, caller: Caller, model: str) -> Facts:
        """Return the model's guarantee at its ceiling, signed."""
        self.asker_model(caller, model)  # for who may ask it
        hosted, vault = self._coordinator.hosted(model), self._coordinator.vault
        statement = {
            "model": model,
            "dataset": hosted.dataset,
            "step_budget": hosted.step_budget,
            "guarantee": self._coordinator.catalog.model(hosted.name)["guarantee"],
        }
        return {
            "statement": statement,
            "algorithm": "Ed25519",
            "signed": "the statement as JSON with sorted keys, without spaces, in ASCII",
            "signature": base64.b64encode(vault.sign(signed_text(statement))).decode(),
            "public_key": base64.b64encode(vault.public_key).decode(),
        }

    def asker_card(self, caller: Caller, model: str) -> str:
        facts = self.asker_model(caller, model)  # for who may ask it
        name = self._coordinator.hosted(model).name
        return model_card(facts | {"guarantee": self._coordinator.catalog.model(name)["guarantee"]})

    def asker_answer_job(
        self, caller: Caller, model: str, content: bytes, loaded: int, max_charge: float | None
    ) -> Facts:
        self.asker_model(caller, model)
        self._check_loaded(model, loaded)
        ask = self._coordinator.ask(caller, model, content, max_charge=max_charge)
        return self._coordinator.jobs.answer(ask, model, content)

    def asker_reserve(
        self, caller: Caller, model: str, amount: float, seconds: float, note: str
    ) -> Facts:
        with self._quotas(caller, model, write=True) as quotas:
            return quotas.reserve(caller.user, amount, seconds, note).facts()

    def asker_reservations(self, caller: Caller, model: str) -> Any:
        with self._quotas(caller, model) as quotas:
            return [each.facts() for each in quotas.reservations(caller.user)]

    def asker_release(self, caller: Caller, model: str, reservation: str) -> Facts:
        with self._quotas(caller, model, write=True) as quotas:
            return {"id": reservation, "returned": quotas.close(caller.user, reservation)}

    def _hosted(self, caller: Caller, model: str) -> Hosted:
        """Return a model for who has a quota to ask it with: everybody else is shown none of it."""
        try:
            hosted = self._coordinator.hosted(model)
        except Problem as problem:
            # Also whether it is being loaded, or is led elsewhere.
            if model.partition("@")[0] in self.asker_models(caller):
                raise
            raise Problem("not-found", NOT_OFFERED) from problem
        with self._coordinator.database.reading() as connection:
            Quotas(connection, hosted.dataset).check_open(caller.user, caller.project)
        return hosted

    def _check_loaded(self, model: str, loaded: int) -> None:
        """Refuse rows that were read by the columns of what answered before."""
        if loaded != self._coordinator.loaded(model):
            raise Problem("unavailable", "The model was just loaded; try again.", loaded=True)

    @contextmanager
    def _quotas(self, caller: Caller, model: str, *, write: bool = False) -> Iterator[Quotas]:
        """Open the accounts of a model's data set, for what the caller does with its own."""
        self._previews.take(caller.user)
        dataset, database = self._hosted(caller, model).dataset, self._coordinator.database
        with database.writing(dataset) if write else database.reading() as connection:
            yield Quotas(connection, dataset)
