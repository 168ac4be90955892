"""Games over the candidates of a space: what is public of them, and what a round may tell."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn.audit.game import CandidateGame, Round
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.universe.listed_space import listed_space


class Silent(CandidateGame):
    def play(self, generator: np.random.Generator) -> Round:
        return Round(int(generator.choice(self.prior.size, p=self.prior)), self.prior)


SPACE = listed_space([[0, 1], [1, 2], [0, 3]], 4, weights=[0.5, 0.25, 0.25])


@pytest.mark.parametrize(("stated", "told"), [(0.25, 0.25), (9.0, 1.5 * np.log(2))])
def test_a_round_tells_no_more_than_there_is_to_know(stated: float, told: float) -> None:
    for space in (SPACE, CandidateSpace.of("abc", [0.5, 0.25, 0.25])):
        game = Silent(space, stated)
        assert game.information == pytest.approx(told)
        assert game.bound(0.25) == posterior_success(game.information, 0.25)
        assert game.prior == pytest.approx([0.5, 0.25, 0.25])


def test_members_are_those_of_each_candidate_and_nobody_changes_them() -> None:
    game = Silent(SPACE, 1.0)
    assert np.array_equal(game.members, [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
    for shared in (game.members, game.prior):
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = 0
    assert Silent(CandidateSpace.of("ab"), 1.0).members is None
