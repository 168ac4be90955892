"""A vector that is nothing but noise decodes, and knows nothing."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import is_classifier

from pacsklearn.core.canonicalizer import Canonicalizer
from pacsklearn.core.layout import Layout
from pacsklearn.information.arrays import Floats
from pacsklearn.testing.behaviour import same_behaviour
from pacsklearn.testing.decode_rules import decoded
from pacsklearn.testing.fitted_candidates import FittedCandidates, take
from pacsklearn.testing.rule import broken, require

__all__ = ["check_null_budget"]

_RULE = "null budget"
_DRAWS = 200
_ROWS = 500


def check_null_budget(
    canonicalizer: Canonicalizer,
    candidates: FittedCandidates,
    vectors: Floats,
    layout: Layout,
    generator: np.random.Generator,
) -> None:
    """Noise of every size decodes to a model that works; the largest leaves nothing of the data.

    Over 200 draws a classifier scores as the same noise around zero does, where nothing was learned
    at all, and no better than the share of the most frequent class, with an allowance of four
    standard errors each.
    """
    spread = vectors.std(axis=0)
    varying = spread > 0
    if not varying.any():
        return
    mean = vectors.mean(axis=0)
    largest = float(spread.max())
    swamping = 1e6 * largest + 1e3 * float(np.abs(mean[varying]).max())
    rows = np.arange(np.shape(candidates.X)[0])
    if rows.size > _ROWS:
        rows = np.sort(generator.choice(rows, _ROWS, replace=False))
    X = take(candidates.X, rows)
    scores = is_classifier(candidates.unfitted) and "predict" in canonicalizer.methods
    scores = scores and candidates.y is not None and candidates.y.ndim == 1
    truth = canonicalizer.behaviour(candidates.estimators[0], X)
    accuracies: list[float] = []
    gains: list[float] = []
    changed = False
    scales = [largest, 1e3 * largest, *[swamping] * (_DRAWS if scores else 10)]
    for scale in scales:
        noise = np.where(varying, scale * generator.normal(size=mean.shape), 0.0)
        noisy, around_zero = mean + noise, np.where(varying, noise, mean)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                released = decoded(canonicalizer, noisy, layout, candidates)
                behaviour = canonicalizer.behaviour(released, X)
                predicted = released.predict(X) if scores else None
                if scores and scale == swamping:
                    unlearned = decoded(canonicalizer, around_zero, layout, candidates).predict(X)
        except Exception as error:
            raise broken(
                _RULE,
                f"A very noisy vector cannot be decoded and used: {type(error).__name__}: {error}.",
                "repair impossible numbers in decode, by a function of the vector alone (a floor "
                "for a variance, an order for thresholds).",
            ) from error
        changed = changed or not same_behaviour(behaviour, truth)
        if predicted is not None and scale == swamping:
            accuracies.append(float(np.mean(np.asarray(predicted) == candidates.y[rows])))
            gains.append(accuracies[-1] - float(np.mean(unlearned == candidates.y[rows])))
    require(
        changed,
        _RULE,
        "However large the noise, the estimator behaves as the one fitted on the first subset: "
        "behaviour does not see the model, or decode does not use the vector.",
        "let behaviour return what the model does, and decode take it from the vector.",
    )
    if accuracies:
        gain, doubt = float(np.mean(gains)), float(np.std(gains) / np.sqrt(len(gains)))
        require(
            abs(gain) <= 4 * doubt + 1e-9,
            _RULE,
            f"With nothing but noise the accuracy differs by {gain:+.3f} from that of the same "
            f"noise around zero (standard error {doubt:.3f}): what was learned still tells.",
            "let decode depend on the vector alone, without rounding or clipping around what was "
            "learned.",
        )
        _, counts = np.unique(candidates.y[rows], return_counts=True)
        chance = float(counts.max() / counts.sum())
        deviation = float(np.std(accuracies) / np.sqrt(len(accuracies)))
        require(
            np.mean(accuracies) <= chance + 4 * deviation + 1e-9,
            _RULE,
            f"With nothing but noise the accuracy is {np.mean(accuracies):.3f}, above the "
            f"{chance:.3f} of the most frequent class (standard error {deviation:.3f}): something "
            "learned from the data bypasses the vector.",
            "keep statistics of the data out of the canonicalizer, its layout and its clipping "
            "ranges.",
        )
