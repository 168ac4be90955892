"""``python -m pacsklearn.cli``."""

from __future__ import annotations

from pacsklearn.cli import main

main()
