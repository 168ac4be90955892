"""Figures of a guarantee against enumerations of the candidates, and against the optimal attack."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from pacsklearn import Nats, PACPrivate, Parameters, PrivacySession, Subsets
from pacsklearn.estimators import curator_figure as curator_module
from pacsklearn.estimators.curator_figure import certified_under_all, curator_figure
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.ledger.event import LatticeNoise
from pacsklearn.kernel.noise.lattice import LogdetBackend
from pacsklearn.kernel.noise.noise_law import NoiseLaw, Support, Target
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.outputs.canonicalizer import Layout
from pacsklearn.kernel.outputs.metric import IdentityMetric
from pacsklearn.kernel.release import certificate
from pacsklearn.kernel.release.certificate import SessionCertificate, certified_membership
from pacsklearn.kernel.release.terms import Terms, public_facts
from pacsklearn.kernel.secret import space as space_module
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.padding.one_sided_law import OneSidedBackend
from pacsklearn.secrets import balanced_space
from pacsklearn.universe.listed_space import listed_space

# Row 0 is in every subset, row 5 in none; what is secret are rows 1 to 4.
SUBSETS = [[0, 1, 2], [0, 1, 3], [0, 2, 4], [0, 1, 4]]
SPACE = listed_space(SUBSETS, n_rows=6, weights=[0.4, 0.3, 0.2, 0.1])
PADDED = LatticeNoise("function", 0.1, "nats", "one_sided", 0.1, 4, 1, 1)


def guarantee(space, *, only_adds=False):
    told = dict.fromkeys(("released", "public", "provenance"), ())
    told |= {"bound": "", "noise": "", "budget": 1.0, "spent": 0.5, "confidence": 1.0}
    told |= {"noiseless": False, "not_for_release": ""}
    return Terms(space).guarantee([PADDED] if only_adds else [], [], **told)


def right(target: int, known: tuple[int, ...]) -> float:
    """Success of the likelier answer, given which of the known rows are in."""
    shares: dict[tuple[bool, ...], list[float]] = {}
    for subset, weight in zip(SUBSETS, SPACE.weights, strict=True):
        pair = shares.setdefault(tuple(row in subset for row in known), [0.0, 0.0])
        pair[target in subset] += weight
    return sum(max(pair) for pair in shares.values())


def test_blind_success_is_that_at_the_least_protected_secret_row() -> None:
    prior, unprotected = SPACE.membership_prior()
    assert prior == pytest.approx(max(right(row, ()) for row in (1, 2, 3, 4)))
    assert unprotected == 2


def test_what_is_known_by_those_who_know_rows_counts_rows_that_have_a_secret() -> None:
    """Rule 12: averages over secret rows alone, also when they are read a second time."""
    for _ in range(2):
        secret = guarantee(SPACE).secret
        for k in (0, 1):
            exact = np.mean(
                [right(t, tuple(known)) for *known, t in permutations((1, 2, 3, 4), k + 1)]
            )
            assert secret.known[k][0] == pytest.approx(exact, abs=1e-12)
            assert secret.known_errors[k] == 0
    assert (secret.prior_membership, secret.n_unprotected) == SPACE.membership_prior()
    assert secret.prior_identification == pytest.approx(0.4)


def test_one_secret_row_has_nobody_to_learn_from() -> None:
    secret = guarantee(listed_space([[0], [0, 1]], n_rows=2)).secret
    assert (secret.known, secret.known_errors) == ((), ())
    pair = listed_space([[0], [1]], n_rows=2)
    assert guarantee(pair).secret.known[1] == (1.0, 1.0)


def test_averages_of_a_large_table_are_over_some_of_its_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    everything = guarantee(balanced_space(100, n_subsets=16)).secret.known
    monkeypatch.setattr("pacsklearn.kernel.secret.space._MOST_UNITS", 99)
    some = guarantee(balanced_space(100, n_subsets=16)).secret.known
    assert some != everything
    assert some == pytest.approx(np.array(everything), abs=0.1)


def test_a_candidate_s_identity_is_guessed_at_its_weight() -> None:
    secret = guarantee(CandidateSpace.of(["a", "b", "c"], weights=[0.5, 0.3, 0.2])).secret
    assert (secret.n_candidates, secret.prior_identification) == (3, 0.5)


def test_the_limit_of_noise_that_only_adds_is_stated_then_alone() -> None:
    plain, padded = guarantee(SPACE), guarantee(SPACE, only_adds=True)
    (limit,) = set(padded.not_covered) - set(plain.not_covered)
    assert "rules out" in limit


def test_public_facts_are_those_of_every_part() -> None:
    leaf = Layout.of({}, classes_=(0, 1), depth=3)
    tree = Layout((), (("n_features_in_", 2),), (("step", leaf),))
    assert public_facts(tree) == ("classes_", "hyper-parameters", "n_features_in_", "public seeds")


BALANCED = balanced_space(60, n_subsets=16)
GENERATOR = np.random.default_rng(0)
BELIEF = GENERATOR.dirichlet(np.full(16, 0.5))


def law_of(budget: float):
    support = Support(BALANCED.membership().T @ GENERATOR.standard_normal((60, 3)))
    return LogdetBackend().calibrate(support, Target(budget), IdentityMetric())


@pytest.mark.parametrize("chunk", [1, 7, 60, 1000])
@pytest.mark.parametrize("size", [1.0, 1 / 3, 8.0])
def test_how_sure_the_adversary_is_of_each_unit(
    chunk: int, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curator_module, "_CHUNK", chunk)
    figure = curator_figure(SessionCertificate(), BALANCED, BELIEF * size, 0.9, 0, 0)
    inside = [sum(BELIEF[BALANCED.membership()[unit]]) for unit in range(60)]
    sure = [max(share, 1 - share) for share in inside]
    assert figure.worst == pytest.approx(max(sure), rel=1e-12)
    assert figure.average == pytest.approx(sum(sure) / 60, rel=1e-12)
    assert (figure.blind, figure.implied, figure.laws, figure.n_releases) == (0.5, 0.9, None, 0)
    assert (figure.confidence, figure.missing) == (1 - 1e-6, "nothing was released")


def test_laws_of_several_releases_are_certified_together() -> None:
    certificate = SessionCertificate()
    laws = law_of(0.1), law_of(0.2)
    alone = []
    for law in laws:
        single = SessionCertificate()
        single.note(law)
        (figure, _) = certified_under_all(single, BALANCED, 1)
        alone.append(figure.success)
        certificate.note(law)
    figure = curator_figure(certificate, BALANCED, BELIEF, 0.9, 2, 2)
    assert max(alone) < figure.laws < 1
    assert (figure.confidence, figure.missing) == (1 - 1e-6, "")
    # One charge more than laws: answers, or what came before the session was loaded.
    certified, missing = certified_under_all(certificate, BALANCED, 3)
    assert certified is None
    assert "not kept as laws" in missing
    assert (
        certified_under_all(certificate, BALANCED, 1)[0]
        == certified_under_all(certificate, BALANCED, 2)[0]
    )


X, Y = load_iris(return_X_y=True)


def certified_law_of(budget: float) -> NoiseLaw:
    rows = np.random.default_rng(0).standard_normal((60, 3)) ** 3
    support = Support(BALANCED.membership().T @ rows)
    return LogdetBackend().calibrate(support, Target(budget), IdentityMetric())


@pytest.mark.parametrize("budget", [1 / 64, 1 / 4, 1.0])
def test_the_optimal_attack_on_50000_fresh_releases(budget: float) -> None:
    """The released integers, the law's own likelihood, the unit that is told best."""
    law, generator = certified_law_of(budget), np.random.default_rng(7)
    figure = certified_membership(law, BALANCED, BALANCED.weights)
    assert figure is not None
    members, n = BALANCED.membership(), 50_000
    secrets = generator.integers(16, size=n)
    noise = np.rint(generator.normal(0, law.scale, (n, law.dimension))).astype(np.int64)
    released = law.centres[secrets] + noise
    logs = -0.5 * sum(
        ((released[:, [axis]] - law.centres[:, axis]) / law.scale) ** 2
        for axis in range(law.dimension)
    )
    belief = np.exp(logs - logs.max(axis=1, keepdims=True))
    belief /= belief.sum(axis=1, keepdims=True)
    right = ((belief @ members.T > 0.5) == members[:, secrets].T).mean(axis=0)
    error = 4 * 0.5 / np.sqrt(n)
    assert right.max() - error <= figure.success <= right.max() + error + 0.01
    assert figure.success < posterior_success(law.bound, 0.5)


@pytest.mark.parametrize("size", [3.0, 1 / 7])
def test_a_belief_counts_by_its_proportions(size: float) -> None:
    law = certified_law_of(1 / 4)
    figure = certified_membership(law, BALANCED, BALANCED.weights)
    assert certified_membership(law, BALANCED, BALANCED.weights * size) == pytest.approx(
        figure, rel=1e-9
    )


@pytest.mark.parametrize("chunk", [1, 7, 60, 1000])
def test_padding_is_certified_unit_by_unit(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact sum over the levels of the likelier answer, for the worst of the units."""
    monkeypatch.setattr(space_module, "_CHUNK", chunk)
    generator = np.random.default_rng(3)
    values = generator.integers(0, 9, (16, 1)).astype(float)
    belief = generator.dirichlet(np.full(16, 2.0))
    law = OneSidedBackend().calibrate(Support(values, belief), Target(0.3))
    members, right = BALANCED.membership(), []
    for unit in range(60):
        told = 0.0
        for level in range(law.padding.levels.size):
            parts = [belief[i] * law.channel[i][level] for i in range(16)]
            told += max(
                sum(p for p, member in zip(parts, members[unit], strict=True) if member == answer)
                for answer in (False, True)
            )
        right.append(told)
    figure = certified_membership(law, BALANCED, 2 * belief)
    assert figure is not None
    assert figure.confidence == 1
    assert max(right) <= figure.success <= max(right) * (1 + 1e-9)


def test_padding_certifies_the_units_that_have_a_secret() -> None:
    space = listed_space([[0, 1], [0, 2], [0, 2, 3]], n_rows=5)
    values = np.array([[1.0], [1.0], [4.0]])
    law = OneSidedBackend().calibrate(Support(values), Target(0.05))
    figure = certified_membership(law, space, space.weights)
    assert figure is not None
    assert 2 / 3 <= figure.success < 1  # row 0 is in every subset, row 4 in none
    exact = OneSidedBackend().calibrate(Support(np.arange(3.0)[:, None]), Target(9.0))
    assert certified_membership(exact, space, space.weights) == (pytest.approx(1.0), 1.0)


def test_what_the_lattice_may_add_is_added_and_certainty_is_the_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In exact arithmetic: 2^-44 for each coordinate is below what a double of .6 shows twice."""
    asked, answer = [], 0.6

    def bound(*args: object) -> float:
        asked.append(args)
        return answer

    monkeypatch.setattr(certificate, "certified_success", bound)
    law = certified_law_of(1 / 4)
    figure = certified_membership(law, BALANCED, BALANCED.weights)
    assert figure is not None
    slack = law.dimension * Fraction(1, 2**44)
    assert slack / 2 < Fraction(figure.success) - Fraction(0.6) <= 2 * slack
    (mixture, criterion, _, gamma, *_) = asked[0]
    assert np.array_equal(mixture.signals, law.centres)
    assert (mixture.scale, criterion.n_targets) == (law.scale, 60)
    assert figure.confidence == 1 - gamma == 1 - 1e-6
    answer = 1.0
    assert certified_membership(law, BALANCED, BALANCED.weights) == (1.0, 1 - 1e-6)


def test_the_law_s_own_draws_are_the_ones_certified() -> None:
    """Likelihoods and noise of a release itself, not of a copy of its formula."""
    law, sampler = certified_law_of(1.0), SeededSampler(np.random.default_rng(1))
    members, right = BALANCED.membership(), 0
    for _ in range(400):
        secret = sampler.index(BALANCED.weights)
        logs = law.log_likelihood(law.draw(secret, sampler))
        belief = np.exp(logs - logs.max())
        right += (members @ (belief / belief.sum()) > 0.5) == members[:, secret]
    figure = certified_membership(law, BALANCED, BALANCED.weights)
    assert figure is not None
    assert right.max() / 400 <= figure.success + 4 * 0.5 / np.sqrt(400)


def test_every_fit_states_it_in_words_html_and_json() -> None:
    guarantee = PACPrivate(GaussianNB(), budget=1 / 4, secret=Subsets(16)).fit(X, Y).guarantee_
    figure = guarantee.certified_membership
    assert figure is not None
    assert 0.5 < figure < guarantee.posterior_membership - 0.1
    assert guarantee.certified_confidence == 1 - 1e-6
    text = " ".join(str(guarantee).split())
    assert "Certified for this very release: at most" in text
    assert "at confidence 0.999999; implied by the information 83.79 %" in text
    assert "certified at most" in guarantee._repr_html_()
    assert PACGuarantee.from_json(guarantee.to_json()) == guarantee
    assert guarantee.to_dict()["certified_membership"] == figure


@pytest.mark.parametrize("n_values", [1, 2, 5, 16])
def test_without_noise_it_is_that_of_who_sees_the_integers(n_values: int) -> None:
    """Against an enumeration: in every group of candidates that agree the likelier answer."""
    values = np.arange(16) % n_values
    law = LogdetBackend().calibrate(Support(values[:, None] * 1.0), Target(9.0), IdentityMetric())
    figure = certified_membership(law, BALANCED, BALANCED.weights)
    members = BALANCED.membership()
    right = [
        sum(max(row[values == v].sum(), (~row[values == v]).sum()) for v in range(n_values)) / 16
        for row in members
        if row.any() and not row.all()
    ]
    assert figure == (pytest.approx(max(right), rel=1e-9), 1.0)
    assert law.is_constant == (n_values == 1)


def test_left_out_where_asked_for_and_where_there_is_nothing_to_certify() -> None:
    model = PACPrivate(
        GaussianNB(), budget=1 / 4, release=Parameters(certify=False), secret=Subsets(16)
    ).fit(X, Y)
    assert model.guarantee_.certified_membership is None
    assert "certified" not in str(model.guarantee_).lower()
    candidates = CandidateSpace.of(["a", "b"])
    law = LogdetBackend().calibrate(
        Support(np.array([[0.0], [1.0]])), Target(0.1), IdentityMetric()
    )
    assert certified_membership(law, candidates, candidates.weights) is None


def test_the_figure_is_the_same_whichever_candidate_is_true() -> None:
    """Rule 10: it is computed from the law and the list, before anything is drawn."""
    figures = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(6):
            model = PACPrivate(
                LinearDiscriminantAnalysis(), secret=Subsets(8, seed=0), random_state=seed
            ).fit(X, Y)
            figures.add(model.guarantee_.certified_membership)
    assert len(figures) == 1


def test_later_releases_of_a_session_state_none() -> None:
    """Their noise depends on what came out before, and so would a figure about it."""
    with PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(16)) as session:
        first = session.release(GaussianNB(), budget=0.25)
        second = session.release(GaussianNB(), budget=0.25)
    assert first.guarantee.certified_membership is not None
    assert second.guarantee.certified_membership is None
    assert session.guarantee_.certified_membership is None
