"""What a private meta-estimator shows of itself: its guarantee, and nothing it was not released."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.base import clone

from pacsklearn._sklearn_compat import html_diagram

__all__ = ["GuardedState"]


class GuardedState:
    """Pickles without what the wrapped estimator learned, and displays the guarantee.

    Stands before scikit-learn's ``BaseEstimator`` among the bases.

    Attributes
    ----------
    estimator : estimator
        The wrapped one.
    draws_its_own_secret : bool
        Read where candidates are fitted, which must not.
    """

    estimator: Any
    draws_its_own_secret = True

    def __getstate__(self) -> dict[str, Any]:
        # The wrapped estimator may have been fitted before, on all rows: a copy forgets that.
        state = dict(super().__getstate__())  # type: ignore[call-overload] # BaseEstimator's is a dict
        return {**state, "estimator": clone(self.estimator, safe=False)}

    def _repr_html_inner(self) -> str:
        diagram = html_diagram(copy.copy(self))
        guarantee = getattr(self, "guarantee_", None)
        return diagram if guarantee is None else f"{diagram}{guarantee._repr_html_()}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle
