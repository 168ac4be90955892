"""Prices, free answers and exhaustion: silent in the engine, telling where they are broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from pacsklearn_attacks import PricesAttack
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import Answers, PACPrivate, Subsets
from pacsklearn.audit import run_audit
from pacsklearn.audit.game import Game, Round
from pacsklearn.audit.transcript_game import TranscriptGame
from pacsklearn.testing import example_games


@dataclass
class Leaking(Game):
    """A conversation whose prices are told by the true candidate."""

    game: TranscriptGame
    leak: str

    beyond = ("prices",)
    prior = property(lambda self: self.game.prior)
    members = property(lambda self: self.game.members)
    information = property(lambda self: self.game.information)

    def bound(self, blind):
        return self.game.bound(blind)

    def play(self, generator):
        played = self.game.play(generator)
        return Round(played.secret, played.posterior, (played.released, played.secret))

    def prices(self, released) -> Any:
        shown, secret = released
        prices = self.game.prices(shown).copy()
        queries = np.arange(len(prices))
        own = self.game.predictions[queries, secret]
        if self.leak == "free where the candidate says 0":
            prices[own == 0] = 0.0
        elif self.leak == "refused earlier by some":
            prices[5 + secret % 8 :] = np.nan
        return prices


@pytest.fixture(scope="module")
def game(request):
    from pacsklearn.universe.balanced_space import balanced_space

    generator = np.random.default_rng(0)
    space = balanced_space(30, n_subsets=16, seed=3)
    said = np.stack([generator.permutation(16) % 2 for _ in range(20)])
    # A ceiling that is reached: answers are refused from some step on.
    return TranscriptGame(
        said, space, step_budget=1 / 192, budget=12 / 192, adversary=lambda b, a: int(np.argmin(a))
    )


@pytest.mark.soak
def test_the_engines_prices_tell_nothing(game):
    result = PricesAttack().run(game, 400, 0)
    assert not result.violates()
    low, _ = result.confidence_interval()
    assert low <= result.prior
    lengths = {int((~np.isnan(game.prices(game.play(np.random.default_rng(i)).released))).sum())
               for i in range(5)}  # fmt: skip
    assert lengths == {12}


@pytest.mark.product(only=1)
@pytest.mark.parametrize("leak", ["free where the candidate says 0", "refused earlier by some"])
def test_a_price_that_knows_the_secret_is_caught(game, leak):
    assert PricesAttack().run(Leaking(game, leak), 100, 0).violates()


@pytest.mark.soak
def test_a_model_that_answers_is_audited_by_its_prices_and_by_poison():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((60, 3))
    y = (X[:, 0] > 0).astype(int)
    model = PACPrivate(
        KNeighborsClassifier(3), budget=1 / 8, release=Answers(20), secret=Subsets(16)
    )
    model.fit(X, y)
    audit = run_audit(model, X, y, queries=X[:20], attacks=["prices", "poisoning"], n_trials=60)
    assert audit.passed
    assert [result.attack for result in audit.results] == ["prices", "poisoning"]


def test_other_games_have_no_prices():
    with pytest.raises(ValueError, match="offer"):
        PricesAttack().run(example_games().sound, 10, 0)
