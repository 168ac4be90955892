"""How often the best attack names the secret behind a release with normal noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.mean_bound import upper_mean_bounds
from pacsklearn.kernel.bounds.mixture import GaussianMixture, MixtureDraws, posteriors
from pacsklearn.kernel.bounds.rounding import OUTWARD

Draws = NDArray[np.intp]

# Densities of one look, and draws a secret: rarely a second, fixed by sizes alone.
_PRODUCTS = 2**25
_FEWEST, _MOST = 2**12, 2**16
# Centres further apart than this overlap by less than the rounding of any sum.
_APART = 40.0
# Beyond so many deviations of a centre there is less of it than rounding takes off.
_TAIL = 9.0
_CELL = 0.25
_TOLERANCE = 1e-7
_CELLS = 2**16
# Largest first and second derivative of the standard normal density.
_SLOPE, _BEND = 0.24198, 0.39895
# Covers the rounding of sums of cells, each good to a few units of 1e-16.
_SUMS = 1e-10


class Named(NamedTuple):
    """Bound on the success at a question, and whether it took draws."""

    success: float
    is_drawn: bool


@final
@dataclass(frozen=True, eq=False)
class Question:
    """Some secrets, of which one is to be named.

    Parameters
    ----------
    secrets : tuple of int
        Those that it may be.
    prior : tuple of float
        Their probabilities; positive, summing to one.
    """

    secrets: tuple[int, ...]
    prior: tuple[float, ...]

    @property
    def blind(self) -> float:
        """Success of the best guess without a look."""
        return max(self.prior)


@final
@dataclass(frozen=True, eq=False)
class HiddenSecrets:
    """Secrets that each stand for some whole-number centres, behind normal noise.

    Parameters
    ----------
    centres : ndarray of int64, shape (n_worlds, k)
    scale : float
        Standard deviation of the noise, in the centres' unit.
    members : sequence of sequence of int
        Worlds of each secret, all equally likely, repetitions counted.

    Notes
    -----
    The best attack names ``argmax_s p_s f_s(y)``, with ``f_s`` the mean of its worlds' densities,
    and is right with probability ``integral max_s p_s f_s``: for two secrets of prior 1/2 that is
    ``(1 + TV) / 2`` (Neyman and Pearson).
    """

    centres: NDArray[np.int64] = field(repr=False)
    scale: float
    members: Sequence[Sequence[int]] = field(repr=False)

    @cached_property
    def used(self) -> Draws:
        """Worlds that some secret stands for."""
        worlds = np.concatenate([np.asarray(each) for each in self.members])
        return np.unique(worlds).astype(np.intp)

    @property
    def n_draws(self) -> int:
        """Draws a secret that a certificate takes; a function of sizes, fixed before the first."""
        cells = self.used.size * len(self.members)
        return int(np.clip(_PRODUCTS // cells, _FEWEST, _MOST))

    def distance(self, question: Question) -> float | None:
        """Return the distance between two secrets of one centre each, in noise deviations.

        None for any others.
        """
        if len(question.secrets) != 2:
            return None
        ends = [np.unique(self.centres[list(self.members[s])], axis=0) for s in question.secrets]
        if any(len(each) != 1 for each in ends):
            return None
        # Subtracted as integers: far centres keep every digit of their difference.
        return float(np.linalg.norm((ends[0][0] - ends[1][0]).astype(np.float64))) / self.scale

    @property
    def released(self) -> Floats:
        """Chance of each distinct centre under each secret; (n_distinct, n_secrets)."""
        _, which = np.unique(self.centres[self.used], axis=0, return_inverse=True)
        table = np.zeros((which.max() + 1, self.shares.shape[1]))
        np.add.at(table, which.ravel(), self.shares)
        return table

    def unnoised(self, question: Question) -> float:
        """Return the success where the centres leave as they are.

        Those of several secrets hide them.
        """
        if self.centres.shape[1] == 0:
            return question.blind
        joint = self.released[:, list(question.secrets)] * question.prior
        return min(float(joint.max(axis=1).sum()) * OUTWARD, 1.0)

    def whole(
        self, questions: Sequence[Question], gamma: float, generator: np.random.Generator
    ) -> list[Named]:
        """Return the success of whoever sees the whole vector, question by question.

        Parameters
        ----------
        questions : sequence of Question
        gamma : float
            Failure probability of all bounds that take draws, together.
        generator : numpy Generator
            Fresh; the centres may not have been chosen by looking at its draws.

        Returns
        -------
        list of Named
            Closed form for two secrets of one centre each, quadrature for one number, else an
            upper confidence bound of the mean largest posterior (:func:`upper_mean_bounds`).
        """
        answers: dict[int, Named] = {}
        for number, question in enumerate(questions):
            apart = self.distance(question)
            if apart is not None:
                answers[number] = Named(_two_centres(apart, question.prior), False)
            elif self.centres.shape[1] == 0:
                answers[number] = Named(question.blind, False)
            elif self.centres.shape[1] == 1:
                answers[number] = Named(self._on_a_line(question), False)
        return _completed(answers, questions, gamma, partial(self._tables, generator))

    def one_slice(
        self,
        questions: Sequence[Question],
        directions: Floats,
        weights: Floats,
        gamma: float,
        generator: np.random.Generator,
    ) -> list[Named]:
        """Return the success of whoever sees one projection drawn at random, and its direction.

        Parameters
        ----------
        questions : sequence of Question
        directions : ndarray of shape (n_slices, k)
            Unit vectors of the centres' space; zero where a slice shows nothing.
        weights : ndarray of shape (n_slices,)
        gamma : float
        generator : numpy Generator

        Returns
        -------
        list of Named
        """
        k = self.centres.shape[1]
        if k <= 1:
            # A slice of one number is that number, or nothing.
            seen = float(weights @ directions.any(axis=1)) * OUTWARD if k else 0.0
            everything = self.whole(questions, gamma, generator)
            return [
                Named(min(q.blind + seen * (each.success - q.blind), 1.0), each.is_drawn)
                for q, each in zip(questions, everything, strict=True)
            ]
        answers: dict[int, Named] = {}
        for number, question in enumerate(questions):
            if self.distance(question) is not None:
                left, right = (self.centres[self.members[s][0]] for s in question.secrets)
                along = np.abs(directions @ (left - right).astype(np.float64)) / self.scale
                each = [_two_centres(float(apart), question.prior) for apart in along]
                answers[number] = Named(min(float(weights @ each) * OUTWARD, 1.0), False)
        tables = partial(self._sliced_tables, directions, weights, generator)
        return _completed(answers, questions, gamma, tables)

    @cached_property
    def shares(self) -> Floats:
        """Share of each used world in each secret; (n_used, n_secrets)."""
        places = [np.searchsorted(self.used, np.asarray(each)) for each in self.members]
        counts = [np.bincount(at, minlength=self.used.size) / at.size for at in places]
        return np.stack(counts, axis=1)

    def _tables(self, generator: np.random.Generator) -> list[Floats]:
        """Return all secrets' densities at draws of each, up to a factor; (n, n_secrets)."""
        n, k = self.n_draws, self.centres.shape[1]
        uniform = np.full(self.used.size, 1 / self.used.size)
        mixture = GaussianMixture(self.centres[self.used], uniform, self.scale)
        shares = self.shares
        # The same noise for every secret: a question adds up one draw of each of its secrets.
        noise = generator.standard_normal((n, k))
        tables = []
        for secret in range(len(self.members)):
            worlds = generator.choice(self.used.size, size=n, p=shares[:, secret])
            table = np.empty((n, len(self.members)))
            rows = max(1, 2**19 // self.used.size)
            for start in range(0, n, rows):
                part = slice(start, start + rows)
                # Posteriors of equally likely worlds are their densities but for a factor.
                table[part] = posteriors(mixture, MixtureDraws(worlds[part], noise[part])) @ shares
            tables.append(table)
        return tables

    def _sliced_tables(
        self, directions: Floats, weights: Floats, generator: np.random.Generator
    ) -> list[Floats]:
        n, centres = self.n_draws, self.centres[self.used]
        shares = self.shares
        slices = generator.choice(weights.size, size=n, p=weights / weights.sum())
        noise = generator.standard_normal(n)
        tables = []
        for secret in range(len(self.members)):
            worlds = generator.choice(self.used.size, size=n, p=shares[:, secret])
            table = np.empty((n, len(self.members)))
            for world in np.unique(worlds):
                # Seen from the draw's own world, as integers: far centres keep their digits.
                offsets = (centres - centres[world]).astype(np.float64).T / self.scale
                drawn = np.flatnonzero(worlds == world)
                for rows in np.array_split(drawn, -(-drawn.size * self.used.size // 2**19)):
                    with np.errstate(over="ignore"):
                        gaps = noise[rows, None] - directions[slices[rows]] @ offsets
                        log = -(gaps**2) / 2
                    table[rows] = np.exp(log - log.max(axis=1, keepdims=True)) @ shares
            tables.append(table)
        return tables

    def _on_a_line(self, question: Question) -> float:
        """Return the integral of the largest ``p_s f_s`` over the line, from above."""
        worlds = np.unique(np.concatenate([self.members[s] for s in question.secrets]))
        order = worlds[np.argsort(self.centres[worlds, 0], kind="stable")]
        gaps = np.diff(self.centres[order, 0]).astype(np.float64) / self.scale
        total = 0.0
        for cluster in np.split(order, np.flatnonzero(gaps > _APART) + 1):
            # From its own first centre: as doubles far centres would lose their digits.
            own = self.centres[cluster, 0] - self.centres[cluster[0], 0]
            weight = np.zeros((cluster.size, len(question.secrets)))
            for column, (s, p) in enumerate(zip(question.secrets, question.prior, strict=True)):
                members = np.asarray(self.members[s])
                counts = np.count_nonzero(members == cluster[:, None], axis=1)
                weight[:, column] = p / members.size * counts
            total += _line_integral(own.astype(np.float64) / self.scale, weight)
        return min(max(total + _SUMS, question.blind), 1.0)


def _two_centres(apart: float, prior: tuple[float, ...]) -> float:
    """Return the success at telling two centres apart; closed form, rounded up."""
    p, q = prior
    if apart == 0:
        return max(p, q)
    # Likelier is the first up to the point where both densities, times priors, meet.
    with np.errstate(over="ignore"):
        lean = float(np.float64(math.log(p / q)) / apart)
    success = p * ndtr(apart / 2 + lean) + q * ndtr(apart / 2 - lean)
    return min(max(float(success) * OUTWARD, p, q), 1.0)


def _line_integral(points: Floats, weight: Floats) -> float:
    """Bound the integral of ``max_s sum_i weight[i, s] density(y - points[i])`` from above.

    A cell in which one secret leads throughout contributes its mass. Where the lead may change,
    what another is ahead of the leader is at most ``h`` times the steepest slope of their
    difference (it is zero somewhere in the cell), and at most the others' mass; such cells are
    halved until that hardly matters.
    """
    low, high = float(points.min()) - _TAIL, float(points.max()) + _TAIL
    edges = np.linspace(low, high, max(2, math.ceil((high - low) / _CELL) + 1))
    start, stop = edges[:-1], edges[1:]
    # All mass left of the first and right of the last edge counts as found.
    total = float(weight.sum()) * 2 * float(ndtr(-_TAIL))
    most = max(_CELLS, 4 * start.size)
    looked_at = 0
    while True:
        looked_at += start.size
        mass, excess = _cells(points, weight, start, stop)
        done = excess <= _TOLERANCE / most
        if looked_at > most:
            done[:] = True
        total += float((mass + excess)[done].sum())
        if done.all():
            return total
        start, stop = start[~done], stop[~done]
        middle = (start + stop) / 2
        start, stop = np.concatenate([start, middle]), np.concatenate([middle, stop])


def _cells(points: Floats, weight: Floats, start: Floats, stop: Floats) -> tuple[Floats, Floats]:
    """Return the mass of the leader in each cell, and how much more the largest may have."""
    mass, slope = np.empty((start.size, weight.shape[1])), np.empty((start.size, weight.shape[1]))
    ends = np.empty((2, start.size, weight.shape[1]))
    rows = max(1, 2**19 // points.size)
    for first in range(0, start.size, rows):
        part = slice(first, first + rows)
        left, right = start[part, None] - points, stop[part, None] - points
        mass[part] = (ndtr(right) - ndtr(left)) @ weight
        # Right of a centre the two are near one, and their difference loses its digits.
        mass[part] = np.where(mass[part] < 0, 0.0, mass[part])
        for end, at in zip(ends, (left, right), strict=True):
            end[part] = np.exp(-(at**2) / 2) @ weight / math.sqrt(2 * math.pi)
        middle = (left + right) / 2
        slope[part] = -(middle * np.exp(-(middle**2) / 2)) @ weight / math.sqrt(2 * math.pi)
    width = stop - start
    leader = mass.argmax(axis=1)
    rows_ = np.arange(start.size)
    sizes = weight.sum(axis=0)
    lead = mass[rows_, leader]
    # The difference to the leader changes by at most this much a unit, anywhere in the cell.
    both = sizes + sizes[leader][:, None]
    at_start = np.abs(slope - slope[rows_, leader][:, None])
    steepest = np.minimum(at_start + both * _BEND * width[:, None] / 2, both * _SLOPE)
    ahead = [end[rows_, leader][:, None] - end for end in ends]
    fall = steepest * width[:, None] * OUTWARD
    clear = (ahead[0] >= 0) & (ahead[1] >= 0) & (ahead[0] + ahead[1] >= fall)
    clear[rows_, leader] = True
    unclear = np.where(clear, 0.0, steepest * (width**2)[:, None])
    excess = np.minimum(unclear.max(axis=1), mass.sum(axis=1) - lead)
    return lead, np.maximum(excess, 0.0)


def _completed(
    answers: dict[int, Named],
    questions: Sequence[Question],
    gamma: float,
    tables: Callable[[], list[Floats]],
) -> list[Named]:
    """Return the answers to all questions, by number; those that are left take draws."""
    rest = [number for number in range(len(questions)) if number not in answers]
    if rest:
        bounds = _certified([questions[number] for number in rest], tables(), gamma)
        answers |= {n: Named(bound, True) for n, bound in zip(rest, bounds, strict=True)}
    return [answers[number] for number in range(len(questions))]


def _certified(questions: Sequence[Question], tables: list[Floats], gamma: float) -> list[float]:
    """Return upper confidence bounds of the mean largest posterior, ``gamma`` for all together."""
    share = gamma / len(questions)
    bounds = []
    for question in questions:
        prior, chosen = np.asarray(question.prior), list(question.secrets)
        mean = np.zeros(len(tables[0]))
        for p, secret in zip(question.prior, chosen, strict=True):
            joint = tables[secret][:, chosen] * prior
            sums = joint.sum(axis=1)
            # Where all densities vanish nothing is known of the posterior: counted as certain.
            largest = np.divide(joint.max(axis=1), sums, out=np.ones_like(sums), where=sums > 0)
            mean += p * largest
        # One of so many secrets has at least that share of any posterior.
        low = 1 / len(chosen)
        np.clip(mean, low, 1.0, out=mean)
        (bound,) = upper_mean_bounds([mean.sum()], [mean @ mean], mean.size, low, 1.0, share)
        bounds.append(max(float(bound), question.blind))
    return bounds
