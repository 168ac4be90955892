"""Rules as the papers publish them, for comparison."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pacsklearn_papers.gap_estimate import donsker_varadhan
    from pacsklearn_papers.rpac_accounting import (
        composed_remaining_entropy,
        intrinsic_privacy,
        joint_remaining_entropy,
        residual_privacy,
    )
    from pacsklearn_papers.stackelberg import StackelbergBackend

__all__ = [
    "StackelbergBackend",
    "composed_remaining_entropy",
    "donsker_varadhan",
    "intrinsic_privacy",
    "joint_remaining_entropy",
    "residual_privacy",
]

_FILES = {"StackelbergBackend": "stackelberg", "donsker_varadhan": "gap_estimate"} | dict.fromkeys(
    (
        "composed_remaining_entropy",
        "intrinsic_privacy",
        "joint_remaining_entropy",
        "residual_privacy",
    ),
    "rpac_accounting",
)


def __getattr__(name: str) -> Any:
    # On demand: the registry loads every plugin, and few processes ask for these.
    if name not in _FILES:
        raise AttributeError(f"module 'pacsklearn_papers' has no attribute {name!r}")
    return getattr(import_module(f"pacsklearn_papers.{_FILES[name]}"), name)
