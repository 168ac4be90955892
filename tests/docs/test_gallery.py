"""The examples of the gallery run, without a warning, and show something.

A warning is an error, so that none of them releases with noise that can be predicted.
"""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "gallery"
EXAMPLES = sorted(FOLDER.glob("plot_*.py"))


@pytest.fixture(autouse=True)
def pyplot(monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    # Showing draws, as the gallery's builder does.
    monkeypatch.setattr(
        plt, "show", lambda: [plt.figure(number).canvas.draw() for number in plt.get_fignums()]
    )
    yield plt
    plt.close("all")


def test_there_are_a_dozen():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.stem for example in EXAMPLES])
def test_an_example_has_a_title_and_runs_on_bundled_data(example):
    text = example.read_text(encoding="utf-8")
    title, rule, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert set(rule) == {"="}
    assert len(rule) == len(title)
    assert "pacsklearn.datasets" not in text


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.stem for example in EXAMPLES])
def test_an_example_runs(example, pyplot):
    runpy.run_path(str(example))
    assert pyplot.get_fignums()


STUDIES = sorted((FOLDER.parent / "studies").glob("plot_*.py"))
# All of them take a minute and a half; two stand for them in the ordinary run.
ORDINARY = ("plot_1_credit", "plot_5_text")


def test_there_are_eight_studies_that_say_what_goes_wrong_without_care():
    assert len(STUDIES) == 8
    for study in STUDIES:
        assert "# **Without care.** " in study.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "study",
    [
        pytest.param(study, marks=() if study.stem in ORDINARY else pytest.mark.soak)
        for study in STUDIES
    ],
    ids=[study.stem for study in STUDIES],
)
def test_a_study_runs(study, pyplot, shared_data, monkeypatch):
    monkeypatch.setenv("PACSKLEARN_DATA", str(shared_data))
    runpy.run_path(str(study))
    assert pyplot.get_fignums()
