"""What a criterion declares, held against its own tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import Criterion

_BELIEFS: Final = 1000
# Candidates that share most of the mass: from one to nearly all.
_CONCENTRATIONS: Final = (0.02, 0.2, 1.0, 5.0)
_ROUNDING: Final = 1e-9
# Targets that are compared at once.
_TARGETS: Final = 512


@final
class BrokenPromise(NamedTuple):
    """What is wrong with a criterion, and what to do."""

    rule: str
    finding: str
    remedy: str


def broken_promise(criterion: Criterion, weights: Floats, *, seed: int = 0) -> BrokenPromise | None:
    """First promise that a criterion breaks; None where it keeps all of them.

    Its success is compared with the best of all guesses that its tables declare, at every belief
    that is certain of a candidate, at the prior, and at 1,000 random beliefs: some spread over
    nearly all candidates, some over few.

    Parameters
    ----------
    criterion : Criterion
    weights : ndarray of shape (m,)
        Prior over the candidates.
    seed : int, default=0
        Of the random beliefs.

    Returns
    -------
    BrokenPromise or None
    """
    return next(_broken(criterion, weights / weights.sum(), seed), None)


def _broken(criterion: Criterion, weights: Floats, seed: int) -> Iterator[BrokenPromise]:
    m, n = weights.size, criterion.n_targets
    if n < 1:
        yield BrokenPromise(
            "targets", f"n_targets is {n!r}.", "return how many targets there are, at least 1."
        )
        return
    generator = np.random.default_rng(seed)
    drawn = [
        generator.dirichlet(np.full(m, each), _BELIEFS // len(_CONCENTRATIONS))
        for each in _CONCENTRATIONS
    ]
    beliefs = np.concatenate([weights[None, :], np.eye(m), *drawn])
    lowest = np.inf
    for start in range(0, n, _TARGETS):
        targets = np.arange(start, min(n, start + _TARGETS))
        try:
            best, again = (Criterion.success(criterion, beliefs, targets) for _ in range(2))
        except ValueError as error:
            yield BrokenPromise("gains", str(error), "return gains of every guess, in that form.")
            return
        if not np.array_equal(best, again):
            yield BrokenPromise(
                "gains", "They differ between two calls.", "derive them from the candidates alone."
            )
        yield from _wrong_success(criterion, beliefs, targets, best)
        yield from _wrong_prior(criterion, weights, targets, best[0])
        yield from _wrong_sets(criterion, beliefs, targets, best)
        lowest = min(lowest, float(best.min()))
    if not 0 <= criterion.lowest <= lowest + _ROUNDING:
        yield BrokenPromise(
            "lowest",
            f"lowest is {criterion.lowest!r}, and {lowest:.6g} is the success at a belief.",
            "set lowest = 0, or less than any belief has.",
        )
    kept = {int(target) for target in criterion.distinct}
    tables = {_table(criterion, target) for target in kept}
    if any(_table(criterion, target) not in tables for target in range(n) if target not in kept):
        yield BrokenPromise(
            "distinct",
            "A target that it leaves out has a table that none of the others has.",
            "inherit distinct, or leave out targets whose table another one has.",
        )


def _wrong_prior(
    criterion: Criterion, weights: Floats, targets: NDArray[np.intp], best: Floats
) -> Iterator[BrokenPromise]:
    prior = np.asarray(criterion.prior(weights))
    if prior.shape != (criterion.n_targets,) or not np.allclose(
        prior[targets], best, rtol=0, atol=_ROUNDING
    ):
        yield BrokenPromise(
            "prior",
            "It is not the success of the best guess at each target under the prior.",
            "inherit prior: it is the success of the prior belief.",
        )


def _wrong_sets(
    criterion: Criterion, beliefs: Floats, targets: NDArray[np.intp], best: Floats
) -> Iterator[BrokenPromise]:
    if criterion.sets is None:
        return
    shown = 0.5 + np.abs(beliefs @ criterion.sets[targets].T.astype(np.float64) - 0.5)
    if np.abs(shown - best).max() > _ROUNDING:
        yield BrokenPromise(
            "sets",
            "Telling whether the secret is in the set of a target is not its table.",
            "return None, or for each target the candidates of the event that is told.",
        )


def _wrong_success(
    criterion: Criterion, beliefs: Floats, targets: NDArray[np.intp], best: Floats
) -> Iterator[BrokenPromise]:
    """Success of a few targets against brute force over their guesses."""
    value, again = (np.asarray(criterion.success(beliefs, targets)) for _ in range(2))
    if value.shape != best.shape or not np.all(np.isfinite(value)):
        yield BrokenPromise(
            "success",
            f"It has shape {value.shape}, not {best.shape}, or holds numbers that are not finite.",
            "return a number for each belief and each of the targets given.",
        )
        return
    if not np.array_equal(value, again):
        yield BrokenPromise(
            "success", "It differs between two calls.", "use no randomness in success."
        )
    # Columns belong to the targets that are asked for, in that order.
    turned = np.asarray(criterion.success(beliefs, targets[::-1]))[:, ::-1]
    off = max(np.abs(value - best).max(), np.abs(turned - best).max())
    if off > _ROUNDING:
        worst = np.unravel_index(np.argmax(np.abs(value - best)), best.shape)
        yield BrokenPromise(
            "success",
            f"At a belief it is {value[worst]:.6g}, where the best of the guesses in gains has "
            f"{best[worst]:.6g}.",
            "inherit success, which takes the best of all guesses, or compute the same; declare "
            "every guess in gains.",
        )


def _table(criterion: Criterion, target: int) -> bytes:
    """Rows of a target's table, in an order that does not matter."""
    rows = np.concatenate([np.asarray(each, dtype=np.float64) for each in criterion.gains(target)])
    return np.unique(rows, axis=0).tobytes()
