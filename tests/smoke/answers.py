"""Private answers of black boxes, and what an extra is named for, without any extra."""

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR

from pacsklearn import Answers, PACPrivate
from pacsklearn.exceptions import RepeatedReleaseWarning, UtilityWarning
from pacsklearn.plots import MembershipBoundDisplay
from pacsklearn.priors import Range
from pacsklearn.tabular import Column, Schema

# Many models of one table, of which some are poor: that they can answer is what is tried.
warnings.simplefilter("ignore", RepeatedReleaseWarning)
warnings.simplefilter("ignore", UtilityWarning)

X, y = load_breast_cancer(return_X_y=True)
for estimator in (SVC(), KNeighborsClassifier()):
    private = PACPrivate(estimator, release=Answers()).fit(X, y)
    assert np.mean(private.predict(X) == y) > 0.7
    again = private.predict(X[:20])
    assert np.array_equal(again, private.predict(X[:20]))  # asked before: free, and the same

rows, numbers = load_diabetes(return_X_y=True)
private = PACPrivate(SVR(), release=Answers(prior=Range(0, 350))).fit(rows, numbers)
answers = private.predict(rows[:50])
assert answers.shape == (50,)
assert np.isfinite(answers).all()

for work, extra in (
    (lambda: Schema([Column("age", low=0, high=120)]).write("schema.yaml"), "schema"),
    (lambda: MembershipBoundDisplay.from_budgets([0.1]), "plot"),
):
    try:
        work()
    except ImportError as error:
        message = str(error)
    else:
        message = ""
    assert f"[{extra}]" in message, message
