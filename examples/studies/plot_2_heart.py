"""
Heart disease, a score for other hospitals
==========================================

303 patients of the Cleveland Clinic had their coronary arteries examined. A risk score is to be
given to hospitals that cannot do so. What matters to a physician is the *risk* a patient is told,
so that is what is compared: the published score beside the one without privacy, patient by
patient.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import Membership, PACPrivate, Subsets
from pacsklearn.datasets import load_cleveland

X, extent = load_cleveland(return_X_y=True)
X, ill = np.asarray(X, dtype=float), np.asarray(extent) > 0
X, X_test, y, y_test = train_test_split(X, ill, stratify=ill, test_size=0.33, random_state=0)

score = make_pipeline(
    SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression(C=0.01)
)
plain = score.fit(X, y).predict_proba(X_test)[:, 1]
print(f"without privacy: AUC {roc_auc_score(y_test, plain):.3f}")

# %%
# A dot is a patient that neither score has seen. On the diagonal the two agree.

caps = (0.55, 0.60, 0.70)
figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.9), sharey=True, layout="constrained")
for ax, cap in zip(axes, caps, strict=True):
    private = PACPrivate(score, budget=Membership(cap), secret=Subsets(64)).fit(X, y)
    told = private.predict_proba(X_test)[:, 1]
    for group, name, marker in ((0, "healthy", "o"), (1, "ill", "^")):
        here = y_test == group
        ax.scatter(100 * plain[here], 100 * told[here], s=14, marker=marker, alpha=0.8,
                   label=name if cap == caps[0] else None)  # fmt: skip
    ax.plot([0, 100], [0, 100], "--", color="#737373", linewidth=1)
    auc = roc_auc_score(y_test, told)
    ax.set(xlabel="risk without privacy (%)", xlim=(0, 100), ylim=(0, 100), aspect="equal")
    ax.set_title(f"attacker at most {cap:.0%}: AUC {auc:.2f}", loc="left", fontsize="medium")
axes[0].set_ylabel("published risk (%)")
figure.legend(loc="outside lower center", ncols=2)
plt.show()

# %%
# **Without care.** Medians filled in from all patients, before the private fit, would have been
# numbers without noise in the published pipeline. Inside it they are learned from the secret half
# and noised with everything else. And a weak regularisation (``C=1``) loses more to noise than it
# wins in fit.
