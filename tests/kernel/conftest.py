"""Fixtures for the nouns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.ledger.event import Event, LatticeNoise, Provenance
from pacsklearn.kernel.secret.secret_rows import SecretRows


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(20240)


@pytest.fixture
def make_event() -> Callable[..., Event]:
    def make(charge: float = 0.1, **changes: Any) -> Event:
        facts: dict[str, Any] = {
            "kind": "parameters",
            "charge": charge,
            "unit": "nats",
            "backend": "logdet",
            "bound": charge,
            "n_candidates": 8,
            "n_outputs": 5,
            "n_noisy": 4,
        }
        return LatticeNoise(**facts | changes)

    return make


@pytest.fixture
def make_guarantee() -> Callable[..., PACGuarantee]:
    def make(**changes: Any) -> PACGuarantee:
        facts: dict[str, Any] = {
            "definition": "mutual information between the secret subset and the release",
            "budget": 1 / 64,
            "spent": 1 / 64,
            "unit": "nats",
            "bound": "Gaussian bound",
            "confidence": 1.0,
            "released": ("coef_", "intercept_"),
            "public": ("classes_", "n_features_in_"),
            "not_covered": ("single outcomes", "other fits"),
            "sources": ("equation 3",),
            "noise": "logdet",
            "noiseless": False,
            "not_for_release": "",
            "provenance": (Provenance("logdet", "pacsklearn:Logdet", "pacsklearn", "0.1"),),
        }
        secret: dict[str, Any] = {
            "entropy": float(np.log(128)),
            "n_candidates": 128,
            "prior_identification": 1 / 128,
            "n_units": 150,
            "n_rows": 1500,
            "unit": "row",
            "prior_membership": 0.5,
        }
        if "privacy_unit" in changes:
            secret["unit"] = changes.pop("privacy_unit")
        stated = {field.name for field in fields(PACGuarantee)}
        secret |= {name: value for name, value in changes.items() if name not in stated}
        facts |= {name: value for name, value in changes.items() if name in stated}
        return PACGuarantee(**{"secret": SecretRows(**secret)} | facts)

    return make
