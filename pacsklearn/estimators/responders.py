"""Every black box of a session: its fitted candidates, and what answers with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import joblib

from pacsklearn._validation import check_budget, check_integer
from pacsklearn.estimators.ledger_answers import AnswerTable, LedgerAnswers
from pacsklearn.estimators.model_digest import model_digest
from pacsklearn.estimators.stored_answers import ResponderState, StoredAnswers
from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.bounds.posterior_success import mutual_information_for_success
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.noise.sampler import NoisePool
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.models import CandidateModels, candidate_models
from pacsklearn.kernel.release.account import Account
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.secret.secret_space import SecretSpace

_MOST_ANSWERS = 2**62


@final
class Responders:
    """Responders by what they were asked for; estimators that are equal share their candidates.

    Parameters
    ----------
    procedure : ReleaseProcedure
        The session's.
    table : AnswerTable, optional
        Where answers are stored; in memory when not given.
    """

    def __init__(self, procedure: ReleaseProcedure, table: AnswerTable | None = None) -> None:
        self._procedure, self._account, self._table = procedure, procedure.account, table
        self._pool = NoisePool(procedure.secret.sampler)
        self._models: dict[str, CandidateModels] = {}
        self._responders: dict[str, Responder] = {}
        self._saved: dict[str, ResponderState] = {}

    def find(
        self,
        candidates: Candidates,
        *,
        query_budget: float | None,
        max_answers: int | None,
        kind: AnswerKind,
    ) -> Responder:
        """Return the responder for these arguments, with its step budget and its stored answers.

        Raises
        ------
        BudgetError, BudgetExhaustedError, ValueError
        """
        cap = self._account.own.ceiling
        check_adds(self._procedure.terms.criterion, cap, candidates.space)
        self._procedure.check_answers()
        self._account.home.check()
        with self._procedure.lock:
            fitted = _name_of(candidates.estimator, candidates.options.fit_params)
            prior = None if kind.prior is None else (kind.prior.mean, kind.prior.spread)
            settings = (kind.answers, kind.value_range, prior)
            # What is asked in the same way shares the stored answers, and is not charged again.
            name = joblib.hash((fitted, query_budget, max_answers, *settings))
            if name not in self._responders:
                saved = self._saved.get(name)
                step = (
                    saved.step_budget
                    if saved
                    else step_of(self._account, query_budget, max_answers)
                )
                if fitted not in self._models:
                    self._models[fitted] = candidate_models(candidates)
                responder = self._made(name, fitted, kind, step)
                if saved is not None:
                    saved.restore(responder)
                self._responders[name] = responder
            return self._responders[name]

    def export(self) -> tuple[dict[str, CandidateModels], dict[str, ResponderState]]:
        """Return the fitted candidates, and what responders remember, for a session file."""
        open_ = {name: ResponderState.of(each) for name, each in self._responders.items()}
        return self._models, self._saved | open_

    def restore(
        self, models: Mapping[str, CandidateModels], responders: Mapping[str, ResponderState]
    ) -> None:
        """Take over what :meth:`export` gave, for when the same is asked for again.

        Candidates whose models are missing are fitted again then: fits are functions of their rows.
        """
        self._models, self._saved = dict(models), dict(responders)

    def close(self) -> None:
        """Stop drawing noise ahead."""
        self._pool.close()

    def _made(self, name: str, fitted: str, kind: AnswerKind, step: float) -> Responder:
        place = f"{self._account.session}/{name}"
        store = StoredAnswers() if self._table is None else LedgerAnswers(self._table, place)
        models = self._models[fitted]
        return Responder(models, self._procedure, self._pool, kind, store, step_budget=step)


def step_of(account: Account, query_budget: float | None, max_answers: int | None) -> float:
    """Return the nats that a contested answer may reveal.

    Raises
    ------
    BudgetError, BudgetExhaustedError, ValueError
    """
    if (query_budget is None) == (max_answers is None):
        raise ValueError(
            "give either query_budget= (nats a contested answer may reveal) or max_answers= "
            "(n= of Answers: how many answers the rest of the budget must last for)."
        )
    if query_budget is not None:
        return account.check(check_budget(budget=query_budget, name="query_budget"))
    count = check_integer(name="max_answers", value=max_answers, minimum=1, maximum=_MOST_ANSWERS)
    # A hair less, so that rounding cannot refuse the last answer.
    return account.check(None) / count * (1 - 1e-12)


def answer_table(procedure: ReleaseProcedure, key: bytes) -> AnswerTable:
    """Return where answers are stored in the ledger's database, sealed with a key.

    Raises
    ------
    LedgerError
        When the ledger is in no database.
    """
    account = procedure.account
    return AnswerTable(account.shared, account.session, key)


def check_adds(
    criterion: Criterion | None, cap: float, space: SecretSpace, *, why: Exception | None = None
) -> None:
    """Refuse to answer under a cap on a criterion; ``why`` answers, where nobody asked for them.

    Raises
    ------
    BudgetError
    """
    if criterion is not None:
        blind = float(criterion.prior(space.weights).max())
        nats = mutual_information_for_success(cap, blind)
        raise BudgetError(
            f"A cap of {cap:.6g} on {criterion.name} allows one release, and every private "
            f"answer is one: successes do not add up. Nats({nats:.3g}) imply the same one "
            "over all answers together; or ask for all labels at once: respond_together."
            + (f" release='auto' has no model to release: {why}" if why else "")
        )


def _name_of(estimator: Any, fit_params: Mapping[str, Any]) -> str:
    """Return the name of what is fitted, for files: the same wherever the package's modules are."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    shown = [getattr(part, "_sklearn_output_config", None) for part in parts]
    name: str = joblib.hash((model_digest(estimator), shown, dict(fit_params)))
    return name
