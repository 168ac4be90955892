"""The secret of most fits: which of a list of balanced subsets of the rows is used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, final

from numpy.typing import ArrayLike

from pacsklearn._validation import check_integer
from pacsklearn.exceptions import DesignError
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.universe.design import Design, StatedDesign, SubsetSeed, subset_seed


@final
@dataclass(repr=False)
class Subsets(StatedDesign):
    """Candidate subsets of the rows, of which one is drawn in secret.

    For ``secret`` of :class:`PACPrivate` and :class:`PrivacySession`, where None is this with its
    defaults. A value as scikit-learn's kernels are: nested names (``secret__n``) reach into it.

    Parameters
    ----------
    n : int, default=128
        Number of candidate subsets; guessing the secret blindly succeeds with ``1/n``.
    rate : float, default=0.5
        Share of the candidate subsets each row is in; ``rate * n`` must be whole.
    stratify : "auto" or bool, default="auto"
        Give every subset the same share of each class; "auto" does so for classifiers, and in a
        session where ``y`` holds classes.
    blocks : int or None, default=8
        Cut every class into blocks of so many similar rows, at least 4, of which every subset
        holds its share: subsets resemble each other, and less noise is needed. Similarity is that
        of a public map of rows and targets; rows that are equal there share no block, and one row
        in 16 is in none. None deals all rows of a class alike, as a table that is read in passes
        always is.
    balance : "moments" or None, default="moments"
        Within blocks, lean the coins so that subsets have equal moments of the columns as well;
        None deals by fair coins.
    seed : None, int or SubsetSeed, default=None
        None draws the subsets in secret. An integer makes them public and the same every time: who
        then knows whether about seven rows were used can look all others up without any release.
        Every figure is that of an adversary who knows the subsets; see :class:`SubsetSeed`.

    Examples
    --------
    >>> from pacsklearn import Subsets
    >>> Subsets(256, seed=0)
    Subsets(n=256, seed=0)
    """

    n: int = 128
    _: KW_ONLY
    rate: float = 0.5
    stratify: Any = "auto"
    blocks: int | None = 8
    balance: str | None = "moments"
    seed: int | SubsetSeed | None = None

    is_listed: ClassVar[bool] = True

    def design(self, groups: Any = None, random_state: Any = None) -> Design:
        """State how the subsets are drawn; to be called once, and its result shared."""
        check_integer(name="n", value=self.n, minimum=2, maximum=2**20)
        seed = subset_seed(self.seed, random_state)
        return Design(self.n, self.rate, self.stratify, groups, seed, self.blocks, self.balance)


def stated_secret(given: Any) -> StatedDesign:
    """Return how the secret is drawn, by a user's argument.

    Raises
    ------
    ValueError
    """
    if given is None:
        return Subsets()
    if isinstance(given, StatedDesign):
        return given
    raise ValueError(
        "secret must be None, Subsets(...) or SampledSubsets(...), got an object of type "
        f"{type(given).__name__}."
    )


def design_of(secret: Any, groups: Any = None, random_state: Any = None) -> Any:
    """Return how the secret is drawn from the rows, by a user's argument."""
    return stated_secret(secret).design(groups, random_state)


def listed_design(secret: Any, groups: Any, random_state: Any, what: str) -> Design:
    """Return the same for ``what`` works with listed subsets only.

    Raises
    ------
    ValueError
    """
    stated = stated_secret(secret)
    if not stated.is_listed:
        raise ValueError(f"secret must be Subsets() for {what}, got {stated!r}.")
    design: Design = stated.design(groups, random_state)
    return design


def candidate_space(
    candidates: Iterable[Any] | CandidateSpace, weights: ArrayLike | None
) -> CandidateSpace:
    """Return the space from a user's argument: one that is there, or a list of inputs."""
    if not isinstance(candidates, CandidateSpace):
        return CandidateSpace.of(candidates, weights)
    if weights is not None:
        raise DesignError("weights must be None when candidates is a CandidateSpace already.")
    return candidates
