"""Parameters of private gradient descent: their checks and their words."""

from __future__ import annotations

import inspect
import re
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, StrOptions, check_parameters
from pacsklearn.srpp.descent.descent import PENALTIES, SCHEDULES
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
from pacsklearn.srpp.descent.srpp_sgd_accountant import ACCOUNTINGS
from pacsklearn.srpp.divergence.discrepancy import SAMPLINGS
from pacsklearn.srpp.release.renyi_unit import LARGEST_EPSILON, LARGEST_ORDER, check_secret_name
from pacsklearn.srpp.scenarios.scenario import Scenario

_POSITIVE = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
_SHARE = Interval(Real, 0, 1, closed="left")
_COUNT = Interval(Integral, 1, None, closed="left")

RUN_CONSTRAINTS: Final[dict[str, list[Any]]] = {
    "learning_rate": [StrOptions(set(SCHEDULES))],
    "sampling": [StrOptions(set(SAMPLINGS))],
    "accounting": [StrOptions(set(ACCOUNTINGS))],
    "eta0": [_POSITIVE],
    "power_t": [_NOT_NEGATIVE],
    "warmup": [_SHARE],
    "momentum": [_SHARE],
    "clip_norm": [_POSITIVE],
    "order": [Interval(Real, 1, LARGEST_ORDER, closed="right")],
    "delta": [Interval(Real, 0, 1, closed="neither")],
    "epsilon": [Interval(Real, 0, LARGEST_EPSILON, closed="right")],
    "noise_multiplier": [None, _NOT_NEGATIVE],
    "batch_size": [_COUNT],
    "max_iter": [_COUNT],
    "steps_per_charge": [_COUNT],
}
"""Of every private run, whatever is trained."""

LINEAR_CONSTRAINTS: Final[dict[str, list[Any]]] = {
    **RUN_CONSTRAINTS,
    "penalty": [StrOptions({each for each in PENALTIES if each is not None}), None],
    "alpha": [_NOT_NEGATIVE],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "huber_width": [_POSITIVE],
    "tol": [_NOT_NEGATIVE],
    "n_iter_no_change": [_COUNT],
    "average": [_COUNT, bool],
}
"""Of linear models."""


def check_run(model: Any) -> None:
    """Refuse parameters of a private run that make no sense: also those of other estimators."""
    check_secret_name(model.secret_name, model.ledger)
    check_parameters(model)
    if model.noise_multiplier == 0 and model.ledger is not None:
        raise ValueError(
            "noise_multiplier=0 gives no guarantee, so there is nothing a ledger could count; "
            "leave the ledger out, or give a positive noise_multiplier."
        )
    if model.discrepancy is not None and not isinstance(model.discrepancy, DiscrepancyCap):
        raise TypeError(
            "discrepancy must be a DiscrepancyCap, got an object of type "
            f"{type(model.discrepancy).__name__}."
        )
    if model.scenario is not None and not isinstance(model.scenario, str | Scenario):
        raise TypeError(
            "scenario must be a Scenario or the name of one, got an object of type "
            f"{type(model.scenario).__name__}; DifferingRows(20) hides what any 20 rows decide."
        )


def checked_class_weight(class_weight: Any, classes: Any) -> dict[Any, float] | None:
    """Weights of the classes that a user gave."""
    if class_weight is None:
        return None
    if class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' counts the labels, which are private, and would be released "
            "without noise. Give a dictionary of weights that you chose without looking at them, "
            "class_weight={label: weight}."
        )
    if not isinstance(class_weight, dict):
        raise TypeError(
            "class_weight must be None or a dictionary {label: weight}, got an object of type "
            f"{type(class_weight).__name__}."
        )
    weights = dict.fromkeys(classes, 1.0)
    for label, weight in class_weight.items():
        if isinstance(weight, bool) or not _NOT_NEGATIVE.is_satisfied_by(weight):
            raise ValueError(f"class_weight must hold numbers in [0, inf), got {weight!r}.")
        if label in weights:
            weights[label] = float(weight)
    return weights


_SECTIONS = re.compile(
    r".*?Parameters\n-+\n(?P<parameters>.*?)\n\nAttributes\n-+\n(?P<attributes>.*?)\n\n"
    r"(?P<notes>Raises\n-+\n.*)",
    re.DOTALL,
)


@dataclass(eq=False, repr=False)
class LinearParameters(BaseEstimator):
    """Parameters of the private linear models.

    What follows stands in the documentation of every subclass, in the places that it names.

    Parameters
    ----------
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
        What is secret. ``DifferingRows(1)``, what any single row holds, when not given. Where the
        scenario draws training sets from the table, one is drawn and trained on.
    discrepancy : DiscrepancyCap, optional
        How many rows of a batch the secret changes, instead of what the scenario says. It may not
        promise less than the scenario does.
    clip_norm : float, default=1.0
        To which the gradient of every row is clipped.
    feature_bounds : array-like of shape (n_features,), optional
        Public bounds of the columns' absolute values, from a codebook. The model is then trained
        on columns divided by them, and given for columns as they are: noise on a coefficient is
        the less the larger its column (a matrix cap), and small columns are learnt as well as
        large ones. No row within the bounds is clipped whose loss has a slope of at most
        ``clip_norm``; rows beyond them are. The penalty is of the divided columns' coefficients. A
        run that was begun keeps its bounds.
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
    guarantee_ : PufferfishGuarantee or None
        What is promised about all steps so far; None without noise.
    released_estimator_ : SGDClassifier or SGDRegressor
        scikit-learn's own model with the noised coefficients, which :func:`publish` writes into a
        bundle. There is none without noise.
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

    *Edge cases.* Nothing is centred or scaled by what the rows are: divide by public constants, or
    state ``feature_bounds``. Columns of very different sizes make clipping remove most of the small
    ones otherwise.

    Source: srpp, section 5 and appendices C to J.
    """

    loss: str = "squared_error"
    _: KW_ONLY
    penalty: str | None = "l2"
    alpha: float = 1e-4
    l1_ratio: float = 0.15
    fit_intercept: bool = True
    epsilon: float = 1.0
    order: float = 4.0
    noise_multiplier: float | None = None
    accounting: str = "secret-batches"
    scenario: Any = None
    discrepancy: DiscrepancyCap | None = None
    clip_norm: float = 1.0
    feature_bounds: Any = None
    batch_size: int = 64
    sampling: str = "poisson"
    max_iter: int = 20
    learning_rate: str = "cosine"
    eta0: float = 0.1
    power_t: float = 0.25
    warmup: float = 0.0
    momentum: float = 0.0
    average: bool | int = False
    early_stopping: bool = False
    tol: float = 1e-3
    n_iter_no_change: int = 5
    huber_width: float = 0.5
    delta: float = 1e-5
    secret_name: str | None = None
    ledger: Any = None
    steps_per_charge: int = 1
    random_state: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Put the common words in their places in a class's documentation."""
        super().__init_subclass__(**kwargs)
        if cls.__doc__ and (
            common := _SECTIONS.fullmatch(inspect.cleandoc(LinearParameters.__doc__ or ""))
        ):
            words = inspect.cleandoc(cls.__doc__)
            for place, text in common.groupdict().items():
                words = words.replace(f"{{{place}}}", text)
            # A first step size of its own is the only default that a class has.
            cls.__doc__ = words.replace(
                "eta0 : float, default=0.1", f"eta0 : float, default={cls.eta0}"
            )
