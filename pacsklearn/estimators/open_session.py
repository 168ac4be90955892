"""What a session holds while it is open, and its releases of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.estimators.individual_information import stated_individually
from pacsklearn.estimators.linked_table import LinkedTable, linked_space
from pacsklearn.estimators.release_kind import check_prior
from pacsklearn.estimators.responders import Responders, answer_table
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.outputs.candidates import FitOptions, Fittable
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.release import Release
from pacsklearn.kernel.secret.space import Space
from pacsklearn.priors import Prior
from pacsklearn.universe.codebook_reader import refuse_published
from pacsklearn.universe.design import Fits
from pacsklearn.universe.metrics import metric_or_auto
from pacsklearn.universe.public_prior import DrawnToward
from pacsklearn.universe.row_rules import check_is_estimator


class OpenSession:
    """Universe, secret, belief and ledgers of a session, a model's release, and how it ends."""

    _unit_names: NDArray[Any] | None = None
    _open_responders: Responders | None = None

    def _start(
        self,
        X: Any,
        y: Any,
        space: Space,
        procedure: ReleaseProcedure,
        budget: Budget,
        fitting: FitOptions,
        answers_key: bytes | None = None,
    ) -> None:
        self._X, self._y, self._space = X, y, space
        self._procedure, self._budget, self._fitting = procedure, budget, fitting
        self._account, self._secret = procedure.account, procedure.secret
        self._one_at_a_time = procedure.lock
        self._answers_key = answers_key
        self._answer_table = None if answers_key is None else answer_table(procedure, answers_key)

    @property
    def ledger(self) -> Ledger:
        """Account of this session."""
        return self._account.own

    @property
    def space(self) -> Space:
        """Candidates, or how the secret is drawn; public."""
        return self._space

    @property
    def guarantee_(self) -> PACGuarantee:
        """What is promised about everything released so far."""
        return self._procedure.guarantee()

    def close(self) -> None:
        """Release nothing more, and stop drawing noise ahead. What was released stays valid.

        Answers that are stored, or on which all candidates agree, are still given.
        """
        # A child's close must not wait for a lock that its parent's thread held at the fork.
        if self._account.home.is_here:
            with self._one_at_a_time:  # whatever is on its way is finished first
                self._account.is_closed = True
        if self._open_responders is not None:
            self._open_responders.close()

    @property
    def _responders(self) -> Responders:
        self._account.home.check()  # a child must not wait for a lock held at the fork
        with self._one_at_a_time:  # threads that ask at once share them, and their noise
            if self._open_responders is None:
                self._open_responders = Responders(self._procedure, self._answer_table)
            return self._open_responders

    def _fits(self, estimator: Any, fit_params: Mapping[str, Any] | None) -> Fits:
        refuse_published(estimator, "only PACPrivate and Auto list them in what they state")
        options = replace(self._fitting, fit_params=fit_params or {})
        return Fits(estimator, self._X, self._y, options)

    def _candidates(
        self,
        estimator: Any,
        fit_params: Mapping[str, Any] | None,
        table: LinkedTable | None = None,
    ) -> Fittable:
        fits, space = self._fits(estimator, fit_params), self._space
        if table is not None:
            space = linked_space(space.row_subsets(), self._unit_names, table)
            fits = replace(fits, X=table.X, y=table.y)
        candidates: Fittable = space.outputs(fits)
        return candidates

    def release(
        self,
        estimator: Any,
        *,
        budget: float | None = None,
        noise: Any = "auto",
        metric: Any = "auto",
        canonicalizer: Any = "auto",
        prior: Prior | None = None,
        fit_params: Mapping[str, Any] | None = None,
        individual: bool = False,
        certify: bool = True,
        table: LinkedTable | None = None,
    ) -> Release:
        """Release a private model: fitted on the secret subset, canonical, noised.

        Parameters
        ----------
        estimator : estimator
        budget : float, optional
            Nats this release may reveal; all that remains when not given.
        noise : str or NoiseBackend, default="auto"
            "auto" is ``"logdet"``, and ``"criterion"`` under a cap.
        metric : "auto", None, array-like or Metric, default="auto"
            What noise costs in each direction; "auto" asks the canonicalizer.
        canonicalizer : "auto", str or Canonicalizer, default="auto"
        prior : Range or Expected, optional
            For regressors: what is publicly expected of the targets (:mod:`pacsklearn.priors`). The
            released model is drawn toward it as far as its noise asks for.
        fit_params : mapping, optional
            Passed to every subset's ``fit``.
        individual : bool, default=False
            Also compute what the release tells about each row by itself
            (pac-private-algorithms, section 6.3): ``individual`` of the result, and a line of its
            guarantee.
        certify : bool, default=True
            State what the optimal adversary achieves at the worst row under this release's noise,
            at confidence 1 - 1e-6, beside what the information implies. For the first release of
            a session: later noise depends on what came out, and so would the figure.
        table : LinkedTable, optional
            Rows to fit on instead of the session's own: those of another table of the same people,
            or the session's :meth:`without` somebody.

        Returns
        -------
        Release
            Its ``value`` is a fitted estimator that holds only private numbers. Its guarantee
            covers everything this session has released up to now.

        Raises
        ------
        BudgetExhaustedError
            Before anything is fitted; the ledger is unchanged.
        """
        if individual:
            self._space.row_subsets()  # or says why there are no figures of single rows
        plan = self.prepare(
            estimator,
            budget=budget,
            noise=noise,
            metric=metric,
            canonicalizer=canonicalizer,
            prior=prior,
            fit_params=fit_params,
            table=table,
        )
        return self.take(plan, individual=individual, certify=certify)

    def prepare(
        self,
        estimator: Any,
        *,
        budget: float | None = None,
        noise: Any = "auto",
        metric: Any = "auto",
        canonicalizer: Any = "auto",
        prior: Prior | None = None,
        fit_params: Mapping[str, Any] | None = None,
        table: LinkedTable | None = None,
    ) -> ParameterPlan:
        """Fit every candidate's model, and nothing more: nothing is charged, drawn or released.

        Parameters
        ----------
        estimator, budget, noise, metric, canonicalizer, prior, fit_params, table
            As for :meth:`release`.

        Returns
        -------
        ParameterPlan
            For :meth:`take`, and for the curator's own simulations. Secret material: it holds the
            models of all candidates.

        Raises
        ------
        BudgetExhaustedError
            Before anything is fitted.
        """
        return ParameterPlan.of(
            estimator,
            partial(self._candidates, estimator, fit_params, table),
            self._procedure.check(budget),
            _choices(estimator, noise, metric, canonicalizer, prior),
        )

    def take(
        self, plan: ParameterPlan, *, individual: bool = False, certify: bool = True
    ) -> Release:
        """Release what :meth:`prepare` of this session prepared; see :meth:`release`.

        Raises
        ------
        ValueError
            When the plan was prepared on other candidates, or under another cap.
        BudgetExhaustedError
            When the budget is gone meanwhile; nothing is charged or drawn.
        """
        # Candidates of a linked table are those of the session, over other rows. What a cap allows
        # is no number of nats, and a success at one aim none at another.
        is_own = plan.target.criterion is self._procedure.terms.criterion
        if not (is_own and self._space.has_candidates_of(plan.space)):
            raise ValueError(
                "plan must come from prepare() of this session; this one was prepared on other "
                "candidates or under another cap, so its noise does not keep what this session "
                "promises."
            )
        # What cannot be stated afterwards is refused before anything is charged.
        listed = plan.space.row_subsets() if individual else None
        stated = None if listed is None else partial(stated_individually, listed)
        return self._procedure.release(plan, certify=certify, individually=stated)[0]

    def without(self, units: Any) -> LinkedTable:
        """Return the session's table without the rows of some units, for a refit after a deletion.

        Parameters
        ----------
        units : array-like
            Names of units as the session's ``groups`` had them; row numbers where it had none.

        Returns
        -------
        LinkedTable
            For ``release(estimator, table=...)``. What was released before is not undone, and its
            charge is not given back; the refit is about the same secret and is charged to the same
            ledger.

        Raises
        ------
        ValueError
            When the session has no such unit.
        """
        space = self._space.row_subsets()
        codes = np.arange(space.n_rows) if space.unit_of_row is None else space.unit_of_row
        names = np.arange(space.n_units) if self._unit_names is None else self._unit_names
        gone = np.isin(names, np.asarray(units))
        if gone.sum() != np.unique(np.asarray(units)).size:
            raise ValueError(
                "units must name units of the session: as its groups had them, or row numbers "
                f"below {space.n_units:,} where it had none; {int(gone.sum())} were found."
            )
        rows = np.flatnonzero(~gone[codes])
        y = None if self._y is None else safe_indexing(self._y, rows)
        return LinkedTable(safe_indexing(self._X, rows), y, groups=names[codes[rows]])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return (
            f"PrivacySession({self._space.size}, spent={self.ledger.spent:.6g}, "
            f"ceiling={self.ledger.ceiling:.6g})"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A PrivacySession holds the secret and cannot be pickled or copied; keep it in the "
            "process that owns it and publish its releases, or move it with save and load."
        )


def _choices(
    estimator: Any, noise: Any, metric: Any, canonicalizer: Any, prior: Prior | None
) -> ReleaseChoices:
    """Return a release's arguments as a plan takes them.

    Raises
    ------
    ValueError
        When there is a prior and nothing that it says anything about.
    """
    check_is_estimator(estimator)
    cost = metric_or_auto(metric)
    if prior is None:
        return ReleaseChoices(noise, cost, canonicalizer)
    check_prior(estimator, prior)
    return ReleaseChoices(noise, cost, canonicalizer, DrawnToward(prior.normal()))
