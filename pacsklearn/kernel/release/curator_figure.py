"""What a session's releases have told so far; for its curator only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn, final

from pacsklearn.kernel.guarantee.statement_rendering import percent_up


@final
@dataclass(frozen=True)
class CuratorFigure:
    """Success at memberships after what an open session has released. Not to be published.

    A figure found out afterwards depends on what came out. Whoever publishes it only where it is
    small, or stops at a good moment, promises something else than the figure says; what may be
    published is in the session's ``guarantee_``.

    Parameters
    ----------
    blind : float
        Success of guessing the least protected unit's membership blindly.
    implied : float
        Bound that follows from the session's budget; the published one.
    laws : float or None
        Bound on the optimal adversary's success at the worst unit under the very noise of the
        releases so far, as though all of it had been fixed beforehand.
    confidence : float
        Probability that ``laws`` holds.
    missing : str
        Why ``laws`` is None.
    worst, average : float
        How sure the optimal adversary is of a unit's membership after what was released: of the
        unit she is surest of, and on average over units.
    n_releases : int
    """

    blind: float
    implied: float
    laws: float | None
    confidence: float
    missing: str
    worst: float
    average: float
    n_releases: int

    def __str__(self) -> str:
        certified = (
            f"none: {self.missing}"
            if self.laws is None
            else f"at most {percent_up(self.laws)} % at confidence {self.confidence:.8g}"
        )
        return "\n".join(
            [
                f"FOR THE CURATOR ONLY, not to be published: {self.n_releases} release(s) so far",
                "",
                f"  {'guessing blindly':<23}{percent_up(self.blind)} %",
                f"  {'published bound':<23}at most {percent_up(self.implied)} %",
                f"  {'under the noise used':<23}{certified}",
                (
                    f"  {'as it came out':<23}sure to {percent_up(self.worst)} % of one unit, to "
                    f"{percent_up(self.average)} % on average"
                ),
            ]
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A CuratorFigure is for the curator's eyes and cannot be pickled or copied; what may "
            "be published is the session's guarantee_."
        )
