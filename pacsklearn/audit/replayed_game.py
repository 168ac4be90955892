"""The releases of a fitted model or of a session, played again with secrets of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from pacsklearn.audit.confidence import model_numbers, row_confidences
from pacsklearn.audit.game import CandidateGame, Round
from pacsklearn.audit.parameter_game import taken
from pacsklearn.estimators.encoded_rows import EncodedRows
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.release.parameters import ParameterPlan

# Numbers of models and of confidences that are kept: 128 MB.
_MOST_NUMBERS = 2**24


_ALWAYS = ("models", "labels", "confidences", "numbers", "candidate_numbers")


@final
class ReplayedGame(CandidateGame):
    """Released models over and over, each round with a fresh secret and fresh noise.

    What a round shows is the released vectors; :meth:`models` turns them into the models that
    would be published.

    Parameters
    ----------
    releases : sequence of ParameterPlan
        In order; one secret serves all of them. Their laws are taken by the code that releases.
    information : float
        Nats that all of them together reveal at most, as promised.
    budget : float
        Ceiling of the session.
    X, y : array-likes
        The universe; the adversary knows it.
    canaries : tuple of int, default=()
        Units that were put in to be attacked.

    Attributes
    ----------
    space : SecretSpace
        Candidates, prior and units.
    plans : tuple of ParameterPlan
        What is released, in order; secret material.
    """

    released: ClassVar[str] = "parameters"
    members: NDArray[np.bool_]

    def __init__(
        self,
        releases: Sequence[ParameterPlan],
        *,
        information: float,
        budget: float,
        X: Any,
        y: Any = None,
        canaries: tuple[int, ...] = (),
    ) -> None:
        self.plans, self._budget = tuple(releases), budget
        self.space = self.plans[0].space.row_subsets()
        super().__init__(self.space, information)
        self._X, self._y, self._encoded = X, y, EncodedRows()
        there = (("features", self._table is not None), ("targets", y is not None))
        self.beyond = (*_ALWAYS, *(name for name, is_there in there if is_there))
        self.canaries = tuple(canaries)
        size = sum(release.outputs.vectors.shape[1] for release in self.plans)
        self._known: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._most = _MOST_NUMBERS // (size + self.space.n_units)

    @property
    def table(self) -> tuple[Any, Any]:
        """Rows and targets of the universe."""
        return self._X, self._y

    def play(self, generator: np.random.Generator) -> Round:
        criterion = self.plans[0].target.criterion
        laws = [release.calibrate for release in self.plans]
        return taken(laws, self.space, self._budget, criterion, generator)

    def models(self, released: tuple[Floats, ...]) -> tuple[Any, ...]:
        """Return the models of a round's vectors."""
        return tuple(self._once(self._models, released))

    def _models(self, released: tuple[Floats, ...]) -> list[Any]:
        models = []
        for release, vector in zip(self.plans, released, strict=True):
            model = release.outputs.decode(vector)
            self._encoded.look_up(model, release.outputs.form.canonicalizer, self._X, self._X)
            models.append(model)
        return models

    def _once(self, work: Callable[[Any], Any], released: Any) -> Any:
        """Return value of ``work(released)``, computed once: several attacks look at one round."""
        key = id(work.__func__), id(released)  # type: ignore[attr-defined]
        # What was released is kept beside the value, so that its identity is no other's.
        if key not in self._known:
            value = released, work(released)
            if len(self._known) >= self._most:
                return value[1]
            self._known[key] = value
        return self._known[key][1]

    def labels(self, released: tuple[Floats, ...], X: Any) -> Any:
        """Return what the last released model predicts for rows of numbers."""
        model = self.models(released)[-1]
        if not hasattr(model, "predict"):
            raise ValueError(
                f"{type(model).__name__} predicts no labels; leave 'label_only' out of the attacks."
            )
        names = getattr(self._X, "columns", None)
        return model.predict(X if names is None else type(self._X)(X, columns=names))

    @cached_property
    def _table(self) -> Floats | None:
        try:
            table = np.asarray(self._X, dtype=np.float64)
        except (TypeError, ValueError):
            return None
        return table if table.ndim == 2 else None

    @property
    def features(self) -> Floats:
        """The first row of each unit, where rows are numbers; shape (n_units, n_features)."""
        if self._table is None:
            raise AttributeError("features: the rows are no dense table of numbers.")
        return np.asarray(self._table[self._first_rows()])

    @property
    def targets(self) -> NDArray[Any]:
        """Target of the first row of each unit; shape (n_units,)."""
        if self._y is None:
            raise AttributeError("targets: the rows have none.")
        return np.asarray(self._y)[self._first_rows()]

    def _first_rows(self) -> NDArray[np.intp]:
        units = self.space.unit_of_row
        if units is None:
            return np.arange(self.space.n_units)
        return np.unique(units, return_index=True)[1]

    def confidences(self, released: tuple[Floats, ...]) -> Floats:
        """Return how sure the released models are of each unit's rows, on average; (n_units,)."""
        return np.asarray(self._once(self._confidences, released))

    def _confidences(self, released: tuple[Floats, ...]) -> Floats:
        models = self.models(released)
        # The rows were checked before the models were fitted.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            rows = np.mean([row_confidences(model, self._X, self._y) for model in models], axis=0)
        units = self.space.unit_of_row
        if units is None:
            return np.asarray(rows)
        total = np.bincount(units, weights=rows, minlength=self.space.n_units)
        return np.asarray(total / np.bincount(units, minlength=self.space.n_units))

    def numbers(self, released: tuple[Floats, ...]) -> Floats:
        """Return all numbers that the released models publish."""
        return np.concatenate([model_numbers(model) for model in self.models(released)])

    @cached_property
    def candidate_numbers(self) -> Floats:
        """What :meth:`numbers` would be for each candidate without noise; shape (m, k)."""
        each = zip(*(release.outputs.vectors for release in self.plans), strict=True)
        return np.stack([self.numbers(vectors) for vectors in each])
