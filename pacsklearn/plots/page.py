"""Documents that are saved as a page, which opens without a network, or as data."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from pacsklearn.kernel.ledger.replacement_file import replace_text


def page_kind(path: Path) -> str:
    """Return how the name of a page ends.

    Raises
    ------
    ValueError
        When no page and no data end so.
    """
    kind = path.suffix.lower()
    if kind not in {".html", ".htm", ".json"}:
        raise ValueError(f"path must end in .html or .json, got {path.name!r}.")
    return kind


class Page(ABC):
    """A document with a page and data."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""

    @abstractmethod
    def to_html(self) -> str:
        """Return one self-contained page."""

    def to_json(self, **options: Any) -> str:
        """Return the data as JSON text. ``options`` go to :func:`json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it: a page for ``.html``, the data alone for ``.json``.

        Parameters
        ----------
        path : str or path-like
            A file that is there is replaced.

        Returns
        -------
        Path

        Raises
        ------
        ValueError
            When the name ends otherwise.
        """
        target = Path(path)
        text = self.to_json(indent=1) if page_kind(target) == ".json" else self.to_html()
        replace_text(target, text)
        return target


def filled(name: str, **parts: str) -> str:
    """Return a page of a file in ``pages``, with these parts of HTML in their places."""
    text = resources.files("pacsklearn.plots").joinpath("pages", name).read_text("utf-8")
    return Template(text).substitute(parts)
