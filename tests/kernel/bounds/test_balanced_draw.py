"""One subset of all balanced ones, against every subset written down."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from pacsklearn.sampled.balanced_draw import (
    balanced_draw_entropy,
    draw_balanced,
    known_units_success,
)


def all_subsets(counts: list[int], rate: float) -> list[tuple[float, tuple[bool, ...]]]:
    """Every subset and its probability, by the definition."""
    strata = []
    for n in counts:
        low = math.floor(rate * n)
        found = []
        for size, share in ((low, 1 - (rate * n - low)), (low + 1, rate * n - low)):
            if share > 0:
                chosen = list(itertools.combinations(range(n), size))
                found += [
                    (share / len(chosen), tuple(i in one for i in range(n))) for one in chosen
                ]
        strata.append(found)
    return [
        (math.prod(p for p, _ in parts), sum((members for _, members in parts), ()))
        for parts in itertools.product(*strata)
    ]


CASES = [([6], 0.5), ([5], 0.5), ([4, 3], 0.5), ([5, 4], 0.25), ([7], 0.3), ([4, 4, 3], 0.5)]


@pytest.mark.parametrize(("counts", "rate"), CASES)
def test_entropy_is_that_of_the_written_list(counts, rate) -> None:
    shares = [p for p, _ in all_subsets(counts, rate)]
    assert sum(shares) == pytest.approx(1)
    entropy, least = balanced_draw_entropy(counts, rate)
    assert entropy == pytest.approx(-sum(p * math.log(p) for p in shares))
    assert least == pytest.approx(-math.log(max(shares)))


@pytest.mark.parametrize(("counts", "rate"), CASES)
def test_what_known_units_tell_is_exact(counts, rate) -> None:
    listed, n, most = all_subsets(counts, rate), sum(counts), 3
    uniform, worst = known_units_success(counts, rate, most=most)
    for k in range(most + 1):
        averages, largest = [], 0.0
        for known in itertools.combinations(range(n), k):
            others = [i for i in range(n) if i not in known]
            total = 0.0
            for target in others:
                classes = defaultdict(lambda: [0.0, 0.0])
                for p, members in listed:
                    classes[tuple(members[i] for i in known)][members[target]] += p
                success = sum(max(pair) for pair in classes.values())
                total, largest = total + success, max(largest, success)
            averages.append(total / len(others))
        assert uniform[k] == pytest.approx(np.mean(averages))
        assert worst[k] == pytest.approx(largest)


def test_of_many_rows_knowing_seven_tells_next_to_nothing() -> None:
    uniform, worst = known_units_success([357, 212], 0.5)
    assert uniform[0] == worst[0] == 0.5
    assert uniform[7] < 0.503
    assert worst[7] < 0.515
    assert np.all(np.diff(uniform) >= 0)
    everybody, _ = known_units_success([3], 0.5, most=4)
    assert everybody[3] == everybody[4] == 1


def test_every_subset_is_equally_likely() -> None:
    """Chi-squared over all subsets of two small strata; wrong alarm below 1e-6."""
    from scipy.stats import chisquare

    generator, n = np.random.default_rng(0), 40_000
    strata = np.array([0, 1, 0, 1, 1, 0, 0])
    drawn = Counter(
        tuple(
            draw_balanced(
                generator.integers(2**64, size=7, dtype=np.uint64),
                generator.random(2),
                strata,
                0.5,
            ).tolist()
        )
        for _ in range(n)
    )
    order = [0, 2, 5, 6, 1, 3, 4]  # units of the first stratum, then of the second
    expected = {}
    for p, members in all_subsets([4, 3], 0.5):
        own = [False] * 7
        for place, unit in enumerate(order):
            own[unit] = members[place]
        expected[tuple(own)] = p * n
    assert set(drawn) == set(expected)
    counts = [drawn[key] for key in expected]
    assert chisquare(counts, list(expected.values())).pvalue > 1e-6
