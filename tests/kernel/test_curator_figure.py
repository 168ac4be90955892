"""What a curator is shown, and that it goes no further."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest

from pacsklearn.estimators.curator_figure import CuratorFigure

FIGURE = CuratorFigure(
    blind=0.5,
    implied=0.58815,
    laws=0.561234,
    confidence=1 - 1e-6,
    missing="",
    worst=0.9,
    average=0.512341,
    n_releases=3,
)


def test_every_figure_is_shown_and_rounded_up() -> None:
    lines = [" ".join(line.split()) for line in str(FIGURE).splitlines()]
    assert lines == [
        "FOR THE CURATOR ONLY, not to be published: 3 release(s) so far",
        "",
        "guessing blindly 50.00 %",
        "published bound at most 58.82 %",
        "under the noise used at most 56.13 % at confidence 0.999999",
        "as it came out sure to 90.00 % of one unit, to 51.24 % on average",
    ]
    none = replace(FIGURE, laws=None, missing="nothing was released")
    assert "none: nothing was released" in str(none)


def test_it_stays_with_the_curator() -> None:
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="curator"):
            leave(FIGURE)
