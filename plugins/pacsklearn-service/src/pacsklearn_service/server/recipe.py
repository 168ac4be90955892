"""What a curator asks to be fitted: estimator, budget, secret and release, as in the library."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pacsklearn.cli.options import number, read_budget
from pacsklearn_service.server.problem import Problem

if TYPE_CHECKING:  # the library is loaded where the secrets are, and by no web worker
    from pacsklearn.estimators.privacy_session import PrivacySession
    from pacsklearn.estimators.subsets import Subsets
    from pacsklearn.kernel.answers.responder import Responder
    from pacsklearn.kernel.budget.budget import Budget

NAME: Final = r"^[a-z0-9][a-z0-9._-]{0,62}$"
"""What is safe in an address, a log and a file."""

Name = Annotated[str, Field(pattern=NAME)]


def _read(value: Any) -> Any:
    return number(value, "a number") if isinstance(value, str) else value


def _read_k_of_n(text: str) -> str:
    read_budget("k_of_n", text)
    return text


Amount = Annotated[float, BeforeValidator(_read), Field(gt=0, allow_inf_nan=False, strict=True)]
"""Number above 0, or a text such as 1/16, 60% or 2^-12."""


def versioned(key: str) -> tuple[str, int]:
    """Return the name of a model, and the number of the version that a key names."""
    name, _, version = key.partition("@")
    return name, int(version or 1)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StatedBudget(_Part):
    """Nats, or the success of one attack that they may imply, as the command line has them."""

    nats: Amount | None = None
    membership: Amount | None = None
    identification: Amount | None = None
    k_of_n: Annotated[str, AfterValidator(_read_k_of_n)] | None = None

    @model_validator(mode="after")
    def _check_one(self) -> StatedBudget:
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("state one budget")
        return self

    def value(self) -> Budget:
        """Return the library's object."""
        from pacsklearn.kernel.plugins.registry import registry

        ((name, amount),) = self.model_dump(exclude_none=True).items()
        stated = read_budget(name, str(amount))
        made: Budget = registry().load("budget", stated.pop("name"))(**stated)
        return made


class StatedSubsets(_Part):
    """As :class:`pacsklearn.Subsets`; they are always drawn in secret."""

    n: Annotated[int, Field(ge=2, le=4096)] = 128
    rate: Annotated[float, Field(gt=0, lt=1)] = 0.5
    blocks: Annotated[int, Field(ge=4)] | None = 8


class StatedAnswers(_Part):
    """As :class:`pacsklearn.Answers`; a regressor needs the range of its values."""

    n: Annotated[int, Field(ge=1, le=2**53)] | None = None
    query_budget: Amount | None = None
    of: Literal["auto", "labels", "probabilities", "values"] = "auto"
    stabilize: Annotated[int, Field(ge=2, le=1000)] | None = None
    range: tuple[float, float] | None = None


@final
class Recipe(_Part):
    """Which candidates to fit, and what they may reveal."""

    name: Name
    version: Annotated[int, Field(ge=1, le=2**31)] = 1
    dataset: Name
    estimator: Annotated[str, Field(max_length=500)]
    params: dict[str, Any] | None = None
    budget: Amount | StatedBudget
    secret: StatedSubsets = StatedSubsets()
    release: StatedAnswers = StatedAnswers()

    @property
    def key(self) -> str:
        """Name of the version: that of the model, with a number from the second one on."""
        return self.name if self.version == 1 else f"{self.name}@{self.version}"

    def stated_budget(self) -> Budget:
        """Return the library's object."""
        stated = self.budget
        return (stated if isinstance(stated, StatedBudget) else StatedBudget(nats=stated)).value()

    def subsets(self) -> Subsets:
        """Return the library's object."""
        from pacsklearn.estimators.subsets import Subsets

        return Subsets(**self.secret.model_dump())

    def model(self) -> Any:
        """Return the estimator that is named."""
        from pacsklearn.cli.named_estimator import named_estimator

        params = None if self.params is None else json.dumps(self.params)
        try:
            return named_estimator(self.estimator, params)
        except ValueError as error:
            raise Problem("invalid", str(error)) from None

    def check_new(self) -> None:
        """Refuse what no fit takes; when a model is new, not when it is kept.

        Raises
        ------
        BudgetError, Problem
        """
        from sklearn.base import is_regressor

        budget, entropy = self.stated_budget(), math.log(self.secret.n)
        amount = budget.amount  # refuses a cap that is no success
        if budget.adds and amount >= entropy:
            raise Problem(
                "invalid",
                f"A budget of {amount:g} nats hides nothing: which of {self.secret.n} subsets is "
                f"secret is known after {entropy:.3f}. Give less, for instance 1/16.",
            )
        numeric = is_regressor(self.model())
        if numeric != (self.release.range is not None):
            way = "one. State it, not looking at the target" if numeric else "none. Leave it out"
            said = "release.range is for regressors, whose answers are numbers;"
            raise Problem("invalid", f"{said} {self.estimator} is {way}.")

    def responder(self, session: PrivacySession) -> Responder:
        """Return what answers of a session, which is the same each time."""
        from pacsklearn.estimators.released_answers import Answers
        from pacsklearn.priors import Range

        facts = self.release.model_dump()
        n, ends = facts.pop("n"), facts.pop("range")
        release = Answers(n, **facts, prior=None if ends is None else Range(*ends))
        return session.responder(
            release.answering(self.model()),
            query_budget=release.query_budget,
            max_answers=release.count,
            answers=release.of,
            prior=release.prior,
        )
