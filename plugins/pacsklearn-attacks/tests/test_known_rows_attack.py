"""An adversary who knows some memberships."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from pacsklearn_attacks import KnownRowsAttack

from pacsklearn.audit.membership_attack import OptimalMembershipAttack
from pacsklearn.testing import check_attack, example_games


@pytest.mark.soak
@pytest.mark.parametrize("k", [0, 2])
def test_it_keeps_the_contract_of_an_attack(k: int) -> None:
    check_attack(KnownRowsAttack(k), n_trials=150)


def test_knowing_nobody_is_the_optimal_attack() -> None:
    game = example_games().sound
    alone = KnownRowsAttack(0).run(game, 100, 1)
    assert alone.prior == OptimalMembershipAttack().run(game, 100, 1).prior == 0.5


def test_the_blind_success_is_that_of_a_plain_count() -> None:
    game = example_games().skewed
    assert game.members is not None
    result = KnownRowsAttack(2, n_pilot=5).run(game, 5, 4)
    unit = int(dict(result.details)["unit"])
    order = np.random.default_rng(4).spawn(3)[0].permutation(game.members.shape[1])
    first, second = order[:2]
    plain = 0.0
    for a, b in product([False, True], repeat=2):
        agree = (game.members[:, first] == a) & (game.members[:, second] == b)
        inside = game.prior[agree & game.members[:, unit]].sum()
        plain += max(inside, game.prior[agree].sum() - inside)
    assert result.prior == pytest.approx(plain)
    assert result.criterion == "membership of one unit, knowing 2 others"


def test_more_knowledge_than_units_is_refused() -> None:
    with pytest.raises(ValueError, match="k"):
        KnownRowsAttack(24).run(example_games().sound, 5, 0)
