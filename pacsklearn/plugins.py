"""Plugins: what authors import, and the registry that finds their work.

Every built-in is here too, loaded when it is asked for: statements name it
``pacsklearn.plugins:LinearClassifierCanonicalizer``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from pacsklearn.audit.attack import Attack, AttackResult, ThreatModel
from pacsklearn.audit.game import Game, Round
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.plugins.builtins import TARGETS
from pacsklearn.kernel.plugins.discovery import PluginFailure
from pacsklearn.kernel.plugins.hookspecs import hookimpl
from pacsklearn.kernel.plugins.records import (
    AttackRecord,
    BatchPredictorRecord,
    CanonicalizerRecord,
    CriterionRecord,
    NoiseBackendRecord,
    Record,
    ScenarioRecord,
    SubsetFitterRecord,
)
from pacsklearn.kernel.plugins.registry import Registry, register, registry, unregister

__all__ = [
    "Attack",
    "AttackRecord",
    "AttackResult",
    "BatchPredictor",
    "BatchPredictorRecord",
    "Canonicalizer",
    "CanonicalizerRecord",
    "Criterion",
    "CriterionRecord",
    "Encoding",
    "Game",
    "Layout",
    "NoiseBackend",
    "NoiseBackendRecord",
    "PluginFailure",
    "Provenance",
    "Record",
    "Registry",
    "Round",
    "ScenarioRecord",
    "SubsetFitter",
    "SubsetFitterRecord",
    "ThreatModel",
    "hookimpl",
    "register",
    "registry",
    "unregister",
]

if not TYPE_CHECKING:  # type checkers know the names above, and nothing else

    def __getattr__(name):
        if name not in TARGETS:
            raise AttributeError(f"module 'pacsklearn.plugins' has no attribute {name!r}")
        return getattr(import_module(TARGETS[name].partition(":")[0]), name)
