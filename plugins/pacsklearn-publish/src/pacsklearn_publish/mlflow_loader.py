"""How MLflow loads a bundle as a pyfunc."""

from __future__ import annotations

import os
from typing import Any

from pacsklearn_publish import load_bundle
from pacsklearn_publish.mlflow import KEY

__all__ = ["ServedModel"]


class ServedModel:
    """Released model that answers ``predict``, or ``transform`` where it has no predictions."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, rows: Any, params: dict[str, Any] | None = None) -> Any:
        """Return the predictions of rows.

        ``params={"method": "predict_proba"}`` asks for something else.
        """
        method = (params or {}).get("method")
        if method is None:
            method = "predict" if hasattr(self.model, "predict") else "transform"
        if method not in ("predict", "predict_proba", "decision_function", "transform"):
            raise ValueError(f"method must be one a released model offers, got {method!r}.")
        return getattr(self.model, method)(rows)


def _load_pyfunc(path: str) -> ServedModel:
    return ServedModel(load_bundle(path, key=os.environ.get(KEY) or None).model())
