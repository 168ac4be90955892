from __future__ import annotations

import io
import itertools
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from pacsklearn.kernel.noise.sampler import SecureSampler, SeededSampler
from pacsklearn.srpp.divergence.discrepancy import SAMPLINGS, largest_batch
from pacsklearn.srpp.laws.batch_sampler import BatchSampler


@pytest.mark.product(only=1)
@pytest.mark.statistical
@pytest.mark.parametrize("size", [2, 4])
def test_every_set_is_equally_likely(size):
    """Chi-squared at a level of 1e-6; the larger size draws the rows left out."""
    sampler = BatchSampler(5, size, "without-replacement", np.random.default_rng(0).bytes)
    sets = {each: i for i, each in enumerate(combinations(range(5), size))}
    found = [sets[tuple(sorted(sampler.draw().tolist()))] for _ in range(6000)]
    assert stats.chisquare(np.bincount(found, minlength=len(sets))).pvalue > 1e-6


@pytest.mark.statistical
def test_rows_are_equally_likely_with_replacement_and_for_poisson():
    generator = np.random.default_rng(1)
    draws = np.concatenate(
        [BatchSampler(7, 5, "with-replacement", generator.bytes).draw() for _ in range(3000)]
    )
    assert stats.chisquare(np.bincount(draws, minlength=7)).pvalue > 1e-6
    sampler = BatchSampler(6, 2, "poisson", generator.bytes)
    batches = [sampler.draw() for _ in range(6000)]
    sizes = np.bincount([len(batch) for batch in batches], minlength=7)
    expected = stats.binom.pmf(np.arange(7), 6, 1 / 3) * 6000
    assert stats.chisquare(sizes, expected).pvalue > 1e-6
    rows = np.bincount(np.concatenate(batches), minlength=6)
    assert stats.chisquare(rows).pvalue > 1e-6


@pytest.mark.parametrize(
    ("n_rows", "words", "rows"),
    [
        # 2**64 is 2 n + 2**62: from 2 n on, a remainder would make the first rows more likely.
        (3 * 2**61, [6 * 2**61, 6 * 2**61 - 1, 2**64 - 1, 5], [3 * 2**61 - 1, 5]),
        (3, [2**64 - 1, 2**64 - 2, 4], [2, 1]),
        (8, [2**64 - 1, 2**64 - 2], [7, 6]),
        (1, [2**64 - 1, 0], [0, 0]),
    ],
)
def test_words_that_would_favour_some_rows_are_drawn_anew(n_rows, words, rows):
    source = io.BytesIO(np.array(words, dtype=np.uint64).tobytes())
    drawn = BatchSampler(n_rows, 2, "with-replacement", source.read).draw()
    assert drawn.tolist() == rows
    assert source.read() == b""


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_fresh_unless_seeded(sampling):
    def drawn(sampler):
        return BatchSampler.beside(sampler, 1000, 20, sampling).draw().tolist()

    assert drawn(SecureSampler()) != drawn(SecureSampler())
    seeded = [drawn(SeededSampler(np.random.default_rng(3))) for _ in range(2)]
    assert seeded[0] == seeded[1]
    rows = drawn(SecureSampler())
    assert sampling == "with-replacement" or len(set(rows)) == len(rows)
    assert all(0 <= row < 1000 for row in rows)


def test_memory_does_not_depend_on_the_number_of_rows():
    peaks = []
    for n_rows in (10**4, 10**10):
        sampler = BatchSampler(n_rows, 64, "without-replacement")
        sampler.draw()
        tracemalloc.start()
        sampler.draw()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 50_000


def poisson_batch(n_rows, size, word):
    """A batch whose size is drawn by this word, and whose rows are anybody's."""
    words = itertools.chain([word], iter(lambda: None, 0))
    rows = np.random.default_rng(0)
    return BatchSampler(n_rows, size, "poisson", lambda n: next(words) or rows.bytes(n)).draw()


def test_sizes_of_poisson_batches_are_quantiles():
    generator = np.random.default_rng(4)
    for n_rows, size in ((100, 1), (100, 100), (10**6, 300)):
        chances = generator.random(200)
        words = np.array(chances * 2**53, dtype=np.uint64) << np.uint64(11)
        found = [poisson_batch(n_rows, size, word.astype("<u8").tobytes()).size for word in words]
        np.testing.assert_array_equal(found, stats.binom.ppf(chances, n_rows, size / n_rows))
    extreme = poisson_batch(10**6, 300, b"\xff" * 8).size
    assert 300 < extreme <= largest_batch(10**6, 300, "poisson") < 1100
