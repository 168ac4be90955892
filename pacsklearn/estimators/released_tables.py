"""What this process has released about each table: the caps of separate releases have to be added.

A guarantee is about its release alone. Every fit draws a secret of its own, so refitting, a grid of
parameters or a loop releases again and again about the same people, and nothing else adds it up.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import sys
import threading
from typing import Any, Final, final

import numpy as np
from scipy import sparse

from pacsklearn._validation import warn_user
from pacsklearn.exceptions import RepeatedReleaseWarning
from pacsklearn.kernel.ledger.ledger import Ledger
from pacsklearn.kernel.release.account import Account

_LIBRARIES: Final = ("pacsklearn", "sklearn", "joblib")


@final
class ReleasedTables:
    """Caps of the releases about each table, by unit; a table is known by a keyed digest alone.

    The key is drawn for the process and never leaves it: what is remembered cannot be compared with
    a guess of the rows.
    """

    def __init__(self) -> None:
        self._key, self._lock = secrets.token_bytes(32), threading.Lock()
        self._caps: dict[bytes, dict[str, list[float | None]]] = {}
        self._warned: set[tuple[str, int]] = set()

    def name(self, X: Any) -> bytes:
        """Return the keyed digest of the features' values.

        The same for an array and a frame of them.
        """
        digest = hashlib.blake2b(key=self._key, digest_size=16)
        X = getattr(X, "sample_rows", X)  # of a table that is read in passes
        if sparse.issparse(X):
            rows = X.tocsr()
            for part in (rows.indptr, rows.indices, rows.data):
                digest.update(np.ascontiguousarray(part).data)
        else:
            values = np.asarray(X)
            digest.update(repr(values.shape).encode())
            if values.dtype.kind in "biuf":
                digest.update(np.ascontiguousarray(values, dtype=np.float64).data)
            else:
                # As they are shown: pickling them would take as long as a fit.
                for column in np.atleast_2d(np.asarray(values, dtype=object).T):
                    shown = "\0".join([*map(repr, column.tolist()), ""])
                    digest.update(shown.encode(errors="surrogatepass"))
        return digest.digest()

    def add(self, X: Any, cap: float | None, unit: str, shared: Ledger | None) -> None:
        """Count a release about a table, and warn when it is not the first one.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table
            Its features.
        cap : float or None
            Most that the release may cost, in ``unit``; None where such caps do not add.
        unit : str
            Only caps in the same unit add.
        shared : Ledger, optional
            What it is charged to beside its own account: caps that add are added there already,
            under a ceiling, and nothing is warned about.

        Warns
        -----
        RepeatedReleaseWarning
            Once for each line of the user's that releases again, so that a search over folds and
            parameters is warned about once.
        """
        name = self.name(X)
        with self._lock:
            caps = self._caps.setdefault(name, {})
            caps.setdefault(unit, []).append(cap)
            count = sum(map(len, caps.values()))
            line = _users_line()
            is_added = shared is not None and cap is not None
            if count == 1 or is_added or line in self._warned:
                return
            self._warned.add(line)
        warn_user(_words(count, caps), RepeatedReleaseWarning)


RELEASED: Final = ReleasedTables()
"""Those of this process."""


def announce_release(table: Any, account: Account) -> None:
    """Count the first release of a session about a table, and warn when it is not the only one."""
    own = account.own
    # Successes of separate releases do not add.
    RELEASED.add(table, own.ceiling if own.unit == "nats" else None, own.unit, account.shared)


def _words(count: int, caps: dict[str, list[float | None]]) -> str:
    (unit, amounts), *others = caps.items()
    adding = [amount for amount in amounts if amount is not None]
    if others or len(adding) < count:
        together = "Their caps do not add: nothing is promised about all of them together."
    else:
        total = math.nextafter(math.fsum(adding), math.inf)
        what = "of mutual information" if unit == "nats" else "of Renyi divergence"
        together = f"Together they are bounded by the sum of their caps: {total:.6g} nats {what}."
    better = "Charge"
    if "nats" in caps:
        session = "Release all that is needed through one PrivacySession"
        better = f"{session}, search with PrivateGridSearchCV, or charge"
    return (
        f"This is release {count} about one table in this process, each with a secret of its own, "
        f"and every guarantee is about its release alone. {together} {better} every release to one "
        "ledger (ledger=...), which adds them up under a ceiling and warns no more."
    )


def _users_line() -> tuple[str, int]:
    """Return where the user called the outermost library: a whole search is one call."""
    outermost, frame = None, sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
            outermost = frame.f_back
        frame = frame.f_back  # type: ignore[assignment]
    return ("", 0) if outermost is None else (outermost.f_code.co_filename, outermost.f_lineno)
