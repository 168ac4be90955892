"""Releases of a session: models, values, and several planned together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from pacsklearn.core.curator_figure import CuratorFigure
from pacsklearn.core.release import Release
from pacsklearn.release.function import FunctionPlan, release_value
from pacsklearn.release.parameters import (
    ParameterPlan,
    ReleaseChoices,
    public_prior,
    take_parameters,
)
from pacsklearn.release.planned import (
    ReleasePlan,
    not_releasable,
    one_budget,
    planned_targets,
    release_planned,
)
from pacsklearn.release.statement import curator_figure
from pacsklearn.session.linked_table import LinkedTable
from pacsklearn.session.open_session import OpenSession
from pacsklearn.tables.hashed_space import HashedSpace, listed_space


class SessionReleases(OpenSession):
    """What :class:`PrivacySession` releases."""

    def release(
        self,
        estimator: Any,
        *,
        budget: float | None = None,
        noise: Any = "auto",
        metric: Any = "auto",
        canonicalizer: Any = "auto",
        prior_mean: float | None = None,
        value_range: tuple[float, float] | None = None,
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
            "auto" is ``"logdet"``, and ``"criterion"`` in a session with a criterion.
        metric : "auto", None, array-like or Metric
            What noise costs in each direction; "auto" asks the canonicalizer.
        canonicalizer : "auto", str or Canonicalizer
        prior_mean : float, optional
            For regressors: what is publicly expected of the targets. The released model is drawn
            toward it as far as its noise asks for.
        value_range : (float, float), optional
            For regressors: public range of the targets; its middle stands for ``prior_mean``.
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
        if self._drawn is not None:
            if individual or table is not None:
                self._row_space()  # says why there are no figures of single rows
            if prior_mean is not None or value_range is not None:
                raise ValueError(
                    "prior_mean and value_range must be None with secret_space='sampled': released "
                    "models are not drawn toward a public prior there. Use secret_space='listed'."
                )
            return self._drawn.release(
                [estimator],
                self._X,
                self._y,
                one_budget(budget),
                noise,
                fit_params,
                metric=metric,
                canonicalizer=canonicalizer,
            )[0]
        plan = self.prepare(
            estimator,
            budget=budget,
            noise=noise,
            metric=metric,
            canonicalizer=canonicalizer,
            prior_mean=prior_mean,
            value_range=value_range,
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
        prior_mean: float | None = None,
        value_range: tuple[float, float] | None = None,
        fit_params: Mapping[str, Any] | None = None,
        table: LinkedTable | None = None,
    ) -> ParameterPlan:
        """Fit every candidate's model, and nothing more: nothing is charged, drawn or released.

        Parameters
        ----------
        estimator, budget, noise, metric, canonicalizer, prior_mean, value_range, fit_params, table
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
        if self._drawn is not None or not isinstance(self._space, HashedSpace):
            self._row_space()
        return ParameterPlan.of(
            estimator,
            lambda: (
                (self._table_candidates(estimator, fit_params) if table is None else None)
                or self._candidates(estimator, fit_params, table)
            ),
            self._procedure.check(budget),
            ReleaseChoices(
                noise, metric, canonicalizer, public_prior(estimator, prior_mean, value_range)
            ),
        )

    def take(
        self, plan: ParameterPlan, *, individual: bool = False, certify: bool = True
    ) -> Release:
        """Release what :meth:`prepare` of this session prepared; see :meth:`release`.

        Raises
        ------
        ValueError
            When the plan was prepared on other candidates.
        BudgetExhaustedError
            When the budget is gone meanwhile; nothing is charged or drawn.
        """
        # Candidates of a linked table are those of the session, over other rows.
        packed = getattr(self._space, "packed", self._space)
        if plan.space is not self._space and getattr(plan.space, "packed", None) is not packed:
            raise ValueError(
                "plan must come from prepare() of this session; it was prepared on other "
                "candidates, whose noise says nothing about this session's secret."
            )
        return take_parameters(self._procedure, plan, individual=individual, certify=certify)

    def release_function(
        self,
        function: Callable[..., Any],
        *,
        budget: float | None = None,
        noise: Any = "auto",
        metric: Any = None,
        certify: bool = True,
    ) -> Release:
        """Release a private value of any deterministic function of the secret.

        Parameters
        ----------
        function : callable
            Called with the rows of a candidate subset (``function(X_s)``, or ``function(X_s, y_s)``
            when the session has a ``y``), or with a candidate of a session made by :meth:`over`.
            Returns a number, or an array of numbers of a fixed shape.
        budget : float, optional
            Nats this release may reveal; all that remains when not given.
        noise : str or NoiseBackend, default="auto"
            A noise backend, or ``"one_sided"`` for one whole number that may only grow.
        metric : None, array-like or Metric
            What noise costs in each direction of the flattened value.
        certify : bool, default=True
            As for :meth:`release`; the figure of padding is exact. None for candidates that are
            not subsets of rows.

        Returns
        -------
        Release
            Its ``value`` has the shape that the function returns; a float for a number, an int for
            one-sided noise. Its guarantee covers everything this session has released up to now.

        Raises
        ------
        BudgetExhaustedError
            Before the function is called; the ledger is unchanged.
        FunctionError
            When the function fails on a candidate, or returns no finite numbers of a fixed shape.
            The message quotes no value.
        NonDeterministicError
            When a second call on the first candidate gives another value.

        Notes
        -----
        *Guarantee.* As for :meth:`release`: the function is evaluated on every candidate, and the
        noise is calibrated to all the values. The function may use public constants, but nothing
        that depends on the other candidates. How long a call takes is not hidden.
        """
        if self._drawn is not None:
            return self._drawn.release(
                [function], self._X, self._y, one_budget(budget), noise, metric=metric
            )[0]
        return release_value(
            self._procedure,
            function,
            self._X,
            self._y,
            budget=budget,
            noise=noise,
            metric=metric,
            certify=certify,
        )

    def release_planned(
        self,
        releases: Iterable[Any],
        *,
        budgets: Iterable[float] | None = None,
        noise: Any = "auto",
        fit_params: Mapping[str, Any] | None = None,
        certify: bool = True,
    ) -> tuple[Release, ...]:
        """Release several models or values that are planned together, for one charge.

        No release is calibrated to what another one told, so the noise of all of them is fixed
        before the first is drawn, and what the optimal adversary achieves with all of them is
        certified and published: later releases of an open session have no such figure.

        Parameters
        ----------
        releases : iterable of estimators and functions
            An estimator is released as by :meth:`release`, any other callable as by
            :meth:`release_function`.
        budgets : iterable of float, optional
            Nats of each; equal shares of all that remains when not given.
        noise : str or NoiseBackend, default="auto"
            For all of them.
        fit_params : mapping, optional
            Passed to every estimator's ``fit`` on every subset.
        certify : bool, default=True
            State what the optimal adversary achieves at the worst row with all of them together,
            at confidence 1 - 1e-6, where nothing was released before.

        Returns
        -------
        tuple of Release
            In order. All have the same guarantee and the same event.

        Raises
        ------
        BudgetExhaustedError
            Before anything is fitted; the ledger is unchanged.

        Notes
        -----
        *Guarantee.* Given the secret the releases are independent, so together they reveal at most
        the sum of what each reveals by itself (chain rule of the mutual information).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from pacsklearn import PrivacySession
        >>> X, y = load_iris(return_X_y=True)
        >>> with PrivacySession(X, y, budget=1 / 4) as session:
        ...     model, mean = session.release_planned([GaussianNB(), lambda X, y: X.mean(axis=0)])
        >>> model.guarantee.n_releases
        2
        >>> model.guarantee.certified_membership < model.guarantee.posterior_membership
        True
        """
        planned = list(releases)
        stated = None if budgets is None else list(budgets)
        if self._drawn is not None:
            return self._drawn.release(planned, self._X, self._y, stated, noise, fit_params)
        procedure, space = self._procedure, listed_space(self._space)
        targets = planned_targets(
            procedure.check_amount, procedure.account, len(planned), stated, procedure.criterion
        )
        plans: list[ReleasePlan] = []
        for number, (one, target) in enumerate(zip(planned, targets, strict=True)):
            if hasattr(one, "fit"):
                prepare = partial(self._candidates, one, fit_params)
                plans.append(ParameterPlan.of(one, prepare, target, ReleaseChoices(noise)))
            elif callable(one):
                plans.append(FunctionPlan.of(one, space, self._X, self._y, target, noise))
            else:
                raise not_releasable(number, one)
        return release_planned(procedure, plans, certify=certify)

    def curator_figure(self) -> CuratorFigure:
        """What the releases so far have told about memberships; for the curator only.

        It depends on what came out, and is in no guarantee and no release: do not publish it, and
        do not decide by it what to publish.

        Returns
        -------
        CuratorFigure
            The optimal adversary's success under the very noise that was used, certified, and how
            sure she is of a row's membership after what was released.
        """
        space = self._row_space()
        self._account.home.check()
        with self._one_at_a_time:
            return curator_figure(
                self._procedure.certificate,
                space,
                self._secret.belief,
                self.guarantee_.posterior_membership,
                len(self._account.own.events),
                self._procedure.n_releases,
            )
