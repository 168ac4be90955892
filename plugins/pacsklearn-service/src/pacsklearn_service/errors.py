"""Errors of a service, as its client raises them.

The tree::

    pacsklearn.exceptions.PacsklearnError
    └── ServiceError                          a prediction service refused a request
        ├── ServiceBudgetError                a quota or a ceiling on it; a BudgetExhaustedError
        ├── PriceError                        the rows could cost more than max_charge
        ├── ServiceRequestError (ValueError)  the request is not one that the model takes
        └── ServiceUnavailableError           not reached, or not ready, after every attempt
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pacsklearn.exceptions import BudgetExhaustedError, PacsklearnError


class ServiceError(PacsklearnError):
    """A private prediction service refused a request, or could not be asked.

    Parameters
    ----------
    kind : str
        Name of the problem, as the service tells it (``forbidden``, ``not-found``, ...).
    status : int
        HTTP status; 0 where there was no response.
    detail : str
        What was wrong and what to do.
    facts : mapping, optional
        Further members of the problem, for instance ``worst_case`` in nats.
    """

    def __init__(
        self, kind: str, status: int, detail: str, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(kind, status, detail, dict(facts or {}))
        self.kind, self.status, self.detail = kind, status, detail
        self.facts = dict(facts or {})

    def __str__(self) -> str:
        code = f", HTTP {self.status}" if self.status else ""
        return f"{self.detail.rstrip('.')} ({self.kind}{code})."


class ServiceBudgetError(ServiceError, BudgetExhaustedError):
    """The caller's quota, or the ceiling of the data set or project, does not cover a request.

    ``kind`` says whose it is. ``spent``, ``ceiling`` and ``asked`` are those of the caller's own
    quota, and the most that the request could have cost; a service tells nobody what others spent.
    """

    def __init__(
        self, kind: str, status: int, detail: str, facts: Mapping[str, Any] | None = None
    ) -> None:
        ServiceError.__init__(self, kind, status, detail, facts)
        figures = ("spent", "asked", "quota")
        self.spent, self.asked, self.ceiling = (
            float(self.facts.get(name, "nan")) for name in figures
        )
        self.owner, self.rows, self.rows_left = "", None, None

    def __str__(self) -> str:
        if math.isnan(self.spent):  # the quota could not be asked for
            return ServiceError.__str__(self)
        return (
            f"{ServiceError.__str__(self)} Of your quota of {self.ceiling:.6g} nats, "
            f"{self.spent:.6g} are spent; the request could cost {self.asked:.6g}."
        )


class PriceError(ServiceError):
    """The rows that are new to the caller could cost more than ``max_charge``; nothing was paid."""


class ServiceRequestError(ServiceError, ValueError):
    """A service cannot read the request, or its model does not take these rows."""


class ServiceUnavailableError(ServiceError):
    """A service cannot be reached or is not ready; the same call may succeed later."""
