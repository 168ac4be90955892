"""The promise: true, complete, and readable."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from pacsklearn import Guarantee
from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM
from pacsklearn.kernel.guarantee.figure import Figure, confidence_figure
from pacsklearn.kernel.guarantee.status import relied_on
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.sampled.sampled_secret import SampledSecret

Make = Callable[..., Guarantee]


def spoken(guarantee: Guarantee) -> str:
    return " ".join(str(guarantee).split())


def test_json_round_trip(make_guarantee: Make) -> None:
    guarantee = make_guarantee(confidence=1 - 1e-6, prior_identification=0.25)
    assert Guarantee.from_json(guarantee.to_json(indent=2)) == guarantee
    facts = json.loads(guarantee.to_json())
    assert facts["posterior_membership"] == guarantee.posterior_membership
    assert facts["posterior_identification"] == guarantee.posterior_identification


def test_derived_bounds_are_never_read_from_the_text(make_guarantee: Make) -> None:
    facts = json.loads(make_guarantee().to_json())
    facts["posterior_membership"] = 0.5
    assert Guarantee.from_json(json.dumps(facts)).posterior_membership > 0.588


def test_no_text_for_numbers_json_does_not_have(make_guarantee: Make) -> None:
    with pytest.raises(ValueError, match="JSON"):
        make_guarantee(spent=math.inf).to_json()


def test_it_is_frozen_and_comparable(make_guarantee: Make) -> None:
    guarantee = make_guarantee()
    assert guarantee == make_guarantee()
    assert guarantee != make_guarantee(spent=1 / 65)
    with pytest.raises(dataclasses.FrozenInstanceError):
        guarantee.spent = 0.0  # type: ignore[misc]


@pytest.mark.parametrize("prior", [0.5, 0.75, 0.9])
def test_numbers(make_guarantee: Make, prior: float) -> None:
    guarantee = make_guarantee(prior_membership=prior)
    assert guarantee.posterior_membership == posterior_success(1 / 64, prior)
    assert guarantee.posterior_identification == posterior_success(1 / 64, 1 / 128)
    assert dp_epsilon(guarantee.posterior_membership) == pytest.approx(
        math.log(guarantee.posterior_membership / (1 - guarantee.posterior_membership)), rel=1e-9
    )
    assert dp_epsilon(guarantee.posterior_membership, 1e-2) < dp_epsilon(
        guarantee.posterior_membership
    )


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (Figure("a", None, "share", ""), "none"),
        (Figure("a", "word", "", ""), "word"),
        (Figure("a", 0.6, "share", ""), "at most 60.00 %"),
        (Figure("a", 0.6, "share", "", 0.5), "at most 60.00 % (50.00 % blindly)"),
        (Figure("a", 0.25, "nats", ""), "at most 0.250 nats"),
        (Figure("a", 2.0001, "epsilon", ""), "2.001"),
        (Figure("a", 12345678, "count", ""), "12,345,678"),
        (confidence_figure(1 - 1e-6), "0.999999"),
    ],
)
def test_a_figure_has_its_unit(figure: Figure, shown: str) -> None:
    assert str(figure) == shown


@pytest.mark.parametrize(
    ("confidence", "for_release", "words"),
    [
        (1.0, True, "by proof"),
        (1 - 1e-6, True, "with confidence 0.999999 of it"),
        (1 - 2e-6, False, "a release needs"),
        (0.0, False, "nothing is promised"),
    ],
)
def test_what_is_not_sure_enough_is_not_for_release(
    confidence: float, for_release: bool, words: str
) -> None:
    status = relied_on(confidence, "by proof", " of it")
    assert (status.for_release, words in status.reason) == (for_release, True)
    assert ("proved" in confidence_figure(confidence).meaning) == (confidence == 1)


def test_the_first_figure_says_what_it_comes_from(make_guarantee: Make) -> None:
    for capped, why in ((MEMBERSHIP_AIM, "the cap"), ("", "the nats"), ("a guess", "the nats")):
        assert why in make_guarantee(capped=capped).figures[0].meaning


def test_known_answers(make_guarantee: Make) -> None:
    guarantee = make_guarantee()
    assert guarantee.posterior_membership == pytest.approx(0.58815, abs=1e-5)
    assert dp_epsilon(guarantee.posterior_membership) == pytest.approx(0.36, abs=5e-3)


def test_unequal_candidates_are_easier_to_name(make_guarantee: Make) -> None:
    entropy = -0.9 * math.log(0.9) - 0.1 * math.log(0.1)
    guarantee = make_guarantee(n_candidates=2, entropy=entropy, prior_identification=0.9)
    assert guarantee.posterior_identification == posterior_success(1 / 64, 0.9)


def test_text_and_html_say_everything(make_guarantee: Make) -> None:
    guarantee = make_guarantee()
    for text in (spoken(guarantee), guarantee._repr_html_()):
        for part in (
            "PAC privacy guarantee: proved",
            "unlimited computing power",
            "all 1,500 rows",
            "at most 58.82 %",
            "guessing blindly has 50.00 %",
            "0.015625 of 0.015625 nats",
            "1 of 128 subsets (4.852 nats)",
            "half of them",
            "naming the subset",
            "coef_, intercept_",
            "classes_, n_features_in_",
            "single outcomes",
            "other fits",
            "equation 3",
            "logdet (pacsklearn 0.1)",
            "not a claim of DP",
        ):
            assert part in text, part


def test_lines_fit_a_terminal(make_guarantee: Make) -> None:
    long = make_guarantee(released=tuple(f"step_{i}: coef_" for i in range(60)))
    assert max(map(len, str(long).splitlines())) <= 88


@pytest.mark.parametrize("spent", [1e-12, 1e-9, 1e-5, 1 / 64, 1 / 4, 0.5, 0.69, 3.0])
@pytest.mark.parametrize("prior", [0.5, 0.6, 0.875])
def test_percentages_never_promise_too_much(
    make_guarantee: Make, spent: float, prior: float
) -> None:
    guarantee = make_guarantee(spent=spent, prior_membership=prior)
    found = re.search(r"at most ([\d.]+) %; guessing blindly has ([\d.]+) %", guarantee.promise)
    assert found is not None
    told, blind = float(found[1]) / 100, float(found[2]) / 100
    assert told >= guarantee.posterior_membership - 1e-14
    assert told <= min(guarantee.posterior_membership + 1.01e-4, 1.0)
    assert blind == pytest.approx(prior, abs=1e-4)


@pytest.mark.parametrize(("spent", "told"), [(0.0, 0.0), (0.25, 0.25), (9.0, math.log(2))])
def test_what_the_prior_and_the_release_leave_of_the_privacy_of_a_uniform_secret(
    make_guarantee: Make, spent: float, told: float
) -> None:
    """Eight candidates, two of which hold all the weight: as far from uniform as ln 2 from ln 8."""
    guarantee = make_guarantee(
        n_candidates=8, entropy=math.log(2), prior_identification=0.5, budget=9.0, spent=spent
    )
    assert guarantee.intrinsic_privacy == pytest.approx(-math.log(4))
    assert guarantee.residual_privacy == pytest.approx(-math.log(4) - told)
    assert guarantee.remaining_entropy == pytest.approx(math.log(2) - told)
    for entropy in (math.log(8), math.log(8) + 1e-12):
        uniform = make_guarantee(n_candidates=8, entropy=entropy, budget=9.0, spent=spent)
        assert uniform.intrinsic_privacy == 0.0
        assert uniform.residual_privacy == -min(spent, entropy)
    sampled = dataclasses.replace(guarantee, secret=SampledSecret())
    assert sampled.intrinsic_privacy is sampled.residual_privacy is None
    assert sampled.remaining_entropy is None
    assert json.loads(sampled.to_json())["residual_privacy"] is None


@pytest.mark.parametrize("spent", [1e-9, 1 / 64, 0.1, 1 / 4, 0.5])
def test_figures_of_the_text_are_the_guarantee_s(make_guarantee: Make, spent: float) -> None:
    """Epsilon by its own definition: even odds go up to r when odds grow by exp(epsilon)."""
    guarantee = make_guarantee(budget=0.5, spent=spent, metered=spent)
    success = guarantee.posterior_membership
    found = re.search(r"same membership bound\s+([\d.]+)-DP \(a comparison", str(guarantee))
    assert found is not None
    assert 0 <= float(found[1]) - math.log(success / (1 - success)) < 1.01e-3
    text = spoken(guarantee)
    assert f"spent {spent:.6g} of 0.5 nats of mutual information" in text
    found = re.search(r"at least ([\d.]+) nats of the secret", text)
    assert found is not None
    assert 0 <= math.log(128) - spent - float(found[1]) < 1.01e-5
    assert "mutual information at most" not in text
    assert "charged so far" not in text


def test_a_promise_beyond_what_was_charged_is_not_called_spent(make_guarantee: Make) -> None:
    text = spoken(make_guarantee(budget=0.5, spent=0.5, metered=0.25))
    assert "mutual information at most 0.5 nats, whatever is asked" in text
    assert "charged so far 0.25 of 0.5 nats" in text
    assert "spent" not in text


def test_figures_of_a_cap_on_success(make_guarantee: Make) -> None:
    """The cap bounds what it is about; everything else follows from the information."""
    guarantee = make_guarantee(
        budget=0.6,
        spent=0.55,
        criterion="membership",
        capped=MEMBERSHIP_AIM,
        mutual_information=0.25,
    )
    text = spoken(guarantee)
    assert "at most 55.00 %, the cap being 60.00 %; criterion membership" in text
    assert "mutual information at most 0.25 nats" in text
    assert guarantee.posterior_membership == 0.55 < posterior_success(0.25, 0.5)
    assert guarantee.posterior_identification == posterior_success(0.25, 1 / 128)
    assert "at least 4.60203 nats" in text


def test_nats_of_the_text_are_rounded_outward(make_guarantee: Make) -> None:
    text = spoken(make_guarantee(budget=0.5, spent=0.12345612, metered=0.0123456789))
    assert "mutual information at most 0.123457 nats" in text
    assert "at least 4.72857 nats of the secret" in text  # 4.728574...
    assert "charged so far 0.0123457 of 0.5 nats" in text


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "proved"),
        ({"spent": 0.0, "noiseless": True}, "proved"),
        ({"spent": 0.0, "noiseless": True, "confidence": 1 - 1e-6}, "proved at a confidence"),
        ({"confidence": 1 - 1e-6}, "proved at a confidence"),
        ({"confidence": 1 - 1.1e-6}, "estimated"),
        ({"confidence": 0.0}, "estimated"),
        ({"confidence": 0.0, "spent": 9.0}, "estimated"),
        ({"confidence": 0.0, "not_for_release": "seen"}, "not for release"),
        ({"spent": 9.0}, "hides nothing"),
        ({"spent": 4.852, "noiseless": True}, "hides nothing"),
        ({"spent": 9.0, "not_for_release": "seen"}, "not for release"),
        # Nats of a membership's success of 99.989 and 99.991 % at even odds.
        ({"spent": 0.69202}, "proved"),
        ({"spent": 0.69225}, "hides nothing"),
        ({"spent": 2.0, "certified_membership": 0.999}, "proved"),
        ({"spent": 2.0, "certified_membership": 0.9999}, "hides nothing"),
        ({"spent": 4.8519, "certified_membership": 0.999}, "proved"),  # naming it is no easier
        ({"spent": 0.8, "mutual_information": 4.0, "capped": "membership of one unit"}, "proved"),
        ({"spent": 0.6, "mutual_information": math.log(128)}, "hides nothing"),
    ],
)
def test_the_weakest_reason_to_rely_on_it_comes_first(
    make_guarantee: Make, changes: dict[str, Any], kind: str
) -> None:
    guarantee = make_guarantee(**changes)
    assert guarantee.status.kind == kind
    assert guarantee.for_release == kind.startswith("proved")
    assert json.loads(guarantee.to_json())["status"]["kind"] == kind
    assert Guarantee.from_json(guarantee.to_json()).status == guarantee.status


@pytest.mark.parametrize(
    ("n_releases", "scope", "seen"),
    [
        (0, "All that this session may release, alone. ", "all that this session may release"),
        (1, "This release alone. ", "this release"),
        (2, "The 2 releases of one session alone. ", "all 2 releases of this session so far"),
    ],
)
def test_the_promise_says_what_was_seen(
    make_guarantee: Make, n_releases: int, scope: str, seen: str
) -> None:
    promise = make_guarantee(n_releases=n_releases).promise
    assert promise.startswith(scope)
    assert seen in promise.removeprefix(scope)


def test_a_certain_leak_has_no_finite_epsilon(make_guarantee: Make) -> None:
    assert "no finite epsilon" in spoken(make_guarantee(spent=1.0))


def test_a_noiseless_release_says_so(make_guarantee: Make) -> None:
    guarantee = make_guarantee(budget=9.0, spent=math.log(128), noiseless=True)
    assert guarantee.status.kind == "hides nothing"
    assert "HIDES NOTHING" in spoken(guarantee)
    assert "HIDES NOTHING" in guarantee._repr_html_()


def test_reproducible_noise_is_not_for_release(make_guarantee: Make) -> None:
    guarantee = make_guarantee(not_for_release="seeded", noiseless=True, confidence=0.9)
    assert str(guarantee.status) == "NOT FOR RELEASE: seeded"
    assert "NOT FOR RELEASE" in str(guarantee)
    assert "NOT FOR RELEASE" in guarantee._repr_html_()


def test_a_certificate_states_its_confidence(make_guarantee: Make) -> None:
    assert str(make_guarantee(confidence=1 - 1e-6).status) == "holds with confidence 0.999999"


def test_other_rates_and_units_are_worded(make_guarantee: Make) -> None:
    text = spoken(make_guarantee(prior_membership=0.75, privacy_unit="group"))
    assert "each group is in 0.25 or 0.75 of them" in text
    assert "any one group of rows was used" in text


def test_units_that_are_no_secret_are_counted(make_guarantee: Make) -> None:
    assert "1,234 row(s) that all candidate subsets contain" in spoken(
        make_guarantee(n_unprotected=1234)
    )


@pytest.mark.parametrize("field", ["noise", "bound", "privacy_unit"])
def test_html_is_escaped(make_guarantee: Make, field: str) -> None:
    attack: dict[str, Any] = {field: "<script>alert(1)</script>"}
    assert "<script>" not in make_guarantee(**attack)._repr_html_()


def test_html_of_lists_is_escaped(make_guarantee: Make) -> None:
    attack = "<img src=x onerror='alert(1)'>"
    guarantee = make_guarantee(
        released=(attack,),
        public=(attack,),
        not_covered=(attack,),
        sources=(attack,),
        provenance=(Provenance(attack, attack, attack, attack),),
    )
    assert "<img" not in guarantee._repr_html_()


@pytest.mark.parametrize(
    ("n_releases", "words"), [(1, "this very release:"), (2, "these very releases together:")]
)
def test_a_certified_figure_says_of_what(make_guarantee: Make, n_releases: int, words: str) -> None:
    certified = {"certified_membership": 0.51, "certified_confidence": 0.99}
    assert f"Certified for {words} at most 51" in spoken(
        make_guarantee(n_releases=n_releases, **certified)
    )


def test_an_epsilon_is_compared_with_where_there_is_one(make_guarantee: Make) -> None:
    for spent, value, words in (
        (1 / 64, 0.36, "A differentially"),
        (9.0, None, "No differentially"),
    ):
        guarantee = make_guarantee(spent=spent)
        figure = {each.name: each for each in guarantee.figures}["equal-success epsilon"]
        assert figure.value == (value and pytest.approx(value, abs=5e-3))
        assert figure.meaning.startswith(words)
        assert guarantee.scope == "this release alone"


@pytest.mark.parametrize(
    ("certified", "words"),
    [
        (0.55, "certified at most 55.00 % at confidence 0.999999; implied by the cap 59.93 %"),
        (0.5999, "success at most 59.93 %, the cap being 60.00 %"),
    ],
)
def test_the_promised_figure_stands_first_and_is_the_smaller(
    make_guarantee: Make, certified: float, words: str
) -> None:
    """A certificate's margin may put it above the cap, which holds all the same."""
    guarantee = make_guarantee(
        budget=0.6,
        spent=0.5993,
        criterion="membership",
        capped=MEMBERSHIP_AIM,
        mutual_information=1.0,
        certified_membership=certified,
        certified_confidence=1 - 1e-6,
    )
    assert words in spoken(guarantee)
    assert "59.93 %" in guarantee.promise
    assert "59.99 %" not in spoken(guarantee)
    assert guarantee.figures[0].value == min(certified, 0.5993)


def test_a_certificate_above_what_the_information_implies_says_so(make_guarantee: Make) -> None:
    figures = {"certified_membership": 0.999, "certified_confidence": 0.99}
    assert "%, by the information; computed again from draws" in spoken(make_guarantee(**figures))
