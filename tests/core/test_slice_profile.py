from __future__ import annotations

import pickle

import numpy as np
import pytest

from pacsklearn import SliceProfile


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
        ((np.ones((2, 2)),), "unit vectors, got one of length 1.41421 at row 0"),
        ((np.diag([1.0, -1.0, 3.0]),), "one of length 3 at row 2"),
        ((np.full((1, 2), np.nan),), "unit vectors"),
        ((np.ones(3),), "shape"),
        ((np.eye(2), np.array([0.5, 0.6])), "sum to 1"),
        ((np.eye(2), np.array([1.5, -0.5])), "positive"),
        ((np.eye(2), np.array([1.0])), "one for each direction"),
    ],
)
def test_bad_profiles(arguments, message):
    with pytest.raises(ValueError, match=message):
        SliceProfile(*arguments)


@pytest.mark.parametrize("make", [SliceProfile.uniform, SliceProfile.orthogonal])
def test_bad_sizes(make):
    with pytest.raises(ValueError, match="n_slices"):
        make(3, n_slices=0)
    with pytest.raises(ValueError, match="slice_seed"):
        make(3, seed=-1)
