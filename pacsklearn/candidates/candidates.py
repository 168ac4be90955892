"""A universe and its candidate subsets, checked for one estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, final

from sklearn.base import is_classifier

from pacsklearn.candidates.design import Design
from pacsklearn.candidates.universe import check_fit_params, check_universe
from pacsklearn.core.fit_report import stage
from pacsklearn.core.secret_space import SecretSpace


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
        Show a progress bar.
    fast_fit : bool, default=True
        Fit all candidates at once where a subset fitter gives the same models.
    """

    fit_params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    n_jobs: int | None = None
    verbose: int = 0
    fast_fit: bool = True


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
        chosen = options or FitOptions()
        with stage("design"):
            X, y = checked_rows(estimator, X, y, chosen.fit_params)
            if isinstance(design, Design):
                space = design.space(X.shape[0], y, classifies=is_classifier(estimator))
            else:
                space = design
        return cls(estimator, X, y, space, chosen)


def checked_rows(estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> tuple[Any, Any]:
    """Rows and targets, validated before anything is fitted on a part of them.

    Candidate subsets and the data sets of a scenario are made from what this gives.
    """
    X, y = check_universe(estimator, X, y)
    check_fit_params(estimator, fit_params, X.shape[0])
    return X, y
