"""Membership attacks of the Adversarial Robustness Toolbox, run by an interpreter that has it.

Reads the path of an .npz file on standard input, writes the share of right guesses of each attack
as JSON. Shadow rounds teach the attacks, test rounds are counted.
"""

import json
import sys
import warnings

import numpy as np
from art.attacks.inference.membership_inference import MembershipInferenceBlackBox
from art.estimators.classification import BlackBoxClassifier


def main() -> None:
    warnings.simplefilter("ignore")
    data = np.load(sys.stdin.read().strip())
    shares, labels = data["shares"], data["labels"]
    inside, n_shadow = data["inside"], int(data["n_shadow"])
    n_rounds, n_rows, n_classes = shares.shape
    target = BlackBoxClassifier(lambda x: x, input_shape=(n_classes,), nb_classes=n_classes)
    shown = shares.reshape(-1, n_classes)
    truth, own = inside.ravel(), np.tile(labels, n_rounds)
    first = np.arange(n_rounds * n_rows) < n_shadow * n_rows
    scores = {"gap (label right or wrong)": np.mean(((shown.argmax(1) == own) == truth)[~first])}
    for kind in ("lr", "rf", "gb"):
        attack = MembershipInferenceBlackBox(target, attack_model_type=kind)
        attack.fit(
            pred=shown[first & truth],
            y=own[first & truth],
            test_pred=shown[first & ~truth],
            test_y=own[first & ~truth],
        )
        guess = attack.infer(None, own[~first], pred=shown[~first])
        scores[f"black box, {kind}"] = float(np.mean((np.ravel(guess) > 0.5) == truth[~first]))
    json.dump({name: float(score) for name, score in scores.items()}, sys.stdout)


if __name__ == "__main__":
    main()
