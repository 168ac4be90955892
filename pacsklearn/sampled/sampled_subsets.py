"""Subsets that are drawn and not listed: how their trials are calibrated, and independent rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from pacsklearn._fit_report import stage
from pacsklearn._sklearn_compat import Interval, check_parameters
from pacsklearn._validation import as_inner_share, check_integer
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.sampled.drawn_candidates import DrawnCandidates
from pacsklearn.sampled.drawn_subsets import DrawnSubsets
from pacsklearn.universe.codebook_reader import refuse_published
from pacsklearn.universe.design import Design, StatedDesign, SubsetSeed, subset_seed
from pacsklearn.universe.row_rules import checked_rows


@final
@dataclass(frozen=True, eq=False)
class SampledDesign:
    """All balanced subsets by the strata, rate and groups of a list's design.

    Parameters
    ----------
    design : Design
        The number of its subsets is unused.
    sizes : SampledSubsets
    """

    design: Design
    sizes: SampledSubsets

    @property
    def seed(self) -> int | SubsetSeed:
        """Of the trials."""
        return self.design.seed

    def space(self, X: Any, y: Any = None, *, classifies: bool = False) -> DrawnSubsets:
        """Return the law of the secret subset; as for :meth:`Design.space`."""
        return DrawnSubsets.of(self.design, self.sizes, X, y, classifies=classifies)

    def candidates(self, estimator: Any, X: Any, y: Any, options: FitOptions) -> DrawnCandidates:
        """Validate the universe, and say how subsets of it are drawn."""
        with stage("design"):
            refuse_published(
                estimator, "the secret may be any subset of the table (SampledSubsets)"
            )
            X, y = checked_rows(estimator, X, y, options.fit_params)
            space = self.space(X, y, classifies=is_classifier(estimator))
        return DrawnCandidates(estimator, X, y, space, options)


@final
@dataclass(repr=False)
class SampledSubsets(StatedDesign):
    """The secret is drawn afresh from all balanced subsets; noise comes from trial subsets.

    For ``secret`` of :class:`~pacsklearn.PACPrivate` and :class:`~pacsklearn.PrivacySession`:
    there is no list in which somebody who knows a few memberships could look the others up, and
    the bound is a confidence statement about trials that are drawn independently of the secret.
    It costs more fits and more noise, and is for released parameters and functions: one release,
    or several that are planned together (``PrivacySession.release_planned``).
    ``SampledSubsets(500, 5000)`` has less noise for more fits, ``blocks=8`` less for what known
    memberships tell. A value as scikit-learn's kernels are.

    Parameters
    ----------
    n_calibration, n_certificate : int, default=100, 400
        Trials for centre, span and shape of the noise, and independent ones for its size. Every
        one is a fit. A confidence of ``1 - gamma`` costs noise: few trials cost more of it.
    gamma : float, default=1e-6
        Probability, over the second trials, that the bound does not hold.
    guard : float, default=2.0
        How far out a model may be, relative to the farthest of the first trials (in squared
        distance), before it is pulled back. At least 1.
    time_limit : float, optional
        Seconds that the secret's own fit may take; then the trials' centre is released in its
        place. Twenty times the first trial's, and at least ten seconds, when not given.
    rate : float, default=0.5
        Share of the rows that a subset holds.
    stratify : "auto" or bool, default="auto"
        As for :class:`~pacsklearn.Subsets`.
    blocks : int or None, default=None
        None draws all rows of a class alike: knowing some memberships then tells next to nothing
        about others, but in a class of few rows. A number draws a share of every block of so many
        similar rows, as for :class:`~pacsklearn.Subsets`: less noise, but who knows the memberships
        of a row's mates knows more about that row (``guarantee_.knowing(k)`` states it).
    seed : None, int or SubsetSeed, default=None
        Of the trials; as for :class:`~pacsklearn.Subsets`.

    Examples
    --------
    >>> from pacsklearn import SampledSubsets
    >>> SampledSubsets(n_calibration=200, n_certificate=2000).gamma
    1e-06
    """

    n_calibration: int = 100
    n_certificate: int = 400
    gamma: float = 1e-6
    guard: float = 2.0
    time_limit: float | None = None
    _: KW_ONLY
    rate: float = 0.5
    stratify: Any = "auto"
    blocks: int | None = None
    seed: int | SubsetSeed | None = None

    is_listed: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_calibration": [Interval(Integral, 2, None, closed="left")],
        "n_certificate": [Interval(Integral, 2, None, closed="left")],
        "gamma": [Interval(Real, 0, 1, closed="neither")],
        "guard": [Interval(Real, 1, None, closed="left")],
        "time_limit": [None, Interval(Real, 0, None, closed="neither")],
    }

    @property
    def sizes(self) -> Self:
        """The same, checked, for a fit to keep.

        Raises
        ------
        ValueError
        """
        check_parameters(self)
        return replace(self)

    def design(self, groups: Any = None, random_state: Any = None) -> SampledDesign:
        """State how subsets are drawn; as for :class:`~pacsklearn.Subsets`."""
        seed = subset_seed(self.seed, random_state)
        design = Design(2, self.rate, self.stratify, groups, seed, self.blocks, None)
        return SampledDesign(design, self.sizes)


@final
@dataclass(frozen=True)
class PoissonSubsets:
    """Sampler of row subsets: each of ``n`` rows is in with probability ``rate``, independently.

    There are ``2**n`` of them, so the space can be sampled but not listed; for
    :func:`~pacsklearn.secrets.release_sampled`. Subsets may be empty.

    Parameters
    ----------
    n : int
        Rows of the universe.
    rate : float, default=0.5

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.secrets import PoissonSubsets
    >>> PoissonSubsets(5)(np.random.default_rng(0))
    array([1, 2, 3])
    """

    n: int
    rate: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_integer(name="n", value=self.n, minimum=1))
        object.__setattr__(self, "rate", as_inner_share("rate", self.rate))

    def __call__(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return the row indices of one subset, increasing."""
        return np.flatnonzero(generator.random(self.n) < self.rate)
