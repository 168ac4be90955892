"""How often the best attack on a release names a scenario's secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class BayesSuccess:
    """Most that Bayes' rule achieves on one release, over the data sets that a scenario lists.

    Parameters
    ----------
    pair : float
        Telling the two secrets of the worst protected pair apart, each as likely beforehand, from
        the whole release: ``(1 + TV) / 2``, TV the total variation between its two laws.
    pair_slice : float
        The same from one slice drawn at random, seen with its direction.
    secret : float
        Naming the true one of all secrets, at their declared prior, from the whole release.
    secret_slice : float
        The same from one such slice.
    secret_blind : float
        The same without a look.
    confidence : float
        Probability that all of them are bounds; 1.0 where none takes draws.
    """

    pair: float
    pair_slice: float
    secret: float
    secret_slice: float
    secret_blind: float
    confidence: float
