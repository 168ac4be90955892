"""Training by unanimous steps only: no nat about the secret subset, and what it tells all the same.

    python benchmarks/zero_nats.py

Every candidate subset has a gradient of its own; a coordinate takes a step only where all of them
agree on the sign. What comes out is the same whichever subset is the secret, so its mutual
information with the secret is zero, by definition. It is a function of the universe: taking one row
out of that changes the model. See docs/zero_nats.md.
"""

from __future__ import annotations

import numpy as np
from pacsklearn_attacks.existence_audit import existence_audit
from public_data import breast_cancer, rice
from scipy.special import expit

from pacsklearn.universe.balanced_space import balanced_space

CANDIDATES, STEPS, ROWS = 32, 300, 100


def unanimous_steps(X, y, members, n_steps=STEPS):
    """Weights of a logistic model, intercept last, by steps on whose sign all candidates agree.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Scaled.
    y : ndarray of shape (n,)
        0 or 1.
    members : ndarray of bool, shape (n, m)
        Which candidates hold which rows.
    """
    design = np.column_stack([X, np.ones(len(X))])
    weights = np.zeros(design.shape[1])
    shares = members / members.sum(axis=0)
    rate = 0.5
    for _ in range(n_steps):
        misses = expit(design @ weights) - y
        gradients = shares.T @ (misses[:, None] * design)
        signs = np.sign(gradients)
        agreed = np.all(signs == signs[0], axis=0) & (signs[0] != 0)
        if not agreed.any():
            rate /= 2
            if rate < 1e-3:
                break
            continue
        weights -= rate * np.where(agreed, signs[0], 0.0)
        rate *= 0.98
    return weights


def main() -> None:
    """Accuracy outside the universe, and the share of rows without which the model is another."""
    for name, split in (("breast cancer", breast_cancer()), ("Rice", rice())):
        if split is None:
            continue
        X, y = split.train
        middle, spread = X.mean(axis=0), X.std(axis=0)
        codes = (y == np.unique(y)[1]).astype(float)
        members = balanced_space(len(X), n_subsets=CANDIDATES, strata=codes, seed=0).membership()

        def make(rows, X=X, codes=codes, members=members):
            # Scales are of the rows that are there; everybody else stays in the same subsets.
            part = X[rows]
            scaled = (part - part.mean(axis=0)) / part.std(axis=0)
            return unanimous_steps(scaled, codes[rows], members[rows])

        def fixed(rows, X=X, codes=codes, members=members, middle=middle, spread=spread):
            return unanimous_steps((X[rows] - middle) / spread, codes[rows], members[rows])

        weights = make(np.arange(len(X)))
        unseen = (split.test[0] - middle) / spread
        right = (unseen @ weights[:-1] + weights[-1] > 0) == (split.test[1] == np.unique(y)[1])
        print(f"{name}: {100 * right.mean():.1f} % right on rows that were never in the universe")
        for words, maker in (("scales of the rows", make), ("public scales", fixed)):
            print(f"  {words}: {existence_audit(maker, X, n_rows=ROWS)}")


if __name__ == "__main__":
    main()
