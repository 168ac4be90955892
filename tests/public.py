"""Names that users import, with what they stand for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

ROOMS = ("audit", "estimators", "plots", "secrets", "srpp", "tabular", "testing")
MODULES = ["pacsklearn", *(f"pacsklearn.{each}" for each in ROOMS)]

PUBLIC: dict[str, Any] = {
    name: getattr(module, name) for module in map(import_module, MODULES) for name in module.__all__
}
