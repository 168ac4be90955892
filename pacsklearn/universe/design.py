"""How candidate subsets are drawn, and a universe that is checked for what is fitted on them."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.multiclass import type_of_target

from pacsklearn._fit_report import stage
from pacsklearn._sklearn_compat import one_blas_thread
from pacsklearn._validation import as_inner_share, brief, check_integer
from pacsklearn.kernel.outputs.candidates import Candidates, FitOptions, Fittable
from pacsklearn.kernel.secret.owner_process import OwnerProcess
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.kernel.secret.space import Space, Work
from pacsklearn.universe.balanced_design import Dealt, dealt_alike
from pacsklearn.universe.balanced_space import Deal, balanced_space, strata_of, units_of
from pacsklearn.universe.blocked_design import blocked_design
from pacsklearn.universe.frame import as_pandas, with_gaps
from pacsklearn.universe.quoting import quoting_nothing
from pacsklearn.universe.row_rules import RowRules, check_known, checked_rows
from pacsklearn.universe.samplers import seed_from
from pacsklearn.universe.similarity import Similarity

_BITS = 256
_ABOVE_STATED_SEEDS = 2**64
# In a pair, who knows one membership knows the other.
_SMALLEST_BLOCK = 4


def _drawn() -> int:
    # One bit more, so that no secret seed is a number that somebody may have stated.
    return secrets.randbits(_BITS) | 1 << _BITS


@final
class SubsetSeed:
    """256 secret bits that candidate subsets are drawn from; they stay in their process.

    Give one object to everything that is about the same subsets: the curve that a budget is
    chosen by, the release, the displays. An estimator that draws its own
    (``seed=None``) keeps it for its audits.

    Notes
    -----
    *Guarantee.* None: every figure is that of an adversary who knows the subsets. What a secret
    list adds is that whoever knows whether some rows were used cannot look the others up in it
    without a release. The bits come from the operating system's generator; the subsets are drawn
    from them by PCG64, which is no cryptographic generator.

    Copies are the object itself, and a pickle holds nothing: in another process the subsets
    cannot be drawn again.

    Examples
    --------
    >>> from pacsklearn.secrets import SubsetSeed
    >>> seed = SubsetSeed()
    >>> seed
    SubsetSeed(...)
    """

    __slots__ = ("_bits", "_owner")

    def __init__(self) -> None:
        self._owner = OwnerProcess("This subset seed")
        self._bits: int | None = _drawn()

    @property
    def is_known(self) -> bool:
        """Whether subsets can be drawn from it here."""
        return self._bits is not None and self._owner.is_here

    def reveal(self) -> int:
        """Return the secret number, for the design alone.

        Raises
        ------
        ForeignProcessError
            In a forked process.
        ValueError
            When this is what a pickle left of a seed.
        """
        self._owner.check()
        if self._bits is None:
            raise ValueError(
                "seed is what was left of a secret seed after it was pickled: the bits stay "
                "in the process that drew them. Use seed=None to draw new subsets in each "
                "process, or an integer for public ones."
            )
        return self._bits

    @classmethod
    def _forgotten(cls) -> SubsetSeed:
        seed = cls()
        seed._bits = None
        return seed

    def __copy__(self) -> SubsetSeed:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SubsetSeed:
        return self

    def __reduce__(self) -> Any:
        return SubsetSeed._forgotten, ()

    def __repr__(self) -> str:
        return "SubsetSeed(...)"


def subset_seed(given: Any, random_state: Any = None) -> int | SubsetSeed:
    """Return seed of a design from a user's arguments; to be called once, and its result shared.

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
    return _ABOVE_STATED_SEEDS + seed_from(random_state)


class StatedDesign(BaseEstimator, ABC):
    """How the secret is drawn from the rows, as a user states it: a value with parameters.

    Attributes
    ----------
    is_listed : bool
        Whether the candidates are a list.
    """

    is_listed: ClassVar[bool]

    @abstractmethod
    def design(self, groups: Any = None, random_state: Any = None) -> Any:
        """State how the subsets are drawn; to be called once, and its result shared.

        Parameters
        ----------
        groups : array-like of shape (n_rows,), optional
            Unit of privacy.
        random_state : None, int or RandomState, optional
            Where it makes everything else predictable, subsets without a seed are too.
        """


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
        """Return the candidate subsets of the rows of a table.

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
        with one_blas_thread():
            space = balanced_space(
                n_rows,
                n_subsets=self.n_subsets,
                rate=self.rate,
                strata=strata,
                groups=self.groups,
                deal=self._deal(X, y if strata is None else None),
                seed=self.seed.reveal() if isinstance(self.seed, SubsetSeed) else self.seed,
            )
        return replace(space, is_listed=not hidden, dealt=self.dealt(space.unit))

    def candidates(
        self, estimator: Any, X: Any, y: Any = None, options: FitOptions | None = None
    ) -> Candidates:
        """Validate the universe before anything is fitted on a part of it, and draw its subsets."""
        chosen = options or FitOptions()
        with stage("design"):
            X, y = checked_rows(estimator, X, y, chosen.fit_params)
            space = self.space(X, y, classifies=is_classifier(estimator))
        return Candidates(estimator, X, y, space, chosen, RowRules.of)

    def _deal(self, X: Any, targets: Any) -> Deal:
        """Return how units are put into the subsets.

        All of a stratum alike, or blocks of similar ones.
        """
        similarity = self.similarity(X, targets)
        if similarity is None:
            return dealt_alike

        def deal(_: int, n_subsets: int, included: int, **how: Any) -> Dealt:
            return blocked_design(similarity, n_subsets, included, **how)

        return deal

    def similarity(self, X: Any, targets: Any) -> Similarity | None:
        """Return what blocks are made by; None where there are none.

        Raises
        ------
        ValueError
        """
        if self.balance not in ("moments", None):
            raise ValueError(f"balance must be 'moments' or None, got {brief(self.balance)}.")
        if self.blocks is None:
            return None
        size = check_integer(name="blocks", value=self.blocks, minimum=_SMALLEST_BLOCK)
        unit_of_row, _ = units_of(self.groups, X.shape[0])
        balanced = self.balance is not None
        return Similarity.of(as_pandas(X), targets, unit_of_row, size=size, balanced=balanced)

    def dealt(self, unit: str) -> str:
        """Return how units were dealt, in words; nothing where all of a class were alike."""
        if self.blocks is None:
            return ""
        return f"dealt in blocks of at least {self.blocks} similar {unit}s"

    def strata(self, n_rows: int, y: Any, *, classifies: bool) -> NDArray[Any] | None:
        """Return the stratum of each row; None when all rows are one."""
        if not (isinstance(self.stratify, (str, bool)) and self.stratify in ("auto", True, False)):
            raise ValueError(f"stratify must be 'auto', True or False, got {brief(self.stratify)}.")
        if y is not None and np.shape(y)[:1] != (n_rows,):
            raise ValueError(
                f"y must have one entry for each of the {n_rows} rows of X, got an array of shape "
                f"{np.shape(y)}."
            )
        if self.stratify is True and y is None:
            raise ValueError("stratify=True needs y; pass y or use stratify=False.")
        if y is None or not self.stratify:
            return None
        labels = with_gaps(y)
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
        """Return whether every subset can see every class; counts of something are rarely so."""
        check_known(labels)
        with np.errstate(invalid="ignore"):  # it casts numbers beyond an integer's range
            kind = quoting_nothing("y", partial(type_of_target, labels))
        if kind not in ("binary", "multiclass"):
            return False
        units, n_units = units_of(self.groups, labels.size)
        held = np.bincount(strata_of(labels, units, labels.size, n_units))
        return bool(held.min(initial=labels.size) * as_inner_share("rate", self.rate) >= 1)


def candidates_over(
    estimator: Any, X: Any, y: Any, space: SecretSpace, options: FitOptions | None = None
) -> Candidates:
    """Validate the universe before anything is fitted on the subsets of a list.

    Raises
    ------
    TypeError, ValueError
        What can be said clearly of an estimator and its rows; no value of a row is quoted.
    """
    chosen = options or FitOptions()
    with stage("design"):
        X, y = checked_rows(estimator, X, y, chosen.fit_params)
    return Candidates(estimator, X, y, space, chosen, RowRules.of)


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
        return candidates_over(self.estimator, self.X, self.y, space, self.options)

    def elsewhere(self, space: Space) -> Fittable:
        fitted: Fittable = space.fitted(self)
        return fitted
