"""What every guarantee says whose noise comes from trials."""

from __future__ import annotations

from typing import Any


def of_trials(facts: dict[str, Any], *details: tuple[str, str]) -> dict[str, Any]:
    """Return the fields in place of those about a list of candidates.

    ``details`` are about the trials.
    """
    return {
        "public": (*facts["public"], "the trials: centre, span, guard and shape of the noise"),
        "sources": (
            "posterior success: pac-private-algorithms, eq. 3",
            "certificate: divergence from a fixed Gaussian; betting, empirical Bernstein",
        ),
        "noiseless": False,
        "metered": None,
        "details": details,
    }
