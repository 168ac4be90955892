"""A universe with its candidate subsets, fitted for one estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, final

import numpy as np

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.configuration import get_config
from pacsklearn.kernel.outputs.fit_report import stage
from pacsklearn.kernel.outputs.outputs import (
    CHECKED_ROWS,
    CandidateOutputs,
    CanonicalForm,
    SubsetEncoder,
    check_structure,
    equal_but_for_rounding,
)
from pacsklearn.kernel.outputs.run import SubsetRun, attempt
from pacsklearn.kernel.outputs.subset_fitting import (
    check_repeated,
    joint_models,
    over_subsets,
    seeded_clone,
    warn_of_one_model,
)
from pacsklearn.kernel.outputs.wrapped_estimator import check_fit_params, check_wrapped
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import RowSpace


@final
@dataclass(frozen=True, eq=False)
class FitOptions:
    """How the candidates' models are fitted.

    Parameters
    ----------
    fit_params : mapping, optional
        Passed to ``fit``; entries with one value a row are cut to the subset's rows.
    n_jobs : int, optional
        As in joblib; whichever backend is active is used.
    verbose : int, default=0
        Show how far the fits are, as joblib does.
    fast_fit : bool
        Fit all candidates at once where a subset fitter gives the same models; as configured where
        and when this is made: it goes to workers with it.
    """

    fit_params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    n_jobs: int | None = None
    verbose: int = 0
    fast_fit: bool = field(default_factory=lambda: get_config()["fast_fit"])


class Rules(Protocol):
    """What an estimator takes as rows."""

    def check(self, X: Any) -> Any:
        """Rows as the estimator takes them; errors quote none of them."""


class Fittable(Protocol):
    """Candidates that can be fitted, in memory or in passes over a table; secret material."""

    @property
    def space(self) -> RowSpace:
        """What the secret is drawn from."""

    def outputs(self, canonicalizer: Canonicalizer) -> CandidateOutputs:
        """Canonical vectors of all candidates."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """What every candidate's model is fitted with; secret material.

    Parameters
    ----------
    estimator : estimator
        Fitted nowhere; clones get fixed public seeds.
    X, y : arrays
        The universe, validated for the estimator. Workers get these and the space, and index them.
    space : SecretSpace
    options : FitOptions
    rules : callable
        :class:`Rules` of a fitted model, for the rows that it is asked about.
    """

    estimator: Any
    X: Any
    y: Any
    space: SecretSpace
    options: FitOptions
    rules: Callable[[Any], Rules]

    def __post_init__(self) -> None:
        check_wrapped(self.estimator)
        check_fit_params(self.estimator, self.options.fit_params, self.X.shape[0])

    def outputs(self, canonicalizer: Canonicalizer) -> CandidateOutputs:
        """Fit a clone on each candidate subset and bring the results into one canonical form.

        Raises
        ------
        SubsetFitError, GaugeError, StructureMismatchError, NonDeterministicError
            None quotes a data value.
        """
        estimator, X, y = self.estimator, self.X, self.y
        space, options, run = self.space, self.options, SubsetRun(estimator)
        template = seeded_clone(estimator)
        params = dict(options.fit_params)
        encoder = SubsetEncoder(template, canonicalizer, X, y, params)
        # Candidate 0 is fitted here too: the workers' result must be the same.
        with stage("fits"):
            reference, first = run.value(encoder.fitted(space, 0))
            joint = joint_models(
                template, X, y, params, space, reference, fast_fit=options.fast_fit
            )
        models = joint.models
        with stage("canonical form"):
            jointly = partial(encoder.known_jointly, models, space)
            known = run.value(attempt(jointly, "encode", fits=True))
        vectors: list[Floats] = []
        with stage("fits" if None in models else "canonical form"):
            encodings = (
                None if None in models or options.verbose else encoder.all_encoded(space, known)
            )
            if encodings is None:
                outcomes = over_subsets(encoder.encoded, space=space, options=options, each=known)
                encodings = run.values(outcomes)
        for index, encoding in enumerate(encodings):
            check_structure(estimator, index, first.layout, encoding.layout)
            vectors.append(encoding.vector)
        check_repeated(
            estimator,
            joint,
            "differ, so noise calibrated on the candidates would not cover its own randomness",
            agree=equal_but_for_rounding(vectors[0], first.vector),
        )
        rows = safe_indexing(X, np.arange(min(CHECKED_ROWS, X.shape[0])))
        form = CanonicalForm(template, canonicalizer)
        align = partial(form.align, np.stack(vectors), first.layout, rows)
        with stage("canonical form"):
            aligned = run.value(attempt(align, "align", fits=True))
        if aligned.size and not np.ptp(aligned, axis=0).any():

            def is_the_same(model: Any, own: Any) -> bool:
                other = canonicalizer.encode(model, own)
                return not first.layout.differences(other.layout) and equal_but_for_rounding(
                    other.vector, first.vector
                )

            warn_of_one_model(estimator, template, self, is_the_same)
        return CandidateOutputs(aligned, first.layout, reference, template, canonicalizer, X)
