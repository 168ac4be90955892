"""Training sets of a universe: nested, even, and of the stated shares."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pacsklearn.srpp.scenarios.prevalence_scenario import Share, SharesInUniverse, SharesOfReference

N = 240
GENERATOR = np.random.default_rng(4)
CODES = GENERATOR.integers(0, 3, N)
CLASSES = GENERATOR.integers(0, 2, N)
SHARES = [Share(str(p), 1, p) for p in (0.2, 0.3, 0.35, 0.45)]


def drawn(size=None, classes=CLASSES, seed=0):
    return SharesInUniverse(CODES, classes, SHARES, size, seed)


@pytest.mark.parametrize("draw", range(5))
@pytest.mark.parametrize("size", [None, 50, 101])
def test_neighbours_differ_by_the_fewest_rows_place_by_place(size, draw):
    found = drawn(size)
    rows = [found.world(share, draw).rows for share in SHARES]
    counts = [int(np.sum(CODES[each] == 1)) for each in rows]
    assert counts == [round(share.share * found.size) for share in SHARES]
    for each in rows:
        assert np.unique(each).size == each.size == found.size
    for (a, n), (b, m) in pairwise(zip(rows, counts, strict=True)):
        assert np.sum(a != b) == m - n == np.setdiff1d(a, b).size


def test_as_many_rows_as_all_shares_allow():
    having = int(np.sum(CODES == 1))
    assert drawn().size == min(int(having / 0.45), int((N - having) / (1 - 0.2)))


def test_values_and_classes_are_spread_evenly():
    rows = drawn(60).world(Share("own", 1, float(np.mean(CODES == 1))), 0).rows
    for codes in (CODES, CLASSES):
        for code in np.unique(codes):
            assert abs(np.mean(codes[rows] == code) - np.mean(codes == code)) < 0.05


def test_every_class_keeps_a_row():
    classes = np.zeros(N, dtype=int)
    classes[7] = 1
    found = drawn(50, classes)
    assert all(7 in found.world(share, k).rows for share in SHARES for k in range(10))


def test_draws_and_seeds_differ():
    sets = {drawn(50, seed=s).world(SHARES[0], k).rows.tobytes() for s in (0, 1) for k in range(4)}
    assert len(sets) == 8


def test_resamples_share_what_they_can():
    reference = SharesOfReference(CODES, 1000, 0)
    low, high = (reference.world(Share("", 1, p), 3).rows for p in (0.2, 0.5))
    assert [np.mean(CODES[rows] == 1) for rows in (low, high)] == [0.2, 0.5]
    assert np.sum(low != high) == 300
