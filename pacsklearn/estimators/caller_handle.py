"""One caller's view of a responder that several callers share."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final, final
from weakref import WeakKeyDictionary, WeakSet

from numpy.typing import NDArray

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import check_budget
from pacsklearn.estimators.cost_preview import CostPreview, affords
from pacsklearn.exceptions import BudgetError, BudgetExhaustedError
from pacsklearn.kernel.answers.responder import Responder
from pacsklearn.kernel.ledger.exact_sum import exact, fits, largest_refund, nearest
from pacsklearn.kernel.release.procedure import ReleaseProcedure


@final
class CallerHandle:
    """Answers of a responder for one caller, out of a quota that nobody else spends.

    Parameters
    ----------
    responder : Responder
    quota : float
        What the caller may pay, in nats.
    overcommit : bool, default=False
        Grant a quota that the session's budget may not cover.

    Raises
    ------
    BudgetError
        When the session's budget does not cover what all its handles may still pay, unless
        ``overcommit`` is given.

    Notes
    -----
    Everything but the noised answers is a function of what this caller has asked: a row's price is
    the step budget when the candidates disagree about it *under the prior*, and it is paid once,
    whether or not somebody else has asked the row, which the session's own account is charged for
    once. Margins are not given: which rows the belief has decided tells what others asked.
    """

    def __init__(self, responder: Responder, quota: float, *, overcommit: bool = False) -> None:
        self._responder, self.quota = responder, check_budget(budget=quota, name="quota")
        self._spent = Fraction(0)
        self._paid: set[bytes] = set()
        self._lock = responder.procedure.lock
        with self._lock:
            granted = _GRANTED.setdefault(responder.procedure, WeakSet())
            open_ = sum(exact(each.remaining) for each in granted)
            left = responder.remaining_budget
            if not overcommit and not fits(open_, self.remaining, left):
                raise BudgetError(
                    f"quota must be covered by what is left, {left:.6g} nats, beside "
                    f"{nearest(open_):.6g} that other handles may still pay; got {quota:.6g}. A "
                    "caller within a quota could be refused because of what others paid: give "
                    "smaller quotas, or overcommit=True."
                )
            granted.add(self)

    @property
    def spent(self) -> float:
        """Nats that this caller has paid."""
        return float(self._spent)

    @property
    def remaining(self) -> float:
        """Nats left of the quota, rounded down."""
        return largest_refund(self.quota, exact(self._spent))

    def preview(self, X: Any) -> CostPreview:
        """Return what answering ``X`` would cost this caller."""
        responder = self._responder
        X = responder.models.checked(X)
        with self._lock:
            new, contested = self._new(X)
        price = contested * responder.step_budget
        return CostPreview(
            n_queries=X.shape[0],
            n_stored=X.shape[0] - len(new),
            n_unanimous=len(new) - contested,
            n_contested=contested,
            nats=price,
            worst_case=X.shape[0] * responder.step_budget,
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Answer every row; those that this caller has asked before are free.

        Raises
        ------
        BudgetExhaustedError
            When the quota does not cover the rows, with the caller's own figures; or, where the
            curator has granted more than there is, when the session could not bear them, whether
            or not it has to. Nothing is paid then.
        """
        responder = self._responder
        X = responder.models.checked(X)
        with self._lock:
            new, contested = self._new(X)
            price = contested * responder.step_budget
            if price > 0 and not fits(exact(self._spent), price, self.quota):
                raise BudgetExhaustedError(self.spent, price, self.quota, "this caller")
            if not affords(responder, contested):
                # The caller's own figures: the session's would tell what others have spent.
                raise BudgetExhaustedError(self.spent, price, self.quota, "the session")
            values = responder.answer_checked(X).values
            self._spent += Fraction(price)
            self._paid.update(new)
        return values

    def _new(self, X: Any) -> tuple[dict[bytes, int], int]:
        """Return the rows that are new to the caller, each once, and how many are contested."""
        new: dict[bytes, int] = {}
        for i, key in enumerate(self._responder.store.keys(X)):
            if key not in self._paid:
                new.setdefault(key, i)
        if not new:
            return new, 0
        # Also of rows that somebody else has asked: their price and their work are a fresh row's.
        predictions = self._responder.predictions(safe_indexing(X, list(new.values())))
        prior = self._responder.procedure.secret.log_prior
        return new, int(self._responder.kind.engine.contested(predictions, prior).sum())

    def __repr__(self) -> str:
        return f"CallerHandle(quota={self.quota:.6g}, spent={self.spent:.6g})"


_GRANTED: Final[WeakKeyDictionary[ReleaseProcedure, WeakSet[CallerHandle]]] = WeakKeyDictionary()
"""Handles of each session, whichever of its responders they are of."""
