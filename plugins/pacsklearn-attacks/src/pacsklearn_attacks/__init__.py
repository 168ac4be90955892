"""Attacks beside the optimal one, and audits that need them."""

from importlib import import_module
from typing import Any

_FILES = {
    "AttributeAttack": "attribute_attack",
    "CanaryAttack": "canary_attack",
    "ExistenceAttack": "existence_attack",
    "ExistenceGame": "existence_game",
    "FiguresAttack": "figures_attack",
    "KnownRowsAttack": "known_rows_attack",
    "LabelOnlyAttack": "label_only_attack",
    "LossThresholdAttack": "loss_threshold_attack",
    "LowOrderBitsAttack": "low_order_bits_attack",
    "PoisoningAttack": "poisoning_attack",
    "PricesAttack": "prices_attack",
    "PropertyAttack": "property_attack",
    "QuantileAttack": "quantile_attack",
    "RMIAAttack": "rmia_attack",
    "ReconstructionAttack": "reconstruction_attack",
    "RecordAttack": "record_attack",
    "RobustLiRAAttack": "robust_lira_attack",
    "TrainingGame": "training_game",
}
# Functions are imported from their files: record_report, existence_audit, one_run, record_game.
__all__ = list(_FILES)


def __getattr__(name: str) -> Any:
    # On demand: the registry loads every plugin, and few processes attack.
    if name not in _FILES:
        raise AttributeError(f"module 'pacsklearn_attacks' has no attribute {name!r}")
    return getattr(import_module(f"pacsklearn_attacks.{_FILES[name]}"), name)
