"""All candidates' models at once, faster than fitting one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from pacsklearn.kernel.secret.secret_space import SecretSpace


class SubsetFitter(ABC):
    """Fits the m candidates' models of one estimator together.

    Subclass it where the models follow from sums over rows, which one matrix product gives for all
    subsets. Two rules: what is fitted on a subset is a function of that subset's rows alone
    (rows outside enter with weight zero, never through a mean, a scale or a starting point), and
    it is what ``fit`` on those rows gives, to solver tolerance and with the same attributes. The
    session compares candidate 0 with its ordinary fit and raises where they differ.

    Attributes
    ----------
    name : str
        Unique among the subset fitters.
    description : str
        One line for listings.
    estimators : tuple of str or type
        What it fits: qualified names such as ``"sklearn.svm.LinearSVC"``, or classes, for
        those of a notebook, a script or a function; with every subclass without a subset fitter
        of its own.
    wants_classes : bool
        Whether ``y`` holds class labels.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    estimators: ClassVar[tuple[str | type, ...]] = ()
    wants_classes: bool = False

    @classmethod
    @abstractmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], SubsetFitter | None]
    ) -> SubsetFitter | None:
        """Return fitter of this (unfitted) estimator, or None where it has to be fitted one by one.

        Answer None for a subclass that may fit otherwise. ``resolve`` finds the fitter of a
        nested estimator.
        """

    @abstractmethod
    def fit_all(self, estimator: Any, X: Any, y: Any, space: SecretSpace) -> list[Any]:
        """Return fitted clones of ``estimator``, one a candidate, in their order.

        Returns
        -------
        list of length m
            None where the numbers of a subset are too badly conditioned for the fast way: that
            subset is fitted the ordinary way. Which one it is may depend on its own rows only.
        """

    def agrees(self, joint: Any, ordinary: Any, X: Any, y: Any) -> bool | None:
        """Return whether the joint and the ordinary fit on ``X``, ``y`` are one model.

        None, the default, compares their canonical vectors or predictions, to rounding. Override
        it where the ordinary solver stops at a looser tolerance: judge by its own stopping rule,
        in the objective that the joint fit minimises. An ordinary fit that used up its iterations
        may be worse, and never better: it is no reason to fit anything in another way.
        """
        return None
