"""
Audit a model before it leaves
==============================

:func:`pacsklearn.audit.run_audit` plays the mechanism again, many times for each attack, with a
secret and noise of its own in every round, and holds each success against the guarantee. The
secret that was really drawn is not used and nothing is charged.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import PACPrivate
from pacsklearn.audit import run_audit
from pacsklearn.plots import AuditDisplay

X, y = load_wine(return_X_y=True)
model = make_pipeline(StandardScaler(), RidgeClassifier(10.0))
private = PACPrivate(model, budget=1 / 8).fit(X, y)

audit = run_audit(
    private, X, y, attacks=["optimal_membership", "identification", "lira"], n_trials=300
)
print(audit)

# %%
# Success with exact intervals beside what guessing blindly has and what the guarantee allows.

AuditDisplay.from_audit(audit)
plt.show()

# %%
# With ``strict=True`` a violation raises :class:`pacsklearn.exceptions.AuditViolationError`.

assert audit.passed
