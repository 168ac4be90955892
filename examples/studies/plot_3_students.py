"""
What goes with good marks
=========================

395 pupils of two schools, their homes, their habits and their final mark. The schools want to
publish what goes with good marks. The unit of privacy is a pupil; the coefficients of a ridge
regression are released.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import Membership, PACPrivate, Subsets
from pacsklearn.datasets import load_student
from pacsklearn.exceptions import UtilityWarning

X, mark = load_student(return_X_y=True)
asked = ["failures", "Medu", "Fedu", "studytime", "goout", "absences", "Walc", "age", "traveltime"]
X, mark = X[asked].astype(float).to_numpy(), np.asarray(mark, dtype=float)

ridge = make_pipeline(StandardScaler(), Ridge(alpha=300))
plain = ridge.fit(X, mark)[-1].coef_


def private(cap: float) -> PACPrivate:
    """One release. That it will *predict* no better than the mean mark is warned of, rightly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UtilityWarning)
        return PACPrivate(ridge, budget=Membership(cap), secret=Subsets(64)).fit(X, mark)


# %%
# Ten releases at each cap show how far one of them may be off. Each has a secret of its own; a
# school would make one.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
order = np.argsort(plain)
ax.plot(
    plain[order], np.arange(len(order)), "|", color="#737373", markersize=16, label="no privacy"
)
for shift, cap in ((-0.18, 0.55), (0.18, 0.70)):
    coefs = np.array([private(cap).released_estimator_.coef_ for _ in range(10)]) * X.std(axis=0)
    low, middle, high = np.quantile(coefs, (0.1, 0.5, 0.9), axis=0)[:, order]
    ax.errorbar(middle, np.arange(len(order)) + shift, xerr=[middle - low, high - middle], fmt="o",
                capsize=3, label=f"attacker at most {cap:.0%}, 8 of 10 releases")  # fmt: skip
ax.axvline(0, color="#737373", linewidth=0.8)
ax.set(yticks=range(len(order)), yticklabels=[asked[i] for i in order])
ax.set_xlabel("change of the mark (0 to 20) per standard deviation")
figure.legend(loc="outside upper center", ncols=2)
plt.show()

# %%
# **Without care.** The two earlier marks predict the final one almost perfectly, and say nothing
# a school can act on. Ordinary least squares on all thirty answers, many of them correlated,
# jumps from one half of the pupils to the other, and its noise would have drowned every
# coefficient. That "failures" counts is visible under either promise; for "absences" the
# honest reading at 55 % is that nothing is known.
