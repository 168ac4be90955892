"""How candidate subsets are drawn, and a universe with its subsets, fitted for one estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from pacsklearn._config import get_config
from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import check_integer, check_rate
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.fit_report import stage
from pacsklearn.kernel.outputs.frame import as_pandas
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
from pacsklearn.kernel.outputs.universe import check_fit_params, check_is_estimator, check_universe
from pacsklearn.kernel.secret.home_process import SubsetSeed
from pacsklearn.kernel.secret.secret_space import SecretSpace, units_of
from pacsklearn.kernel.secret.similarity import Similarity
from pacsklearn.kernel.secret.space import RowSpace, Space, Work

_ABOVE_STATED_SEEDS = 2**64
# In a pair, who knows one membership knows the other.
_SMALLEST_BLOCK = 4


def subset_seed(given: Any, random_state: Any = None) -> int | SubsetSeed:
    """Seed of a design from a user's arguments; to be called once, and its result shared.

    Parameters
    ----------
    given : None, int or SubsetSeed
        None draws a secret seed, and a predictable one where ``random_state`` makes everything
        else predictable too.
    random_state : None, int or RandomState, optional
    """
    if isinstance(given, SubsetSeed):
        return given
    if given is not None:
        return check_integer(name="seed", value=given, minimum=0)
    if random_state is None:
        return SubsetSeed()
    # Apart from the seeds of secret and noise, and from those a user states.
    return _ABOVE_STATED_SEEDS + int(check_random_state(random_state).randint(0, 2**31 - 1))


@final
@dataclass(frozen=True, eq=False)
class Design:
    """Balanced candidate subsets of some rows; the same arguments give the same subsets.

    Whatever draws subsets (a release, a session, a curve, a display, an audit) draws them here,
    so that what is shown is what is released.

    Parameters
    ----------
    n_subsets : int, default=128
    rate : float, default=0.5
        Share of the subsets each row is in.
    stratify : "auto" or bool, default="auto"
        Give every subset the same share of each class. "auto" does where ``y`` names classes that
        every subset can hold: it depends on ``y`` alone, never on which estimator comes first.
    groups : array-like of shape (n_rows,), optional
        Unit of privacy.
    seed : int or SubsetSeed, default=0
        Public, or secret; see :func:`subset_seed`.
    blocks : int, optional
        Rows of a block of similar ones, of which every subset holds its share; None deals all rows
        of a class alike.
    balance : "moments" or None, default="moments"
        What subsets hold in equal shares beside their blocks.
    """

    n_subsets: int = 128
    rate: float = 0.5
    stratify: Any = "auto"
    groups: Any = field(default=None, repr=False)
    seed: int | SubsetSeed = field(default=0, repr=False)
    blocks: int | None = None
    balance: str | None = "moments"

    def space(self, X: Any, y: Any = None, *, classifies: bool = False) -> SecretSpace:
        """Candidate subsets of the rows of a table.

        Parameters
        ----------
        X : array-like of shape (n_rows, ...)
        y : array-like of shape (n_rows,) or (n_rows, n_outputs), optional
        classifies : bool, default=False
            Whether a classifier is fitted: every subset must then see every class.

        Raises
        ------
        DesignError
            When there is no such design: a class too rare for a classifier, for instance.
        """
        n_rows = X.shape[0]
        strata = self.strata(n_rows, y, classifies=classifies)
        hidden = isinstance(self.seed, SubsetSeed)
        space = SecretSpace.balanced(
            n_rows,
            n_subsets=self.n_subsets,
            rate=self.rate,
            strata=strata,
            groups=self.groups,
            similarity=self._similarity(X, y if strata is None else None),
            seed=self.seed.reveal() if isinstance(self.seed, SubsetSeed) else self.seed,
        )
        return replace(space, is_listed=not hidden)

    def candidates(self, estimator: Any, X: Any, y: Any, options: FitOptions) -> Candidates:
        """Validate the universe, and draw its subsets."""
        return Candidates.prepare(estimator, X, y, self, options)

    def _similarity(self, X: Any, targets: Any) -> Similarity | None:
        if self.balance not in ("moments", None):
            raise ValueError(f"balance must be 'moments' or None, got {self.balance!r}.")
        if self.blocks is None:
            return None
        size = check_integer(name="blocks", value=self.blocks, minimum=_SMALLEST_BLOCK)
        unit_of_row, _ = units_of(self.groups, X.shape[0])
        balanced = self.balance is not None
        return Similarity.of(as_pandas(X), targets, unit_of_row, size=size, balanced=balanced)

    def strata(self, n_rows: int, y: Any, *, classifies: bool) -> NDArray[Any] | None:
        """Stratum of each row; None when all rows are one."""
        if not (isinstance(self.stratify, (str, bool)) and self.stratify in ("auto", True, False)):
            raise ValueError(f"stratify must be 'auto', True or False, got {self.stratify!r}.")
        if y is not None and np.shape(y)[:1] != (n_rows,):
            raise ValueError(
                f"y must have one entry for each of the {n_rows} rows of X, got an array of shape "
                f"{np.shape(y)}."
            )
        if self.stratify is True and y is None:
            raise ValueError("stratify=True needs y; pass y or use stratify=False.")
        if y is None or not self.stratify:
            return None
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        # Rows with several labels have no class of their own, only a combination that may be rare.
        if labels.ndim == 1 and (classifies or self._names_classes(labels)):
            return labels
        if self.stratify is not True:
            return None
        # Numbers say nothing in an error's text; these labels, unlike classes, are not public.
        axis = 0 if labels.ndim > 1 else None
        codes = np.unique(labels, axis=axis, return_inverse=True)[1]
        return np.asarray(codes).ravel().astype(np.float64)

    def _names_classes(self, labels: NDArray[Any]) -> bool:
        """Whether every subset can see every class; counts of something are rarely so."""
        with np.errstate(invalid="ignore"):  # it casts numbers beyond an integer's range
            kind = type_of_target(labels)
        if kind not in ("binary", "multiclass"):
            return False
        codes = np.unique(labels, return_inverse=True)[1].ravel()
        held = np.bincount(codes)
        units, n_units = units_of(self.groups, labels.size)
        if units is not None:
            # A group stands in the stratum most of its rows are in.
            table = np.zeros((n_units, held.size), dtype=np.int64)
            np.add.at(table, (units, codes), 1)
            held = np.bincount(table.argmax(axis=1), minlength=1)
        return bool(held[held > 0].min(initial=labels.size) * check_rate(rate=self.rate) >= 1)


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

    The only way from an estimator and its rows to candidate subsets, for whatever needs them.

    Parameters
    ----------
    estimator : estimator
        Fitted nowhere; clones get fixed public seeds.
    X, y : arrays
        The universe, validated for the estimator. Workers get these and the space, and index them.
    space : SecretSpace
    options : FitOptions
    """

    estimator: Any
    X: Any
    y: Any
    space: SecretSpace
    options: FitOptions

    @classmethod
    def prepare(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        design: Design | SecretSpace,
        options: FitOptions | None = None,
    ) -> Self:
        """Validate the universe before anything is fitted on a part of it, and draw its subsets.

        Parameters
        ----------
        estimator : estimator
        X, y : array-likes
        design : Design or SecretSpace
            The subsets, or how they are drawn.
        options : FitOptions, optional
        """
        check_is_estimator(estimator)
        chosen = options or FitOptions()
        with stage("design"):
            X, y = checked_rows(estimator, X, y, chosen.fit_params)
            if isinstance(design, Design):
                space = design.space(X, y, classifies=is_classifier(estimator))
            else:
                space = design
        return cls(estimator, X, y, space, chosen)

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


@final
@dataclass(frozen=True, eq=False, repr=False)
class Fits(Work):
    """Models of one estimator: what a space gives is :class:`Fittable`; secret material.

    Parameters
    ----------
    estimator : estimator
    X, y : array-likes
    options : FitOptions
    """

    estimator: Any
    X: Any
    y: Any
    options: FitOptions

    def of_rows(self, space: SecretSpace) -> Candidates:
        return Candidates.prepare(self.estimator, self.X, self.y, space, self.options)

    def elsewhere(self, space: Space) -> Fittable:
        fitted: Fittable = space.fitted(self)
        return fitted


def checked_rows(estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> tuple[Any, Any]:
    """Rows and targets, validated before anything is fitted on a part of them.

    Candidate subsets and the data sets of a scenario are made from what this gives.
    """
    X, y = check_universe(estimator, X, y)
    check_fit_params(estimator, fit_params, X.shape[0])
    return X, y
