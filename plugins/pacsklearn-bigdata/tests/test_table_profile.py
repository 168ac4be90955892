"""The sample of a table's rows stays small and even, however many pieces there are."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_bigdata import Table, table_profile
from pacsklearn_bigdata.sources import ArraySource
from pacsklearn_bigdata.table_profile import ProfilePiece
from pacsklearn_bigdata.table_reader import TableReader


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """Rows of a sample, made small."""
    monkeypatch.setattr(table_profile, "_SAMPLE", 256)
    monkeypatch.setattr(table_profile, "_FEWEST", 16)
    return 256


@pytest.mark.product(only=1)
@pytest.mark.parametrize("n_parts", [3, 40, 400])
def test_pieces_together_never_keep_more_than_a_few_samples(
    small: int, n_parts: int, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    thin = ProfilePiece.thin

    def watched(pieces: list[ProfilePiece]) -> None:
        thin(pieces)
        kept.append(sum(piece.n_kept for piece in pieces))

    monkeypatch.setattr(ProfilePiece, "thin", staticmethod(watched))
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    generator = np.random.default_rng(0)
    sizes = generator.integers(50, 2000 if n_parts < 100 else 200, size=n_parts)
    ends = np.cumsum(sizes)
    for number, size in enumerate(sizes):
        numbers = np.arange(ends[number] - size, ends[number], dtype=float)
        pd.DataFrame({"x": numbers}).to_parquet(f"{tmp_path}/{number:05}.parquet")
    profile = Table(tmp_path).profile
    assert profile.n_rows == ends[-1]
    assert len(kept) == n_parts
    # The rows of the piece just read come on top of what is thinned.
    assert max(kept) <= 4 * small + n_parts
    rows = profile.sample.rows[:, 0]
    assert small // 4 <= len(rows) <= small + n_parts
    # Even: thirds of the table are thirds of the sample.
    share = np.histogram(rows, bins=3, range=(0, ends[-1]))[0] / len(rows)
    assert np.all(np.abs(share - 1 / 3) < 0.12)


def test_a_piece_of_very_many_keeps_less_than_a_sample(small: int) -> None:
    source = ArraySource(np.arange(4000.0)[:, None])
    batches = list(TableReader(source, None, None, None, 100).batches(0))
    alone, one_of_many = (ProfilePiece(grouped=False, n_parts=n) for n in (1, 64))
    for batch in batches:
        alone.see(batch)
        one_of_many.see(batch)
    assert small <= alone.n_kept <= 2 * small
    assert small // 4 <= one_of_many.n_kept <= small // 2
