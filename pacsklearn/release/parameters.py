"""A private model: fitted on the secret subset, canonical, noised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacsklearn.candidates.outputs import candidate_outputs, observe, output_metric
from pacsklearn.candidates.subset_fitting import seeded_clone
from pacsklearn.candidates.universe import check_fit_params, check_universe
from pacsklearn.core.noise_law import NoiseLaw
from pacsklearn.core.release import Release
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.support import Support
from pacsklearn.plugin import registry
from pacsklearn.release.books import Books
from pacsklearn.release.individual import told_about_units, with_individual
from pacsklearn.release.statement import public_facts

__all__ = ["release_parameters"]


def release_parameters(
    books: Books,
    space: SecretSpace,
    estimator: Any,
    X: Any,
    y: Any,
    *,
    budget: float | None,
    noise: Any,
    metric: Any,
    canonicalizer: Any,
    fit_params: Mapping[str, Any] | None,
    n_jobs: int | None,
    verbose: int,
    fast_fit: bool = True,
    individual: bool = False,
) -> Release:
    """One step of a session; the arguments are those of ``PrivacySession.release``."""
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
    X, y = check_universe(estimator, X, y)
    check_fit_params(estimator, fit_params or {}, X.shape[0])
    outputs = candidate_outputs(
        estimator,
        chosen,
        X,
        y,
        space,
        fit_params=fit_params,
        n_jobs=n_jobs,
        verbose=verbose,
        fast_fit=fast_fit,
    )
    cost = output_metric(metric, chosen, outputs, X)
    beliefs = []

    def calibrate(belief: NDArray[np.float64]) -> NoiseLaw:
        beliefs.append(belief)
        return backend.calibrate(Support(outputs.vectors, belief), target, cost)

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
    told = told_about_units(law, space, beliefs[0]) if individual else None
    if told is not None:
        guarantee = with_individual(guarantee, told)
    value = chosen.decode(law.decode(observed), outputs.layout, seeded_clone(estimator))
    return Release(value, guarantee, event, law.noise_power, law.released_power, told)
