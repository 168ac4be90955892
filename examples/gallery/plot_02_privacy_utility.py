"""
Accuracy against the budget
===========================

:func:`pacsklearn.tabular.privacy_utility_curve` fits the candidates once and simulates releases
at every budget. The right-hand axis says what a budget bounds: how often the best attack can tell
whether a row was used.

The curve is computed from the rows without noise. It is for the curator, or for public data.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import Subsets
from pacsklearn.plots import PrivacyUtilityDisplay
from pacsklearn.tabular import privacy_utility_curve

X, y = load_breast_cancer(return_X_y=True)
curve = privacy_utility_curve(
    make_pipeline(StandardScaler(), LinearSVC(C=0.01)),
    X,
    y,
    budgets=[1 / 64, 1 / 16, 1 / 4, 1],
    noise=["logdet", "diagonal"],
    n_releases=50,
    secret=Subsets(64),
)
print(curve)

# %%

PrivacyUtilityDisplay.from_curve(curve)
plt.show()
