"""
Kinds of customers
==================

A card issuer wants to show its partners what kinds of customers it has: three centres, by limit,
age and how much of the limit is used. 6,000 card holders from Taiwan; the centres are released,
nobody's assignment is.
"""

import os
from fractions import Fraction
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import PACPrivate, Parameters, Subsets

table = pd.read_csv(Path(os.environ["PACSKLEARN_DATA"]) / "taiwan_credit_card.csv.gz").iloc[:6000]
used = np.clip(table["bill_amt1"] / table["limit_bal"], 0, 1)
X = np.column_stack([np.log10(table["limit_bal"]), table["age"], used])

recipe = make_pipeline(StandardScaler(), KMeans(3, n_init=3, random_state=0))
plain = recipe.fit(X)
usual = plain[0].inverse_transform(plain[-1].cluster_centers_)
pale = plain.predict(X)

# %%
# Crosses are the published centres, diamonds those without privacy; customers have the colour of
# their cluster without privacy.

colours = ListedColormap(["#0072B2", "#CC79A7", "#009E73"])
figure, axes = plt.subplots(1, 3, figsize=(9.8, 3.4), sharey=True, layout="constrained")
for ax, budget in zip(axes, ("1/16", "1/4", "1"), strict=True):
    nats = float(Fraction(budget))
    private = PACPrivate(
        recipe, budget=nats, release=Parameters(certify=False), secret=Subsets(64)
    ).fit(X)
    released = private.released_estimator_
    centres = (
        released[-1].cluster_centers_ if hasattr(released, "steps") else released.cluster_centers_
    )
    if hasattr(released, "steps"):
        centres = released[0].inverse_transform(centres)
    ax.scatter(10 ** X[::8, 0] / 1000, 100 * X[::8, 2], s=4, c=pale[::8], cmap=colours,
               alpha=0.25, zorder=0)  # fmt: skip
    ax.plot(10 ** usual[:, 0] / 1000, 100 * usual[:, 2], "D", color="#737373", markersize=8,
            markeredgecolor="white", label="no privacy")  # fmt: skip
    ax.plot(10 ** centres[:, 0] / 1000, 100 * centres[:, 2], "X", color="#D55E00", markersize=11,
            markeredgecolor="white", label="published")  # fmt: skip
    ax.set(xscale="log", xlabel="limit (1,000 dollars)")
    ax.set_title(f"budget {budget} nat", loc="left")
axes[0].set_ylim(-10, 115)
axes[0].set_ylabel("share of the limit that is used (%)")
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside upper center", ncols=2)
plt.show()

# %%
# **Without care.** ``labels_``, the cluster of each training customer, is a fitted attribute of
# ``KMeans``: pickling the estimator would have published one number for each customer. A released
# model has no labels. Limits in dollars instead of their logarithms would have made one very rich
# customer a cluster of his own.
