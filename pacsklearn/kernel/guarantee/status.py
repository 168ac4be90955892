"""How far a guarantee can be relied on, as a typed value with its reason."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final, final

LEAST_CONFIDENCE: Final = 1 - 1e-6
"""Confidence below which a bound is an estimate: nothing is released on it."""

EMPTY_SUCCESS: Final = 0.9999
"""Success from which on a bound promises nothing against an attack."""

REPRODUCIBLE: Final = "the noise is reproducible (random_state was given)"


@final
class Reliance(StrEnum):
    """What kind of promise a guarantee is."""

    PROVED = "proved"
    CONFIDENT = "proved at a confidence"
    ESTIMATED = "estimated"
    HIDES_NOTHING = "hides nothing"
    NOT_FOR_RELEASE = "not for release"


@final
@dataclass(frozen=True)
class Status:
    """How far a guarantee can be relied on, and why. Publishing reads this and nothing else.

    Parameters
    ----------
    kind : Reliance
    reason : str
        What the promise rests on or, where the release must not be given away, why not.

    Examples
    --------
    >>> from pacsklearn.kernel.guarantee.status import Reliance, Status
    >>> print(Status(Reliance.NOT_FOR_RELEASE, "random_state was given"))
    NOT FOR RELEASE: random_state was given
    """

    kind: Reliance
    reason: str

    @property
    def for_release(self) -> bool:
        """Whether what the guarantee is about may be given away."""
        # Nothing else may be published: an estimate is no promise, and an empty one hides nothing.
        return self.kind in (Reliance.PROVED, Reliance.CONFIDENT)

    def __str__(self) -> str:
        return self.reason if self.for_release else f"{self.kind.upper()}: {self.reason}"

    def to_dict(self) -> dict[str, str]:
        """Return plain data, for JSON."""
        return {name: str(value) for name, value in asdict(self).items()}


def relied_on(confidence: float, exact: str, qualified: str = "") -> Status:
    """Return the status of a bound that nothing speaks against, by the probability that it holds.

    Parameters
    ----------
    confidence : float
    exact : str
        Reason where the bound is a proof.
    qualified : str
        What follows the confidence in words: of what the statement is true, and in which sense.
    """
    # A proof has confidence 1.0 to the last bit: nothing was drawn for it.
    if confidence >= 1:
        return Status(Reliance.PROVED, exact)
    # Confidences are 1 - gamma in doubles, off by a rounding of 1.
    if confidence >= LEAST_CONFIDENCE - 2.0**-52:
        return Status(Reliance.CONFIDENT, f"holds with confidence {confidence:.8g}{qualified}")
    if confidence <= 0:
        return Status(Reliance.ESTIMATED, "for comparison only, nothing is promised")
    return Status(
        Reliance.ESTIMATED,
        f"holds with confidence {confidence:.8g} only{qualified}; a release needs 1 - 1e-6",
    )
