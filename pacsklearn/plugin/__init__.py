"""Plugins: what authors import, and the registry that finds their work."""

from pacsklearn.core.batch_predictor import BatchPredictor
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.event import Provenance
from pacsklearn.core.layout import Layout
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.plugin.failure import PluginFailure
from pacsklearn.plugin.hookspecs import hookimpl
from pacsklearn.plugin.process_registry import register, registry, unregister
from pacsklearn.plugin.records import (
    AttackRecord,
    BatchPredictorRecord,
    CanonicalizerRecord,
    NoiseBackendRecord,
    Record,
    ScenarioRecord,
)
from pacsklearn.plugin.registry import Registry

__all__ = [
    "AttackRecord",
    "BatchPredictor",
    "BatchPredictorRecord",
    "Canonicalizer",
    "CanonicalizerRecord",
    "Encoding",
    "Layout",
    "NoiseBackend",
    "NoiseBackendRecord",
    "PluginFailure",
    "Provenance",
    "Record",
    "Registry",
    "ScenarioRecord",
    "hookimpl",
    "register",
    "registry",
    "unregister",
]
