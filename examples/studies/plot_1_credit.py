"""
Credit scoring that can be read
===============================

A bank wants to publish how it scores applicants: which answers raise the risk, and by how much.
The thousand applicants of the German credit table are its customers; whose file was used stays
secret. An additive model is a table of points for each answer, so what is published can be read,
and disputed.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from pacsklearn import Membership, PACPrivate
from pacsklearn.tabular import AdditiveClassifier, Column, Schema

table = pd.read_csv(Path(os.environ["PACSKLEARN_DATA"]) / "german_credit.csv")
bad = (table["target"] == "bad").to_numpy()

# %%
# The codebook is the bank's own form: the answers it offers, not the answers that were given.

account = ("no checking account", "< 0 DM", "0 to < 200 DM", ">= 200 DM")
savings = (
    "unknown/ no savings account",
    "< 100 DM",
    "100 to < 500 DM",
    "500 to < 1000 DM",
    ">= 1000 DM",
)
form = Schema(
    [
        Column("status_account", "category", categories=account),
        Column("month_duration", edges=(6, 12, 18, 24, 36, 48)),
        Column("credit_amount", edges=(1000, 2000, 4000, 8000)),
        Column("status_savings", "category", categories=savings),
        Column("age", edges=(25, 35, 50)),
    ]
)
X, X_test, y, y_test = train_test_split(table[list(form.names)], bad, stratify=bad, random_state=0)
scoring = AdditiveClassifier(form, ridge=5.0, smoothness=100.0)
plain = scoring.fit(X, y)
private = PACPrivate(scoring, budget=Membership(0.65)).fit(X, y)
for name, model in (("without privacy", plain), ("published", private)):
    print(f"{name}: AUC {roc_auc_score(y_test, model.predict_proba(X_test)[:, 1]):.3f}")
print(private.guarantee_.promise)

# %%
# The published points. More points, more risk.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, name in zip(axes, ("status_account", "month_duration"), strict=True):
    for shift, (who, model) in enumerate(
        (("plain", plain), ("published", private.released_estimator_))
    ):
        effect = model.effects()[name]
        labels = [label for label in effect if "missing" not in label]
        points = np.array([effect[label][0] for label in labels])
        place = np.arange(len(labels)) + 0.2 * (2 * shift - 1)
        ax.barh(place, points, height=0.38, label=who if name == "month_duration" else None)
    ax.set(yticks=range(len(labels)), yticklabels=labels, xlabel="points (log odds of default)")
    ax.set_title(name.replace("_", " "), loc="left")
    ax.invert_yaxis()
figure.legend(loc="outside upper center", ncols=2)
plt.show()

# %%
# **Without care.** ``OneHotEncoder`` learns which purposes of a loan there are; "retraining" with
# a handful of customers would have become a column, and told that somebody gave that answer. Bins
# at the sample's quantiles would have published customers' exact amounts. Here both come from the
# form.
