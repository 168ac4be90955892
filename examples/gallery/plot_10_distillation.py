"""
From private answers to a model
===============================

Private labels of public rows train a student. It inherits the guarantee, and can be asked for
ever. Labels that the noise may have changed are left out.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from pacsklearn import Answers, PACPrivate, Subsets
from pacsklearn.tabular import distill

X, y = load_digits(return_X_y=True)
X = X / 16
X, X_test, y, y_test = train_test_split(X, y, test_size=300, stratify=y, random_state=0)
X, X_public, y, _ = train_test_split(X, y, test_size=700, stratify=y, random_state=0)

teacher = PACPrivate(SVC(), budget=1 / 2, release=Answers(1000), secret=Subsets(32)).fit(X, y)
student = distill(teacher, LogisticRegression(max_iter=1000), X_public)
print(f"{student.n_kept} of {student.n_public} labels were sure enough")
print(student.guarantee.promise)

# %%

scores = {
    "SVC, no privacy": SVC().fit(X, y).score(X_test, y_test),
    "private answers": (teacher.predict(X_test) == y_test).mean(),
    "student": student.estimator.score(X_test, y_test),
}
figure, ax = plt.subplots(figsize=(5.5, 2.6), layout="constrained")
bars = ax.barh(list(scores), list(scores.values()), color=["C7", "C0", "C2"])
ax.bar_label(bars, fmt="{:.1%}", padding=3)
ax.set(xlim=(0, 1.15), xticks=[0, 0.25, 0.5, 0.75, 1], xlabel="accuracy on 300 digits")
ax.invert_yaxis()
plt.show()
