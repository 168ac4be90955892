"""Joint fits of some classes, and of none of their subclasses."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter


class ExactFitter(SubsetFitter):
    """A subset fitter of the classes that it names; a subclass may fit otherwise."""

    estimators: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> SubsetFitter | None:
        paths = [each.rpartition(".") for each in cls.estimators]
        exact = type(estimator) in [getattr(import_module(home), name) for home, _, name in paths]
        return cls() if exact and cls.suits(estimator) else None

    @staticmethod
    def suits(estimator: Any) -> bool:
        """Return whether an estimator of these classes is fitted like this, as configured."""
        del estimator
        return True
