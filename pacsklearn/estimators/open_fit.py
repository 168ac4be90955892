"""One fit while it is open: its rows, and how what it releases is taken."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from pacsklearn.estimators.prepared_rows import PreparedRows
from pacsklearn.estimators.responders import Responders, answer_table
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.universe.design import Fits

if TYPE_CHECKING:
    from pacsklearn.estimators.pac_private import PACPrivate


@final
class OpenFit:
    """The rows of a fit, and releases about its secret.

    Parameters
    ----------
    model : PACPrivate
    rows : PreparedRows
    procedure : ReleaseProcedure
    store : {"memory", "ledger"}, default="memory"
        Where answers are stored.
    """

    def __init__(
        self,
        model: PACPrivate,
        rows: PreparedRows,
        procedure: ReleaseProcedure,
        store: str = "memory",
    ) -> None:
        self.model, self.rows, self.procedure = model, rows, procedure
        # Seals what is stored: without it nobody can write an answer, or find a row's own.
        self._answers = answer_table(procedure, os.urandom(32) if store == "ledger" else None)
        if self._answers is not None:
            self._answers.begin(procedure.secret.log_belief)

    @property
    def estimator(self) -> Any:
        """The wrapped estimator; of several to choose from, what they are like."""
        return self.rows.candidates.estimator

    def candidates(self, estimator: Any) -> Any:
        """What every candidate's model is fitted with, for another estimator as well."""
        known = self.rows.candidates
        if estimator is known.estimator:
            return known
        return known.space.outputs(Fits(estimator, known.X, known.y, known.options))

    @cached_property
    def responders(self) -> Responders:
        """What answers queries; its noise may be drawn ahead."""
        return Responders(self.procedure, self._answers)

    def close(self) -> None:
        """Release nothing more: the whole budget went into what was released."""
        self.procedure.account.is_closed = True
        if "responders" in vars(self):
            self.responders.close()
