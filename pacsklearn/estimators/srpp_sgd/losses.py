"""Losses of linear models, by their slope in the decision value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from scipy.special import expit

from pacsklearn.information.arrays import Floats


class LinearLoss(ABC):
    """A loss of a linear model: all that gradient descent needs is its slope.

    The gradient of a row's loss is the slope times the row, so that its norm is known without
    computing it.
    """

    @abstractmethod
    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        """Derivative of the loss in the decision value, entry by entry."""


@final
class LogisticLoss(LinearLoss):
    """``ln(1 + exp(-t z))`` for targets of -1 and 1."""

    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        return np.asarray(-targets * expit(-targets * decisions))


@final
class HingeLoss(LinearLoss):
    """``max(0, 1 - t z)`` for targets of -1 and 1."""

    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        return np.where(targets * decisions < 1, -targets, 0.0)


@final
class SquaredLoss(LinearLoss):
    """``(z - t)^2 / 2``."""

    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        return np.asarray(decisions - targets)


@final
@dataclass(frozen=True)
class HuberLoss(LinearLoss):
    """Squared up to an error of ``width``, linear beyond."""

    width: float = 0.1

    def slopes(self, decisions: Floats, targets: Floats) -> Floats:
        return np.clip(decisions - targets, -self.width, self.width)


LOSSES: Final = ("log_loss", "hinge", "squared_error", "huber")
"""Names of the losses; the last two are for regression too."""


def loss_named(name: str, width: float) -> LinearLoss:
    """Loss of a name."""
    if name == "huber":
        return HuberLoss(width)
    if name == "squared_error":
        return SquaredLoss()
    return HingeLoss() if name == "hinge" else LogisticLoss()
