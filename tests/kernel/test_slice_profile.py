from __future__ import annotations

import hashlib
import pickle

import numpy as np
import pytest

from pacsklearn.srpp import SliceProfile


def test_profiles_are_public_functions_of_their_seed():
    profile = SliceProfile.uniform(4, n_slices=50, seed=3)
    assert profile == SliceProfile.uniform(4, n_slices=50, seed=3)
    assert profile.digest == SliceProfile.uniform(4, n_slices=50, seed=3).digest
    assert profile != SliceProfile.uniform(4, n_slices=50, seed=4)
    assert len({profile, SliceProfile.uniform(4, n_slices=50, seed=3)}) == 1
    assert pickle.loads(pickle.dumps(profile)) == profile
    assert profile != "profile"


def test_uniform_directions_have_no_preferred_axis():
    directions = SliceProfile.uniform(3, n_slices=20_000).directions
    np.testing.assert_allclose(directions.T @ directions / 20_000, np.eye(3) / 3, atol=0.01)


def test_frames_are_orthogonal():
    profile = SliceProfile.orthogonal(4, n_slices=10)
    assert profile.n_slices == 10
    for frame in (profile.directions[:4], profile.directions[4:8]):
        np.testing.assert_allclose(frame @ frame.T, np.eye(4), atol=1e-12)


def test_a_profile_cannot_be_changed():
    directions = np.eye(2)
    profile = SliceProfile(directions)
    directions[0, 0] = 5.0
    np.testing.assert_array_equal(profile.directions, np.eye(2))
    with pytest.raises(ValueError, match="read-only"):
        profile.directions[0, 0] = 2.0
    with pytest.raises(AttributeError):
        profile.name = "another"


def test_weights_make_another_profile():
    assert SliceProfile(np.eye(2)) == SliceProfile(np.eye(2), np.full(2, 0.5))
    assert SliceProfile(np.eye(2)) != SliceProfile(np.eye(2), np.array([0.4, 0.6]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 2)),), "unit"),
        ((np.diag([1.0, -1.0, 3.0]),), "length"),
        ((np.full((1, 2), np.nan),), "unit"),
        ((np.ones(3),), "shape"),
        ((np.eye(2), np.array([0.5, 0.6])), "sum to 1"),
        ((np.eye(2), np.array([1.5, -0.5])), "positive"),
        ((np.eye(2), np.array([1.0])), "direction"),
        ((np.eye(2), np.array([1.0, 0.0])), "positive"),
        ((np.eye(2), np.array([np.nan, 0.5])), "positive"),
        ((np.empty((0, 2)),), "shape"),
    ],
)
def test_bad_profiles(arguments, message):
    with pytest.raises(ValueError, match=message):
        SliceProfile(*arguments)


@pytest.mark.parametrize(
    ("off", "fits"), [(5e-9, True), (-5e-9, True), (2e-8, False), (-2e-8, False)]
)
def test_lengths_are_one_but_for_rounding(off, fits):
    directions = np.array([[1.0 + off, 0.0], [0.0, 1.0]])
    if fits:
        assert SliceProfile(directions).n_slices == 2
    else:
        with pytest.raises(ValueError, match="at row 0"):
            SliceProfile(directions)


@pytest.mark.parametrize(
    ("off", "fits"), [(5e-10, True), (-5e-10, True), (2e-9, False), (-2e-9, False)]
)
def test_weights_sum_to_one_but_for_rounding(off, fits):
    weights = np.array([0.25 + off, 0.75])
    if fits:
        assert SliceProfile(np.eye(2), weights).weights[0] == weights[0]
    else:
        with pytest.raises(ValueError, match="sum to 1"):
            SliceProfile(np.eye(2), weights)


def test_digests_are_those_of_every_version():
    """Ledgers have them in their units: a release must find the account of the earlier ones."""
    profile = SliceProfile(np.eye(2), np.array([0.25, 0.75]))
    written = b"(2, 2)" + np.eye(2).tobytes() + np.array([0.25, 0.75]).tobytes()
    assert profile.digest == hashlib.sha256(written).hexdigest()[:16]
    assert SliceProfile(np.eye(1)).weights.tolist() == [1.0]
    drawn = np.random.default_rng(7).standard_normal((3, 2))
    drawn /= np.sqrt((drawn**2).sum(axis=1))[:, None]
    np.testing.assert_allclose(SliceProfile.uniform(2, n_slices=3, seed=7).directions, drawn)


@pytest.mark.parametrize("n_slices", [1, 3, 4, 5, 8])
def test_frames_are_as_many_as_are_needed(n_slices):
    profile = SliceProfile.orthogonal(4, n_slices=n_slices, seed=2)
    assert (profile.n_slices, profile.dimension) == (n_slices, 4)
    longest = SliceProfile.orthogonal(4, n_slices=8, seed=2).directions
    np.testing.assert_array_equal(profile.directions, longest[:n_slices])


def test_frames_have_no_preferred_sign():
    """QR alone gives the first direction of every frame a sign by its own rule."""
    directions = SliceProfile.orthogonal(2, n_slices=4000).directions
    assert np.abs(directions.mean(axis=0)).max() < 0.05
    assert np.abs(np.mean(directions[::2] > 0) - 0.5) < 0.05


@pytest.mark.parametrize("make", [SliceProfile.uniform, SliceProfile.orthogonal])
def test_bad_sizes(make):
    with pytest.raises(ValueError, match="dimension"):
        make(0)
    assert make(1, n_slices=1, seed=0).directions.shape == (1, 1)
    with pytest.raises(ValueError, match="n_slices"):
        make(3, n_slices=0)
    with pytest.raises(ValueError, match="slice_seed"):
        make(3, seed=-1)
