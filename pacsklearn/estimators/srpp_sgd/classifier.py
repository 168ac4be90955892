"""Linear classification by private stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from pacsklearn.core.discrepancy_cap import DiscrepancyCap
from pacsklearn.estimators.srpp_sgd.base import LinearSGD
from pacsklearn.estimators.srpp_sgd.checked import check_parameters, checked_class_weight
from pacsklearn.estimators.srpp_sgd.losses import LOSSES
from pacsklearn.pufferfish.open_run import planned_unit

__all__ = ["SRPPSGDClassifier"]

Floats = NDArray[np.float64]


class SRPPSGDClassifier(ClassifierMixin, LinearSGD):
    """Linear classifier trained by noised gradient steps, so that a secret about the data stays.

    The private counterpart of scikit-learn's SGDClassifier, in minibatches. With several classes
    one model is trained for each against the rest, all in the same steps: a row's gradient in all
    of them together is clipped.

    Parameters
    ----------
    loss : {"log_loss", "hinge", "squared_error", "huber"}, default="log_loss"
        The last two take labels as targets of -1 and 1.
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
    eta0 : float, default=0.5
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
    class_weight : dict, optional
        Weight of each label, chosen without looking at the labels.
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
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    guarantee_ : PufferfishGuarantee or None
        What is promised about all steps so far; None without noise.
    n_iter_, n_steps_ : int
        Epochs and steps taken.
    classes_ : ndarray of shape (n_classes,)
        Public.
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
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pacsklearn import SRPPSGDClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SRPPSGDClassifier(epsilon=4.0, batch_size=128).fit(scale(X), y)
    >>> model.guarantee_.spent <= 4.0
    True
    """

    _losses = LOSSES
    classes_: NDArray[Any]

    def __init__(
        self,
        loss: str = "log_loss",
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
        eta0: float = 0.5,
        power_t: float = 0.25,
        warmup: float = 0.0,
        momentum: float = 0.0,
        average: bool | int = False,
        early_stopping: bool = False,
        tol: float = 1e-3,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | None = None,
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
        self.class_weight = class_weight
        self.huber_width = huber_width
        self.delta = delta
        self.secret_name = secret_name
        self.ledger = ledger
        self.steps_per_charge = steps_per_charge
        self.random_state = random_state

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        *,
        secret: Any = None,
        realized: Any = None,
    ) -> SRPPSGDClassifier:
        """One more epoch, on the account of the run so far.

        The first call calibrates the noise for ``max_iter`` epochs of its number of rows; calls go
        on until ``epsilon`` is spent.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        classes : array-like, optional
            All labels; needed in the first call when ``y`` lacks some.
        secret, realized : as for ``fit``

        Raises
        ------
        BudgetExhaustedError
            When another step does not fit; steps taken before stay charged and are kept.
        """
        check_parameters(self, self._losses)
        found: SRPPSGDClassifier = self._train(X, y, secret, realized, epochs=1, classes=classes)
        return found

    @property
    def ledger_unit(self) -> str:
        """Unit of a ledger that can bear runs like this one."""
        return planned_unit(self)

    def decision_function(self, X: Any) -> Floats:
        """Signed distances, up to the length of the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        decisions = self._decisions(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        """
        decisions = self.decision_function(X)
        codes = (decisions > 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @available_if(lambda self: self.loss == "log_loss")
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the labels, for the logistic loss.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        decisions = self.decision_function(X)
        likely = expit(decisions)
        if decisions.ndim == 1:
            return np.column_stack([1 - likely, likely])
        total = likely.sum(axis=1, keepdims=True)
        even = np.full_like(likely, 1 / likely.shape[1])
        return np.divide(likely, total, out=even, where=total > 0)

    def _targets(self, y: Any, classes: Any) -> tuple[Floats, Floats | None]:
        check_classification_targets(y)
        if hasattr(self, "classes_"):
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(
                    "classes must be those of the first call, got others; call fit for a new run."
                )
        else:
            self.classes_ = np.unique(y if classes is None else classes)
        if self.classes_.size < 2:
            raise ValueError(
                f"y must have at least two classes, got {self.classes_.size} class; there is "
                "nothing to tell apart."
            )
        codes = np.searchsorted(self.classes_, y)
        known = codes < self.classes_.size
        if not np.all(known) or not np.all(self.classes_[codes] == y):
            raise ValueError(
                "y has labels that are not among the classes of the first call; name all classes "
                "there, partial_fit(X, y, classes=...)."
            )
        weight = checked_class_weight(self.class_weight, self.classes_.tolist())
        weights = None
        if weight is not None:
            weights = np.array([weight[label] for label in self.classes_.tolist()])[codes]
        if self.classes_.size == 2:
            return np.where(codes == 1, 1.0, -1.0)[:, None], weights
        return np.where(codes[:, None] == np.arange(self.classes_.size), 1.0, -1.0), weights

    def _publish(self, parameters: Floats) -> None:
        self.coef_, self.intercept_ = parameters[:, :-1].copy(), parameters[:, -1].copy()

    def _public(self) -> tuple[str, ...]:
        return (*super()._public(), "classes_")
