"""What a model is and what it promises, for people."""

from __future__ import annotations

import json
from typing import Any

from pacsklearn.kernel.guarantee.guarantee import Guarantee


def model_card(facts: dict[str, Any], statement: dict[str, Any]) -> str:
    """Card of a model, in Markdown; says nothing about what was asked."""
    guarantee = Guarantee.from_json(json.dumps(statement["guarantee"]))
    columns = [f"| {each['name']} | {each['kind']} |" for each in facts["signature"]]
    classes = [] if facts["classes"] is None else [f"Classes: {facts['classes']}", ""]
    about = (
        f"Private answers ({facts['answers']}) about the data set `{facts['dataset']}`. A row on "
        "which the candidates for the secret disagree costs "
        f"{facts['step_budget']:.6g} nats, any other nothing; a row that you have asked before is "
        "free and gets the same answer."
    )
    return "\n".join(
        [
            f"# {facts['name']}",
            "",
            about,
            "",
            *classes,
            "## Promise",
            "",
            "```text",
            str(guarantee),
            "```",
            "",
            "## Columns",
            "",
            "| name | kind |",
            "|---|---|",
            *columns,
            "",
        ]
    )
