"""
A first release
===============

A linear support vector machine is fitted on 64 candidate subsets of the tumours. One of them is
drawn in secret; its weights are released with noise. The guarantee says what that promises.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pacsklearn import PACPrivate, Subsets

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :10]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

svm = make_pipeline(StandardScaler(), LinearSVC(C=0.01))  # scaling is learnt inside the subsets
private = PACPrivate(svm, budget=1 / 4, secret=Subsets(64)).fit(X_train, y_train)
print(private.guarantee_)

# %%
# What was released is a plain linear SVM on the raw measurements, with the scaler folded into its
# weights. It can be pickled, published and asked for ever.

released = private.released_estimator_
open_model = svm.fit(X_train, y_train)
print(f"accuracy: {released.score(X_test, y_test):.1%} private, ", end="")
print(f"{open_model.score(X_test, y_test):.1%} without privacy")

# %%
# Weights per standard deviation of a measurement. Only their direction decides, so both are shown
# at length 1. The second set of bars is here because the data are public; a curator would keep it.

weights = {
    "private": released.coef_[0] * X_train.std().to_numpy(),
    "all rows, no noise": open_model[-1].coef_[0],
}
place = np.arange(X.shape[1])
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for shift, (name, coef) in zip((-0.2, 0.2), weights.items(), strict=True):
    ax.barh(place + shift, coef / np.linalg.norm(coef), height=0.38, label=name)
ax.set(yticks=place, yticklabels=X.columns, xlabel="weight")
ax.invert_yaxis()
figure.legend(loc="outside upper center", ncols=2)
plt.show()
