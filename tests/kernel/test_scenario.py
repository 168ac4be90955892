from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.exceptions import ScenarioError
from pacsklearn.srpp.scenarios.scenario import DataWorld, Law, World, Worlds, all_pairs

WORLD = DataWorld(np.ones((2, 1)))


def worlds(**changes):
    parts = {
        "secrets": ("a", "b"),
        "priors": ("p",),
        "worlds": (WORLD, WORLD),
        "laws": (Law(0, 0, (0,)), Law(1, 0, (1,))),
        "pairs": ((0, 1),),
    }
    return Worlds(**{**parts, **changes})


def test_instances_are_pairs_under_every_prior():
    laws = [Law(i, j, (i,)) for i in range(2) for j in range(2)]
    found = worlds(priors=("p", "q"), laws=tuple(laws)).instances()
    assert found == [(laws[0], laws[2]), (laws[1], laws[3])]
    assert all_pairs(3) == ((0, 1), (0, 2), (1, 2))


def test_drawn_data_sets_stand_secret_by_secret():
    one, *others = (DataWorld(np.ones((1, 1))) for _ in range(7))
    draws = [[one], others[:2], others[2:3], others[3:]]
    found = Worlds.drawn(draws, ["p", "q"], secrets=("a", "b"), pairs=((0, 1),), values=(3, 4))
    for secret, prior, each in ((0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 3)):
        assert [found.worlds[k] for k in found.law(secret, prior).members] == draws[each]
    assert (found.priors, found.index(4)) == (("p", "q"), 1)


def test_a_data_set_shows_nothing_of_itself():
    class Own(World):
        held = 12345.0

        def data(self, X, y):
            return np.full((1, 1), self.held), None

    assert (repr(Own()), Own().rows) == ("Own(...)", None)


def test_a_pair_without_data():
    with pytest.raises(ScenarioError, match="prior"):
        worlds(laws=(Law(0, 0, (0,)),))
    with pytest.raises(ScenarioError, match="data"):
        worlds(laws=(Law(0, 0, (0,)), Law(1, 0, ())))


def test_too_little_to_keep_apart():
    with pytest.raises(ScenarioError, match="secrets"):
        worlds(secrets=("a",), pairs=())


def test_a_secret_is_stated_by_name_or_value():
    found = worlds(values=(0.3, 0.4))
    assert [found.index(each) for each in ("a", "b", 0.3, 0.4, np.float64(0.4))] == [0, 1, 0, 1, 1]
    with pytest.raises(ScenarioError, match="Known") as caught:
        found.index("SECRET")
    assert "SECRET" not in str(caught.value)
    with pytest.raises(ScenarioError, match="entry"):
        worlds(values=(0.3,))


def test_a_boolean_is_no_number():
    assert worlds(values=(False, True)).index(True) == 1
    assert worlds(secrets=("False", "True")).index(True) == 1
    with pytest.raises(ScenarioError):
        worlds(values=(0.0, 1.0)).index(True)


def test_a_list_shows_its_size_and_no_data():
    many = tuple(Law(secret, 0, (secret,) * 1000) for secret in range(2))
    assert "1.0" not in repr(worlds())
    assert len(repr(worlds(laws=many))) < 200


def test_nothing_is_true_in_a_list():
    assert not hasattr(worlds(), "realized")


@pytest.mark.parametrize("weights", [(1.0,), (0.5, 0.6), (1.0, 0.0), (1.5, -0.5), (0.5, np.nan)])
def test_weights_are_a_prior_of_the_secrets(weights):
    with pytest.raises(ScenarioError, match="weights"):
        worlds(weights=weights)


def test_every_secret_is_as_likely_unless_weights_say_otherwise():
    np.testing.assert_allclose(worlds().prior, [0.5, 0.5])
    np.testing.assert_allclose(worlds(weights=(0.75, 0.25)).prior, [0.75, 0.25])
