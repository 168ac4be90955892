"""The hooks of the ``pacsklearn`` entry-point group.

Every hook returns records and does nothing else: no plugin can alter a mechanism unseen.
"""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from pacsklearn.kernel.plugins.records import (
    KINDS,
    AttackRecord,
    BatchPredictorRecord,
    CanonicalizerRecord,
    CriterionRecord,
    NoiseBackendRecord,
    ScenarioRecord,
    SubsetFitterRecord,
)

__all__ = ["hookimpl", *(record.hook for record in KINDS.values())]  # noqa: PLE0604 - names

hookspec = pluggy.HookspecMarker("pacsklearn")

hookimpl = pluggy.HookimplMarker("pacsklearn")
"""Marks a function of a plugin as the implementation of the hook of the same name."""


@hookspec
def pacsklearn_canonicalizers() -> Iterable[CanonicalizerRecord]:
    """Turn a kind of fitted estimator into a vector that can be noised, and back.

    Returns
    -------
    iterable of CanonicalizerRecord

    Examples
    --------
    >>> from pacsklearn.plugins import CanonicalizerRecord, hookimpl
    >>> @hookimpl
    ... def pacsklearn_canonicalizers():
    ...     yield CanonicalizerRecord(
    ...         name="trimmed-mean",
    ...         target="clinic.private:TrimmedMeanCanonicalizer",
    ...         estimators=("clinic.models.TrimmedMeanRegressor",),
    ...         description="a robust mean",
    ...     )
    """
    raise NotImplementedError


@hookspec
def pacsklearn_batch_predictors() -> Iterable[BatchPredictorRecord]:
    """Predict with the models of all candidates at once, for fast private responses.

    Returns
    -------
    iterable of BatchPredictorRecord
    """
    raise NotImplementedError


@hookspec
def pacsklearn_subset_fitters() -> Iterable[SubsetFitterRecord]:
    """Fit the models of all candidates at once, to the same numbers as one after the other.

    Returns
    -------
    iterable of SubsetFitterRecord
    """
    raise NotImplementedError


@hookspec
def pacsklearn_noise_backends() -> Iterable[NoiseBackendRecord]:
    """Calibrate noise to a budget, for ``PACPrivate(..., noise=name)``.

    Returns
    -------
    iterable of NoiseBackendRecord
    """
    raise NotImplementedError


@hookspec
def pacsklearn_criteria() -> Iterable[CriterionRecord]:
    """Say what an adversary has to achieve, for ``PACPrivate(..., criterion=name)``.

    Returns
    -------
    iterable of CriterionRecord
    """
    raise NotImplementedError


@hookspec
def pacsklearn_scenarios() -> Iterable[ScenarioRecord]:
    """Say what is secret: secrets, pairs, priors and a sampler for each.

    Returns
    -------
    iterable of ScenarioRecord
    """
    raise NotImplementedError


@hookspec
def pacsklearn_attacks() -> Iterable[AttackRecord]:
    """Measure a lower bound on the leakage, to hold against a guarantee.

    Returns
    -------
    iterable of AttackRecord
    """
    raise NotImplementedError
