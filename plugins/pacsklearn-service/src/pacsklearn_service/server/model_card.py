"""What a model is and what it promises, for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template

from pacsklearn.kernel.guarantee.guarantee import Guarantee


def model_card(facts: dict[str, Any]) -> str:
    """Return the card of a model, in Markdown; it says nothing about what was asked."""
    promise = str(Guarantee.from_dict(facts["guarantee"]))
    text = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    card = Template(text, trim_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return card.render(facts, promise=promise)
