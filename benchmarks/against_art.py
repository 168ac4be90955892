"""Our membership attacks beside those of the Adversarial Robustness Toolbox, on planted leaks.

ART is no dependency. Give it an interpreter of its own::

    python3 -m venv /tmp/art
    /tmp/art/bin/pip install adversarial-robustness-toolbox packaging requests
    python benchmarks/against_art.py --art-python /tmp/art/bin/python

Each mechanism releases a model of a secret half of the rows, over and over. Both sides see the same
shadow rounds, whose rows they know, and guess the membership of every row in the same test rounds.
ART's attacks are given what they ask for, the model's probabilities and the rows' labels.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from pacsklearn_attacks import RMIAAttack, RobustLiRAAttack
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from pacsklearn import PACPrivate, Subsets
from pacsklearn.audit.replay import replay_fit
from pacsklearn.audit.shadow_attack import best_rule
from pacsklearn.plugins import NoiseBackend, registry

SHADOWS, TESTS = 60, 40


class Quieter(NoiseBackend):
    """Noise of a backend, scaled down under the bound of the whole."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def calibrate(self, support, target, metric):
        law = registry().noise_backend("eigen").calibrate(support, target, metric)
        return replace(law, centres=law.centres * self.factor, step=law.step / self.factor)


def table(n_rows, n_columns):
    """Rows with labels that are noise: whatever is right about them was learnt by heart."""
    generator = np.random.default_rng(0)
    return generator.standard_normal((n_rows, n_columns)), generator.integers(0, 2, n_rows)


def ours(game, rounds, inside):
    """Share of right guesses over all rows in the test rounds, for each of our attacks."""
    shown = np.stack([game.confidences(played.released) for played in rounds])
    first, last = slice(0, SHADOWS), slice(SHADOWS, None)
    rules = [best_rule(shown[first, u], inside[first, u], 0.5) for u in range(shown.shape[1])]
    verdicts = np.stack([rule.says_member(shown[last, u]) for u, rule in enumerate(rules)], axis=1)
    scores = {"lira": np.mean(verdicts == inside[last])}
    one = best_rule(shown[first].ravel(), inside[first].ravel(), 0.5)
    scores["one rule for all rows"] = np.mean(one.says_member(shown[last]) == inside[last])
    units = np.arange(shown.shape[1])
    for attack in (RobustLiRAAttack(), RMIAAttack()):
        score, left = attack.learn(game, rounds[first], 0)
        seen = np.stack([score(played, units) for played in left])
        truth = inside[SHADOWS - len(left) : SHADOWS]
        rule = attack.rule(seen.ravel(), truth.ravel(), 0.5)
        found = np.stack([score(played, units) for played in rounds[last]])
        scores[attack.name] = np.mean(rule.says_member(found) == inside[last])
    posterior = np.stack([played.posterior for played in rounds[last]]) @ game.members
    scores["optimal_membership"] = np.mean((posterior > 0.5) == inside[last])
    return scores


def main() -> None:
    """A table of the share of right guesses; guessing blindly has one half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--art-python", required=True)
    python = parser.parse_args().art_python
    models = (
        (RidgeClassifier(alpha=0.1), 60, 90),
        (LogisticRegression(C=10.0), 80, 40),
        (LinearDiscriminantAnalysis(), 120, 20),
    )
    print("| mechanism | noise | ART, best of four | ours, best by scores | optimal |")
    print("|---|---|---|---|---|")
    for estimator, n_rows, n_columns in models:
        X, y = table(n_rows, n_columns)
        for words, factor in (("none to speak of", 10_000), ("a twentieth", 20), ("sound", 1)):
            model = PACPrivate(
                estimator, budget=1 / 16, noise=Quieter(factor), secret=Subsets(32, stratify=False)
            )
            game = replay_fit(model.fit(X, y), X, y)
            generator = np.random.default_rng(1)
            rounds = [game.play(generator) for _ in range(SHADOWS + TESTS)]
            inside = np.stack([game.members[played.secret] for played in rounds])
            mine = ours(game, rounds, inside)
            best = mine.pop("optimal_membership")
            sure = np.stack([game.confidences(played.released) for played in rounds])
            own = expit(np.clip(sure, -500, 500))
            shares = np.where((y == 1)[None, :, None], np.stack([1 - own, own], -1),
                              np.stack([own, 1 - own], -1))  # fmt: skip
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "rounds.npz"
                np.savez(file, shares=shares, labels=y, inside=inside, n_shadow=SHADOWS)
                worker = Path(__file__).with_name("art_worker.py")
                done = subprocess.run(
                    [python, str(worker)],
                    input=str(file),
                    capture_output=True,
                    text=True,
                    check=True,
                )
            theirs = json.loads(done.stdout)
            winner, strongest = max(mine, key=mine.get), max(theirs, key=theirs.get)
            print(
                f"| {type(estimator).__name__} | {words} | {100 * theirs[strongest]:.1f} % "
                f"({strongest}) | {100 * mine[winner]:.1f} % ({winner}) | {100 * best:.1f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
