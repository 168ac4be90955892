"""From fitted models to canonical vectors and back, checked: one for each candidate subset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.exceptions import StructureMismatchError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.noise_law import Support
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.kernel.outputs.run import Outcome, Stage, StageFailure, SubsetRun, attempt
from pacsklearn.kernel.outputs.subset_fitting import fit_subset, same_behaviour, unfitted_copy
from pacsklearn.kernel.secret.secret_space import SecretSpace

CHECKED_ROWS = 32
"""Enough rows to see a decode that predicts something else, few enough to cost nothing."""

_MOST_CHECKED = 16
_ROUNDING = 1e-8


@final
@dataclass(frozen=True, eq=False)
class CanonicalForm:
    """A canonicalizer for the clones of one estimator; a part that finds a fault raises it.

    Parameters
    ----------
    template : estimator
        Unfitted clone with its public seeds, to decode into.
    given : Canonicalizer
    """

    template: Any
    given: Canonicalizer

    @property
    def canonicalizer(self) -> Canonicalizer:
        """A copy for one use: what it keeps of a candidate reaches no other, and no release."""
        return deepcopy(self.given)

    def decode(self, vector: Floats, layout: Layout) -> Any:
        """Return a fresh fitted estimator that holds the numbers of ``vector`` only."""
        return self.canonicalizer.decode(vector, layout, unfitted_copy(self.template))

    def encode(
        self, model: Any, own: Any, stage: Stage, encoding: Encoding | None = None, *, tries: bool
    ) -> Encoding:
        """Return the encoding of a fitted model and its rows, checked to be one of numbers.

        ``tries`` says that decoded it must behave as the model.
        """
        if encoding is None:
            stage.name = "encode"
            encoding = self.canonicalizer.encode(model, own)
        # Bounds hold for finite real vectors; anything else has no distance that noise could cover.
        if np.iscomplexobj(encoding.vector):
            raise StageFailure("real")
        if not np.all(np.isfinite(encoding.vector)):
            raise StageFailure("finite")
        stage.name = "decode"
        if tries:
            self.check_behaviour(encoding, model, own[:CHECKED_ROWS])
        return encoding

    def check_behaviour(self, encoding: Encoding, model: Any, rows: Any) -> None:
        """Refuse an encoding that decodes into what behaves unlike ``model``."""
        # decode(encode(model)) predicts what the model does: else what is released is another
        # mechanism than the one whose outputs were measured (rule 2).
        behaviour = self.canonicalizer.behaviour
        decoded = self.decode(encoding.vector, encoding.layout)
        # Each on a copy of the rows: a step may work in place.
        if not same_behaviour(*(behaviour(each, deepcopy(rows)) for each in (model, decoded))):
            raise StageFailure("gauge")

    def align(self, vectors: Floats, layout: Layout, rows: Any) -> Floats:
        """Return aligned vectors; those that were changed must decode into what behaves as before.

        Of many, sixteen are tried, the last one among them, where the form is no search's result.
        """
        # A copy: alignment in place would be compared with itself, and nothing checked.
        aligned = np.asarray(self.canonicalizer.align(vectors.copy(), layout), dtype=np.float64)
        if aligned.shape != vectors.shape or not np.all(np.isfinite(aligned)):
            raise StageFailure("gauge")
        changed = np.flatnonzero((vectors != aligned).any(axis=1))
        step = 1 if self.given.is_searched else -(-changed.size // _MOST_CHECKED)
        for i in changed[:: -max(step, 1)]:
            model = self.decode(vectors[i], layout)
            self.check_behaviour(Encoding(aligned[i], layout), model, rows)
        return aligned


def check_structure(estimator: Any, index: int, first: Layout, layout: Layout) -> None:
    """Refuse a candidate whose model has another structure than the first one's.

    Raises
    ------
    StructureMismatchError
    """
    differences = first.differences(layout)
    if differences:
        raise StructureMismatchError(
            f"{type(estimator).__name__} fitted on subset {index} has another structure than "
            f"on subset 0: {'; '.join(differences)}. Structure cannot be noised, so it must "
            "be the same for every subset: fix it by a parameter, or collect more rows."
        )


def equal_but_for_rounding(left: Floats, right: Floats) -> bool:
    """Return whether two computations of one vector gave the same."""
    if left.shape != right.shape:
        return False
    size = float(np.max(np.abs(right), initial=0.0))
    return bool(np.all(np.abs(left - right) <= _ROUNDING * size))


# Model and encoding of a candidate, where one or both are known before it is fitted.
Known = tuple[Any, Encoding | None] | None


@final
@dataclass(frozen=True, eq=False, repr=False)
class CandidateOutputs:
    """Canonical vectors of all candidates, aligned; secret material.

    Parameters
    ----------
    vectors : ndarray of shape (m, d)
    layout : Layout
        Common to all candidates.
    reference : estimator
        The fitted model of candidate 0, for the metric.
    form : CanonicalForm
        Decodes them.
    X : array
        The universe, for the metric.
    supported : callable
        What noise is calibrated to, from the vectors and a belief.
    """

    vectors: Floats
    layout: Layout
    reference: Any
    form: CanonicalForm
    X: Any
    supported: Callable[[Floats, Floats], Any] = Support

    def metric(self) -> Metric:
        """Return the metric that the canonicalizer has for these vectors."""
        known = (self.layout, self.reference, *deepcopy((self.X, self.vectors)))
        own = attempt(partial(self.form.canonicalizer.metric, *known), "encode", fits=True)
        metric: Metric = SubsetRun(self.form.template).value(own)
        return metric

    def support(self, belief: Floats | None = None) -> Any:
        """Return the vectors under a belief; the uniform one when not given."""
        return self.supported(self.vectors, np.empty(0) if belief is None else belief)

    def decode(self, vector: Floats) -> Any:
        """Return a fresh fitted estimator that holds the numbers of ``vector`` only."""
        return self.form.decode(vector, self.layout)


@final
@dataclass(frozen=True, eq=False, repr=False)
class SubsetEncoder:
    """Fits a clone on a candidate's rows and encodes it, in this process or a worker's.

    Parameters
    ----------
    form : CanonicalForm
    X, y : arrays
        Of the universe.
    params : mapping
        Passed to ``fit``, cut to the rows.
    checked_every : int
        Each such candidate's decoded model must behave as its original; with 0 decoding is tried
        where it must be.
    """

    form: CanonicalForm
    X: Any
    y: Any
    params: Mapping[str, Any]
    checked_every: int = 8

    def fitted(self, space: SecretSpace, index: int, known: Known = None) -> Outcome:
        """Return the model and encoding of a candidate, of which either may be known already."""
        stage = Stage()
        return attempt(partial(self._fitted, space, index, known, stage), stage, fits=True)

    def encoded(self, space: SecretSpace, index: int, known: Known = None) -> Outcome:
        """Return the encoding alone, as :meth:`fitted` does."""
        outcome = self.fitted(space, index, known)
        return replace(outcome, value=outcome.value and outcome.value[1])

    def all_encoded(self, space: SecretSpace, known: Sequence[Known]) -> list[Encoding] | None:
        """Return the encodings of models that are all known.

        None where something is to be told of some.

        Withholding prints and warnings costs as much as encoding a small model, so it is done once.
        """

        def every() -> list[Encoding]:
            return [self._fitted(space, i, one, Stage())[1] for i, one in enumerate(known)]

        outcome = attempt(every, fits=True)
        return None if outcome.failure is not None or outcome.warnings else outcome.value

    def known_jointly(self, models: list[Any], space: SecretSpace) -> list[Known]:
        """Return fitted models with encodings, where these need no rows of a candidate's own."""
        encoded: Sequence[Encoding | None] = [None] * len(models)
        if all(model is not None for model in models):
            encoded = self.form.canonicalizer.encode_jointly(models, self.X, space) or encoded
        pairs = zip(models, encoded, strict=True)
        return [None if model is None else (model, encoding) for model, encoding in pairs]

    def _fitted(
        self, space: SecretSpace, index: int, known: Known, stage: Stage
    ) -> tuple[Any, Encoding]:
        checked = self.checked_every > 0 and index % self.checked_every == 0
        is_checked = self.form.given.is_searched or checked
        model, encoding = known or (None, None)
        own: Any = None
        if model is None:
            model, own = fit_subset(
                self.form.template, self.X, self.y, space.rows(index), self.params
            )
        elif encoding is None or is_checked:
            rows = space.rows(index)
            own = safe_indexing(self.X, rows if encoding is None else rows[:CHECKED_ROWS])
        return model, self.form.encode(model, own, stage, encoding, tries=is_checked)
