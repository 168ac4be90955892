"""An attribute of one person whose other attributes are known."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.audit.attack import AttackResult, InsertingAttack, ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.tally import tally
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn_attacks.inserted_rows import appended, dense_table

# Standard deviations between the two values of the attribute.
_APART = 4.0


@final
class AttributeAttack(InsertingAttack):
    """Which version of a record was used: one value of an attribute, the other, both or none.

    The adversary knows a person's record but for one attribute, and the two values that it may
    have. Both versions are put among the rows, so the question is about what was used, and is
    answered by Bayes' rule.

    Parameters
    ----------
    column : int, default=0
        The attribute.

    Notes
    -----
    The record is the mean of all rows in the other columns; its two values lie four standard
    deviations apart. On a game without inserted versions the first two units stand for them.
    Whether a *real* person's attribute is hidden is a question about another secret: see
    ``SRPPPrivate``, whose game the attack ``"map"`` plays.

    Source: Yeom et al. (2018), attribute inference by membership of each version.
    """

    name = "attribute"
    description = "one attribute of a record whose other attributes are known"
    needs = ("units",)
    threat: ClassVar = ThreatModel(
        goal="one attribute of a known record",
        knowledge="all rows, both versions of the record, all candidates",
        power="puts both versions among the rows, then looks at the release",
        reference="Yeom et al. 2018",
        cost="a replay with the versions; one posterior a round",
    )

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def insert(
        self, estimator: Any, X: Any, y: Any, groups: Any, seed: int
    ) -> tuple[Any, Any, Any, tuple[int, ...]]:
        """Return the universe with both versions at its end; as for :class:`CanaryAttack`."""
        table = dense_table(X, "attribute")
        column = check_integer(name="column", value=self.column, minimum=0)
        if column >= table.shape[1]:
            raise ValueError(f"column must be below {table.shape[1]}, got {column}.")
        versions = np.repeat(np.nanmean(table, axis=0)[None], 2, axis=0)
        versions[:, column] += _APART / 2 * np.nanstd(table[:, column]) * np.array([-1, 1])
        targets = None if y is None else np.repeat(np.asarray(y)[:1], 2, axis=0)
        return appended(X, y, groups, versions, targets)

    def run(self, game: Any, n_trials: int, seed: int) -> AttackResult:
        self.check_plays(game)
        if game.members.shape[1] < 2:
            raise ValueError("game must have at least two units of privacy.")
        pair = list(getattr(game, "canaries", ()))[:2] or [0, 1]
        codes = game.members[:, pair].astype(np.intp) @ np.array([1, 2])
        return tally(
            self.name,
            "which of two versions of a record were used",
            game,
            n_trials,
            np.random.default_rng(seed),
            blind=blind_class(game.prior, codes),
            right=lambda played: is_class_right(played, codes),
            details=(("units", ", ".join(map(str, pair))),),
        )


def likeliest_class(belief: Floats, codes: NDArray[Any]) -> int:
    """Return the class, 0, 1, 2, ..., that has the most probability.

    Parameters
    ----------
    belief : ndarray of shape (m,)
    codes : ndarray of int, shape (m,)
        Class of each candidate.
    """
    return int(np.argmax(np.bincount(codes, weights=belief)))


def blind_class(prior: Floats, codes: NDArray[Any]) -> float:
    """Return the success at naming the class before any release."""
    return min(float(np.bincount(codes, weights=prior).max()), 1.0)


def is_class_right(played: Round, codes: NDArray[Any]) -> bool:
    """Return whether Bayes' rule names the class of a candidate that was used."""
    return likeliest_class(played.posterior, codes) in codes[list(played.used)]
