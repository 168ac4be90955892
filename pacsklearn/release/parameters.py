"""A private model: fitted on the secret subset, canonical, noised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.candidates.candidates import Candidates
from pacsklearn.candidates.outputs import candidate_outputs, observe
from pacsklearn.core.fit_report import stage
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.release import Release
from pacsklearn.plugin import registry
from pacsklearn.release.books import Books
from pacsklearn.release.individual import told_about_units, with_individual
from pacsklearn.release.statement import public_facts

__all__ = ["release_parameters"]


def release_parameters(
    books: Books,
    prepare: Callable[[], Candidates],
    estimator: Any,
    *,
    budget: float | None,
    noise: Any,
    metric: Any,
    canonicalizer: Any,
    individual: bool = False,
) -> Release:
    """One step of a session; the arguments are those of ``PrivacySession.release``.

    The candidates are prepared once the budget and the plugins are known to be there.
    """
    target = books.check(budget)
    plugins = registry()
    noise = books.backend(noise)
    backend = plugins.noise_backend(noise)
    chosen = plugins.canonicalizer(canonicalizer, estimator)
    named = chosen if isinstance(canonicalizer, str) and canonicalizer == "auto" else canonicalizer
    provenance = (
        plugins.provenance("noise_backend", noise),
        plugins.provenance("canonicalizer", named),
    )
    candidates = prepare()
    outputs = candidate_outputs(candidates, chosen)
    books.warn_of_few(outputs.layout.size)
    with stage("calibration"):
        cost = outputs.metric(metric)
    beliefs = []

    def calibrate(belief: NDArray[np.float64]) -> NoiseLaw:
        beliefs.append(belief)
        with stage("calibration"):
            return backend.calibrate(outputs.support(belief), target, cost)

    law, event, observed = books.take(
        calibrate,
        lambda law: books.event(
            "parameters",
            law,
            outputs.layout.size,
            0 if law.is_noiseless else law.dimension,
            provenance,
        ),
        lambda law: observe(law, books.secret.index, books.secret.sampler),
    )
    guarantee = books.guarantee_of(
        target.budget,
        law,
        noiseless=law.is_noiseless,
        released=chosen.noised,
        public=public_facts(outputs.layout),
        provenance=provenance,
    )
    told = told_about_units(law, candidates.space, beliefs[0]) if individual else None
    if told is not None:
        guarantee = with_individual(guarantee, told)
    value = outputs.decode(law.decode(observed))
    return Release(value, guarantee, event, law.noise_power, law.released_power, told)
