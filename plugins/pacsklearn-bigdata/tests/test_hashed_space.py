"""Memberships by a keyed function: the cipher, the balance, and independence."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pytest
from pacsklearn_bigdata.hashed_design import HashedDesign, unit_names
from pacsklearn_bigdata.hashed_kernel import chacha20_block
from scipy import stats

from pacsklearn.exceptions import DesignError
from pacsklearn.secrets import SubsetSeed
from tests.references import by_loops, by_reference


def test_the_block_function_is_that_of_rfc_8439() -> None:
    """Section 2.3.2: key 00..1f, counter 1, nonce 00:00:00:09:00:00:00:4a:00:00:00:00."""
    constants = np.frombuffer(b"expand 32-byte k", dtype="<u4")
    key = np.frombuffer(bytes(range(32)), dtype="<u4")
    tail = np.array([1, 0x09000000, 0x4A000000, 0], dtype=np.uint32)
    start = np.concatenate([constants, key, tail]).astype(np.uint32)
    block = np.empty(16, np.uint32)
    with np.errstate(over="ignore"):  # words of 32 bits, added modulo 2**32
        chacha20_block(start, np.empty(16, np.uint32), block)
    expected = (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    assert block.astype("<u4").tobytes().hex() == expected


@pytest.mark.parametrize(("m", "rate"), [(128, 0.5), (10, 0.5), (100, 0.25), (2, 0.5), (1024, 0.5)])
def test_every_unit_is_in_exactly_its_share(m: int, rate: float) -> None:
    design = HashedDesign.of(3, m, rate)
    members = design.members(np.arange(500, dtype=np.uint64)).membership()
    assert set(members.sum(axis=1)) == {round(m * rate)}


def test_all_choices_are_equally_likely() -> None:
    """Six choices of 2 of 4 candidates, 60,000 units: chi square at 1e-6."""
    members = HashedDesign.of(1, 4, 0.5).members(np.arange(60_000, dtype=np.uint64)).membership()
    counts = np.unique(members @ (1 << np.arange(4)), return_counts=True)[1]
    assert counts.size == 6
    assert stats.chisquare(counts).pvalue > 1e-6


def test_units_are_independent() -> None:
    """Neighbouring names share candidates as often as chance has it: 4 sigma of 20,000 pairs."""
    members = HashedDesign.of(2).members(np.arange(20_001, dtype=np.uint64)).membership()
    shared = (members[1:] & members[:-1]).sum(axis=1)
    # Hypergeometric: 64 of 128, drawn twice.
    law = stats.hypergeom(128, 64, 64)
    assert shared.mean() == pytest.approx(law.mean(), abs=4 * law.std() / np.sqrt(20_000))
    assert shared.var() == pytest.approx(law.var(), rel=0.06)


def test_names_decide_and_the_key_does(secret_subsets: None) -> None:
    names = np.array([5, 2**63, 5], dtype=np.uint64)
    design = HashedDesign.of(0)
    packed = design.members(names).packed
    assert np.array_equal(packed[0], packed[2])
    assert not np.array_equal(packed[0], packed[1])
    assert np.array_equal(packed[:1], design.members(names[:1]).packed)
    assert not np.array_equal(packed, HashedDesign.of(1).members(names).packed)
    secret = SubsetSeed()
    assert HashedDesign.of(secret).key == HashedDesign.of(secret).key
    assert HashedDesign.of(secret).key not in (
        HashedDesign.of(0).key,
        HashedDesign.of(SubsetSeed()).key,
    )
    assert "key" not in repr(HashedDesign.of(secret))


def test_names_of_units() -> None:
    assert unit_names(np.array([-1, 3], dtype=np.int32)).tolist() == [2**64 - 1, 3]
    texts = unit_names(np.array(["ann", "bob", "ann"], dtype=object))
    assert texts[0] == texts[2] != texts[1]
    with pytest.raises(DesignError, match="missing"):
        unit_names(np.array(["ann", None], dtype=object))
    with pytest.raises(DesignError, match="floating-point"):
        unit_names(np.array([1.5, 2.0]))


@pytest.mark.parametrize("value", [b"ann", 1.0, True, Decimal(1), date(2026, 1, 2)])
def test_what_can_be_written_in_two_ways_names_no_unit(value: Any) -> None:
    """Files that write one person's name in two ways would make two units of one."""
    with pytest.raises(DesignError, match="texts"):
        unit_names(np.array([value, value], dtype=object))


def test_times_name_no_unit() -> None:
    with pytest.raises(DesignError, match="texts"):
        unit_names(np.array(["2026-01-02", "2026-01-03"], dtype="datetime64[ns]"))


@pytest.mark.product(only=2)
@pytest.mark.parametrize(("m", "rate"), [(128, 0.5), (10, 0.5), (100, 0.25), (2, 0.5), (700, 0.01)])
def test_memberships_without_numba(m: int, rate: float) -> None:
    names = np.random.default_rng(m).integers(0, 2**64, 3000, dtype=np.uint64)
    for some in (names, names[:1], names[:0]):
        work = partial(HashedDesign.of(5, m, rate).members, some)
        loops, reference = by_loops(work), by_reference(work)
        np.testing.assert_array_equal(loops.membership(), reference.membership())
