"""Model cards: what a model is for, what is promised about it, and where it ends."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any, Final

from pacsklearn.kernel.guarantee.guarantee import Guarantee
from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee

ABOUT: Final = {
    "title": "name of the model",
    "description": "what it predicts, in a sentence or two",
    "data": "whose data, from when, how many",
    "intended_use": "what it may be used for",
    "limits": "what it must not be used for, and where it is known to fail",
    "utility": "how good it is, as far as you choose to state it",
    "license": "identifier of a licence, such as cc-by-4.0",
    "authors": "who answers for it",
    "contact": "where to ask",
}
"""What a curator may say about a model. Each is public once it is published."""

_UNSAID: Final = "The curator did not say."
_STYLE: Final = """
:root{color-scheme:light dark}
body{font:16px/1.55 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin-top:2rem;border-bottom:1px solid #8886}
h3{font-size:1.05rem}table{border-collapse:collapse;display:block;overflow-x:auto}
th,td{text-align:left;vertical-align:top;padding:.2rem 1rem .2rem 0;border-bottom:1px solid #8883}
pre{overflow-x:auto;padding:.8rem;background:#8882}
@media print{body{margin:0;max-width:none;font-size:11pt}h2{break-after:avoid}}
"""
# (level, heading, blocks); a block is a paragraph, a list, a table or code.
_Section = tuple[int, str, list[Any]]


def checked_about(about: Mapping[str, Any] | None) -> dict[str, str]:
    """What a curator says about a model.

    Raises
    ------
    ValueError
        When a name is not one of :data:`ABOUT`, or its text is none.
    """
    description = dict(about or {})
    for name, text in description.items():
        if name not in ABOUT:
            raise ValueError(f"about may say {', '.join(ABOUT)}; got {name!r}.")
        if not isinstance(text, str):
            raise ValueError(f"about[{name!r}] must be a text, got {type(text).__name__}.")
    # It goes into the metadata of the card, where a text could add entries of its own.
    if "license" in description and not re.fullmatch(
        r"[A-Za-z0-9.+-]{1,64}", description["license"]
    ):
        raise ValueError("about['license'] must be an identifier, such as cc-by-4.0.")
    return description


def model_card(
    model: Any,
    guarantee: Guarantee | PufferfishGuarantee,
    inputs: Mapping[str, Any],
    about: Mapping[str, str],
    *,
    has_onnx: bool,
) -> tuple[str, str]:
    """Card of a released model, with the headings that skops gives its cards.

    Returns
    -------
    markdown, html : str
        The Markdown begins with the metadata that model hubs read.
    """
    title = about.get("title") or type(model).__name__
    sections = _sections(model, guarantee, inputs, about, has_onnx=has_onnx)
    head = ["---", "library_name: sklearn", f"license: {about.get('license') or 'unknown'}"]
    head += ["tags:", "- sklearn", "- skops", "- pacsklearn", "- privacy", "model_format: skops"]
    lines = [*head, "---", "", f"# {_plain(title)}", ""]
    body = [f"<h1>{html.escape(title)}</h1>"]
    for level, heading, blocks in sections:
        lines += [f"{'#' * level} {heading}", ""]
        body.append(f"<h{level}>{html.escape(heading)}</h{level}>")
        for block in blocks:
            lines += [*_markdown(block), ""]
            body.append(_html(block))
    page = (
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"{''.join(body)}</body></html>"
    )
    return "\n".join(lines), page


def _sections(
    model: Any,
    guarantee: Guarantee | PufferfishGuarantee,
    inputs: Mapping[str, Any],
    about: Mapping[str, str],
    *,
    has_onnx: bool,
) -> list[_Section]:
    fields = [
        (field["name"], field.get("type", ""), _limits(field))
        for field in inputs["columns"]["fields"]
    ]
    rows = getattr(getattr(guarantee, "secret", None), "n_rows", 0)
    data = [about.get("data") or _UNSAID]
    if rows:
        data.append(f"{rows:,} records; a secret selection of them was used.")
    parameters = [
        (name, repr(value))
        for name, value in sorted(model.get_params().items())
        if not (isinstance(value, str) and value in _NOT_GIVEN)
    ]
    status = str(guarantee.status)
    files = "model.skops and model.onnx" if has_onnx else "model.skops"
    return [
        (2, "Model description", [about.get("description") or _UNSAID]),
        (3, "Intended uses & limitations", [
            f"Intended use. {about.get('intended_use') or _UNSAID}",
            f"Limits. {about.get('limits') or _UNSAID}",
        ]),
        (3, "Training Procedure", [
            *data,
            f"Released with noise: {', '.join(guarantee.released) or 'nothing'}.",
            f"Public as it is: {', '.join(guarantee.public) or 'nothing'}.",
        ]),
        (4, "Hyperparameters", [(("parameter", "value"), parameters)]),
        (2, "Privacy guarantee", [f"{status[:1].upper()}{status[1:]}.", guarantee.promise]),
        (3, "What is not covered", [list(guarantee.not_covered)]),
        (3, "Evaluation Results", [
            about.get("utility") or "The curator chose to state none.",
        ]),
        (2, "Inputs", [(("column", "type", "values"), fields),
                       f"It can be asked: {', '.join(inputs['methods'])}."]),
        (2, "How to Get Started with the Model", [
            f"The model is in {files}. Check the signature before you load it:",
            _START,
        ]),
        (2, "Model Card Authors", [about.get("authors") or _UNSAID]),
        (2, "Model Card Contact", [about.get("contact") or _UNSAID]),
    ]  # fmt: skip


# What scikit-learn's signatures say of parameters that are on their way out and were left alone.
_NOT_GIVEN: Final = ("deprecated", "warn")

_START: Final = (
    "```python\nfrom pacsklearn_publish import load_bundle\n\n"
    'bundle = load_bundle("model.pac", key="curator.key.pub")\n'
    "print(bundle.guarantee)\nmodel = bundle.model()\n```"
)


def _limits(field: Mapping[str, Any]) -> str:
    if "categories" in field:
        return ", ".join(map(str, field["categories"]))
    if "trueValues" in field:
        return f"{field['falseValues'][0]}, {field['trueValues'][0]}"
    bounds = field.get("constraints", {})
    ends = [bounds.get("minimum"), bounds.get("maximum")]
    return "" if ends == [None, None] else f"{ends[0]} to {ends[1]}"


def _markdown(block: Any) -> list[str]:
    if isinstance(block, str):
        return [block if block.startswith("```") else _plain(block)]
    if isinstance(block, list):
        return [f"- {_plain(item)}" for item in block]
    header, rows = block
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return lines + [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]


def _html(block: Any) -> str:
    if isinstance(block, str):
        if block.startswith("```"):
            code = block.partition("\n")[2].removesuffix("```")
            return f"<pre>{html.escape(code)}</pre>"
        return f"<p>{html.escape(block)}</p>"
    if isinstance(block, list):
        return "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in block) + "</ul>"
    header, rows = block
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, and that can hold no markup of its own."""
    return " ".join(text.split()).replace("<", "&lt;").replace("[", "\\[")


def _cell(text: Any) -> str:
    return _plain(str(text)).replace("|", "\\|")
