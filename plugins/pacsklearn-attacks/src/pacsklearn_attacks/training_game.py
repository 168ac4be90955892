"""Training, over and over, with one row or another in the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.audit.confidence import row_confidences
from pacsklearn.audit.game import Game, Round, read_only
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.posterior_success import posterior_success


@final
class TrainingGame(Game):
    """A model is trained on one row of every pair, and published; and who was in is the question.

    Rows are paired at random by a public seed: of each pair exactly one is trained on. The
    candidates come in twos that differ in the target's pair alone, so that whoever knows all other
    rows faces two data sets that differ in one row.

    Parameters
    ----------
    train : callable
        ``train(X, y, seed)`` returning a fitted model, trained afresh with randomness from the
        seed.
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    information : float or None
        Nats that a model reveals at most about which of two data sets that differ in one row was
        used: what the guarantee of a run says on information. None when nothing is promised.
    target : int, default=0
        Row that is attacked; the bound is about this one.
    n_candidates : int, default=64
        Data sets, an even number.
    seed : int, default=0
        Public seed of the pairs and the data sets.
    weights : array-like of shape (n_candidates,), optional
        Prior; uniform when not given. Where the two of a pair are not alike, who knows all other
        rows guesses better, and the bound is for that guess.

    Notes
    -----
    Training has no likelihood that could be computed, so the posterior of a round is the prior:
    attacks look at ``released``, the model.
    """

    beyond = ("confidences",)

    def __init__(
        self,
        train: Callable[[Any, Any, int], Any],
        X: Any,
        y: Any,
        *,
        information: float | None,
        target: int = 0,
        n_candidates: int = 64,
        seed: int = 0,
        weights: Any = None,
    ) -> None:
        m = check_integer(name="n_candidates", value=n_candidates, minimum=2)
        n_rows = np.shape(X)[0]
        if m % 2 or n_rows < 2 or np.shape(y) != (n_rows,):
            raise ValueError(
                "A training game takes an even number of candidates, two rows at least and one "
                f"target a row, got {m}, {n_rows} and targets of shape {np.shape(y)}."
            )
        self.target = check_integer(name="target", value=target, minimum=0, maximum=n_rows - 1)
        generator = np.random.default_rng(seed)
        others = np.setdiff1d(generator.permutation(n_rows), [self.target], assume_unique=True)
        others = generator.permutation(others)
        order = np.append(self.target, others)[: n_rows // 2 * 2]
        pairs = order.reshape(-1, 2)
        coins = np.repeat(generator.random((m // 2, len(pairs))) < 0.5, 2, axis=0)
        coins[:, 0] = np.arange(m) % 2 == 0
        members = np.zeros((m, n_rows), dtype=bool)
        rows = np.arange(m)[:, None]
        members[rows, np.where(coins, pairs[:, 0], pairs[:, 1])] = True
        prior = np.full(m, 1 / m) if weights is None else np.array(weights, dtype=np.float64)
        if prior.shape != (m,) or not np.all((prior > 0) & np.isfinite(prior)):
            raise ValueError(
                f"weights must be {m} positive numbers, one for each candidate, got shape "
                f"{prior.shape}."
            )
        self.members, self.prior = read_only(members), read_only(prior / prior.sum())
        # Other rows, of which nothing is promised, tell which of the pairs it is.
        self._informed = float(np.maximum(self.prior[::2], self.prior[1::2]).sum())
        self._train, self._X, self._y = train, np.asarray(X), np.asarray(y)
        self._information = information

    def bound(self, blind: float) -> float | None:
        """Return the success at the target's membership allowed to who knows all other rows."""
        if self._information is None:
            return None
        return posterior_success(self._information, max(blind, self._informed))

    def play(self, generator: np.random.Generator) -> Round:
        secret = int(generator.choice(self.prior.size, p=self.prior))
        assert self.members is not None
        rows = np.flatnonzero(self.members[secret])
        seed = int(generator.integers(2**31 - 1))
        return Round(secret, self.prior, self._train(self._X[rows], self._y[rows], seed))

    def confidences(self, released: Any) -> Floats:
        """Return how sure a round's model is of each row; shape (n_rows,)."""
        return row_confidences(released, self._X, self._y)
