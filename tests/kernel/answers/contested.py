"""Rows on which candidates disagree, and sessions on half of them."""

from __future__ import annotations

from typing import Any

from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import Nats, PrivacySession, Subsets

M = 8
MODEL = KNeighborsClassifier(1)


def contested_rows() -> tuple[Any, Any]:
    """Three classes on top of one another: most queries are contested."""
    X, y = make_classification(
        160, 4, n_informative=3, n_redundant=0, n_classes=3, flip_y=0.4, random_state=1
    )
    return X, y


TWO = Nats(2.0)


def session_on(rows: Any, budget: Any = TWO, **options: Any) -> PrivacySession:
    X, y = rows
    return PrivacySession(X[:80], y[:80], budget=budget, secret=Subsets(M), **options)
