"""The seed of subsets that never leaves the process that drew it."""

from __future__ import annotations

import secrets
from typing import Any, final

from pacsklearn.kernel.secret.owner_process import OwnerProcess

_BITS = 256


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
