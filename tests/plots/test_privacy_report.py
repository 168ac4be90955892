"""The page says what was promised, needs no network, and holds nothing secret."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge, RidgeClassifier

from pacsklearn import PACPrivate, PrivacySession, SRPPPrivate, Subsets
from pacsklearn.audit.auditor import run_audit
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.plots.noise_spectrum import NoiseSpectrum
from pacsklearn.plots.report import privacy_report
from pacsklearn.srpp import PrevalenceScenario
from pacsklearn.tabular import privacy_utility_curve

generator = np.random.default_rng(5)
X, y = load_iris(return_X_y=True)
# Odd digits, so that a row would be recognised wherever it turned up.
X = np.round(X + generator.uniform(-0.05, 0.05, X.shape), 9)


@pytest.fixture(scope="module")
def model():
    return PACPrivate(RidgeClassifier(), secret=Subsets(16)).fit(X, y)


@pytest.fixture(scope="module")
def full(model):
    return privacy_report(
        model,
        audit=run_audit(model, X, y, n_trials=20),
        curve=privacy_utility_curve(
            RidgeClassifier(), X, y, budgets=[1 / 16, 1], secret=Subsets(16), n_releases=3
        ),
        spectrum=NoiseSpectrum.of(generator.normal(size=(16, 3))),
    )


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.addresses, self.open, self.tags = [], [], set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.addresses += [v for k, v in attributes if k in {"src", "href", "action", "data"}]


def test_the_page_is_self_contained(full, tmp_path):
    path = full.save(tmp_path / "report.html")
    assert path.stat().st_size < 2_000_000
    page = Page()
    text = path.read_text(encoding="utf-8")
    page.feed(text)
    assert all(address.startswith("data:image/png;base64,") for address in page.addresses)
    assert len(page.addresses) == 4
    assert not page.tags & {"link", "iframe", "object", "form"}
    assert "@import" not in text
    assert "url(" not in text
    embedded = re.search(r"id='privacy-statement'>(.*)</script>", text, re.DOTALL)[1]
    assert json.loads(embedded) == full.statement


def test_everything_asked_for_is_there(full, model):
    statement = full.statement
    assert PACGuarantee.from_json(json.dumps(statement["guarantee"])) == model.guarantee_
    assert statement["promise"] == model.guarantee_.promise
    assert len(statement["threat_model"]) == 4
    assert statement["not_covered"] == list(model.guarantee_.not_covered)
    assert set(statement["curator_only"]) == {"utility", "noise_spectrum", "audit"}
    names = {entry["name"] for entry in statement["software"]}
    assert {"python", "pacsklearn", "scikit-learn", "logdet", "linear_classifier"} <= names
    assert "optimal_membership" in names
    page = full.to_html()
    for title in ("promised", "released", "Against whom", "not covered", "Utility", "Noise"):
        assert title in page
    assert json.loads(full.to_json()) == statement


def test_publication_leaves_the_curators_part_out(model, full):
    audit = run_audit(model, X, y, attacks="identification", n_trials=20)
    report = privacy_report(model, audit=audit, for_publication=True)
    assert report.statement["curator_only"] == {}
    assert "curator only" not in report.to_html()


def numbers_in(text):
    """Numbers with many digits, cut to seven decimals: numpy prints no more than eight."""
    return set(re.findall(r"\d+\.\d{7}", text))


def test_nothing_secret_is_shown(full, model):
    """No row, no raw output, no centre of the noise, no secret index; of any kind of source."""
    halves = np.array_split(np.arange(150), 2)
    outputs = [RidgeClassifier().fit(X[half], y[half]).coef_ for half in halves]
    secret = numbers_in(" ".join(f"{value:.9f}" for value in [*X.ravel(), *np.ravel(outputs)]))
    assert numbers_in(str(X[:3])) & secret  # a leak would be seen
    start = KMeans(2, init=X[:2] + 1e-12, n_init=1)  # rows themselves are refused
    with PrivacySession(X, y, budget=1 / 4, secret=Subsets(16)) as session:
        released = session.release(Ridge(), budget=1 / 16)
        sources = [model, session, released, session.guarantee_]
        sources.append(PACPrivate(start, secret=Subsets(16)).fit(X))
        texts = [full.to_html()]
        for source in sources:
            report = privacy_report(source)
            texts += [report.to_html(), repr(report), report._repr_html_()]
    for text in texts:
        bare = re.sub(r"base64,[^']*", "", text)
        assert not numbers_in(bare) & secret
        for word in ("_index", "log_belief", "centres", "candidate_numbers"):
            assert word not in bare


def test_sessions_list_their_releases():
    with PrivacySession(X, y, budget=1 / 4, secret=Subsets(16)) as session:
        session.release(Ridge(), budget=1 / 16)
        session.release(RidgeClassifier(), budget=1 / 16)
        releases = privacy_report(session).statement["released"]["releases"]
    assert [each["kind"] for each in releases] == ["parameters", "parameters"]


def test_sliced_releases_are_reported(tmp_path):
    model = SRPPPrivate(Ridge(), scenario=PrevalenceScenario(n_draws=4))
    model.fit(X[:, :3], X[:, 3], secret=y == 1)
    report = privacy_report(model)
    assert "scenario" in report.statement["threat_model"][1]
    assert "Renyi" in report.save(tmp_path / "r.html").read_text()


def test_words_are_escaped(model):
    page = privacy_report(model, title="<script>alert(1)</script>").to_html()
    assert "<script>alert" not in page
    assert "</script>alert" not in page


def test_what_has_no_guarantee_is_named(model, tmp_path):
    with pytest.raises(TypeError, match="Ridge"):
        privacy_report(Ridge())
    with pytest.raises(TypeError, match="first"):
        privacy_report(PACPrivate(Ridge()))
    with pytest.raises(ValueError, match="html"):
        privacy_report(model).save(tmp_path / "report.pdf")


def test_without_matplotlib_there_are_tables(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    report = privacy_report(model)
    assert report.figures == ()
    assert "<img" not in report.to_html()
