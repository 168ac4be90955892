"""Fitted estimator to canonical vector, and back: the vector's layout and what fills it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.metric import IdentityMetric, Metric
from pacsklearn.kernel.secret.secret_space import SecretSpace


@dataclass(frozen=True, eq=False)
class Layout:
    """Names and shapes of the numbers in a canonical vector, and the public facts beside them.

    Parameters
    ----------
    blocks : tuple of (str, tuple of int)
        Name and shape of each array, in the order they stand in the vector.
    facts : tuple of (str, object)
        Structure that is not noised and therefore must be public and equal for every subset:
        classes, flags, names of features. Compared between subsets, copied into what is released.
    children : tuple of (str, Layout)
        Layouts of nested parts; their numbers follow the blocks.
    """

    blocks: tuple[tuple[str, tuple[int, ...]], ...] = ()
    facts: tuple[tuple[str, Any], ...] = ()
    children: tuple[tuple[str, Layout], ...] = ()

    @classmethod
    def of(cls, arrays: Mapping[str, ArrayLike], **facts: Any) -> Layout:
        """Return the layout of ``arrays`` in their order, with public ``facts``."""
        blocks = tuple((name, np.shape(array)) for name, array in arrays.items())
        return cls(blocks=blocks, facts=tuple(facts.items()))

    @property
    def size(self) -> int:
        """Length of the vector, children included."""
        own = sum(math.prod(shape) for _, shape in self.blocks)
        return own + sum(child.size for _, child in self.children)

    def fact(self, name: str) -> Any:
        """Return the public fact of that name; KeyError when there is none."""
        return dict(self.facts)[name]

    def slices(self) -> dict[str, slice]:
        """Return where each block and each child stands in the vector."""
        start, slices = 0, {}
        for name, shape in self.blocks:
            stop = start + math.prod(shape)
            slices[name] = slice(start, stop)
            start = stop
        for name, child in self.children:
            slices[name] = slice(start, start + child.size)
            start += child.size
        return slices

    def pack(self, arrays: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
        """Put blocks (and children's vectors, by name) into one vector."""
        given = [np.asarray(arrays[name]) for name in self.slices()]
        if any(map(np.iscomplexobj, given)):
            raise TypeError("complex numbers cannot be noised as they are; pack their two parts")
        parts = [np.ravel(each.astype(np.float64)) for each in given]
        return np.concatenate(parts) if parts else np.empty(0)

    def unpack(self, vector: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return the arrays by block name; a child's entry is its vector."""
        shapes = dict(self.blocks)
        return {
            name: np.array(vector[where]).reshape(shapes.get(name, (-1,)))
            for name, where in self.slices().items()
        }

    def differences(self, other: Layout, prefix: str = "") -> list[str]:
        """Say, without quoting a value, in what ``other`` differs; empty when it does not."""
        mine, theirs = dict(self.blocks), dict(other.blocks)
        differences = [
            f"{prefix}{name}: shape {mine.get(name, 'absent')} against {theirs.get(name, 'absent')}"
            for name in sorted(mine.keys() | theirs.keys())
            if mine.get(name) != theirs.get(name)
        ]
        facts, others = dict(self.facts), dict(other.facts)
        differences += [
            f"{prefix}{name} differs"
            for name in sorted(facts.keys() | others.keys())
            if name not in facts or name not in others or not _same(facts[name], others[name])
        ]
        children, cousins = dict(self.children), dict(other.children)
        for name in sorted(children.keys() | cousins.keys()):
            if name not in children or name not in cousins:
                differences.append(f"{prefix}{name} is present in one subset only")
            else:
                differences += children[name].differences(cousins[name], f"{prefix}{name}.")
        return differences


def _same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return bool(np.array_equal(np.asarray(left), np.asarray(right)))
    # By type as well: True equals 1, and a model need not treat them alike.
    return type(left) is type(right) and bool(left == right)


class Encoding(NamedTuple):
    """Canonical vector of one fitted estimator and its layout."""

    vector: Floats
    layout: Layout


@final
@dataclass(frozen=True, eq=False)
class Constant:
    """A model that predicts one number for every row.

    Parameters
    ----------
    vector : ndarray of shape (d,)
        Its canonical vector; nan where a number changes no such prediction, and is left alone.
    slope : float, default=1.0
        Change of the prediction with what the metric measures; the number itself under a log link.
    """

    vector: Floats
    slope: float = 1.0

    def behind(self, length: int) -> Constant:
        """Return the same of a vector with so many numbers more before it, which are left alone."""
        return Constant(np.concatenate([np.full(length, np.nan), self.vector]), self.slope)


class Canonicalizer(ABC):
    """Turns the fitted estimator of one subset into a vector that can be noised, and back.

    Subclass it for your own estimator: :meth:`encode` and :meth:`decode` are required. The two
    rules that keep a release private, checked by :func:`pacsklearn.testing.check_canonicalizer`:

    * *S-only*: :meth:`encode` looks at one fitted estimator and the rows it was fitted on.
    * *Gauge*: :meth:`align` may look at all subsets, but only to choose between representations
      that behave identically on every input (the order of clusters, the sign of an axis).

    Attributes
    ----------
    name : str
        Unique among the canonicalizers; accepted by ``Parameters(canonicalizer=name)``.
    description : str
        One line for listings.
    estimators : tuple of str or type
        What it supports: qualified names such as ``"sklearn.svm.LinearSVC"``, or classes, for
        those of a notebook, a script or a function; with every subclass without a canonicalizer
        of its own.
    methods : tuple of str
        What a decoded estimator can do: ``"predict"``, ``"transform"``, ...
    noised : tuple of str
        The fitted attributes that come out of the noisy vector, for the guarantee's text.
    noised_if : mapping of str to callable
        Of those that not every estimator here has: whether this one, as configured, has them.
    is_exact : bool
        Whether a decoded transformer gives the same numbers as the one encoded. False where it
        may turn or rename its outputs: such a part cannot stand before another step.
    is_searched : bool
        Whether each subset may choose other parameters of the estimator, so that decoding has to
        be tried on every subset and not on some.
    reads_rows : bool
        Whether :meth:`encode` reads values of its rows. Where it does not, the rows of the
        candidates need not be cut out again to encode models that were fitted together.
    is_public : bool
        Whether a transformer's output of a row is a function of that row and of public things
        alone, whatever it was fitted on: rows are transformed once for all candidates.
    folds : bool
        Whether an affine step before the model can be folded into it.
    has_affine_score : bool
        Whether the log-odds of two classes are affine in the vector, but for a block
        ``"log_scale"``, by whose exponential they are multiplied.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    estimators: ClassVar[tuple[str | type, ...]] = ()
    methods: tuple[str, ...] = ("predict",)
    noised: tuple[str, ...] = ("parameters",)
    noised_if: ClassVar[Mapping[str, Callable[[Any], bool]]] = {}
    is_exact: bool = True
    is_searched: bool = False
    reads_rows: bool = True
    is_public: bool = False
    folds: bool = False
    has_affine_score: bool = False

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> Canonicalizer:
        """Return the canonicalizer for this (unfitted) estimator.

        Override it when the canonicalizer depends on the estimator's parameters or has parts:
        ``resolve`` finds the canonicalizer of a nested estimator. Raise
        :class:`~pacsklearn.exceptions.NoCanonicalizerError` with the reason when the estimator
        cannot be supported as configured.
        """
        return cls()

    @abstractmethod
    def encode(self, estimator: Any, X: Any) -> Encoding:
        """Return the canonical vector of ``estimator``, fitted on the rows ``X`` alone."""

    def encode_jointly(
        self, models: Sequence[Any], X: Any, space: SecretSpace
    ) -> list[Encoding] | None:
        """Return the encodings of all candidates at once, without cutting out rows (optional).

        Each must be what :meth:`encode` gives for that model and its own rows, up to rounding:
        rows outside a candidate enter with weight zero or not at all. None, the default, leaves
        the candidates to :meth:`encode`.
        """
        if self.reads_rows:
            return None
        head = X[:1]
        return [deepcopy(self).encode(model, head) for model in models]

    @abstractmethod
    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        """Return a fitted estimator that holds the numbers of ``vector`` only.

        Parameters
        ----------
        vector : ndarray of shape (layout.size,)
            Noisy numbers. They may describe an impossible model (a negative variance): repair
            them here, by a function of ``vector`` alone.
        layout : Layout
            The layout that :meth:`encode` returned, equal for every subset.
        template : estimator
            A fresh unfitted clone of what the user wrapped, to be filled and returned.
        """

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        """Choose between identically behaving representations; (m, d) to (m, d)."""
        return vectors

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return how much each direction of the vector matters to the model's behaviour.

        Noise of a given mutual information is shaped to cost least in this metric. It may depend
        on the universe ``X``, on one candidate's fitted ``estimator`` and on all ``vectors``,
        which the threat model gives to the adversary.
        """
        return IdentityMetric()

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        """Return the vector of the regressor that predicts ``value`` for every row.

        Where there is one, released models can be drawn toward a public prior; None, the default,
        says there is none.
        """
        return None

    def linear_weights(self, estimator: Any) -> tuple[Floats, Floats] | None:
        """Return the weights of a model that predicts from ``X W' + b``, its argmax or sign.

        Coefficients of shape (outputs, p) and intercepts of shape (outputs,): the answers of all
        candidates are one matrix product then. None, the default, leaves them to ``predict``.
        """
        return None

    def keeping_scores(self) -> Canonicalizer:
        """Return a canonicalizer that releases scores too, and not only decisions.

        Where the scores of several models are compared, the scale of one is no longer a gauge.
        """
        return self

    def behaviour(self, estimator: Any, X: Any) -> Any:
        """Return what must stay the same through encode, align and decode.

        Predictions by default.
        """
        if hasattr(estimator, "predict"):
            return estimator.predict(X)
        return estimator.transform(X)
