"""Configuration of the documentation, which builds without a network."""

from __future__ import annotations

import tomllib
from pathlib import Path

with (Path(__file__).parents[1] / "pyproject.toml").open("rb") as file:
    release = tomllib.load(file)["project"]["version"]

project = "pacsklearn"
author = "The pacsklearn developers"
project_copyright = f"2026, {author}"
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build"]
nitpicky = False

autodoc_typehints = "none"
autodoc_member_order = "bysource"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"pacsklearn {release}"
html_show_sourcelink = False
