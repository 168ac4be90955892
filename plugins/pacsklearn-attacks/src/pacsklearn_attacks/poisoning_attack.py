"""Was one row used, by an adversary who put rows in beforehand and asks queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import is_classifier

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import AttackResult, InsertingAttack, ThreatModel
from pacsklearn.audit.membership_attack import OptimalMembershipAttack
from pacsklearn_attacks.inserted_rows import appended, dense_table

# Of a feature's standard deviation: near copies are other queries, so each is answered anew.
_JITTER = 1e-3


@final
class PoisoningAttack(InsertingAttack):
    """Puts copies of a row with wrong targets among the rows, then asks about that row.

    Where the copies were used and the row was not, the wrong target wins; so the answers depend on
    the row more than they would. The universe is then the poisoned one, and the guarantee has to
    hold for it.

    Parameters
    ----------
    n_copies : int, default=4
        Rows that are put in.
    n_queries : int, default=50
        Near copies of the row that are asked about.
    n_pilot : int, default=200
        Rounds played beforehand, to choose the rule.

    Notes
    -----
    The verdict on the target is by Bayes' rule. Without inserted rows the least protected unit is
    attacked. Source: Tramer et al. (2022), Truth serum: poisoning machine learning models to reveal
    their secrets.
    """

    name = "poisoning"
    description = "one unit's membership, by rows put in and queries"
    needs = ("units", "prices")
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows and candidates, its own rows among them",
        power="puts rows with wrong targets in, then asks queries",
        reference="Tramer et al. 2022",
        cost="a replay with the poison; 200 conversations beforehand",
    )

    def __init__(self, n_copies: int = 4, n_queries: int = 50, n_pilot: int = 200) -> None:
        self.n_copies = n_copies
        self.n_queries = n_queries
        self.n_pilot = n_pilot

    def insert(
        self, estimator: Any, X: Any, y: Any, groups: Any, seed: int
    ) -> tuple[Any, Any, Any, tuple[int, ...]]:
        """Return the universe with the poison at its end, and the unit that it is aimed at."""
        count = check_integer(name="n_copies", value=self.n_copies, minimum=1)
        table = dense_table(X, self.name)
        if y is None:
            raise ValueError(
                "y is missing: the attack gives its rows wrong targets, and needs y to tell which "
                "are wrong."
            )
        known = np.asarray(y)
        row = _target(len(table), seed)
        if is_classifier(estimator) or known.dtype.kind not in "fiu":
            wrong = np.repeat(next(c for c in np.unique(known) if c != known[row]), count)
        else:
            far = known[row] + 5 * known.std(axis=0)
            wrong = np.repeat(np.asarray(far)[None], count, axis=0)
        copies = np.repeat(table[row][None], count, axis=0)
        longer, targets, units, _ = appended(X, y, groups, copies, wrong)
        unit = row if units is None else int(units[row])
        return longer, targets, units, (unit,)

    def probe(self, X: Any, seed: int) -> Any:
        """Return queries about the row that the poison is aimed at, given the poisoned universe."""
        count = check_integer(name="n_queries", value=self.n_queries, minimum=1)
        table = dense_table(X, self.name)
        row = table[_target(len(table) - self.n_copies, seed)]
        noise = np.random.default_rng(seed).standard_normal((count, table.shape[1]))
        noise[0] = 0.0
        queries = row + _JITTER * np.nanstd(table, axis=0) * noise
        return type(X)(queries, columns=X.columns) if hasattr(X, "iloc") else queries

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        targets = getattr(game, "canaries", ())
        unit = int(targets[0]) if targets else None
        result = OptimalMembershipAttack(unit, self.n_pilot).run(game, n_trials, seed)
        return replace(result, attack=self.name)


def _target(n_rows: int, seed: int) -> int:
    return int(np.random.default_rng(seed).integers(n_rows))
