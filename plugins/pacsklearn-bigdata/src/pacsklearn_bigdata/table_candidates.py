"""Candidates of a table that is read in passes: all models from sums, checked on a sample."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from pacsklearn._fit_report import note_fits, recorded, stage
from pacsklearn.exceptions import SubsetFitError
from pacsklearn.joint.table_fitter import BatchWork, TableFitter, TableView
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Layout
from pacsklearn.kernel.outputs.outputs import (
    CHECKED_ROWS,
    CandidateOutputs,
    CanonicalForm,
    check_structure,
)
from pacsklearn.kernel.outputs.run import Stage, SubsetRun, attempt
from pacsklearn.kernel.outputs.subset_fitting import fit_subset, joint_models, seeded_clone
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.secret.packed_subsets import distinct_subsets
from pacsklearn.universe.row_rules import steps_of
from pacsklearn_bigdata.exceptions import TableError
from pacsklearn_bigdata.hashed_design import HashedDesign
from pacsklearn_bigdata.table import Table
from pacsklearn_bigdata.table_reader import Batch

if TYPE_CHECKING:  # a space hands out its candidates
    from pacsklearn_bigdata.hashed_space import HashedSpace

_COMPARED = 2048
_CHECKED_SUBSETS = 8


def _coded(classes: NDArray[Any] | None, as_numbers: bool, target: Any) -> Any:
    """Return targets of a batch as class codes or numbers; None where the model has none."""
    if classes is not None:
        unknown = TableError(
            "target holds a class that is not in classes=; list every class of the table."
        )
        try:
            codes = np.searchsorted(classes, target).clip(max=len(classes) - 1)
        except TypeError:  # texts in the place of numbers, or the other way round
            raise unknown from None
        # searchsorted gives unknown classes a neighbour's code: compared, none passes for it.
        if not np.array_equal(classes[codes], target):
            raise unknown
        return codes
    if not as_numbers:
        return None
    if np.asarray(target).dtype.kind not in "biuf":
        raise TableError("target must hold numbers for a regressor.")
    numbers = np.asarray(target, dtype=np.float64)
    if not np.all(np.isfinite(numbers)):
        raise TableError("target holds a missing or infinite value.")
    return numbers


def _share(
    design: HashedDesign, coded: Callable[[Any], Any], work: BatchWork, batch: Batch
) -> Sequence[Any]:
    """Return a batch's share of a sum over the members of every candidate."""
    return work(batch.rows, coded(batch.target), design.members(batch.names))


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableCandidates:
    """What every candidate's model is fitted with, in passes over a table; secret material.

    Parameters
    ----------
    estimator : estimator
    X : Table
        It holds its target as well.
    space : HashedSpace
    options : FitOptions
    """

    estimator: Any
    X: Table
    space: HashedSpace
    options: FitOptions

    y: ClassVar[None] = None

    @classmethod
    def prepare(cls, estimator: Any, y: Any, space: HashedSpace, options: FitOptions) -> Self:
        """Refuse at once what needs rows in memory.

        Raises
        ------
        TableError
        """
        name, table = type(estimator).__name__, space.table
        if y is not None:
            raise TableError(
                "y must be None for a Table; name the column instead: Table(..., target='y')."
            )
        if options.fit_params:
            raise TableError(
                f"Parameters of fit ({', '.join(options.fit_params)}) have one value a row and "
                "cannot go with a Table."
            )
        if not options.fast_fit:
            raise TableError("fast_fit=False fits row by row, which a Table cannot serve.")
        if _needs_target(estimator) and not table.has_target:
            raise TableError(f"{name} needs a target: Table(..., target=<column>).")
        table.show(sys.stderr if options.verbose else None)
        return cls(estimator, table, space, options)

    def outputs(self, canonicalizer: Canonicalizer) -> CandidateOutputs:
        """Return all candidates' canonical vectors.

        Raises
        ------
        TableError
            When the estimator is not known to follow from sums over rows.
        SubsetFitError, GaugeError, StructureMismatchError, NonDeterministicError
            None quotes a data value.
        """
        template = seeded_clone(self.estimator)
        fitter = fitter_in_passes(template)
        with stage("fits"):
            models, view = self._models(template, fitter)
            rows, targets = self._sample(view)
            with recorded():  # whose own notes would count the candidates twice
                self._compare(template, fitter, rows, targets)
        with stage("canonical form"):
            reference, first, vectors = self._encoded(template, canonicalizer, models, rows)
            form = CanonicalForm(template, canonicalizer)
            align = partial(form.align, vectors, first, rows[:CHECKED_ROWS])
            aligned = SubsetRun(self.estimator).value(attempt(align, "align"))
        return CandidateOutputs(aligned, first, reference, form, rows)

    def _models(self, template: Any, fitter: TableFitter) -> tuple[list[Any], TableView]:
        table, design = self.X, self.space.design
        classes = self._classes() if fitter.wants_classes else None
        numbers = classes is None and _needs_target(template)
        coded = partial(_coded, classes, numbers)
        begin = partial(fitter.table_sums, n_classes=0 if classes is None else len(classes))
        sums = table.total(partial(_share, design, coded, begin))
        sample, failed = table.profile.sample, list[TableError]()
        # Rule 12: of candidates that coincide there are fewer than would be stated.
        most = int(distinct_subsets(self.space.sample.packed, design.n_subsets).max())
        if most < design.n_subsets - 1:
            raise TableError(
                f"secret: some of the {design.n_subsets} subsets of {table.profile.n_units} units "
                "are the same; give more rows, or secret=Subsets(n) with a smaller n."
            )

        def total(work: BatchWork) -> list[Any]:
            try:
                return table.total(partial(_share, design, coded, work))
            except TableError as error:
                failed.append(error)
                raise

        features = BaseEstimator()
        validate_data(features, table.named(sample.rows), skip_check_array=True)
        view = TableView(
            n_rows=table.profile.n_rows,
            rows=sample.rows,
            targets=coded(sample.target),
            members=self.space.sample,
            classes=classes,
            features=features,
            total=total,
        )
        fitted = attempt(partial(fitter.fit_table, template, sums, view))
        if failed:  # what is wrong with a table quotes none of its rows
            raise failed[0]
        models = SubsetRun(self.estimator).value(fitted)
        missing = sum(model is None for model in models)
        note_fits(len(models) - missing, missing, "their numbers do not suit a fit in passes")
        if missing:
            raise SubsetFitError(
                f"{type(template).__name__} could not be fitted in passes on {missing} of "
                f"{len(models)} candidates, of about {table.profile.n_units // 2} of "
                f"{table.profile.n_units} units each: there are too few rows for its parameters, a "
                "class is missing in some of them, a feature is constant or features differ by too "
                "many orders of magnitude, or the minimum is not reached. Collect more rows, leave "
                "constant features out, or scale them where the table is made or by a "
                "StandardScaler before the model."
            )
        return models, view

    def _classes(self) -> NDArray[Any]:
        table = self.X
        classes = table.profile.values if table.classes is None else np.unique(table.classes)
        if classes is None or not 2 <= len(classes) <= 1000:
            raise TableError(
                "target must name from 2 to 1000 classes for a classifier; state them with "
                "Table(..., classes=[...])."
            )
        if classes.dtype.kind == "f" and not np.all(
            np.isfinite(classes) & (classes == classes.round())
        ):
            raise TableError(
                "target must name classes for a classifier, got floating-point numbers that are "
                "not whole."
            )
        return classes

    def _sample(self, view: TableView) -> tuple[Any, Any]:
        targets = view.targets
        if view.classes is not None and targets is not None:
            targets = view.classes[targets]
        return self.X.named(view.rows), targets

    def _compare(self, template: Any, fitter: TableFitter, rows: Any, targets: Any) -> None:
        """Refuse a fitter whose models on a part of the sample are not the ordinary ones."""
        names = self.X.profile.sample.names[:_COMPARED]
        few: tuple[Any, Any] = rows[:_COMPARED], None if targets is None else targets[:_COMPARED]
        members = self.space.design.members(names)
        if is_classifier(template) and len(np.unique(np.asarray(few[1]))) < len(
            np.unique(np.asarray(targets))
        ):
            return
        own = attempt(lambda: fit_subset(template, *few, members.rows(0), {})[0])
        ordinary = SubsetRun(self.estimator).value(own)
        joint_models(template, *few, {}, members, ordinary, fast_fit=True)

    def _encoded(
        self, template: Any, canonicalizer: Canonicalizer, models: list[Any], rows: Any
    ) -> tuple[Any, Layout, Floats]:
        form = CanonicalForm(template, canonicalizer)
        vectors: list[Floats] = []
        first: Layout | None = None
        # Its own rows, of those sampled: no other row takes part in its vector.
        members = self.space.sample.membership()
        for index, model in enumerate(models):
            at, tries = Stage(), index % _CHECKED_SUBSETS == 0
            own = rows[members[:, index]]
            encoded = attempt(partial(form.encode, model, own, at, tries=tries), at)
            encoding = SubsetRun(self.estimator).value(encoded, index)
            first = first or encoding.layout
            check_structure(self.estimator, index, first, encoding.layout)
            vectors.append(encoding.vector)
        assert first is not None
        return models[0], first, np.stack(vectors)


def fitter_in_passes(template: Any) -> TableFitter:
    """Return what fits an estimator in passes.

    Raises
    ------
    TableError
        When it is not known to follow from sums over rows.
    """
    fitter = registry().subset_fitter_for(template)
    if not isinstance(fitter, TableFitter) or fitter.needs_rows:
        raise TableError(
            f"{type(template).__name__}, as it is configured, cannot be fitted in passes over "
            "a Table: that needs moments (StandardScaler, PCA, LinearRegression, Ridge, Lasso, "
            "GaussianNB, LinearDiscriminantAnalysis, NearestCentroid) or a smooth convex loss "
            "(LogisticRegression, LinearSVC, PoissonRegressor), alone or behind a "
            "StandardScaler. Give rows in memory for anything else."
        )
    return fitter


def _needs_target(estimator: Any) -> bool:
    # A pipeline's own tags do not say it of its last step.
    return bool(get_tags(steps_of(estimator)[-1]).target_tags.required)
