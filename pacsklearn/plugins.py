"""Plugins: what authors import, and the registry that finds their work.

Every built-in is here too, loaded when it is asked for: statements name it
``pacsklearn.plugins:LinearClassifierCanonicalizer``.
"""

from typing import TYPE_CHECKING

from pacsklearn._discovery import PluginFailure, built_ins
from pacsklearn.audit.attack import Attack, AttackResult, InsertingAttack, ThreatModel
from pacsklearn.audit.game import Game, Round
from pacsklearn.canonical.protecting_metric import ProtectingMetric
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.cap import Cap
from pacsklearn.kernel.budget.caps import Success
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion, k_of_n
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.ledger.log import DoubtError, Log, MovedError, UnreachableError
from pacsklearn.kernel.ledger.row import Position, Row
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.outputs.unsupported import Unsupported
from pacsklearn.kernel.plugins.catalogue import Registration
from pacsklearn.kernel.plugins.kinds import API, hookimpl, imported
from pacsklearn.kernel.plugins.registry import Registry, register, registry, unregister
from pacsklearn.srpp.scenarios.scenario import Scenario
from pacsklearn.universe.metrics import OperatorMetric

__all__ = [
    "API",
    "Attack",
    "AttackResult",
    "BatchPredictor",
    "Budget",
    "Canonicalizer",
    "Cap",
    "Criterion",
    "DoubtError",
    "Encoding",
    "Game",
    "GuessCriterion",
    "InsertingAttack",
    "Layout",
    "Log",
    "MovedError",
    "NoiseBackend",
    "OperatorMetric",
    "PluginFailure",
    "Position",
    "ProtectingMetric",
    "Provenance",
    "Registration",
    "Registry",
    "Round",
    "Row",
    "Scenario",
    "SubsetFitter",
    "Success",
    "ThreatModel",
    "UnreachableError",
    "Unsupported",
    "hookimpl",
    "k_of_n",
    "register",
    "registry",
    "unregister",
]

_PARTS = {
    "ConfidentBackend": "pacsklearn.sampled.confident:ConfidentBackend",
    "OneSidedBackend": "pacsklearn.padding.one_sided:OneSidedBackend",
    "ScaledTargetCanonicalizer": (
        "pacsklearn.canonical.transformed_target:ScaledTargetCanonicalizer"
    ),
}
"""What has a part in releases and is chosen by no name."""

if not TYPE_CHECKING:  # type checkers know the names above, and nothing else

    def __getattr__(name):
        target = None if name.startswith("_") else (_PARTS.get(name) or built_ins().get(name))
        if target is None:
            raise AttributeError(f"module 'pacsklearn.plugins' has no attribute {name!r}")
        return imported(target)


def __dir__() -> list[str]:
    return sorted({*__all__, *_PARTS, *built_ins()})
