"""Words that the private linear models have in common."""

from __future__ import annotations

import inspect
from typing import Any, Final, TypeVar

Kind = TypeVar("Kind", bound=Any)

_PARAMETERS: Final = """\
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
    Public bounds of the columns' absolute values, from a codebook. The model is then trained on
    columns divided by them, and given for columns as they are: noise on a coefficient is the less
    the larger its column (a matrix cap), and small columns are learnt as well as large ones. No
    row within the bounds is clipped whose loss has a slope of at most ``clip_norm``; rows beyond
    them are. The penalty is of the divided columns' coefficients. A run that was begun keeps its
    bounds.
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
eta0 : float, default={eta0}
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
"""

_ATTRIBUTES: Final = """\
guarantee_ : PufferfishGuarantee or None
    What is promised about all steps so far; None without noise.
released_estimator_ : SGDClassifier or SGDRegressor
    scikit-learn's own model with the noised coefficients, which :func:`publish` writes into a
    bundle. There is none without noise.
n_iter_, n_steps_ : int
    Epochs and steps taken.
n_features_in_, feature_names_in_
    As in scikit-learn.
"""

_NOTES: Final = """\
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


def documented(kind: Kind) -> Kind:
    """Put the common words in their places in a class's docstring."""
    words = inspect.cleandoc(kind.__doc__ or "")
    for place, common in (
        ("parameters", _PARAMETERS),
        ("attributes", _ATTRIBUTES),
        ("notes", _NOTES),
    ):
        words = words.replace(f"{{{place}}}\n", common.replace("{eta0}", kind._eta0))
    kind.__doc__ = words
    return kind
