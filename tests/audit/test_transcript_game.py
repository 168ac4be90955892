"""Rounds of private answers, against the plain engine and against Bayes' rule itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from pacsklearn import Nats, PrivacySession, Subsets
from pacsklearn.audit.transcript_game import MostContested, TranscriptGame
from pacsklearn.exceptions import BudgetError
from pacsklearn.kernel.answers.answered_rows import AnswerLaw
from pacsklearn.kernel.bounds.posterior_success import mutual_information_for_success
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.release.account import Account
from pacsklearn.secrets import balanced_space
from pacsklearn.testing.fingerprint import fingerprint
from tests.inside import candidates_of
from tests.kernel.answers import label_oracle, value_oracle

M = 16


def in_order(belief, asked):
    return int(np.argmin(asked))


def test_labels_as_the_plain_engine_answers_them(halves, uneven):
    game = TranscriptGame(halves, uneven, step_budget=1 / 32)
    for seed in range(5):
        played = game.play(np.random.default_rng(seed))
        sampler = SeededSampler(np.random.default_rng(seed))
        assert played.secret == sampler.index(uneven.weights)
        told = label_oracle.answer_labels(
            halves, played.secret, np.log(uneven.weights), 1 / 32, sampler.noise(40)
        )
        queries, answers, _ = played.released
        assert queries == list(range(20))
        assert np.array_equal(answers, told.answers)
        assert np.allclose(played.posterior, np.exp(told.log_belief), rtol=1e-12, atol=0)


def test_values_as_the_plain_engine_answers_them(space):
    predictions = np.random.default_rng(2).uniform(-1, 1, (6, M, 3))
    game = TranscriptGame(predictions, space, step_budget=1 / 16)
    played = game.play(np.random.default_rng(8))
    sampler = SeededSampler(np.random.default_rng(8))
    secret = sampler.index(space.weights)
    told = value_oracle.answer_values(
        predictions, secret, np.log(space.weights), 1 / 16, sampler.noise(18)
    )
    assert np.allclose(played.released[1], told.answers, rtol=1e-9)
    assert np.allclose(played.posterior, np.exp(told.log_belief), rtol=1e-9)


@pytest.mark.soak
def test_asking_in_order_is_no_adversary_at_all(halves, space):
    silent = TranscriptGame(halves, space, step_budget=1 / 32)
    spoken = TranscriptGame(halves, space, step_budget=1 / 32, adversary=in_order)
    seen = []
    for seed in range(200):
        one, two = (game.play(np.random.default_rng(seed)) for game in (silent, spoken))
        assert one.secret == two.secret
        assert one.released[0] == two.released[0]
        seen.append([played.posterior[played.secret] for played in (one, two)])
    # Other noise, the same law: two means of 200 rounds, at four standard errors.
    told = np.array(seen)
    error = np.hypot(*told.std(axis=0)) / np.sqrt(len(told))
    assert abs(np.diff(told.mean(axis=0))) <= 4 * error


def test_a_round_is_charged_and_stopped_as_a_session_is(halves, space, monkeypatch):
    """The responder of sessions answers: were it broken, the game would be."""
    charged = []
    charge = Account.charge

    def watched(account, event):
        taken = charge(account, event)
        charged.append((event.kind, event.charge))
        return taken

    monkeypatch.setattr(Account, "charge", watched)
    TranscriptGame(halves, space, step_budget=1 / 64, budget=3.5 / 64).play(
        np.random.default_rng(0)
    )
    # The batch of 20 does not fit and is refused as a whole; then one after another.
    assert charged == [("responses", 1 / 64)] * 3
    monkeypatch.setattr(AnswerLaw, "of", lambda count, *_: AnswerLaw(count, 1e-12))
    told = TranscriptGame(halves, space, step_budget=1 / 64, budget=3.5 / 64).play(
        np.random.default_rng(0)
    )
    assert len(told.released[0]) == 20


@pytest.mark.product(only=1)
@pytest.mark.parametrize("kind", ["labels", "values"])
def test_the_posterior_is_the_truth(kind, uneven):
    """Calibration: of all rounds, a candidate is the secret as often as the posteriors say.

    Sums of 400 rounds, compared at four standard errors for 16 candidates and the maximum: a
    right posterior fails under less than one seed of 900.
    """
    generator = np.random.default_rng(4)
    predictions = generator.integers(0, 3, (6, M))
    if kind == "values":
        predictions = generator.normal(size=(6, M, 2))
    game = TranscriptGame(
        predictions, uneven, step_budget=1 / 8, n_queries=4, adversary=MostContested(predictions)
    )
    rounds = [game.play(generator) for _ in range(400)]
    posterior = np.stack([played.posterior for played in rounds])
    secret = np.eye(M)[[played.secret for played in rounds]]
    weight = posterior**2  # anything that is a function of what was seen
    excess = weight * (secret - posterior)
    errors = excess.std(axis=0) / np.sqrt(len(rounds))
    assert np.all(np.abs(excess.mean(axis=0)) <= 4 * errors)
    top = posterior.max(axis=1)
    named = secret[np.arange(len(rounds)), posterior.argmax(axis=1)]
    assert abs(np.mean(named - top)) <= 4 * np.std(named - top) / np.sqrt(len(rounds))
    assert top.mean() > uneven.weights.max() + 0.05


def test_what_is_promised(halves, space):
    game = TranscriptGame(halves, space, step_budget=1 / 64, n_queries=8)
    assert game.information == 1 / 8
    assert mutual_information_for_success(game.bound(0.5)) == pytest.approx(1 / 8)
    assert TranscriptGame(halves, space, step_budget=1 / 64, budget=1 / 32).information == 1 / 32
    assert TranscriptGame(halves, space, step_budget=9).information == math.log(M)
    assert TranscriptGame(halves, space, step_budget=9).bound(1 / M) == 1.0


@pytest.mark.parametrize("adversary", [None, in_order])
def test_a_ceiling_ends_the_conversation(halves, space, adversary):
    game = TranscriptGame(halves, space, step_budget=1 / 64, budget=3.5 / 64, adversary=adversary)
    lengths = {len(game.play(np.random.default_rng(seed)).released[0]) for seed in range(10)}
    assert lengths == {3}
    game = TranscriptGame(halves, space, step_budget=1 / 64, adversary=adversary)
    assert len(game.play(np.random.default_rng(0)).released[0]) == len(halves)


def test_asking_again_tells_nothing_and_costs_nothing(halves, space):
    game = TranscriptGame(
        halves, space, step_budget=1 / 4, budget=0.3, n_queries=50, adversary=lambda *_: 7
    )
    played = game.play(np.random.default_rng(0))
    queries, answers, _ = played.released
    assert queries == [7] * 50
    assert len(set(answers.tolist())) == 1
    once = TranscriptGame(halves[7:8], space, step_budget=1 / 4).play(np.random.default_rng(0))
    assert np.allclose(played.posterior, once.posterior)


def test_unanimous_answers_tell_nothing(space):
    played = TranscriptGame(np.ones((5, M), dtype=int), space, step_budget=1 / 4).play(
        np.random.default_rng(0)
    )
    assert played.released[1].tolist() == [1] * 5
    assert np.allclose(played.posterior, 1 / M)


def test_a_game_remembers_nothing_and_keeps_its_own_copy(halves, space):
    predictions = halves.copy()
    game = TranscriptGame(predictions, space, step_budget=1 / 32, adversary=in_order)
    before = fingerprint(game)
    first = game.play(np.random.default_rng(0))
    predictions[:] = 0
    again = game.play(np.random.default_rng(0))
    assert np.array_equal(first.posterior, again.posterior)
    assert fingerprint(game) == before
    for array in (game.prior, game.members, game.predictions):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("answers", ["labels", "probabilities"])
def test_a_rehearsal_asks_the_sessions_own_candidates(answers):
    X, y = load_iris(return_X_y=True)
    X, model = X[:, :2], KNeighborsClassifier(3)
    with PrivacySession(
        X[::2], y[::2], budget=Nats(4.0, allow_exact=True), secret=Subsets(M)
    ) as session:
        responder = session.responder(model, query_budget=1 / 4, answers=answers)
        predictions = responder.kind.predictions(candidates_of(responder), X[1::2])
        game = TranscriptGame.rehearse(
            model, X[::2], y[::2], X[1::2], session.space, answers=answers, step_budget=1 / 4
        )
    assert np.array_equal(game.predictions, predictions)
    assert game.members.shape == (M, 75)
    assert np.allclose(game.members.mean(axis=0), 0.5)


def test_a_rehearsal_of_a_regression_clips_to_the_public_range():
    X, y = load_iris(return_X_y=True)
    space = balanced_space(150, n_subsets=M)
    game = TranscriptGame.rehearse(
        LinearRegression(), X, y * 1.0, X, space, value_range=(0.0, 1.5), step_budget=1 / 4
    )
    assert game.predictions.shape == (150, M, 1)
    assert game.predictions.min() == 0.0
    assert game.predictions.max() == 1.5


@pytest.mark.parametrize(
    ("predictions", "options", "error", "words"),
    [
        (np.zeros((3, 4), dtype=int), {}, ValueError, "candidate"),
        (np.zeros(M, dtype=int), {}, ValueError, "candidate"),
        (np.zeros((0, M), dtype=int), {}, ValueError, "candidate"),
        (np.zeros((3, M)), {}, ValueError, "label"),
        (np.full((3, M), -1), {}, ValueError, "label"),
        (None, {"step_budget": 0}, BudgetError, "step_budget"),
        (None, {"budget": math.nan}, BudgetError, "budget"),
        (None, {"n_queries": 0}, ValueError, "n_queries"),
        (None, {"n_queries": 21}, ValueError, "n_queries"),
    ],
)
def test_wrong_arguments_are_named(halves, space, predictions, options, error, words):
    with pytest.raises(error, match=words):
        TranscriptGame(
            halves if predictions is None else predictions, space, **{"step_budget": 0.1} | options
        )


@pytest.mark.parametrize("query", [-1, 20, 0.5, "x"])
def test_an_adversary_must_name_a_query(halves, space, query):
    game = TranscriptGame(halves, space, step_budget=0.1, adversary=lambda *_: query)
    with pytest.raises(ValueError, match="query"):
        game.play(np.random.default_rng(0))
