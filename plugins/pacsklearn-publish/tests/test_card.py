from __future__ import annotations

import json
import re
import zipfile
from html import unescape
from html.parser import HTMLParser

import pytest
from pacsklearn_publish import load_bundle, publish
from pacsklearn_publish.card import model_card
from pacsklearn_publish.card_record import ABOUT, card_record, checked_about
from pacsklearn_publish.inputs import model_inputs
from pacsklearn_publish.publishing import bill_of_materials
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge, RidgeClassifier

from pacsklearn import (
    Membership,
    Nats,
    PACPrivate,
    Parameters,
    SampledSubsets,
    SRPPPrivate,
    Subsets,
)
from pacsklearn.kernel.guarantee.statement_rendering import percent_up
from pacsklearn.plots.published_schema import check_document
from pacsklearn.priors import Range

NAMES = {
    "information",
    "success",
    "success, implied",
    "equal-success epsilon",
    "unit of privacy",
    "candidates",
    "rate",
    "confidence",
}


def record(private, about=None, signer=""):
    released, guarantee = private.released_estimator_, private.guarantee_
    return card_record(
        released,
        guarantee,
        inputs=model_inputs(released),
        about=about or {},
        published="2026-11-24",
        signer=signer,
        software=bill_of_materials("model", guarantee.provenance),
        files=["model.skops"],
    )


def card(private, about=None):
    return model_card(record(private, about))


def test_headings_are_those_of_skops(private):
    from skops.card._templates import SKOPS_TEMPLATE

    markdown, page = card(private)
    ours = {line.lstrip("# ") for line in markdown.splitlines() if line.startswith("##")}
    theirs = {name.rpartition("/")[2] for name in SKOPS_TEMPLATE}
    assert theirs - ours == {"Model Plot", "Citation"}
    for heading in ours:
        assert f">{heading.replace('&', '&amp;')}<" in page


def test_a_bundle_states_everything_once_and_shows_it_in_both_views(bundle, keys, private):
    found = load_bundle(bundle, key=keys[1])
    stated = json.loads(found.read("card.json"))
    check_document(stated)
    assert stated["signer"] == found.signed_by
    assert stated["published"] == found.manifest["published"]
    assert {figure["name"] for figure in stated["figures"]} >= NAMES
    figures = {figure["name"]: figure["value"] for figure in stated["figures"]}
    guarantee = private.guarantee_
    assert figures["information"] == guarantee.information
    assert figures["success, implied"] == guarantee.posterior_membership
    assert figures["success"] == guarantee.certified_membership
    assert (figures["candidates"], figures["rate"], figures["records"]) == (16, 0.5, 150)
    page = unescape(re.sub("<[^>]+>", " ", found.read("card.html").decode()))
    texts = [stated["promise"], stated["status"], stated["published"], stated["signer"]]
    texts += [*stated["not_covered"], *stated["public"], *stated["released"]]
    for figure in stated["figures"]:
        texts += [figure["name"], figure["meaning"]]
    texts += [f"{percent_up(figures['success, implied'])} %"]
    texts += [f"{one['name']} {one['version']}" for one in stated["software"]]
    for text in texts:
        assert text in page
        assert text in found.card


CASES = {
    "cap": lambda X, y: PACPrivate(
        RidgeClassifier(), budget=Membership(0.6), secret=Subsets(16)
    ).fit(X, y > 150),
    "quarter": lambda X, y: PACPrivate(
        RidgeClassifier(), budget=Nats(0.1), secret=Subsets(16, rate=0.25)
    ).fit(X, y > 150),
    "sampled": lambda X, y: PACPrivate(
        Ridge(), budget=Nats(0.1), secret=SampledSubsets(), release=Parameters(prior=Range(0, 400))
    ).fit(X, y),
    "property": lambda X, y: SRPPPrivate(RidgeClassifier(), budget=2.0).fit(
        X[:, 2:], y > 150, secret=X[:, 1] > 0
    ),
}


@pytest.mark.product(only=2)
@pytest.mark.parametrize("name", CASES)
def test_cards_of_every_kind_of_promise_follow_the_schema(name):
    private = CASES[name](*load_diabetes(return_X_y=True))
    stated = record(private, signer="0" * 64)
    check_document(stated)
    markdown, page = model_card(stated)
    assert private.guarantee_.promise in markdown
    if name == "cap":
        (success,) = (each for each in stated["figures"] if each["name"].startswith("success"))
        assert f"{percent_up(success['value'])} %" in stated["promise"]
    assert "None" not in re.sub(r"parameters.*", "", page)
    rate = [figure["value"] for figure in stated["figures"] if figure["name"] == "rate"]
    assert rate == {"quarter": ["0.25 or 0.75"], "property": []}.get(name, [0.5])


def test_a_document_with_a_bound_of_another_kind_does_not_follow_the_schema(private):
    stated = record(private)
    stated["figures"][0]["unit"] = "bits"
    with pytest.raises(ValueError, match="figures/0/unit"):
        check_document(stated)


def test_what_was_looked_up_stands_apart(private):
    stated = record(private)
    assert stated["looked_up"] == []
    assert "Looked up in the rows: nothing." in model_card(stated)[0]


def test_a_card_is_short_enough_for_one_page(private, tmp_path):
    about = dict.fromkeys(
        ABOUT.keys() - {"license"},
        "Twelve words about the model, its data, its use and limits. " * 2,
    )
    path = publish(private, tmp_path / "model.pac", about=about)
    page = load_bundle(path, key=None).read("card.html").decode()
    # 7,800 characters of 7.6 points are an A4 page with its margins; printed and looked at.
    assert len(re.sub("<style>.*?</style>|<[^>]+>", "", page, flags=re.DOTALL)) < 7800


def test_what_the_curator_says_is_text_and_nothing_else(private):
    seen = set()

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.add(tag)

    words = "<script>alert(1)</script> | [x](javascript:1)\n# heading"
    for said in (words, f"```\n{words}"):
        markdown, page = card(private, dict.fromkeys(ABOUT.keys() - {"license"}, said))
        Tags().feed(page)
        assert "script" not in seen
        assert "<script" not in markdown
    assert "\n# heading" not in markdown
    assert "](javascript" not in markdown.replace("\\[x]", "")


def test_names_of_columns_do_nothing_to_who_reads_a_card(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    name = "age\x1b]0;x\x07 \x00 \u202etxt\u2028 \u0645\u06cc\u200c\u062e"
    model = PACPrivate(Ridge(), budget=0.25, secret=Subsets(16))
    path = publish(model.fit(X.rename(columns={"age": name}), y), tmp_path / "odd.pac")
    with zipfile.ZipFile(path) as file:
        views = [file.read(view).decode() for view in ("README.md", "card.html")]
    for view in views:
        assert r"age\x1b]0;x\x07 \x00 \u202etxt\u2028 " + "\u0645\u06cc\u200c\u062e" in view
        assert not set("\x1b\x07\x00\u202e\u2028") & set(view)


def test_a_card_shows_names_of_columns_as_they_are(private):
    markdown_it = pytest.importorskip("markdown_it")
    stated = record(private)
    odd = ["*a*", "_b_", "c_", "__d__", "`e`", "~~f~~", "&lt;", r"\*g*", "[h](i)", "<b>", "|", "#"]
    stated["model"]["columns"] = odd
    stated["public"], stated["about"]["description"] = ["looked up: *a* _b_ &amp;"], "# all"
    page = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).render(model_card(stated)[0])
    page = page.partition("Privacy guarantee")[2]
    assert not re.search("<(em|strong|code|s|a|b|h1)>", page.replace("<code class", ""))
    assert f"columns (inputs.json): {', '.join(odd)}." in unescape(page)
    assert "looked up: *a* _b_ &amp;" in unescape(page)


def test_words_about_a_model_are_checked():
    assert checked_about(None) == {}
    with pytest.raises(ValueError, match="about"):
        checked_about({"titel": "x"})
    with pytest.raises(ValueError, match="text"):
        checked_about({"title": 1})
    with pytest.raises(ValueError, match="identifier"):
        checked_about({"license": "mit\npipeline_tag: other"})
