"""What a model is and what it promises, for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template

from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee


def stated_guarantee(document: dict[str, Any]) -> Guarantee | PufferfishGuarantee:
    """Guarantee that a document states; its derived figures are computed anew."""
    kind = PufferfishGuarantee if "aggregation" in document else Guarantee
    return kind.from_json(json.dumps(document))


def model_card(facts: dict[str, Any]) -> str:
    """Card of a model, in Markdown; says nothing about what was asked."""
    promise = str(stated_guarantee(facts["guarantee"]))
    text = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    card = Template(text, trim_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return card.render(facts, promise=promise)
