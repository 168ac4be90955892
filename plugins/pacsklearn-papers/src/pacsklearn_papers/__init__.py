"""Rules as the papers publish them, for comparison."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pacsklearn_papers.gap_estimate import donsker_varadhan
    from pacsklearn_papers.gaussianity_gap import SurrogateGap
    from pacsklearn_papers.mixture_information import (
        InformationEstimate,
        certified_information,
        mixture_information,
    )
    from pacsklearn_papers.residual import ResidualBackend
    from pacsklearn_papers.residual_covariance import residual_covariance
    from pacsklearn_papers.rpac_accounting import (
        composed_remaining_entropy,
        intrinsic_privacy,
        joint_remaining_entropy,
        residual_privacy,
    )
    from pacsklearn_papers.sliced_step import sliced_step_cost
    from pacsklearn_papers.stackelberg import StackelbergBackend
    from pacsklearn_papers.transported_gap import sliced_wasserstein

__all__ = [
    "InformationEstimate",
    "ResidualBackend",
    "StackelbergBackend",
    "SurrogateGap",
    "certified_information",
    "composed_remaining_entropy",
    "donsker_varadhan",
    "intrinsic_privacy",
    "joint_remaining_entropy",
    "mixture_information",
    "residual_covariance",
    "residual_privacy",
    "sliced_step_cost",
    "sliced_wasserstein",
]

_FILES = dict.fromkeys(__all__, "rpac_accounting") | {
    "InformationEstimate": "mixture_information",
    "ResidualBackend": "residual",
    "StackelbergBackend": "stackelberg",
    "SurrogateGap": "gaussianity_gap",
    "certified_information": "mixture_information",
    "donsker_varadhan": "gap_estimate",
    "mixture_information": "mixture_information",
    "residual_covariance": "residual_covariance",
    "sliced_step_cost": "sliced_step",
    "sliced_wasserstein": "transported_gap",
}


def __getattr__(name: str) -> Any:
    # On demand: the registry loads every plugin, and few processes ask for these.
    if name not in _FILES:
        raise AttributeError(f"module 'pacsklearn_papers' has no attribute {name!r}")
    return getattr(import_module(f"pacsklearn_papers.{_FILES[name]}"), name)
