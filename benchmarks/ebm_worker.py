"""Scores of DP-EBM (interpret), run by an interpreter of its own.

Reads a task as JSON on standard input, writes scores as JSON: for each epsilon, defaults and
``learning_rate=0.1``. Ranges and categories are those that the other side is given too.
"""

import json
import sys
import warnings

import numpy as np
import pandas as pd
from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
from sklearn.metrics import log_loss, roc_auc_score

LEAST = 1e-6


def main() -> None:
    warnings.simplefilter("ignore")
    task = json.load(sys.stdin)
    frames = [pd.read_csv(task[name], keep_default_na=False) for name in ("train", "test")]
    y, y_test = (frame.pop("label").to_numpy() for frame in frames)
    train, test = frames
    names, kinds = list(train.columns), task["kinds"]
    for frame in (train, test):
        for name, kind in zip(names, kinds, strict=True):
            if kind == "continuous":
                low, high = task["bounds"][name]
                frame[name] = pd.to_numeric(frame[name], errors="coerce").clip(low, high)
                frame[name] = frame[name].fillna((low + high) / 2)
            else:
                frame[name] = frame[name].astype(str)
    bounds = {i: task["bounds"][name] for i, name in enumerate(names) if name in task["bounds"]}
    kind, ends, scores = DPExplainableBoostingClassifier, task["ends"], {}
    more = {}
    if ends:
        kind = DPExplainableBoostingRegressor
        more = {"privacy_target_min": ends[0], "privacy_target_max": ends[1]}
    for name, how in (("default", {}), ("learning_rate=.1", {"learning_rate": 0.1})):
        scores[name] = []
        for epsilon in task["epsilons"]:
            made = []
            for seed in range(task["fits"]):
                model = kind(
                    epsilon=epsilon,
                    delta=task["delta"],
                    feature_types=kinds,
                    privacy_bounds=bounds,
                    random_state=seed,
                    n_jobs=1,
                    **how,
                    **more,
                )
                model.fit(train, y)
                predicted = model.predict(test)
                if ends:
                    constant = np.sum((y_test - sum(ends) / 2) ** 2)
                    made.append([float(1 - np.sum((y_test - predicted) ** 2) / constant)])
                else:
                    share = np.clip(model.predict_proba(test)[:, 1], LEAST, 1 - LEAST)
                    made.append(
                        [
                            float(np.mean(predicted == y_test)),
                            float(roc_auc_score(y_test == model.classes_[1], share)),
                            float(log_loss(y_test == model.classes_[1], share)),
                        ]
                    )
            scores[name].append(made)
    json.dump(scores, sys.stdout)


if __name__ == "__main__":
    main()
