from __future__ import annotations

from html.parser import HTMLParser

import pytest
from pacsklearn_publish.card import ABOUT, checked_about, model_card
from pacsklearn_publish.inputs import model_inputs
from sklearn.linear_model import LogisticRegression

from pacsklearn.kernel.guarantee.statement_rendering import percent_up


def card(private, about=None):
    released = private.released_estimator_
    return model_card(
        released, private.guarantee_, model_inputs(released), about or {}, has_onnx=True
    )


def test_headings_are_those_of_skops(private):
    from skops.card._templates import SKOPS_TEMPLATE

    markdown, page = card(private)
    ours = {line.lstrip("# ") for line in markdown.splitlines() if line.startswith("##")}
    theirs = {name.rpartition("/")[2] for name in SKOPS_TEMPLATE}
    assert theirs - ours == {"Model Plot", "Citation"}
    for heading in ours:
        assert f">{heading.replace('&', '&amp;')}<" in page


def test_the_promise_and_its_limits_are_on_the_card(private):
    markdown, page = card(private)
    figure = f"{percent_up(private.guarantee_.posterior_membership)} %"
    assert figure in markdown
    assert figure in page
    assert "150 records; a secret selection of them was used" in markdown
    assert len(private.guarantee_.not_covered) > 2
    for sentence in private.guarantee_.not_covered:
        assert sentence in markdown


def test_words_that_stand_for_parameters_left_alone_are_not_shown(private):
    released = LogisticRegression()
    released.penalty = "deprecated"  # what scikit-learn 1.8's signature says
    guarantee, inputs = private.guarantee_, model_inputs(private.released_estimator_)
    for shown in model_card(released, guarantee, inputs, {}, has_onnx=True):
        assert "deprecated" not in shown
        assert "fit_intercept" in shown


def test_what_the_curator_says_is_text_and_nothing_else(private):
    seen = set()

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.add(tag)

    words = "<script>alert(1)</script> | [x](javascript:1)\n# heading"
    markdown, page = card(private, dict.fromkeys(ABOUT.keys() - {"license"}, words))
    Tags().feed(page)
    assert "script" not in seen
    assert "<script" not in markdown
    assert "\n# heading" not in markdown
    assert "](javascript" not in markdown.replace("\\[x]", "")


def test_words_about_a_model_are_checked():
    assert checked_about(None) == {}
    with pytest.raises(ValueError, match="about"):
        checked_about({"titel": "x"})
    with pytest.raises(ValueError, match="text"):
        checked_about({"title": 1})
    with pytest.raises(ValueError, match="identifier"):
        checked_about({"license": "mit\npipeline_tag: other"})
