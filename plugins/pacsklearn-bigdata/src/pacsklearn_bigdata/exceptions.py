"""What is raised about tables."""

from __future__ import annotations

from pacsklearn.exceptions import PacsklearnError


class TableError(PacsklearnError, ValueError):
    """A table that is read in passes is not what was said of it, or cannot be used that way."""
