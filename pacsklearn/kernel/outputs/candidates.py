"""A universe with its candidate subsets, fitted for one estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from numbers import Number
from typing import Any, Protocol, final

import numpy as np
from sklearn.frozen import FrozenEstimator

from pacsklearn._sklearn_compat import check_tags, routing_enabled, safe_indexing
from pacsklearn._validation import check_jobs, has_params, is_word
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.host import host, stage
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
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
    fast_fit: bool = field(default_factory=lambda: host().fast_fit())

    def __post_init__(self) -> None:
        check_jobs(self.n_jobs, self.verbose)


class Rules(Protocol):
    """What an estimator takes as rows."""

    def check(self, X: Any) -> Any:
        """Return the rows as the estimator takes them; errors quote none of them."""


class Fittable(Protocol):
    """Candidates that can be fitted, in memory or in passes over a table; secret material."""

    @property
    def space(self) -> RowSpace:
        """What the secret is drawn from."""

    def outputs(self, canonicalizer: Canonicalizer) -> CandidateOutputs:
        """Return all candidates' canonical vectors."""


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
        # S-only (guarantees.md, rule 1): nothing that was fitted elsewhere, and no entries of other
        # subsets' rows, come in by the estimator or by the parameters of its fit.
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
        # Public integers for every seed: the mechanism is a function of the subset alone (rule 6).
        template = seeded_clone(estimator)
        params = dict(options.fit_params)
        form = CanonicalForm(template, canonicalizer)
        encoder = SubsetEncoder(form, X, y, params)
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
        # What is beside the vector is published as it is: the same for every subset (rule 3).
        for index, encoding in enumerate(encodings):
            check_structure(estimator, index, first.layout, encoding.layout)
            vectors.append(encoding.vector)
        # Randomness of the fit's own is in no candidate's vector: noise would not cover it.
        check_repeated(
            estimator,
            joint,
            "differ, so noise calibrated on the candidates would not cover its own randomness",
            agree=equal_but_for_rounding(vectors[0], first.vector),
        )
        rows = safe_indexing(X, np.arange(min(CHECKED_ROWS, X.shape[0])))
        # Other candidates may choose among representations that predict the same, and nothing else
        # (gauge, rule 2); what was changed is decoded and compared.
        align = partial(form.align, np.stack(vectors), first.layout, rows)
        with stage("canonical form"):
            aligned = run.value(attempt(align, "align", fits=True))
        # Equal vectors are released without noise: a model that remembers earlier fits would pass.
        if aligned.size and not np.ptp(aligned, axis=0).any():

            def is_the_same(model: Any, own: Any) -> bool:
                other = form.canonicalizer.encode(model, own)
                return not first.layout.differences(other.layout) and equal_but_for_rounding(
                    other.vector, first.vector
                )

            warn_of_one_model(estimator, template, self, is_the_same)
        return CandidateOutputs(aligned, first.layout, reference, form, X)


def check_wrapped(estimator: Any) -> None:
    """Refuse an estimator that cannot be fitted on candidates, before any row is looked at.

    Parts that are no usable estimators are refused in scikit-learn's own words, and parts that keep
    what they learned elsewhere because every candidate would publish it.
    """
    parts = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    # The part is named before what holds it. A kernel has parameters too, and no fit.
    for path, part in [*parts.items(), ("estimator", estimator)]:
        if has_params(part) and hasattr(part, "fit"):
            check_tags(part)
        if getattr(part, "draws_its_own_secret", False) and not isinstance(part, type):
            raise ValueError(
                f"{path} is private itself ({type(part).__name__}): fitted on each candidate it "
                "would draw a secret and spend a budget of its own. Wrap the plain estimator, "
                "once."
            )
        frozen = isinstance(part, FrozenEstimator)
        if frozen or (path.split("__")[-1] == "cv" and is_word(part, "prefit")):
            what = "a FrozenEstimator" if frozen else "cv='prefit'"
            raise ValueError(
                f"{path} is {what}: it keeps a model that was fitted outside the candidate "
                "subsets, and whatever that model learned would be published as it is. Fit it "
                "inside the estimator; if it was fitted on public data, say so by using its "
                "function, as in FunctionTransformer(fitted.transform)."
            )


def check_fit_params(estimator: Any, params: Mapping[str, Any], n_rows: int) -> None:
    """Refuse parameters of ``fit`` that a subset's fit would not take.

    Whatever has a length must have one entry a row: it is cut to the subset's rows, and anything
    else (a validation set, a warm start) would bring in rows of other subsets.
    """
    name = type(estimator).__name__
    known = inspect.signature(estimator.fit).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for param, value in params.items():
        if not routing_enabled() and not takes_all and param not in known:
            raise TypeError(f"fit of {name} takes no parameter {param!r}; leave it out.")
        if not routing_enabled() and hasattr(estimator, "steps") and "__" not in param:
            raise ValueError(
                f"fit of {name} takes no parameter {param!r}; name the step it is for, as in "
                f"{estimator.steps[-1][0]}__{param}."
            )
        if value is None or isinstance(value, (str, bytes, Mapping, Number, np.generic)):
            continue
        if not hasattr(value, "__len__"):
            raise ValueError(
                f"{param} must be a number, a string, a dictionary or one entry a row, got an "
                f"object of type {type(value).__name__}: what was fitted or computed elsewhere (a "
                "warm start) would bring in rows of other subsets."
            )
        shape = np.shape(value) if hasattr(value, "shape") else (len(value),)
        if shape[:1] != (n_rows,):
            raise ValueError(
                f"{param} must have one entry for each of the {n_rows} rows of X, got shape "
                f"{shape}: a subset's fit sees the entries of its own rows and nothing else."
            )
