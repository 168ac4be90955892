"""What can be said where torch is not installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from pacsklearn_torch import SRPPTorchClassifier
from sklearn.base import clone

from pacsklearn.srpp import Batches


def test_parameters_work_and_training_says_what_is_missing(monkeypatch):
    model = SRPPTorchClassifier(None, budget=3.0)
    assert clone(model).get_params()["budget"] == 3.0
    for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "pacsklearn_torch.row_gradients", raising=False)
    with pytest.raises(ImportError, match="torch"):
        model.fit(np.zeros((4, 2)), [0, 1, 0, 1])


def test_bad_parameters_are_named_before_torch_is_needed():
    with pytest.raises(ValueError, match="accounting"):
        SRPPTorchClassifier(None, batches=Batches(accounting="moments")).fit(
            np.zeros((4, 2)), [0, 1, 0, 1]
        )
