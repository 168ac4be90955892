"""The examples of the gallery run, without a warning, and show something.

A warning is an error, so that none of them releases with noise that can be predicted.
"""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

from pacsklearn.plots.palette import COLOURS, STYLE

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "gallery"
EXAMPLES = sorted(FOLDER.glob("plot_*.py"))


# Pages of the documentation that are light, and dark.
PAGES = ("#ffffff", "#131416")
FAINTEST = 1.5


def luminance(colour):
    """Relative luminance, as WCAG 2 defines it."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(colour, page):
    light, dark = sorted((luminance(colour), luminance(page)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def check_look(figure):
    """Nothing drawn vanishes on a light or a dark page, and no legend covers a title or an axis."""
    from matplotlib.collections import PathCollection

    colours = []
    for ax in figure.axes:
        colours += [line.get_color() for line in ax.lines]
        colours += [bar.get_facecolor() for bar in ax.patches]
        for cloud in ax.collections:
            if isinstance(cloud, PathCollection):
                colours += list(cloud.get_facecolor())
    for colour in colours:
        assert min(contrast(colour, page) for page in PAGES) > FAINTEST, colour
    renderer = figure.canvas.get_renderer()
    for legend in figure.legends:
        place = legend.get_window_extent(renderer)
        inside = figure.bbox.padded(1)
        assert inside.x0 <= place.x0 <= place.x1 <= inside.x1, "the legend is cut off"
        for ax in figure.axes:
            covered = ax.get_tightbbox(renderer)
            # A pixel of a box's rim is no overlap.
            assert not place.padded(-1).overlaps(covered.padded(-1)), "the legend covers axes"


def test_what_cannot_be_seen_is_noticed(pyplot):
    for colour in ("k", "#440154", "w", "#fde725"):
        figure, ax = pyplot.subplots()
        ax.plot([0, 1], color=colour)
        with pytest.raises(AssertionError):
            check_look(figure)
    figure, ax = pyplot.subplots()
    ax.plot([0, 1], label="over the title")
    ax.set_title("a title")
    figure.legend(loc="upper center", bbox_to_anchor=(0.5, 0.95))
    with pytest.raises(AssertionError, match="covers"):
        check_look(figure)
    figure, ax = pyplot.subplots(figsize=(2, 3))
    ax.plot([0, 1], label="wider than the figure, which cuts it off on both sides")
    figure.legend(loc="lower center")
    with pytest.raises(AssertionError, match="cut off"):
        check_look(figure)


@pytest.fixture(autouse=True)
def pyplot(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt
    from cycler import cycler

    plt.close("all")
    matplotlib.use("Agg")

    # Showing draws, as the gallery's builder does.
    monkeypatch.setattr(
        plt, "show", lambda: [plt.figure(number).canvas.draw() for number in plt.get_fignums()]
    )
    with plt.rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLOURS)}):
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


# All of them take half a minute; three stand for them in the ordinary run.
ORDINARY_EXAMPLES = ("plot_01", "plot_03", "plot_04")


@pytest.mark.product(only=1)
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(
            example,
            marks=() if example.stem.startswith(ORDINARY_EXAMPLES) else pytest.mark.soak,
            id=example.stem,
        )
        for example in EXAMPLES
    ],
)
def test_an_example_runs(example, pyplot):
    runpy.run_path(str(example))
    assert pyplot.get_fignums()
    for number in pyplot.get_fignums():
        check_look(pyplot.figure(number))


STUDIES = sorted((FOLDER.parent / "studies").glob("plot_*.py"))
# All of them take a minute and a half; one stands for them in the ordinary run.
ORDINARY = ("plot_5_text",)


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
    for number in pyplot.get_fignums():
        check_look(pyplot.figure(number))
