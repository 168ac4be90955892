"""Displays say what they need before they compute."""

from __future__ import annotations

import sys

import pytest

from pacsklearn.plots import (
    BeliefDisplay,
    NoiseSpectrumDisplay,
    PrivacyUtilityDisplay,
    SliceProfileDisplay,
    StabilityDisplay,
)

# Nothing of what they are given could be computed with.
COMPUTING = {
    "rehearsal": lambda: BeliefDisplay.from_rehearsal(None, None, step_budget=1.0),
    "fitted outputs": lambda: NoiseSpectrumDisplay.from_estimator(None, None),
    "outputs": lambda: NoiseSpectrumDisplay.from_outputs(None),
    "orders of outputs": lambda: StabilityDisplay.from_outputs(None),
    "curve": lambda: PrivacyUtilityDisplay.from_estimator(None, None),
    "slices": lambda: SliceProfileDisplay.from_estimator(None, None),
}


@pytest.mark.parametrize("name", COMPUTING)
def test_without_matplotlib_nothing_is_computed(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'needs matplotlib.*pip install "\.\[plot\]"'):
        COMPUTING[name]()
