"""Canonical forms and joint fits where pacsklearn's own requirements are all there is."""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import Nats, PACPrivate
from pacsklearn.exceptions import RepeatedReleaseWarning, UtilityWarning
from pacsklearn.tabular import FixedStructureForestClassifier

# Many models of one table, of which some are poor: that they can be released is what is tried.
warnings.simplefilter("ignore", RepeatedReleaseWarning)
warnings.simplefilter("ignore", UtilityWarning)

cancer, numbers = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)
CASES = [
    (make_pipeline(StandardScaler(), LogisticRegression()), cancer, 0.8),
    (GaussianNB(), cancer, 0.7),
    (FixedStructureForestClassifier(depth=1), cancer, None),
    (make_pipeline(StandardScaler(), Ridge(alpha=100)), numbers, 0.0),
    (Lasso(), numbers, None),
    (PCA(3), cancer, None),
    (KMeans(3), cancer, None),
]
for estimator, (X, y), least in CASES:
    private = PACPrivate(estimator, budget=Nats(1.0)).fit(X, y)
    released = private.released_estimator_
    ask = "predict" if hasattr(released, "predict") else "transform"
    assert np.array_equal(getattr(released, ask)(X), getattr(private, ask)(X))
    assert least is None or released.score(X, y) > least, (estimator, released.score(X, y))
    # One model after the other is the same release to what a solver leaves.
    assert private.fit_report_.together + private.fit_report_.one_by_one == 128
