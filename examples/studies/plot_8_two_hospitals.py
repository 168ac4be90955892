"""
Two hospitals, one score, no shared records
===========================================

Two hospitals want a common score for heart disease and may not show each other a single record.
Each fits at home, in a session of its own with a budget of its own, and hands over a released
model. A third party averages the two. Here the clinic's patients are dealt to two hospitals, the
older ones mostly to the second.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.datasets import load_cleveland
from pacsklearn.tabular import Column, Schema, SchemaEncoder

X, extent = load_cleveland(return_X_y=True, as_frame=True)
columns = ["age", "sex", "cp", "thalach", "exang", "oldpeak"]
X, ill = X[columns].astype(float), np.asarray(extent, dtype=float) > 0
generator = np.random.default_rng(0)
second = generator.random(len(X)) < 1 / (1 + np.exp(-(X["age"] - 55) / 4))

# %%
# The hospitals agree on a codebook beforehand. With public ranges both models speak of the same
# numbers, so their weights may be averaged.

codebook = Schema(
    [
        Column("age", low=20, high=80),
        Column("sex", "category", categories=(0, 1)),
        Column("cp", "category", categories=(1, 2, 3, 4)),
        Column("thalach", low=60, high=220),
        Column("exang", "category", categories=(0, 1)),
        Column("oldpeak", low=0, high=6),
    ]
)
recipe = make_pipeline(SchemaEncoder(codebook, missing="ignore"), LogisticRegression(C=0.3))


def averaged(models: list) -> object:
    """Pipeline whose last step has the mean of the others' weights."""
    mean = clone(recipe).fit(X[:20], ill[:20])  # a mould; every number in it is replaced
    for name in ("coef_", "intercept_"):
        setattr(mean[-1], name, np.mean([getattr(model[-1], name) for model in models], axis=0))
    return mean


scores: dict[str, list[float]] = {}
for seed in range(6):
    train, test = train_test_split(
        np.arange(len(X)), test_size=0.3, stratify=ill, random_state=seed
    )
    released = []
    for number, where in enumerate((~second, second), start=1):
        rows = train[where[train]]
        with PrivacySession(
            X.iloc[rows], ill[rows], budget=Nats(1.0), secret=Subsets(64)
        ) as session:
            model = session.release(recipe, budget=1.0).value
        released.append(model)
        auc = roc_auc_score(ill[test], model.predict_proba(X.iloc[test])[:, 1])
        scores.setdefault(f"hospital {number} alone", []).append(auc)
    both = averaged(released).predict_proba(X.iloc[test])[:, 1]
    scores.setdefault("average of the two", []).append(roc_auc_score(ill[test], both))
    open_model = clone(recipe).fit(X.iloc[train], ill[train])
    pooled = open_model.predict_proba(X.iloc[test])[:, 1]
    scores.setdefault("all records, no privacy", []).append(roc_auc_score(ill[test], pooled))

# %%

figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
for place, values in enumerate(scores.values()):
    ax.plot(values, [place] * len(values), "o", alpha=0.35, color=f"C{place}")
    ax.plot(np.mean(values), place, "D", color=f"C{place}", markersize=9)
ax.set_yticks(range(len(scores)), list(scores))
ax.set_ylim(len(scores) - 0.5, -0.5)
ax.set_xlabel("AUC on patients of both hospitals (a dot is a split, a diamond the mean)")
plt.show()

# %%
# **Without care.** With ``StandardScaler`` each hospital would have divided by its own standard
# deviations, and the mean of the weights would have meant nothing. A patient of *both* hospitals
# is in two tables with two secrets: what the two releases tell about her adds up, so such
# patients belong to one of them by agreement, or both charge one ledger. And 1 nat promises
# nothing about membership by itself: read ``guarantee_``.
