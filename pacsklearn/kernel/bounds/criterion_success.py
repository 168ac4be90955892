"""Success of the optimal adversary at many targets, certified by looking where it matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import MOST_CELLS, Floats
from pacsklearn.kernel.bounds.mean_bound import chernoff_bounds, upper_mean_bounds
from pacsklearn.kernel.bounds.mixture import (
    GaussianMixture,
    MixtureDraws,
    posteriors,
    single_posteriors,
)
from pacsklearn.kernel.bounds.overlap import OverlapSuccess
from pacsklearn.kernel.bounds.spread import Singles, Spread

if TYPE_CHECKING:  # whose success is bounded
    from pacsklearn.kernel.budget.criterion import Criterion

# Posterior probabilities of the first and of the last look.
_FIRST, _LAST = 2**22, 2**24
PRODUCTS = 2**36
"""Products of a probability and a membership in one look at sets: about two seconds."""

# Draws that are worth a look at all sets.
_FEWEST = 2**11
# Sets of the last look, which has the most draws.
_NARROW = 256
# Share of the sets that a second look has to reach to be worth taking.
_REACHED = 1 / 4
# Successes that are added in single precision.
_SUMMED = 256
# Sets of the widest spread, whose means tell about how high the worst is.
_PROBED = 64
# Success up to which draws have shown no set closer than the bound in closed form, which is loose
# by what it is above a half, squared.
_CLOSE = 5 / 8


class Looks(NamedTuple):
    """Draws of each look at sets, and how many sets the second and the third may look at."""

    spread: int
    second: int
    third: int
    wide: int
    narrow: int

    @classmethod
    def of(cls, n_sets: int, m: int, n_draws: int, products: int = PRODUCTS) -> Looks:
        """Return the plan of draws and looks, fixed by sizes alone, before the first draw."""
        narrow = min(n_sets, _NARROW)
        third = second_look(m, n_draws, narrow, products // 2)
        second = max(n_draws, min(4 * n_draws, _FIRST // m))
        wide = max(products // (m * second), narrow)
        if wide >= n_sets:
            third = second_look(m, n_draws, narrow, products // 8)
            return cls(second, second, third, n_sets, narrow)
        fewer = products // (2 * m * n_sets)
        if fewer >= _FEWEST:
            # A set that is not looked at keeps its first bound, however close those of others are.
            narrow = min(n_sets, 4 * _NARROW)
            third = second_look(m, n_draws, narrow, products // 4)
            return cls(fewer, fewer, third, n_sets, narrow)
        if wide >= _REACHED * n_sets:
            # The closed form leaves fewer sets to look at.
            third = max(min(third, products >> 18), second)
            return cls(second, second, third, max(wide // 4, narrow), narrow)
        return cls(third, 0, 0, 0, 0)


def screened_success(
    mixture: GaussianMixture,
    sets: NDArray[np.bool_],
    looks: Looks,
    gamma: float,
    generator: np.random.Generator,
) -> float:
    """Bound ``1/2 + E|P(set | y) - 1/2|`` over all sets from above, at confidence ``1 - gamma``.

    Parameters
    ----------
    mixture : GaussianMixture
        Chosen without looking at the draws of this generator.
    sets : ndarray of bool, shape (t, m)
        Candidates of each set.
    looks : Looks
        More than one.
    gamma : float
        Over all sets and looks.
    generator : numpy Generator
        Fresh.

    Returns
    -------
    float

    Notes
    -----
    How many looks there are, of how many draws and at how many sets at most, follows from the
    numbers of sets, candidates and draws alone (:class:`Looks`), before the first draw, and
    ``gamma`` is split beforehand, evenly over the looks. The first two are of the same draws, so
    each spends its part on *all* sets, evenly: which sets get the second may depend on the first.
    The draws of the third are fresh, and its sets chosen before them: it spends its part on as many
    sets as it may look at. Every set has a bound.

    1. All sets by their spread, one product of a table of second moments with each set instead of
       one with each draw. With prior ``r`` and variance ``v`` of the posterior probability the
       success is at most ``1/2 + sqrt((r - 1/2)^2 + v)`` (Jensen), and ``v``, a mean of values in
       ``[0, max(r, 1 - r)^2]``, has a Chernoff bound. Each has a bound in closed form besides,
       which is certain (:func:`~pacsklearn.kernel.bounds.overlap.OverlapSuccess`). Where the
       second look would not reach a quarter of them, this look has more draws and is the only one
       (:func:`one_look`).
    2. Sets that this leaves above the worst by the same draws' means, those of the largest bounds,
       by a betting bound on their success.
    3. Sets that are still above it, again those of the largest bounds, by many more draws.

    Posteriors are in single precision. Twice how far the probability of a set is from a half is the
    sum of the posteriors inside less that of the others, wrong by at most ``m 2^-24`` more than
    these are when ``m`` of them are added; a mean of up to 256 successes is wrong by at most
    ``256 * 2^-23``. Both are added.
    """
    # Union bound over all looks, and over all sets where draws have served before.
    share = gamma / 3 / len(sets)
    kept: list[Singles] = []
    spread = Spread(mixture, mixture.draws(looks.spread, generator), len(sets), kept)
    bounds = _at_once(OverlapSuccess(mixture, len(sets)), spread, looks.spread, share, sets)
    worst = _looked_at(sets, _highest(bounds, _PROBED), kept, looks.second, share, bounds)
    chosen = _highest(bounds, looks.wide, worst)
    worst = max(worst, _looked_at(sets, chosen, kept, looks.second, share, bounds))
    chosen = _highest(bounds, looks.narrow, worst)
    tables = (single_posteriors(mixture, each) for each in mixture.draws(looks.third, generator))
    _looked_at(sets, chosen, tables, looks.third, gamma / 3 / looks.narrow, bounds)
    return float(bounds.max())


def one_look(
    mixture: GaussianMixture,
    sets: NDArray[np.bool_],
    n_sets: int,
    n_draws: int,
    gamma: float,
    generator: np.random.Generator,
) -> Callable[[NDArray[np.bool_]], Floats]:
    """Return the bounds of :func:`screened_success` on each of many sets, by one look at all.

    They may come a few at a time, and need not be held: ``gamma`` is split over ``n_sets``. Where
    the bound in closed form is close, as it shows at some of them, ``sets``, nothing is drawn. Of
    sets that cannot be above the worst of these the bounds are then rougher: they leave the worst
    of all as it is.
    """
    certain = OverlapSuccess(mixture, n_sets)
    if (seen := float(certain.of(sets).max())) <= _CLOSE:
        return certain.screen(seen)
    spread = Spread(mixture, mixture.draws(n_draws, generator), n_sets)
    return partial(_at_once, certain, spread, n_draws, gamma / n_sets)


def _at_once(
    certain: OverlapSuccess, spread: Spread, n: int, share: float, sets: NDArray[np.bool_]
) -> Floats:
    """Bound the success at each set by its spread over ``n`` draws, failing with ``share``."""
    variances, rates = spread.of(sets)
    largest = np.maximum(rates, 1 - rates) ** 2
    # A root of a mean square moves by no more than the numbers do.
    seen = (np.sqrt(variances) + spread.error) ** 2
    levels, level = np.unique(_rounded_up(seen / largest), return_inverse=True)
    above = largest * chernoff_bounds(levels, n, share)[level]
    # Jensen: E|P - 1/2| is at most the root of E(P - 1/2)^2, prior and variance added.
    close = 0.5 + np.sqrt((rates - 0.5) ** 2 + above) * (1 + 1e-12)
    return np.minimum(close, certain.of(sets))


def second_look(m: int, n_draws: int, n_sets: int, products: int = PRODUCTS) -> int:
    """Return the draws of the last look at some sets of ``m`` candidates."""
    cells = min(max(_LAST // m, 8 * n_draws), products // (m * max(n_sets, 1)))
    return int(min(64 * n_draws, max(n_draws, cells)))


def _highest(bounds: Floats, most: int, least: float = 0.0) -> NDArray[np.intp]:
    """Return where the largest bounds stand, those of at least so much."""
    above = np.flatnonzero(bounds >= least)
    if above.size <= most:
        return above
    return above[np.argpartition(bounds[above], above.size - most)[above.size - most :]]


def _looked_at(
    sets: NDArray[np.bool_],
    chosen: NDArray[np.intp],
    tables: Iterable[Singles],
    n: int,
    share: float,
    bounds: Floats,
) -> float:
    """Lower the bounds of the chosen sets by ``n`` draws.

    Return the largest mean success among them.
    """
    m = sets.shape[1]
    # Of a half and of minus one half, so that no half is to be subtracted.
    inside = np.ascontiguousarray(sets[chosen].T, dtype=np.float32) - np.float32(0.5)
    total, squares, error = np.zeros(chosen.size), np.zeros(chosen.size), 0.0
    ones = np.ones(_SUMMED, dtype=np.float32)
    for table, wrong in tables:
        error = max(error, wrong)
        # Of few draws a product is no faster than the sets are read.
        for low in range(0, chosen.size, MOST_CELLS // _SUMMED):
            some = slice(low, low + MOST_CELLS // _SUMMED)
            for start in range(0, len(table), _SUMMED):
                success = table[start : start + _SUMMED] @ inside[:, some]
                np.abs(success, out=success)
                total[some] += ones[: len(success)] @ success
                squares[some] += np.einsum("ij,ij->j", success, success)
    error += m * 2.0**-24 + (_SUMMED + 1) * 2.0**-23
    # Rounding may not make the sum of squares less than it is, nor than the sum allows.
    squares = np.maximum(squares * (1 + (_SUMMED + 2) * 2.0**-23), total**2 / n)
    closer = upper_mean_bounds(total, squares, n, 0.0, 0.5 + error, share) + 0.5 + error
    bounds[chosen] = np.minimum(bounds[chosen], closer)
    return 0.5 + float(total.max(initial=0.0)) / n


def _rounded_up(shares: Floats) -> Floats:
    """Round up to eight bits, so that few of them differ; at most to one."""
    mantissa, exponent = np.frexp(shares)
    return np.asarray(np.minimum(np.ldexp(np.ceil(mantissa * 256) / 256, exponent), 1.0))


Targets = NDArray[np.intp]

_MOST_LOOKED_AT = 4096


def certified_success(
    mixture: GaussianMixture,
    criterion: Criterion,
    n_draws: int,
    gamma: float,
    generator: np.random.Generator,
    products: int = PRODUCTS,
) -> float:
    """Bound the success at the worst target from above.

    The bound fails with probability ``gamma`` at most.

    Parameters
    ----------
    mixture : GaussianMixture
        Chosen without looking at the draws of this generator.
    criterion : Criterion
    n_draws : int
        Of the first look, at all targets. The second has more, at targets that stand out.
    gamma : float
        Over all targets and both looks.
    generator : numpy Generator
        Fresh.
    products : int
        Most work in one look; less of it is quicker and gives a looser bound.

    Returns
    -------
    float

    Notes
    -----
    Success lies in ``[criterion.lowest, 1]``. Each look spends half of ``gamma``, split evenly
    over *all* targets, so which of them get the second look may depend on the first; how many draws
    it has does not. Targets that are the same set of candidates are one target.

    Where a target asks whether the secret is in a set of candidates, see
    :func:`~pacsklearn.kernel.bounds.criterion_success.screened_success`.
    """
    everything, m = criterion.distinct, mixture.weights.size
    if criterion.has_sets:
        n = criterion.n_targets if criterion.n_unseen else everything.size
        looks = Looks.of(n, m, n_draws, products)
        if looks.second and not criterion.n_unseen:
            return screened_success(mixture, criterion.sets(everything), looks, gamma, generator)
        # All pass once, and need not be held.
        some = criterion.sets(everything[:: max(16, everything.size // _MOST_LOOKED_AT)])
        n_looks = second_look(m, n_draws, min(n, _NARROW), products // 2)
        return criterion.worst(one_look(mixture, some, n, n_looks, gamma, generator))
    # Union bound over all targets and two looks: which are looked at again may depend on the first.
    share = gamma / 2 / everything.size
    sums = success_sums(mixture, criterion, mixture.draws(n_draws, generator), everything)
    bounds = upper_mean_bounds(*sums, n_draws, criterion.lowest, 1.0, share)
    # Below the worst mean there is nothing to win by looking again.
    chosen = _highest(bounds, _MOST_LOOKED_AT, float(np.max(sums[0])) / n_draws)
    most = min(everything.size, _MOST_LOOKED_AT)
    again = second_look(m, n_draws, most, products)
    sums = success_sums(mixture, criterion, mixture.draws(again, generator), everything[chosen])
    closer = upper_mean_bounds(*sums, again, criterion.lowest, 1.0, share)
    # Both bounds of a target hold, so the smaller does; the guarantee is about the worst target.
    bounds[chosen] = np.minimum(bounds[chosen], closer)
    return float(bounds.max())


def success_sums(
    mixture: GaussianMixture, criterion: Criterion, blocks: Iterable[MixtureDraws], targets: Targets
) -> tuple[Floats, Floats]:
    """Return the sums and sums of squares of the success at targets over some draws."""
    total, squares = np.zeros(targets.size), np.zeros(targets.size)
    rows = max(1, MOST_CELLS // targets.size)
    for draws in blocks:
        posterior = posteriors(mixture, draws)
        for start in range(0, len(posterior), rows):
            success = criterion.success(posterior[start : start + rows], targets)
            # Draws must lie in the range that the bound on their mean assumes, in spite of
            # rounding.
            np.maximum(success, criterion.lowest, out=success)
            total += success.sum(axis=0)
            squares += np.einsum("ij,ij->j", success, success)
    return total, squares
