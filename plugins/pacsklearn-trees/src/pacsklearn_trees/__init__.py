"""Predictors of boosting and forests, and boosters whose leaves can be released."""

from importlib import import_module
from typing import Any

_FILES = {
    "Boosters": "boosters",
    "StackedForest": "stacked_forest",
}
__all__ = list(_FILES)


def __getattr__(name: str) -> Any:
    # On demand: the registry loads every plugin, and xgboost waits for its first models.
    if name not in _FILES:
        raise AttributeError(f"module 'pacsklearn_trees' has no attribute {name!r}")
    return getattr(import_module(f"pacsklearn_trees.{_FILES[name]}"), name)
