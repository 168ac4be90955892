"""Where the secret and the noise come from, and noise drawn ahead."""

from __future__ import annotations

import os
import secrets
import threading
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Final, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.noise.noise_law import LATTICE_SCALE, Integers
from pacsklearn.kernel.secret.owner_process import OwnerProcess


class Sampler(ABC):
    """Source of the secret stream: the candidate drawn, and integer noise. Coordinator only."""

    is_secure: bool
    generator: np.random.Generator | None = None

    @abstractmethod
    def index(self, weights: NDArray[np.float64]) -> int:
        """Return the candidate drawn with these probabilities."""

    @abstractmethod
    def noise(self, size: int) -> Integers:
        """Return independent discrete Gaussians of parameter ``LATTICE_SCALE``."""


@final
class SecureSampler(Sampler):
    """Operating system's entropy, and OpenDP's exact discrete Gaussian drawn in vector calls."""

    is_secure = True

    def __init__(self) -> None:
        self._owner = OwnerProcess("Secret noise")

    def index(self, weights: NDArray[np.float64]) -> int:
        self._owner.check()
        # In whole numbers: partial sums of doubles would round some candidates' chances away.
        shares = [Fraction(float(weight)) for weight in weights]
        common = max(share.denominator for share in shares)
        whole = [int(share * common) for share in shares]
        ticket = secrets.randbelow(sum(whole))
        for index, count in enumerate(whole):
            ticket -= count
            if ticket < 0:
                return index
        raise AssertionError("a ticket below the sum lies in one of its parts")

    def noise(self, size: int) -> Integers:
        self._owner.check()
        if size == 0:
            return np.empty(0, dtype=np.int64)
        # Rule 8: exact integers, never rounded floats.
        return np.array(_exact_gaussian()([0] * size), dtype=np.int64)


@final
class SeededSampler(Sampler):
    """Reproducible noise for tests and the curator's own curves. Never for a release."""

    is_secure = False
    generator: np.random.Generator

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self._owner = OwnerProcess("Reproducible noise")

    def index(self, weights: NDArray[np.float64]) -> int:
        self._owner.check()
        # Reproducible on purpose: the guarantee of what it draws is not for release (rule 7).
        return int(self.generator.choice(weights.shape[0], p=weights / weights.sum()))

    def noise(self, size: int) -> Integers:
        self._owner.check()
        return np.rint(self.generator.normal(0.0, LATTICE_SCALE, size)).astype(np.int64)


@cache
def _exact_gaussian() -> Any:
    # Heavy: only a process that releases something loads it. Its prelude also loads pandas, polars
    # and all of scikit-learn where they are installed.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    space = vector_domain(atom_domain(T="i64")), l2_distance(T=float)
    return make_gaussian(*space, scale=float(LATTICE_SCALE))


_BLOCKS_AHEAD: Final = 4
_SHARE_AHEAD: Final = 4
_FIRST_BLOCK: Final = 256
_OWN_BLOCK: Final = 512


@final
class NoisePool:
    """Discrete Gaussians drawn ahead by a background thread, each handed out once.

    A vector call costs some 20 microseconds a value, a call for one value some 500, and OpenDP
    works outside the interpreter lock: a session that answers on one core has its noise drawn on
    another. The thread starts with the first :meth:`take` and never holds more than four blocks,
    nor much more than a quarter of what has been used so far, so a short session does not pay for a
    long one. Whoever finds the pool empty draws too instead of waiting.

    A sampler that is not secure is asked directly, in order, without a thread: reproducible noise
    must not depend on timing.

    Parameters
    ----------
    sampler : Sampler
        Where the noise comes from; used by nobody else for noise while the pool is open.
    block : int, default=2**15
        Most values drawn in one call.

    Notes
    -----
    Noise that is used twice is no noise. So a pool cannot be pickled or copied, a process that was
    forked gets nothing from it, and a block is wiped as its values are handed out.

    Examples
    --------
    >>> from pacsklearn.kernel.noise.sampler import SecureSampler
    >>> from pacsklearn.kernel.noise.sampler import NoisePool
    >>> with NoisePool(SecureSampler()) as pool:
    ...     noise = pool.take(3)
    >>> noise.shape, noise.dtype
    ((3,), dtype('int64'))
    """

    def __init__(self, sampler: Sampler, block: int = 2**15) -> None:
        if block < 1:
            raise ValueError(f"block must be at least 1, got {block!r}.")
        self._sampler = sampler
        self._block = block
        self._closed = False
        self._owner = OwnerProcess("Noise drawn ahead")
        self._guard = threading.Lock()
        self._state: _Buffer | None = None
        _POOLS.add(self)

    def take(self, n: int) -> Integers:
        """Return ``n`` fresh values that nobody else gets.

        Raises
        ------
        RuntimeError
            If the pool is closed.
        ForeignProcessError
            In a forked process.
        Exception
            Whatever the sampler raised, also in the background; again at every later call.
        """
        if n < 0:
            raise ValueError(f"n must not be negative, got {n!r}.")
        self._owner.check()
        with self._guard:
            if self._closed:
                raise RuntimeError("This noise pool is closed.")
            if not self._sampler.is_secure:
                return self._sampler.noise(n)
            if self._state is None:
                self._start()
            state = self._state
        assert state is not None
        return state.take(n)

    @property
    def is_secure(self) -> bool:
        """Whether the noise may be released."""
        return self._sampler.is_secure

    @property
    def is_closed(self) -> bool:
        """Whether there is no more noise to take."""
        return self._closed

    def close(self) -> None:
        """Stop drawing and wipe what was not used; a second call does nothing."""
        if not self._owner.is_here:
            return  # a thread of the parent may hold the lock for ever
        with self._guard:
            self._closed = True
            if self._state is not None:
                self._state.close()
            self._state = None

    def __enter__(self) -> NoisePool:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "A noise pool can be neither pickled nor copied: noise that is used twice protects "
            "nothing. Make a new pool where it is needed."
        )

    def _start(self) -> None:
        self._state = _Buffer(self._sampler.noise, self._block)
        weakref.finalize(self, self._state.close)
        # The thread must not hold the pool itself, or a forgotten pool would draw for ever.
        threading.Thread(target=self._state.fill, name="noise-pool", daemon=True).start()

    def _forked(self) -> None:
        """Wipe the child's copy of what its parent is still going to use."""
        if self._state is not None:
            self._state.wipe()
        self._state = None


@final
class _Buffer:
    """Blocks between the thread and those who take; dies with the process that made it."""

    def __init__(self, draw: Callable[[int], Integers], block: int) -> None:
        self._owner = OwnerProcess("Noise drawn ahead")
        self._draw = draw
        self._block = block
        self._blocks: deque[Integers] = deque()
        self._ready = 0
        self._taken = 0
        self._closed = False
        self._error: BaseException | None = None
        # Taken by itself: Condition's own __enter__ may be interrupted with the lock held.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)

    def take(self, n: int) -> Integers:
        result = np.empty(n, dtype=np.int64)
        filled = 0
        while filled < n:
            with self._lock:
                if self._closed:
                    raise RuntimeError("This noise pool is closed.")
                count = self._move(result[filled:])
                if count == 0 and self._error is not None:
                    raise self._error
                own = min(n - filled, self._block, _OWN_BLOCK) if count == 0 else 0
                filled += count + own
                self._taken += count + own
                if self._ready < self._ahead():
                    self._changed.notify_all()
            if own:
                values = self._drawn(own)
                result[filled - own : filled] = values
                values.fill(0)
        return result

    def fill(self) -> None:
        """Fill the buffer of draws, as the body of the thread."""
        while (size := self._next_size()) > 0:
            try:
                values = self._drawn(size)
            except BaseException as error:  # noqa: BLE001 - whoever takes gets to see it
                self._error = error
                return
            with self._lock:
                self._blocks.append(values)
                self._ready += size
                if self._closed:
                    self.wipe()

    def close(self) -> None:
        if self._owner.is_here:
            with self._lock:
                self._closed = True
                self.wipe()
                self._changed.notify_all()

    def wipe(self) -> None:
        # Detached first: an interrupt in between may lose noise, never hand out zeros.
        blocks, self._blocks = self._blocks, deque()
        self._ready = 0
        for values in blocks:
            values.fill(0)

    def _drawn(self, size: int) -> Integers:
        values = self._draw(size)
        if values.dtype != np.int64 or values.shape != (size,):
            raise TypeError(f"The sampler must draw {size} values of int64.")
        return values

    def _next_size(self) -> int:
        """Wait until more is needed; 0 when the pool is closed."""
        with self._lock:
            self._changed.wait_for(lambda: self._closed or self._ready < self._ahead())
            missing = max(_FIRST_BLOCK, self._ahead() - self._ready)
            return 0 if self._closed else min(self._block, missing)

    def _ahead(self) -> int:
        # Little first: whoever needs little need not pay for much.
        most = _BLOCKS_AHEAD * self._block
        return min(most, max(_FIRST_BLOCK, self._taken // _SHARE_AHEAD))

    def _move(self, room: Integers) -> int:
        if not self._blocks:
            return 0
        # Detached before it is read or wiped: whatever interrupts this loses what it holds.
        values = self._blocks.popleft()
        self._ready -= values.size
        count = min(values.size, room.size)
        room[:count] = values[:count]
        values[:count] = 0
        if count < values.size:
            self._blocks.appendleft(values[count:])
            self._ready += values.size - count
        return count


def _after_fork() -> None:
    for pool in tuple(_POOLS):
        pool._forked()


_POOLS: Final[weakref.WeakSet[NoisePool]] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
