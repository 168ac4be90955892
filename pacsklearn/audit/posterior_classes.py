"""Naming something that a candidate determines, by the posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.core.game import Round
from pacsklearn.information.arrays import Floats


def likeliest_class(belief: Floats, codes: NDArray[Any]) -> int:
    """Class, 0, 1, 2, ..., that has the most probability.

    Parameters
    ----------
    belief : ndarray of shape (m,)
    codes : ndarray of int, shape (m,)
        Class of each candidate.
    """
    return int(np.argmax(np.bincount(codes, weights=belief)))


def blind_class(prior: Floats, codes: NDArray[Any]) -> float:
    """Success at naming the class before any release."""
    return min(float(np.bincount(codes, weights=prior).max()), 1.0)


def is_class_right(played: Round, codes: NDArray[Any]) -> bool:
    """Whether Bayes' rule names the class of a candidate that was used."""
    return likeliest_class(played.posterior, codes) in codes[list(played.used)]
