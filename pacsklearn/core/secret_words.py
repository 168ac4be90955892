"""Words of a guarantee whose secret is no subset of rows."""

from __future__ import annotations

from typing import Final

from pacsklearn.core.statement_rendering import percent_up

__all__ = ["CANDIDATE", "SAMPLED", "other_promise", "other_secret"]

CANDIDATE: Final = "candidate"
"""Unit of privacy of a list of arbitrary candidates: which of them was used."""

SAMPLED: Final = "sampled secret"
"""Unit of privacy of a secret that can be sampled but not listed."""


def other_promise(
    unit: str, seen: str, n_candidates: int, posterior: float, prior: float, even: float
) -> str:
    """Promise about a secret that is a candidate or was sampled.

    Parameters
    ----------
    unit : str
        ``CANDIDATE`` or ``SAMPLED``.
    seen : str
        What the adversary sees.
    n_candidates : int
    posterior, prior : float
        Success at naming the candidate, afterwards and blindly.
    even : float
        Success at a question that blind guessing gets right half of the time.
    """
    if unit == CANDIDATE:
        return (
            f"Whoever sees {seen}, with unlimited computing power and knowing all "
            f"{n_candidates:,} candidates, names the one that was used with a success of at most "
            f"{percent_up(posterior)} %; guessing blindly has {percent_up(prior)} %."
        )
    return (
        f"Whoever sees {seen}, with unlimited computing power and knowing how the secret is drawn, "
        "answers any question about it that blind guessing gets right half of the time with a "
        f"success of at most {percent_up(even)} %."
    )


def other_secret(
    unit: str, n_candidates: int, entropy: float | None, posterior: float, even: float
) -> list[tuple[str, str]]:
    """Rows of the text about the secret, for a candidate or a sampled secret."""
    if unit == CANDIDATE:
        return [
            ("secret", f"1 of {n_candidates} candidates ({entropy:.4g} nats)"),
            ("naming the candidate", f"at most {percent_up(posterior)} %"),
            ("at even odds", f"at most {percent_up(even)} %"),
        ]
    return [("secret", "drawn afresh by a sampler, of which only trials can be seen")]
