"""Plugins: what authors import, and the registry that finds their work.

Every built-in is here too, loaded when it is asked for: statements name it
``pacsklearn.plugin:LinearClassifierCanonicalizer``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from pacsklearn.core.attack import Attack, AttackResult, ThreatModel
from pacsklearn.core.batch_predictor import BatchPredictor
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.core.criterion import Criterion
from pacsklearn.core.event import Provenance
from pacsklearn.core.game import Game, Round
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.subset_fitter import SubsetFitter
from pacsklearn.plugin.builtins import TARGETS
from pacsklearn.plugin.discovery import PluginFailure
from pacsklearn.plugin.hookspecs import hookimpl
from pacsklearn.plugin.records import (
    AttackRecord,
    BatchPredictorRecord,
    CanonicalizerRecord,
    CriterionRecord,
    NoiseBackendRecord,
    Record,
    ScenarioRecord,
    SubsetFitterRecord,
)
from pacsklearn.plugin.registry import Registry, register, registry, unregister

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
            raise AttributeError(f"module 'pacsklearn.plugin' has no attribute {name!r}")
        return getattr(import_module(TARGETS[name].partition(":")[0]), name)
