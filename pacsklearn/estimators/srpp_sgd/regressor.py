"""Linear regression by private stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from pacsklearn.core.discrepancy_cap import DiscrepancyCap
from pacsklearn.estimators.srpp_sgd.base import LinearSGD
from pacsklearn.estimators.srpp_sgd.checked import check_parameters
from pacsklearn.pufferfish.open_run import planned_unit

__all__ = ["SRPPSGDRegressor"]

Floats = NDArray[np.float64]


class SRPPSGDRegressor(RegressorMixin, LinearSGD):
    """Linear regressor trained by noised gradient steps, so that a secret about the data stays.

    The private counterpart of scikit-learn's SGDRegressor, in minibatches. Targets far from 0 make
    every gradient one to be clipped: shift and scale them by public constants first.

    Parameters
    ----------
    loss : {"squared_error", "huber"}, default="squared_error"
    penalty : {"l2", "l1", "elasticnet"} or None, default="l2"
        Added after the noise; it costs nothing.
    alpha : float, default=1e-4
        Strength of the penalty.
    l1_ratio : float, default=0.15
        Of ``"elasticnet"``.
    fit_intercept : bool, default=True
        Learn an intercept, which is never penalised.
    epsilon : float, default=1.0
        Renyi divergence that the whole run of ``max_iter`` epochs may cost, in nats.
    order : float, default=4.0
        Its order, above 1.
    noise_multiplier : float, optional
        Instead of ``epsilon``: standard deviation of the noise on the sum of a batch, over
        ``clip_norm``; the guarantee is computed. 0 for none, and no guarantee.
    accounting : {"secret-batches", "worst-case", "subsampling-aware"}, default="secret-batches"
        ``"secret-batches"``: divergence of the release, while nobody learns which rows a step
        looked at. ``"worst-case"``: whatever the batches, which may be known (SRPP-SGD, by
        history-uniform caps). ``"subsampling-aware"``: a mean over the batches, which may be known
        (sa-SRPP-SGD).
    scenario : str or Scenario, optional
        What is secret. ``DifferingRows(1)``, what any single row holds, when not given.
    discrepancy : DiscrepancyCap, optional
        How many rows of a batch the secret changes, where the scenario cannot enumerate its data
        sets.
    clip_norm : float, default=1.0
        To which the gradient of every row is clipped.
    batch_size : int, default=64
        Rows of a step, and what the sum of their gradients is divided by; all rows where there are
        fewer.
    sampling : {"poisson", "without-replacement", "with-replacement"}, default="poisson"
        How a batch is drawn: every row by a coin of its own, so that ``batch_size`` is a mean; a
        set of rows; or rows drawn one by one. Secret batches are worth most with the first.
    max_iter : int, default=20
        Epochs: so many times ``n_rows / batch_size`` steps.
    learning_rate : {"constant", "invscaling", "cosine"}, default="cosine"
        Step size: ``eta0``; ``eta0 / step**power_t``; or falling to zero along a cosine.
    eta0 : float, default=0.1
        First step size.
    power_t : float, default=0.25
        Of ``"invscaling"``.
    warmup : float, default=0.0
        Share of the run in which the step size rises.
    momentum : float, default=0.0
        Share of the last step's direction that is kept.
    average : bool or int, default=False
        Publish the mean of the parameters of all steps, or of those from this one on.
    early_stopping : bool, default=False
        Stop when the score on *public* rows does not improve; only the steps taken are charged.
    tol : float, default=1e-3
        Improvement that counts.
    n_iter_no_change : int, default=5
        Epochs without one, until the run stops.
    huber_width : float, default=0.5
        Error up to which ``"huber"`` is squared.
    delta : float, default=1e-5
        For which (epsilon, delta) bounds are reported.
    secret_name : str, optional
        What you call the secret, say "clinic 2026: diagnosis". Needed with a ledger, which adds up
        releases about one secret only; the same for all of them.
    ledger : None, str or Ledger, default=None
        Account shared by several runs, ``"sqlite:///clinic.db"`` or one with the unit
        :attr:`ledger_unit`.
    steps_per_charge : int, default=1
        Steps that are charged together, for ledgers that are slow.
    random_state : None, int or RandomState, default=None
        None draws batches and noise from the operating system. Anything else makes them
        reproducible: it warns, and the guarantee says "not for release".

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    guarantee_ : PufferfishGuarantee or None
        What is promised about all steps so far; None without noise.
    n_iter_, n_steps_ : int
        Epochs and steps taken.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ScenarioError, BudgetExhaustedError, LedgerMismatchError, SessionRolledBackError
        From ``fit`` and ``partial_fit``. None quotes a row or the true secret.

    Notes
    -----
    *Guarantee.* Every step averages gradients that were clipped row by row and adds discrete
    Gaussian noise on an integer lattice. Between the releases of any two data sets that the
    scenario keeps apart, the Renyi divergence of all steps together is at most ``epsilon``. The
    bound is of the full view: it holds for the whole trajectory, and for every slice of it. Each
    step is charged before its rows are looked at.

    *What does not cost.* Step sizes, momentum, averaging and penalties are functions of what was
    noised (srpp, appendix C: they make no update react more strongly than by the step size, which
    scales the noise as well).

    *Edge cases.* Nothing is centred or scaled: divide by public constants. Columns of very
    different sizes make clipping remove most of the small ones.

    Source: srpp, section 5 and appendices C to J.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from pacsklearn import SRPPSGDRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SRPPSGDRegressor(epsilon=4.0, batch_size=128).fit(scale(X), (y - 150) / 75)
    >>> model.guarantee_.spent <= 4.0
    True
    """

    _losses = ("squared_error", "huber")

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 1e-4,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        epsilon: float = 1.0,
        order: float = 4.0,
        noise_multiplier: float | None = None,
        accounting: str = "secret-batches",
        scenario: Any = None,
        discrepancy: DiscrepancyCap | None = None,
        clip_norm: float = 1.0,
        batch_size: int = 64,
        sampling: str = "poisson",
        max_iter: int = 20,
        learning_rate: str = "cosine",
        eta0: float = 0.1,
        power_t: float = 0.25,
        warmup: float = 0.0,
        momentum: float = 0.0,
        average: bool | int = False,
        early_stopping: bool = False,
        tol: float = 1e-3,
        n_iter_no_change: int = 5,
        huber_width: float = 0.5,
        delta: float = 1e-5,
        secret_name: str | None = None,
        ledger: Any = None,
        steps_per_charge: int = 1,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.order = order
        self.noise_multiplier = noise_multiplier
        self.accounting = accounting
        self.scenario = scenario
        self.discrepancy = discrepancy
        self.clip_norm = clip_norm
        self.batch_size = batch_size
        self.sampling = sampling
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.warmup = warmup
        self.momentum = momentum
        self.average = average
        self.early_stopping = early_stopping
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.huber_width = huber_width
        self.delta = delta
        self.secret_name = secret_name
        self.ledger = ledger
        self.steps_per_charge = steps_per_charge
        self.random_state = random_state

    def partial_fit(
        self, X: Any, y: Any, *, secret: Any = None, realized: Any = None
    ) -> SRPPSGDRegressor:
        """One more epoch, on the account of the run so far.

        The first call calibrates the noise for ``max_iter`` epochs of its number of rows; calls go
        on until ``epsilon`` is spent.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        secret, realized : as for ``fit``

        Raises
        ------
        BudgetExhaustedError
            When another step does not fit; steps taken before stay charged and are kept.
        """
        check_parameters(self, self._losses)
        found: SRPPSGDRegressor = self._train(X, y, secret, realized, epochs=1)
        return found

    @property
    def ledger_unit(self) -> str:
        """Unit of a ledger that can bear runs like this one."""
        return planned_unit(self)

    def predict(self, X: Any) -> Floats:
        """Values.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        """
        return self._decisions(X)[:, 0]

    def _targets(self, y: Any, classes: Any) -> tuple[Floats, Floats | None]:
        return np.asarray(y, dtype=np.float64)[:, None], None

    def _publish(self, parameters: Floats) -> None:
        self.coef_, self.intercept_ = parameters[0, :-1].copy(), parameters[:, -1].copy()

    @property
    def _numeric(self) -> bool:
        return True
