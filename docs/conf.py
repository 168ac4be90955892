"""Configuration of the documentation, which builds without a network."""

from __future__ import annotations

import os
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from cycler import cycler
from numpydoc.docscrape import NumpyDocString

from pacsklearn.plots.palette import COLOURS, STYLE

with (Path(__file__).parents[1] / "pyproject.toml").open("rb") as file:
    described = tomllib.load(file)["project"]

release = described["version"]
# Empty until the repository has an address: then it is set in pyproject.toml, and nowhere else.
repository = described.get("urls", {}).get("Repository", "")

project = "pacsklearn"
author = "The pacsklearn developers"
project_copyright = f"2026, {author}"
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_codeautolink",
    "sphinx_gallery.gen_gallery",
]
# The style of the gallery is a function; guarantee_ is an attribute of two documented classes;
# Sphinx-Gallery links the code of its examples itself, and doctests stand in docstrings.
suppress_warnings = [
    "codeautolink.match_block",
    "codeautolink.match_name",
    "config.cache",
    "ref.python",
]
exclude_patterns = ["_build", "sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = False

# The blocks of a page run in one namespace: names are resolved to their page of the reference.
codeautolink_concat_default = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False


def defined_as(name: str) -> str:
    """Name that code of pages is resolved to: that of the module in which a class is written."""
    module, _, attribute = name.rpartition(".")
    found = getattr(import_module(module), attribute)
    return f"{found.__module__}.{found.__qualname__}" if isinstance(found, type) else name


autosummary_context = {"defined_as": defined_as}


def one_style(*event: Any) -> None:
    """Every figure of the gallery looks like the displays, on light and on dark pages."""
    import matplotlib as mpl

    del event
    mpl.rcParams.update({**STYLE, "axes.prop_cycle": cycler(color=COLOURS), "savefig.dpi": 110})


# A figure is what these pages are for, and an example that fails is an error.
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery", "../examples/studies"],
    "gallery_dirs": ["auto_examples", "auto_studies"],
    # The studies run where the folder with their tables is named; elsewhere they are shown only.
    "filename_pattern": "plot_" if os.environ.get("PACSKLEARN_DATA") else "gallery/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": "generated/examples",
    "download_all_examples": False,
    "reset_modules": ("matplotlib", one_style),
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "furo"
if repository:
    html_theme_options = {
        "source_repository": repository,
        "source_branch": "main",
        "source_directory": "docs/",
        "footer_icons": [{"name": "Repository", "url": repository, "html": "Repository"}],
    }
pygments_style = "tango"
pygments_dark_style = "github-dark"
html_title = f"pacsklearn {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_js_files = ["tables.js"]


# A section of ours: known to the parser, shown by the function below.
NumpyDocString.sections["Guarantee"] = ""


def keep_guarantees(*event: Any) -> None:
    """Show the "Guarantee" section of a mechanism, which numpydoc would drop, before its notes."""
    lines: list[str] = event[-1]
    if "Guarantee" not in lines:
        return
    start = lines.index("Guarantee")
    end = start + 2
    while end + 1 < len(lines) and not (lines[end] and set(lines[end + 1]) == {"-"}):
        end += 1
    end = len(lines) if end + 1 >= len(lines) else end
    promise = ["", "*Guarantee.*", "", *lines[start + 2 : end], ""]
    del lines[start:end]
    notes = lines.index("Notes") + 2 if "Notes" in lines else None
    if notes is None:
        lines += ["", "Notes", "-----", *promise]
    else:
        lines[notes:notes] = promise


def setup(app: Any) -> None:
    """Run before numpydoc, which listens at 500."""
    app.connect("autodoc-process-docstring", keep_guarantees, priority=400)
