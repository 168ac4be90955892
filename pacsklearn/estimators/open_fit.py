"""One fit while it is open: how it begins, its rows, and how what it releases is taken."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

from sklearn.base import is_classifier

from pacsklearn._sklearn_compat import features_of
from pacsklearn.estimators.alternatives import options_of
from pacsklearn.estimators.released_tables import announce_release
from pacsklearn.estimators.responders import Responders, answer_table
from pacsklearn.estimators.subsets import design_of, listed_design
from pacsklearn.estimators.table_space import space_for
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.ledger.ledger import MemoryLedger
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.candidates import Candidates, FitOptions
from pacsklearn.kernel.release.account import Account, Secret
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.terms import Terms
from pacsklearn.kernel.secret.space import Space
from pacsklearn.universe.codebook_reader import published_facts, refuse_published
from pacsklearn.universe.design import Fits, candidates_over
from pacsklearn.universe.open_ledger import open_shared
from pacsklearn.universe.row_rules import check_names
from pacsklearn.universe.samplers import sampler_for

if TYPE_CHECKING:
    from pacsklearn.estimators.pac_private import PACPrivate
    from pacsklearn.estimators.release_kind import ReleaseKind


@final
@dataclass(frozen=True)
class Opening:
    """Budget, ledger and randomness of a session, or of one fit.

    Parameters
    ----------
    budget : Budget
    ledger, random_state
        As for :class:`~pacsklearn.PrivacySession`.
    """

    budget: Budget
    ledger: Any = None
    random_state: Any = None

    def procedure(
        self, space: Space, table: Any = None, looked_up: tuple[str, ...] = ()
    ) -> ReleaseProcedure:
        """Return the releases about one secret of a space.

        Parameters
        ----------
        space : Space
        table : array-like, optional
            What the secret is about, to warn of its second release.
        looked_up : tuple of str, default=()
            Facts of the table that are published exactly.

        Raises
        ------
        BudgetError
        """
        terms = Terms(space, self.budget.criterion(space), looked_up)
        own = MemoryLedger(self.budget.amount, terms.unit)
        announce = None if table is None else partial(announce_release, table)
        account = Account(own, open_shared(self.ledger), announce=announce)
        secret = Secret(space, sampler_for(self.random_state))
        return ReleaseProcedure(terms, secret, account, threading.RLock(), self.budget.allow_exact)


@final
class PreparedRows(NamedTuple):
    """What a fit and its plan begin with: checked rows, their candidates, and how they are drawn.

    ``stated`` is what is fitted: an estimator, or several to choose from. ``given`` is the table as
    it came, whose columns a fitted model names.
    """

    stated: Any
    given: Any
    candidates: Any
    design: Any

    @classmethod
    def of(
        cls, model: PACPrivate, kind: ReleaseKind, X: Any, y: Any, groups: Any, fit_params: Any
    ) -> Self:
        """Check the rows by the parameters of :class:`~pacsklearn.PACPrivate`.

        Raises
        ------
        ValueError
            Where the kind of release needs a list of candidates, or rows in memory.
        """
        check_names(X)
        options = FitOptions(model._routed(fit_params), model.n_jobs, model.verbose)
        template, spaces = options_of(model.estimator).template, space_for(X)
        if spaces is None:
            design = design_of(model.secret, groups, model.random_state)
            candidates = design.candidates(template, X, y, options)
        else:
            check_table(model, kind, X)
            what = f"a {type(X).__name__}"
            design = listed_design(model.secret, groups, model.random_state, what)
            candidates = spaces.over(X, y, design).outputs(Fits(template, X, y, options))
        needs_list = kind.needs_list(model.estimator)
        if needs_list and not candidates.space.has_members:
            raise ValueError(needs_list)
        return cls(model.estimator, X, candidates, design)

    @property
    def features(self) -> dict[str, Any]:
        """What a fit learns of the features; of a table, once it was read."""
        return features_of(self.candidates.space.shown(self.given))

    def target(self, budget: Budget) -> Target:
        """Return what a planned release may reveal.

        Raises
        ------
        ValueError
            Where candidates cannot be listed.
        """
        space = self.candidates.space
        if not space.has_members:
            raise ValueError(
                "secret must be Subsets() for a plan: it simulates releases over a list of "
                "candidates. With SampledSubsets() expect somewhat more noise than it says."
            )
        return Target(budget.amount, budget.criterion(space))

    def in_blocks(self, budget: Budget) -> Iterator[tuple[str, Candidates, Target]]:
        """Yield the same rows in blocks of 32, 8 and 4 similar ones, and in none; not as stated."""
        known = self.candidates
        if space_for(known.X) is not None:
            return  # its units pass one by one, and are dealt without blocks
        for blocks in (None, 32, 8, 4):
            if blocks == self.design.blocks:
                continue
            space = replace(self.design, blocks=blocks).space(
                known.X, known.y, classifies=is_classifier(known.estimator)
            )
            dealt = candidates_over(known.estimator, known.X, known.y, space, known.options)
            target = Target(budget.amount, budget.criterion(space))
            yield f"Subsets(blocks={blocks})", dealt, target


def check_table(model: PACPrivate, kind: ReleaseKind, table: Any) -> None:
    """Refuse what needs rows in memory.

    Raises
    ------
    ValueError
    """
    name = type(table).__name__
    if kind.is_black_box:
        raise ValueError(
            f"release must be Parameters() for a {name}, got {type(kind).__name__} of "
            f"{type(model.estimator).__name__}."
        )
    refuse_published(options_of(model.estimator).template, f"a {name} is read in passes")


@final
class OpenFit:
    """The rows of a fit, and releases about its secret.

    Parameters
    ----------
    model : PACPrivate
    rows : PreparedRows
    budget : Budget
    store : {"memory", "ledger"}, default="memory"
        Where answers are stored.
    """

    def __init__(
        self,
        model: PACPrivate,
        rows: PreparedRows,
        budget: Budget,
        store: str = "memory",
    ) -> None:
        self.model, self.rows, self._answers = model, rows, None
        known = rows.candidates
        facts = published_facts(known.estimator)
        opening = Opening(budget, model.ledger, model.random_state)
        self.procedure = opening.procedure(known.space, known.X, facts)
        if store == "ledger":
            # Seals what is stored: without it nobody can write an answer, or find a row's own.
            self._answers = answer_table(self.procedure, os.urandom(32))
            self._answers.begin(self.procedure.secret.log_belief)

    @property
    def estimator(self) -> Any:
        """The wrapped estimator; of several to choose from, what they are like."""
        return self.rows.candidates.estimator

    def candidates(self, estimator: Any) -> Any:
        """Return what every candidate's model is fitted with, for another estimator as well."""
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
