"""An audit of one training run, and what its guesses say against differential privacy."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from scipy.special import expit
from scipy.stats import binom
from sklearn.base import clone

from pacsklearn._validation import as_inner_share, as_nats, as_probability, check_integer
from pacsklearn.audit.confidence import row_confidences
from pacsklearn.exceptions import AuditViolationError


def one_run_p_value(
    epsilon: float, delta: float, n_coins: int, n_guesses: int, n_right: int
) -> float:
    """Return chance of so many right guesses about fair coins under (epsilon, delta)-DP, at most.

    Parameters
    ----------
    epsilon, delta : float
        What is claimed of a mechanism whose input has one entry for each coin.
    n_coins : int
        Independent fair coins, each of which decided one entry.
    n_guesses, n_right : int
        Coins that were guessed from what one run released, and right guesses among them. Which
        coins are guessed may depend on the release; how many may not.

    Returns
    -------
    float
        In [0, 1].

    Notes
    -----
    Without ``delta`` the right guesses are dominated by a binomial with success probability
    ``e^epsilon / (1 + e^epsilon)``. ``delta`` adds ``2 n_coins delta`` times the largest, over
    ``i``, of the chance that the binomial lies 1 to ``i`` below ``n_right``, divided by
    ``i``.
    Source: Steinke, Nasr and Jagielski (2023), Theorem 5.2.

    Examples
    --------
    >>> round(one_run_p_value(1.0, 0.0, 1000, 100, 90), 5)
    3e-05
    >>> one_run_p_value(10.0, 1e-5, 1000, 100, 90) > 0.5
    True
    """
    coins = check_integer(name="n_coins", value=n_coins, minimum=1)
    guesses = check_integer(name="n_guesses", value=n_guesses, minimum=0)
    right = check_integer(name="n_right", value=n_right, minimum=0)
    if not right <= guesses <= coins:
        raise ValueError(
            "n_right must be at most n_guesses, and that at most n_coins, got "
            f"{right}, {guesses} and {coins}."
        )
    share = float(expit(as_nats("epsilon", epsilon)))
    reached = float(binom.sf(right - 1, guesses, share))
    delta = as_probability("delta", delta)
    if right == 0:
        return 1.0
    steps = np.arange(1, right + 1)
    # Beyond `right` steps nothing is added to the chance, and the divisor grows.
    below = binom.sf(right - 1 - steps, guesses, share) - reached
    return float(min(reached + 2 * coins * delta * np.max(below / steps), 1.0))


def one_run_epsilon(
    level: float, delta: float, n_coins: int, n_guesses: int, n_right: int
) -> float:
    """Return the epsilon that the guesses refute.

    With a probability of ``level`` it is not above the true one.

    Parameters
    ----------
    level : float
        In (0, 1).
    delta, n_coins, n_guesses, n_right
        As for :func:`one_run_p_value`.

    Returns
    -------
    float
        0.0 when nothing is refuted.
    """
    level = as_inner_share("level", level)

    def refuted(epsilon: float) -> bool:
        return one_run_p_value(epsilon, delta, n_coins, n_guesses, n_right) < 1 - level

    if not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while refuted(high):
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


@final
@dataclass(frozen=True)
class OneRunAudit:
    """Guesses about many coins from one run, beside what (epsilon, delta) allows.

    Parameters
    ----------
    n_pairs : int
        Pairs of rows, of each of which a fair coin decided which was trained on.
    n_guesses, n_right : int
        Pairs about which something was guessed, and right guesses.
    epsilon, delta : float
        What is promised about one row; ``epsilon`` is infinite where nothing is.
    level : float
        Of the verdict and of :attr:`epsilon_refuted`.
    """

    n_pairs: int
    n_guesses: int
    n_right: int
    epsilon: float
    delta: float
    level: float

    @property
    def p_value(self) -> float:
        """Chance of as many right guesses, if the promise is kept, at most."""
        if self.epsilon == float("inf"):
            return 1.0
        return one_run_p_value(self.epsilon, self.delta, self.n_pairs, self.n_guesses, self.n_right)

    @property
    def epsilon_refuted(self) -> float:
        """Lower bound on epsilon: right with a probability of :attr:`level`."""
        return one_run_epsilon(self.level, self.delta, self.n_pairs, self.n_guesses, self.n_right)

    @property
    def passed(self) -> bool:
        """Whether the promise is not refuted; a sound one is with a chance of ``1 - level``."""
        return self.p_value >= 1 - self.level

    def raise_if_violated(self) -> None:
        """Raise when the promise is refuted.

        Raises
        ------
        AuditViolationError
        """
        if not self.passed:
            raise AuditViolationError(f"{self}. Do not release anything made by it.")

    def __str__(self) -> str:
        verdict = "not refuted" if self.passed else "REFUTED"
        return (
            f"One run, {self.n_right:,} of {self.n_guesses:,} guesses about {self.n_pairs:,} pairs "
            f"of rows right: epsilon is at least {self.epsilon_refuted:.3g} at delta "
            f"{self.delta:g} ({100 * self.level:g} % confidence); promised are "
            f"{self.epsilon:.3g}: {verdict}"
        )

    def to_json(self, **options: Any) -> str:
        """Return the JSON text with the derived figures; ``options`` go to :func:`json.dumps`."""
        data = asdict(self) | {"passed": self.passed, "epsilon_refuted": self.epsilon_refuted}
        data["epsilon"] = self.epsilon if np.isfinite(self.epsilon) else None
        return json.dumps(data, allow_nan=False, **options)


def audit_one_run(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_guesses: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    level: float = 0.999,
    random_state: int = 0,
) -> OneRunAudit:
    """Train once on one row of every pair, and guess which.

    Parameters
    ----------
    estimator : SRPPSGDClassifier, SRPPSGDRegressor or estimator
        Unfitted; a clone is fitted once.
    X, y : array-likes
        Rows, of which half are trained on. Outliers with wrong labels are easiest to find: give
        rows that are.
    n_guesses : int, optional
        Pairs that are guessed, those with the largest difference of confidences; a quarter of the
        pairs when not given. Fixed before the run.
    epsilon, delta : float, optional
        What is promised about any single row. Read from ``guarantee_`` when not given; an estimator
        without one promises nothing.
    level : float, default=0.999
    random_state : int, default=0
        Public seed of pairs and coins.

    Returns
    -------
    OneRunAudit

    Raises
    ------
    ValueError
        When the guarantee is a mean over the batches, which says nothing about one run.

    Notes
    -----
    The guess of a pair is the row that the model is surer of. Each coin is an entry of the run's
    input, and data sets that differ in one coin differ in one row.
    Source: Steinke, Nasr and Jagielski (2023), Privacy auditing with one (1) training run.
    """
    seed = check_integer(name="random_state", value=random_state, minimum=0)
    generator = np.random.default_rng(seed)
    # Before the training: NaN would refute everything, and a number below zero nothing.
    level = as_inner_share("level", level)
    epsilon = None if epsilon is None else as_nats("epsilon", epsilon)
    delta = None if delta is None else as_probability("delta", delta)
    rows, targets = np.asarray(X), np.asarray(y)
    if targets.shape[:1] != rows.shape[:1]:
        raise ValueError(
            f"y must have one entry for each of the {len(rows)} rows of X, got an array of shape "
            f"{targets.shape}."
        )
    n_pairs = len(rows) // 2
    guesses = n_pairs // 4 if n_guesses is None else n_guesses
    guesses = check_integer(name="n_guesses", value=guesses, minimum=1)
    if guesses > n_pairs:
        raise ValueError(f"n_guesses must be at most the {n_pairs} pairs of rows, got {guesses}.")
    pairs = generator.permutation(len(rows))[: 2 * n_pairs].reshape(-1, 2)
    coins = generator.integers(2, size=n_pairs)
    # Sorted: the order of the rows must not say which of a pair was taken.
    used = np.sort(pairs[np.arange(n_pairs), coins])
    model = clone(estimator).fit(rows[used], targets[used])
    promised, chance = _promise(model, epsilon, delta)
    sure = row_confidences(model, rows, targets)[pairs]
    apart = sure[:, 1] - sure[:, 0]
    surest = np.argsort(-np.abs(apart), kind="stable")[:guesses]
    right = int(np.sum((apart[surest] > 0) == coins[surest]))
    return OneRunAudit(n_pairs, guesses, right, promised, chance, level)


def _promise(model: Any, epsilon: float | None, delta: float | None) -> tuple[float, float]:
    if epsilon is not None:
        return epsilon, 0.0 if delta is None else delta
    guarantee = getattr(model, "guarantee_", None)
    costs = getattr(guarantee, "costs", None)
    if guarantee is None or costs is None:
        return float("inf"), 0.0 if delta is None else delta
    if guarantee.secret.averaged_over:
        raise ValueError(
            "accounting must be 'worst-case' or 'secret-batches': a mean over the draws of the "
            "batches does not bound what one run reveals."
        )
    return float(costs.full_epsilon), float(costs.delta)
