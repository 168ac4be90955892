"""Which process something secret belongs to, and the seed of subsets that never leaves its own."""

from __future__ import annotations

import os
import secrets
from typing import Any, ClassVar, NoReturn, final

from pacsklearn.exceptions import ForeignProcessError


@final
class HomeProcess:
    """The process that made something which no other process may use.

    A secret, its account and its noise are each held together with one of these. A forked child
    has a copy of all three: it would spend the same budget about the same secret once more, with
    noise that its parent may use as well. So everything asks its home first, and refuses elsewhere.

    Parameters
    ----------
    what : str
        What belongs to the process; it begins the error's text.

    Notes
    -----
    Neither a pickle nor a copy of one can be made, so nothing that holds one can be pickled or
    copied, unless it says itself how.

    Examples
    --------
    >>> HomeProcess("This account").is_here
    True
    """

    # Replaced in every forked child: process ids are given again after a while.
    _current: ClassVar[object] = object()
    __slots__ = ("_life", "_pid", "_what")

    def __init__(self, what: str) -> None:
        self._what, self._pid, self._life = what, os.getpid(), self._current

    @property
    def is_here(self) -> bool:
        """Whether this is the process."""
        # A fork from compiled code does not run Python's hooks, so the id is compared as well.
        return self._life is self._current and self._pid == os.getpid()

    def check(self) -> None:
        """Refuse to go on anywhere else.

        Raises
        ------
        ForeignProcessError
            Before anything is drawn, charged or locked.
        """
        if not self.is_here:
            raise ForeignProcessError(self._what, self._pid)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"{self._what} belongs to one process and can be neither pickled nor copied: a copy "
            "would spend the same budget, and use the same secret, a second time. To move a "
            "session, use PrivacySession.save and load."
        )

    def __repr__(self) -> str:
        return f"HomeProcess({self._what!r})"


def _forked() -> None:
    HomeProcess._current = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


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

    __slots__ = ("_bits", "_home")

    def __init__(self) -> None:
        self._home = HomeProcess("This subset seed")
        self._bits: int | None = _drawn()

    @property
    def is_known(self) -> bool:
        """Whether subsets can be drawn from it here."""
        return self._bits is not None and self._home.is_here

    def reveal(self) -> int:
        """Secret number, for the design alone.

        Raises
        ------
        ForeignProcessError
            In a forked process.
        ValueError
            When this is what a pickle left of a seed.
        """
        self._home.check()
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
