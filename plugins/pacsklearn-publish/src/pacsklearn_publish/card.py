"""Model cards as Markdown and as HTML that prints on one page."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from pacsklearn.audit.html_table import html_table
from pacsklearn.kernel.guarantee.figure import Figure

_UNSAID: Final = "The curator did not say."
_MANY: Final = 12
_STYLE: Final = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem;margin-bottom:.3rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:1.6rem 0 .4rem;border-bottom:1px solid #8886}
h3,h4{font-size:1.05rem;margin:1rem 0 .3rem}
p,ul{margin:.3rem 0;overflow-wrap:anywhere}ul{padding-left:1.2rem}
table{border-collapse:collapse;display:block;overflow-x:auto}
th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8883}
td:nth-child(-n+2){min-width:6rem}td:first-child{white-space:nowrap}
pre{overflow-x:auto;padding:.6rem;background:#8882}
@page{margin:9mm 10mm}
@media print{
body{margin:0;padding:0;max-width:none;font-size:7.6pt;line-height:1.27}
h1{font-size:13pt;margin:0}h2{font-size:9pt;margin:.5em 0 .2em;break-after:avoid}
h3,h4{font-size:8pt;margin:.4em 0 .1em;break-after:avoid}p,ul{margin:.15em 0}
table{display:table;width:100%}th,td{padding:.1em .8em .1em 0}td:nth-child(2){min-width:13em}
.rest{columns:2;column-gap:6mm}pre{white-space:pre-wrap;padding:.3em;margin:.2em 0}}
"""
# Kinds of characters that are not seen: controls, direction of reading, ends of lines.
_UNSEEN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
# What begins emphasis, code, a link, a tag or an entity; and, at the start of a line, a block.
_MARKUP: Final = re.compile(r"[`*~\[<]|\\(?=[^\w\s])|(?<![^\W_])_|&(?=#?\w+;)|^[#>+=-](?=[ #>=-])")
_KEPT: Final = "\n\t\u200c\u200d"  # the last two shape letters
# (level, heading, blocks); a block is a paragraph, a list, a table or code.
_Section = tuple[int, str, list[Any]]


def model_card(card: Mapping[str, Any]) -> tuple[str, str]:
    """Return the views of a model card, with the headings that skops gives its cards.

    Parameters
    ----------
    card : mapping
        What :func:`pacsklearn_publish.card_record.card_record` states.

    Returns
    -------
    markdown, html : str
        The Markdown begins with the metadata that model hubs read. The HTML prints on one page.
    """
    card = _visible(card)
    title, sections = card["title"], _sections(card)
    licence = card["about"].get("license") or "unknown"
    head = ["---", "library_name: sklearn", f"license: {licence}"]
    head += ["tags:", "- sklearn", "- skops", "- pacsklearn", "- privacy", "model_format: skops"]
    lines = [*head, "---", "", f"# {_plain(title)}", "", _origin(card), ""]
    body = [f"<h1>{html.escape(title)}</h1><p>{html.escape(_origin(card))}</p>"]
    for place, (level, heading, blocks) in enumerate(sections):
        if place == 1:  # the promise and its figures stand over both columns of the rest
            body.append("<div class='rest'>")
        lines += [f"{'#' * level} {heading}", ""]
        body.append(f"<h{level}>{html.escape(heading)}</h{level}>")
        for block in blocks:
            lines += [*_markdown(block), ""]
            body.append(_html(block))
    page = (
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"{''.join(body)}</div></body></html>"
    )
    return "\n".join(lines), page


def _origin(card: Mapping[str, Any]) -> str:
    signed = f"signed with the key {card['signer']}" if card["signer"] else "not signed"
    return f"Model card and statement of privacy. Published {card['published']}, {signed}."


def _sections(card: Mapping[str, Any]) -> list[_Section]:
    about, model, status = card["about"], card["model"], card["status"]
    figures = [(each["name"], str(Figure(**each)), each["meaning"]) for each in card["figures"]]
    facts = [(fact["name"], "", fact["text"]) for fact in card["facts"]]
    software = ", ".join(f"{one['name']} {one['version']}" for one in card["software"])
    columns = model["columns"]
    more = f", and {len(columns) - _MANY} more" if len(columns) > _MANY else ""
    return [
        (2, "Privacy guarantee", [
            card["promise"],
            f"{card['framework']}: {status}.",
            (("figure", "value", "what it means"), [*figures, *facts]),
        ]),
        (3, "What is not covered", [list(card["not_covered"])]),
        (2, "Model description", [about.get("description") or _UNSAID]),
        (3, "Intended uses & limitations", [
            f"Intended use. {about.get('intended_use') or _UNSAID}",
            f"Limits. {about.get('limits') or _UNSAID}",
        ]),
        (3, "Training Procedure", [
            f"Data. {about.get('data') or _UNSAID}",
            f"Released with noise ({card['noise']}): {_listed(card['released'])}.",
            f"Public as it is: {_listed(card['public'])}.",
            f"Looked up in the rows: {_listed(card['looked_up'])}.",
        ]),
        (4, "Hyperparameters", [model["parameters"]]),
        (3, "Evaluation Results", [about.get("utility") or "The curator chose to state none."]),
        (2, "Inputs", [
            f"{len(columns)} columns (inputs.json): {', '.join(columns[:_MANY])}{more}.",
            f"It can be asked: {', '.join(model['methods'])}.",
        ]),
        (2, "How to Get Started with the Model", [
            f"The model is in {' and '.join(model['files'])}. Check the signature first:",
            _START,
            f"Software: {software}; all of it in software.cdx.json.",
        ]),
        (2, "Model Card Authors", [about.get("authors") or _UNSAID]),
        (2, "Model Card Contact", [about.get("contact") or _UNSAID]),
    ]  # fmt: skip


_START: Final = (
    "```python\nfrom pacsklearn_publish import load_bundle\n\n"
    'model = load_bundle("model.pac", key="curator.key.pub").model()\n```'
)


def _visible(said: Any) -> Any:
    """Return a record in whose texts what works on a terminal or turns words round is spelt out."""
    if isinstance(said, str):
        unseen = {
            each for each in said if unicodedata.category(each) in _UNSEEN and each not in _KEPT
        }
        return said.translate({ord(each): ascii(each)[1:-1] for each in unseen})
    if isinstance(said, Mapping):
        return {name: _visible(each) for name, each in said.items()}
    return [_visible(each) for each in said] if isinstance(said, (list, tuple)) else said


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"


def _markdown(block: Any) -> list[str]:
    if isinstance(block, str):
        return [block if block is _START else _plain(block)]
    if isinstance(block, list):
        return [f"- {_plain(item)}" for item in block]
    header, rows = block
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return lines + [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]


def _html(block: Any) -> str:
    if isinstance(block, str):
        if block is _START:
            code = block.partition("\n")[2].removesuffix("```")
            return f"<pre>{html.escape(code)}</pre>"
        return f"<p>{html.escape(block)}</p>"
    if isinstance(block, list):
        return "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in block) + "</ul>"
    return html_table(*block)


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, and that can hold no markup of its own."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split())).replace("\\<", "&lt;")


def _cell(text: Any) -> str:
    return _plain(str(text)).replace("|", "\\|")
