"""Scores of diffprivlib's models, run by an interpreter with a scikit-learn it can import.

Reads a task as JSON on standard input, writes scores as JSON. Features are in [0, 1] by bounds
that diffprivlib is given too, so it has nothing to learn about them. It changes the arrays it is
given, so it gets copies.
"""

import json
import sys
import warnings

import numpy as np
from diffprivlib import models
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import roc_auc_score


def main() -> None:
    warnings.simplefilter("ignore")
    task = json.load(sys.stdin)
    data = np.load(task["data"])
    X, y, X_test, y_test = (data[name] for name in ("X", "y", "X_test", "y_test"))
    ends = task.get("ends")
    p, k = X.shape[1], 2 if ends else int(y.max()) + 1
    bounds, norm = (np.zeros(p), np.ones(p)), float(np.sqrt(p))
    scores = {}
    for epsilon in task["epsilons"]:
        make = {
            "linear regression": lambda seed, e=epsilon: models.LinearRegression(
                epsilon=e, bounds_X=bounds, bounds_y=tuple(ends), random_state=seed
            ),
            "logistic regression": lambda seed, e=epsilon: models.LogisticRegression(
                epsilon=e, data_norm=norm, max_iter=1000, random_state=seed
            ),
            "Gaussian NB": lambda seed, e=epsilon: models.GaussianNB(
                epsilon=e, bounds=bounds, random_state=seed
            ),
            "random forest": lambda seed, e=epsilon: models.RandomForestClassifier(
                epsilon=e, bounds=bounds, classes=np.arange(k), random_state=seed
            ),
            "K-Means": lambda seed, e=epsilon: models.KMeans(
                n_clusters=k, epsilon=e, bounds=bounds, random_state=seed
            ),
            "PCA": lambda seed, e=epsilon: models.PCA(
                n_components=min(6, p - 1),
                epsilon=e,
                bounds=bounds,
                data_norm=norm,
                random_state=seed,
            ),
        }
        for name, build in make.items():
            if name not in task.get("models", set(make) - {"linear regression"}):
                continue
            found = []
            for seed in range(task["seeds"]):
                model = build(seed).fit(X.copy(), y.copy())
                if name == "linear regression":
                    constant = np.sum((y_test - sum(ends) / 2) ** 2)
                    wrong = np.sum((y_test - model.predict(X_test.copy())) ** 2)
                    found.append([float(1 - wrong / constant)])
                elif name == "PCA":
                    restored = model.inverse_transform(model.transform(X_test.copy()))
                    size = np.linalg.norm(X_test - X.mean(axis=0))
                    found.append(float(np.linalg.norm(restored - X_test) / size))
                elif name == "K-Means":
                    table = np.zeros((k, k))
                    np.add.at(table, (model.predict(X.copy()), y), 1)
                    names = linear_sum_assignment(-table)[1]
                    found.append(float(np.mean(names[model.predict(X_test.copy())] == y_test)))
                elif task.get("probabilities"):
                    proba = np.clip(model.predict_proba(X_test.copy()), 1e-6, None)
                    proba /= proba.sum(axis=1, keepdims=True)
                    area = roc_auc_score(y_test, proba[:, 1]) if k == 2 else np.nan
                    loss = -np.log(proba[np.arange(len(y_test)), y_test]).mean()
                    right = float(np.mean(proba.argmax(axis=1) == y_test))
                    found.append([right, float(area), float(loss)])
                else:
                    found.append(float(model.score(X_test.copy(), y_test)))
            scores.setdefault(name, []).append(found)
    json.dump(scores, sys.stdout)


if __name__ == "__main__":
    main()
