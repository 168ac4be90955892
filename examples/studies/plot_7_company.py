"""
A secret of the company, not of its customers
=============================================

A bank publishes a scoring model. It does not mind if somebody learns who its customers are (they
are known to the credit register anyway). What competitors must not learn is *how many of its
loans fail*: the share of bad loans among those it trained on. That is no secret of a row. It is a
property of the training set, and Pufferfish privacy protects it.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import SRPPPrivate
from pacsklearn.srpp import PrevalenceScenario, Renyi

table = pd.read_csv(Path(os.environ["PACSKLEARN_DATA"]) / "german_credit.csv")
bad = table["target"].to_numpy(dtype=object)
asked = ["month_duration", "credit_amount", "payment_to_income_ratio", "age", "n_credits"]
X = table[asked].to_numpy(dtype=float)
X = np.column_stack([X, table["status_account"] == "no checking account"])

scores = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
scenario = PrevalenceScenario(shares=[0.2, 0.3, 0.4], value="bad")
plain = scores.fit(X, bad)
print(f"without privacy: AUC {roc_auc_score(bad == 'bad', plain.predict_proba(X)[:, 0]):.3f}")

# %%
# The average score of a published model gives its training set's share away, unless it is noised.
# Five models at each share; epsilon says how far they may be told apart.

figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.8), sharey=True, layout="constrained")
for ax, epsilon in zip(axes, (16.0, 4.0, 1.0), strict=True):
    aucs = []
    for share in scenario.shares:
        means = []
        for _ in range(5):
            private = SRPPPrivate(scores, budget=Renyi(epsilon, order=4), scenario=scenario)
            private.fit(X, bad, secret=bad, realized=share)
            told = private.predict_proba(X)[:, list(private.classes_).index("bad")]
            means.append(100 * told.mean())
            aucs.append(roc_auc_score(bad == "bad", told))
        spread = np.linspace(-1.2, 1.2, len(means))
        ax.plot(100 * share + spread, means, "o", alpha=0.7,
                label=f"five releases, share {share:.0%}" if epsilon == 16 else None)  # fmt: skip
    ax.plot([18, 42], [18, 42], "--", color="#737373", linewidth=1,
            label="the score tells the share exactly" if epsilon == 16 else None)  # fmt: skip
    ax.set(xlabel="true share of bad loans (%)", xticks=[20, 30, 40])
    ax.set_title(f"epsilon {epsilon:g}: AUC {np.mean(aucs):.2f}", loc="left", fontsize="medium")
axes[0].set_ylabel("mean published score (%)")
figure.legend(loc="outside lower center", ncols=2)
plt.show()

# %%
# **Without care.** ``PACPrivate`` would have been the wrong tool: it hides *which* customers were
# used, and lets anybody read the share off the intercept. Publishing the share of the table next
# to the model undoes it all; so does ``class_weight="balanced"`` with the weights written into
# the model card.
