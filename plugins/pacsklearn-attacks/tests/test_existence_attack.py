"""The existence game: models that show a row are told apart, coins are not."""

from __future__ import annotations

import numpy as np
import pytest
from pacsklearn_attacks import ExistenceAttack, ExistenceGame
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge

from pacsklearn.testing import example_games

X, y = load_iris(return_X_y=True)


def noised(shift, scale):
    def world(generator):
        return np.array([shift, 0.0]) + scale * generator.normal(size=2)

    return world


def game(shift, scale=1.0):
    return ExistenceGame([noised(shift, scale), noised(0.0, scale)], lambda released: released)


def test_a_model_of_all_rows_gives_the_row_away():
    worlds = [lambda _: Ridge().fit(X, y), lambda _: Ridge().fit(X[1:], y[1:])]
    result = ExistenceAttack(16).run(ExistenceGame(worlds), 100, 0)
    assert result.success == 1.0
    assert result.bound is None


def test_success_is_that_of_the_best_test():
    """Normals 2 apart: Phi(1) = 0.841; learning costs a little."""
    result = ExistenceAttack(400).run(game(2.0), 1000, 0)
    assert 0.80 < result.success < 0.88


@pytest.mark.soak
def test_nothing_is_found_where_nothing_is():
    result = ExistenceAttack().run(game(0.0), 1000, 1)
    assert abs(result.success - 0.5) < 4 * np.sqrt(0.25 / 1000)


def test_other_games_are_refused():
    with pytest.raises(ValueError, match="published"):
        ExistenceAttack().run(example_games().sound, 10, 0)
    with pytest.raises(ValueError, match="worlds"):
        ExistenceGame([noised(0, 1)])
