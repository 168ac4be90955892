"""Releases of a session beyond a model: values, and several planned together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pacsklearn._validation import check_budget
from pacsklearn.estimators.curator_figure import CuratorFigure, curator_figure
from pacsklearn.estimators.open_session import OpenSession
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.release.function import FunctionPlan
from pacsklearn.kernel.release.parameters import ParameterPlan, ReleaseChoices
from pacsklearn.kernel.release.plan import Plan, PlannedSet
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.release import Release
from pacsklearn.padding.padded_plan import PaddedPlan, is_one_sided
from pacsklearn.universe.autologging import check_unlogged
from pacsklearn.universe.metrics import as_metric
from pacsklearn.universe.row_rules import check_is_estimator

# Shares of a budget must not add up to more than it, in doubles.
_INWARD = 1 - 2.0**-40


class SessionReleases(OpenSession):
    """What :class:`PrivacySession` releases beside models."""

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
        check_unlogged()
        target = self._procedure.check(budget)
        known = (function, self._space, self._X, self._y, target)
        if is_one_sided(noise):
            plan: Plan = PaddedPlan.of(*known, metric)
        else:
            plan = FunctionPlan.of(*known, noise, as_metric(metric))
        return self._procedure.release(plan, certify=certify)[0]

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
        check_unlogged()
        planned = list(releases)
        stated = None if budgets is None else list(budgets)
        space = self._space
        plans: list[Plan] = []
        targets = planned_targets(self._procedure, len(planned), stated)
        for number, (one, target) in enumerate(zip(planned, targets, strict=True)):
            if hasattr(one, "fit"):
                check_is_estimator(one)
                prepare = partial(self._candidates, one, fit_params)
                plans.append(ParameterPlan.of(one, prepare, target, ReleaseChoices(noise)))
            elif callable(one):
                plans.append(FunctionPlan.of(one, space, self._X, self._y, target, noise))
            else:
                raise TypeError(
                    f"releases[{number}] must be an estimator or a function, got an object of type "
                    f"{type(one).__name__}."
                )
        return self._procedure.release(PlannedSet.of(plans), certify=certify)

    def curator_figure(self) -> CuratorFigure:
        """Return what the releases so far have told about memberships; for the curator only.

        It depends on what came out, and is in no guarantee and no release: do not publish it, and
        do not decide by it what to publish.

        Returns
        -------
        CuratorFigure
            The optimal adversary's success under the very noise that was used, certified, and how
            sure she is of a row's membership after what was released.
        """
        space = self._space.row_subsets()
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


def planned_targets(
    procedure: ReleaseProcedure, n_releases: int, budgets: Sequence[float] | None
) -> list[Target]:
    """Return what each of several planned releases may reveal, if all of them fit.

    Parameters
    ----------
    procedure : ReleaseProcedure
    n_releases : int
    budgets : sequence of float or None
        Equal shares of what remains when None.

    Raises
    ------
    BudgetExhaustedError
        Before anything is fitted.
    ValueError
        When there is nothing planned, there is another number of budgets, or the session caps a
        criterion.
    """
    terms = procedure.terms
    if n_releases == 0:
        raise ValueError("releases must hold at least one estimator or function, got none.")
    if terms.criterion is not None and n_releases > 1:
        raise ValueError(
            "criterion must be None for several planned releases: caps on the adversary's "
            "success do not add up over them."
        )
    if budgets is None:
        whole = procedure.check(None)
        if n_releases == 1:
            return [whole]
        share = procedure.account.remaining / n_releases * _INWARD
        return [terms.target(share, n_releases)] * n_releases
    given = [check_budget(budget=budget, name="budgets") for budget in budgets]
    if len(given) != n_releases:
        raise ValueError(
            f"budgets must have one entry for each of the {n_releases} planned releases, got "
            f"{len(given)}."
        )
    procedure.check(sum(given))
    return [terms.target(amount, n_releases) for amount in given]
