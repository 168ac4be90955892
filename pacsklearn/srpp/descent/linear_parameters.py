"""Parameters of the private linear models: clipping, length of a run, their checks and words."""

from __future__ import annotations

import inspect
import re
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self, final

from sklearn.base import BaseEstimator

from pacsklearn._sklearn_compat import Interval, StrOptions
from pacsklearn.srpp.descent.clipped_gradient import LOSSES, HuberLoss, LinearLoss
from pacsklearn.srpp.descent.descent import LearningRate, Penalty
from pacsklearn.srpp.parameters.run_choices import SCENARIO, RunChoices
from pacsklearn.srpp.parameters.stated import stated

_COUNT = Interval(Integral, 1, None, closed="left")


@final
@dataclass(repr=False)
class Epochs(BaseEstimator):
    """How many steps a run takes, and which of them the model is of.

    Parameters
    ----------
    n : int, default=20
        Epochs: so many times ``n_rows / batches.size`` steps.
    early_stopping : bool, default=False
        Stop when the score on *public* rows does not improve; only the steps taken are charged.
    tol : float, default=1e-3
        Improvement that counts.
    n_iter_no_change : int, default=5
        Epochs without one, until the run stops.
    average : bool or int, default=False
        Publish the mean of the parameters of all steps, or of those from this one on.
    """

    n: int = 20
    early_stopping: bool = False
    tol: float = 1e-3
    n_iter_no_change: int = 5
    average: bool | int = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n": [_COUNT],
        "early_stopping": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_iter_no_change": [_COUNT],
        "average": [_COUNT, bool],
    }


@final
@dataclass(repr=False)
class Clipping(BaseEstimator):
    """How far a row may move a gradient step.

    Parameters
    ----------
    norm : float, default=1.0
        To which the gradient of every row is clipped.
    feature_bounds : array-like of shape (n_features,), optional
        Public bounds of the columns' absolute values, from a codebook. The model is then trained
        on columns divided by them, and given for columns as they are: noise on a coefficient is
        the less the larger its column (a matrix cap), and small columns are learnt as well as
        large ones. No row within the bounds is clipped whose loss has a slope of at most
        ``norm``; rows beyond them are. The penalty is of the divided columns' coefficients. A run
        that was begun keeps its bounds.
    """

    norm: float = 1.0
    feature_bounds: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "norm": [Interval(Real, 0, None, closed="neither")],
    }


@final
@dataclass(frozen=True, eq=False)
class LinearChoices:
    """What a user chooses about a private linear model, checked.

    Parameters
    ----------
    run : RunChoices
    loss : LinearLoss or HuberLoss
    penalty : Penalty
    clipping : Clipping
    learning_rate : LearningRate
    epochs : Epochs
    """

    run: RunChoices
    loss: LinearLoss | HuberLoss
    penalty: Penalty
    clipping: Clipping
    learning_rate: LearningRate
    epochs: Epochs

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return the choices of an estimator."""
        run, loss = RunChoices.of(model), model.loss
        return cls(
            run,
            LOSSES[loss] if isinstance(loss, str) else stated(HuberLoss, loss, "loss"),
            stated(Penalty, model.penalty, "penalty"),
            stated(Clipping, model.clipping, "clipping"),
            stated(LearningRate, model.learning_rate, "learning_rate"),
            stated(Epochs, model.epochs, "epochs"),
        )


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
    budget : float, Renyi or NoiseMultiplier, default=1.0
        Renyi divergence that the whole run may cost, in nats: a number is ``Renyi(number, 4)``. Or
        the noise, of which the guarantee is computed.
    scenario : str or Scenario, optional
        What is secret. ``DifferingRows(1)``, what any single row holds, when not given. Where the
        scenario draws training sets from the table, one is drawn and trained on.
    penalty : str, Penalty or None, default="l2"
        Added after the noise; it costs nothing.
    fit_intercept : bool, default=True
        Learn an intercept, which is never penalised.
    clipping : float or Clipping, default=1.0
        Norm to which the gradient of every row is clipped, and public bounds of the columns.
    batches : int or Batches, default=64
        Rows of a step, how they are drawn, and who may know them.
    learning_rate : float or LearningRate, default=0.1
        First step size, its schedule, and momentum.
    epochs : int or Epochs, default=20
        How long the run is, when it stops early, and what is averaged.
    secret_name : str, optional
        What you call the secret, say "clinic 2026: diagnosis". Needed with a ledger, which adds up
        releases about one secret only; the same for all of them.
    ledger : None, str or Ledger, default=None
        Account shared by several runs, ``"sqlite:///clinic.db"`` or one with the unit
        :attr:`ledger_unit`.
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
    scenario keeps apart, the Renyi divergence of all steps together is at most the budget; with
    ``Batches(accounting="subsampling-aware")`` its mean over the batches is, and unlucky batches
    tell more. The bound is of the full view: it holds for the whole trajectory, and for every slice
    of it. Each step is charged before its rows are looked at.

    *What does not cost.* Step sizes, momentum, averaging and penalties are functions of what was
    noised (srpp, appendix C: they make no update react more strongly than by the step size, which
    scales the noise as well).

    *Edge cases.* Nothing is centred or scaled by what the rows are: divide by public constants, or
    give ``Clipping(feature_bounds=...)``. Columns of very different sizes make clipping remove most
    of the small ones otherwise.

    Source: srpp, section 5 and appendices C to J.
    """

    loss: Any = "squared_error"
    budget: Any = 1.0
    _: KW_ONLY
    scenario: Any = None
    penalty: Any = "l2"
    fit_intercept: bool = True
    clipping: Any = 1.0
    batches: Any = 64
    learning_rate: Any = 0.1
    epochs: Any = 20
    secret_name: str | None = None
    ledger: Any = None
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions({"squared_error", "huber"}), HuberLoss],
        "fit_intercept": ["boolean"],
        **SCENARIO,
    }

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
                "LearningRate, default=0.1", f"LearningRate, default={cls.learning_rate}"
            )
