"""``pacsklearn key``, ``publish`` and ``verify``: a released model as a signed file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacsklearn.cli.console import Output, guarded
from pacsklearn.cli.options import Force, checked_output, writing
from pacsklearn.cli.publication import read_about


@guarded
def key(
    file: Annotated[Path, typer.Argument(help="Where the private key goes; .pub is added.")],
) -> Output:
    """Make an Ed25519 key to sign bundles with, and the public key that checks them."""
    from pacsklearn_publish.signature import make_key

    with writing(file):
        private, public = make_key(file)
    return Output(
        {"private": str(private), "public": str(public)},
        f"private key  {private}  (keep it; who has it can sign in your name)\n"
        f"public key   {public}  (give it away)",
    )


@guarded
def publish(
    model: Annotated[
        Path,
        typer.Argument(help="What `pacsklearn release`, `distill` or joblib.dump wrote; your own."),
    ],
    *,
    output: Annotated[Path, typer.Option(help="Where the bundle goes (.pac).")],
    key: Annotated[Path, typer.Option(help="Your private key; `pacsklearn key` makes one.")],
    about: Annotated[
        Path | None, typer.Option(help="JSON file with what you say about the model.")
    ] = None,
    onnx: Annotated[str, typer.Option(help="auto, required or none.")] = "auto",
    force: Force = False,
) -> Output:
    """Write a released model, its guarantee and its card into one signed file."""
    import joblib

    from pacsklearn.estimators.session_file import check_owner
    from pacsklearn_publish.bundle import load_bundle
    from pacsklearn_publish.publishing import publish as published

    checked_output(output, force=force)
    description = None if about is None else read_about(about)
    if not model.is_file():
        raise ValueError(f"There is no file {model}.")
    with model.open("rb") as file:
        # A pickle runs what was written into it: nobody else may have written it.
        check_owner(file, model)
        try:
            released = joblib.load(file)
        except (ImportError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - bytes that are no pickle raise anything
            kind = type(error).__name__
            raise ValueError(f"{model} holds no model that can be read ({kind}).") from None
    with writing(output):
        made = published(released, output, key=key, about=description, onnx=onnx)
    bundle = load_bundle(made, key=key)
    document = {"bundle": str(made), "signed_by": bundle.signed_by, **bundle.manifest}
    text = [
        str(bundle.guarantee.promise),
        "",
        f"bundle     {made}",
        f"holds      {', '.join(bundle.names)}",
        f"signed by  {bundle.signed_by[:16]}",
        f"ONNX       {bundle.manifest['model']['onnx']}",
    ]
    return Output(document, "\n".join(text))


@guarded
def verify(
    bundle: Annotated[Path, typer.Argument(help="What `pacsklearn publish` wrote.")],
    *,
    key: Annotated[Path, typer.Option(help="The curator's public key.")],
    ledger: Annotated[
        str | None,
        typer.Option(help="Ledger that must still hold what it held at the release."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print all that the guarantee states.")
    ] = False,
) -> Output:
    """Check a bundle: its signature, each file and the model. No code inside it is run."""
    from pacsklearn.cli.charged_ledger import ledger_uri
    from pacsklearn.universe.open_ledger import open_ledger
    from pacsklearn_publish.bundle import load_bundle

    opened = load_bundle(bundle, key=key)
    model = opened.model()
    checked = ["signature", "files", "guarantee", "model"]
    if ledger is not None:
        dataset = opened.guarantee.ledger_head.rpartition(" ")[0] or "default"
        address = ledger_uri(ledger)
        opened.check_ledger(open_ledger(address, ceiling=None, unit=None, dataset=dataset))
        checked.append("ledger")
    head = opened.guarantee.ledger_head
    document = {
        "verified": checked,
        "signed_by": opened.signed_by,
        "model": type(model).__name__,
        "guarantee": opened.guarantee.to_dict(),
        "ledger_head": head,
    }
    text = [
        str(opened.guarantee) if everything else opened.guarantee.summary,
        "",
        f"verified     {', '.join(checked)}",
        f"signed by    {opened.signed_by[:16]}",
        f"ledger head  {head or 'none: the release was charged to no database'}",
    ]
    return Output(document, "\n".join(text))
