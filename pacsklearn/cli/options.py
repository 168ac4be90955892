"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer

from pacsklearn._optional import optional
from pacsklearn.kernel.ledger.replacement_file import replace_text, replacement_file

Data: TypeAlias = Annotated[Path, typer.Argument(help="CSV or Parquet file with the rows.")]
_NAME = typer.Option(
    help="Qualified name, such as sklearn.svm.LinearSVC; join the steps of a pipeline by +."
)
EstimatorName: TypeAlias = Annotated[str, _NAME]
OptionalEstimatorName: TypeAlias = Annotated[
    str | None, typer.Option(help=f"{_NAME.help} Without it a model is chosen.")
]
Params: TypeAlias = Annotated[
    str | None, typer.Option(help="JSON object of the estimator's parameters.")
]
StudentParams: TypeAlias = Annotated[
    str | None, typer.Option(help="JSON object of the student's parameters.")
]
Jobs: TypeAlias = Annotated[int | None, typer.Option(help="Worker processes.")]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]


@dataclass(frozen=True)
class Roles:
    """Which columns of a table are what; ``columns`` of a command are these options."""

    target: Annotated[str | None, typer.Option(help="Column with the targets.")] = None
    groups: Annotated[
        str | None,
        typer.Option(help="Column with the unit of privacy (a person with several rows)."),
    ] = None
    identifier: Annotated[
        str | None, typer.Option("--id", help="Column that names rows; it is not used.")
    ] = None
    drop: Annotated[
        str | None, typer.Option(help="Columns that are not used, separated by commas.")
    ] = None


@dataclass(frozen=True)
class Columns(Roles):
    """The same, and what is publicly known about the others."""

    schema: Annotated[
        Path | None,
        typer.Option(
            help="Public codebook of the columns: Table Schema, JSON or YAML. 'from table' looks "
            "categories and ranges up in the rows, and publishes them exactly.",
        ),
    ] = None


@dataclass(frozen=True)
class Design:
    """How candidate subsets are drawn."""

    subsets: Annotated[int, typer.Option(help="Candidate subsets.")] = 128
    rate: Annotated[str, typer.Option(help="Share of the subsets each row is in.")] = "1/2"
    blocks: Annotated[
        int, typer.Option(help="Similar rows in a block of the subsets; 0 deals without blocks.")
    ] = 8
    subset_seed: Annotated[
        int | None, typer.Option(help="Public seed of the subsets; secret when not given.")
    ] = None

    @property
    def stated(self) -> dict[str, Any]:
        """Arguments of :class:`~pacsklearn.Subsets`."""
        return {
            "n": self.subsets,
            "rate": number(self.rate, "--rate"),
            "blocks": self.blocks or None,
            "seed": self.subset_seed,
        }


@dataclass(frozen=True)
class Limit:
    """A budget in its own words; several, separated by commas, where a command takes a list."""

    nats: Annotated[
        str | None, typer.Option(help="Mutual information with the secret, such as 1/16.")
    ] = None
    membership: Annotated[
        str | None, typer.Option(help="Cap on telling whether a row was used, such as 60%.")
    ] = None
    identification: Annotated[
        str | None, typer.Option(help="Cap on naming the subset, such as 20%.")
    ] = None
    k_of_n: Annotated[
        str | None,
        typer.Option(help="Cap on naming as many rows as a subset holds, k of them right; 35:20%."),
    ] = None
    renyi: Annotated[
        str | None,
        typer.Option(
            help="Renyi divergence between the releases under two secrets about the data, and its "
            "order: 1@4."
        ),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(help="A budget of a plugin as JSON, by its name and parameters."),
    ] = None
    allow_exact: Annotated[
        bool,
        typer.Option("--allow-exact", help="Allow a release that hides nothing: never publish it."),
    ] = False

    @property
    def listed(self) -> list[dict[str, Any]]:
        """Budgets that are given, each as :meth:`~pacsklearn.plugins.Budget.to_dict` has it.

        Raises
        ------
        ValueError
            When one cannot be read.
        """
        return [
            read_budget(name, text) | ({"allow_exact": True} if self.allow_exact else {})
            for name, texts in vars(self).items()
            if isinstance(texts, str)
            for text in ([texts] if name == "budget" else listed(texts))
        ]

    @property
    def given(self) -> dict[str, Any] | None:
        """The one budget that is given; None where none is.

        Raises
        ------
        ValueError
            When several are given, or one that cannot be read.
        """
        if len(budgets := self.listed) > 1:
            names = [_option(name) for name, text in vars(self).items() if isinstance(text, str)]
            raise ValueError(f"Give one budget: one of {', '.join(names)}, with one value.")
        return budgets[0] if budgets else None

    @property
    def stated(self) -> dict[str, Any]:
        """The one budget that is given; 1/16 nats where none is."""
        return self.given or replace(self, nats="1/16").listed[0]


@dataclass(frozen=True)
class Charge:
    """Whose charge to which ledger a release is."""

    ledger: Annotated[
        str | None,
        typer.Option(
            help="Account to charge: clinic.db, or postgresql://...; pacsklearn-ledger.db beside "
            "the output, which only counts, when not given; none for no account.",
        ),
    ] = None
    dataset: Annotated[str | None, typer.Option(help="Data set within the ledger's database.")] = (
        None
    )
    user: Annotated[
        str | None, typer.Option(help="Whose charge it is, where each user has a ceiling.")
    ] = None
    project: Annotated[
        str | None, typer.Option(help="For which project, where each has a ceiling.")
    ] = None


@dataclass(frozen=True)
class Results:
    """Where what was computed goes, and a picture of it."""

    output: Annotated[Path | None, typer.Option(help="Where the result goes (JSON).")] = None
    plot: Annotated[Path | None, typer.Option(help="Where a picture goes (PNG, SVG).")] = None
    force: Force = False

    def check(self) -> None:
        """Refuse, before anything is computed, what cannot be written or drawn."""
        if self.output is not None:
            checked_output(self.output, force=self.force)
        if self.plot is not None:
            checked_output(self.plot, force=self.force)
            optional("matplotlib", extra="plot", purpose="--plot")
            from matplotlib.figure import Figure

            if self.plot.suffix.lower()[1:] not in Figure().canvas.get_supported_filetypes():
                raise ValueError(f"--plot must end in .png or .svg, got {self.plot.name!r}.")

    def write(self, result: Any, display: Callable[[], Any]) -> None:
        """Write a result, and draw it where a picture is wanted."""
        if self.output is not None:
            with writing(self.output):
                replace_text(self.output, result.to_json(indent=1))
        if self.plot is not None:
            figure = display().figure_
            with writing(self.plot), replacement_file(self.plot, 0o666) as file:
                figure.savefig(file, format=self.plot.suffix.lower()[1:], dpi=150)


@dataclass(frozen=True)
class Files:
    """Where what is released goes."""

    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the model goes; a bundle with --key.")
    ]
    statement: Annotated[
        Path | None, typer.Option(help="Where the statement goes; beside the model by default.")
    ] = None
    key: Annotated[
        Path | None, typer.Option(help="Your private key: the model is written as a bundle.")
    ] = None
    about: Annotated[
        Path | None, typer.Option(help="JSON file with what the bundle's card says.")
    ] = None
    force: Force = False


def number(text: Any, name: str) -> float:
    """Number that a user wrote as 0.25, 1/4, 25%, 1e-3 or 2^-8.

    Raises
    ------
    ValueError
    """
    written = str(text)
    try:
        if re.fullmatch(r"\d+\^-?\d+", written):
            base, _, exponent = written.partition("^")
            return float(base) ** int(exponent)
        if re.fullmatch(r"[\d.]+/[\d.]+", written):
            above, _, below = written.partition("/")
            return float(above) / float(below)
        if written.endswith("%"):
            return float(written[:-1]) / 100
        return float(written)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(
            f"{name} must be a number such as 0.25, 1/4, 25% or 2^-8, got {written!r}."
        ) from None


# Parameters of a budget in the order of its text, what parts them, and an example.
_WRITTEN: Final = {
    "nats": (("nats",), None, "1/16"),
    "membership": (("cap",), None, "60%"),
    "identification": (("cap",), None, "20%"),
    "k_of_n": (("k", "cap"), ":", "35:20%"),
    "renyi": (("epsilon", "order"), "@", "1@4"),
}


def read_budget(name: str, text: str) -> dict[str, Any]:
    """Return the budget of an option's text, as :meth:`~pacsklearn.plugins.Budget.to_dict` has it.

    Parameters
    ----------
    name : str
        Of a budget, or ``"budget"`` for one of a plugin, as JSON.
    text : str
        Such as ``60%``, ``35:20%`` for k and the cap, or ``1@4`` for epsilon and its order.

    Raises
    ------
    ValueError
    """
    if name == "budget":
        made = json_object(text, "--budget, one of a plugin (nats are --nats 1/16),")
        if not isinstance(made.get("name"), str):
            raise ValueError("budget must name a registered budget: '{\"name\": ...}'.")
        return made
    names, sign, example = _WRITTEN[name]
    parts = text.split(sign) if sign else [text]
    if len(parts) != len(names) or (name == "k_of_n" and not parts[0].isdecimal()):
        raise ValueError(f"{_option(name)} must be such as {example}, got {text!r}.")
    values = {each: number(part, _option(name)) for each, part in zip(names, parts, strict=True)}
    return {"name": name, **values, **({"k": int(parts[0])} if name == "k_of_n" else {})}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def json_object(text: str, name: str) -> dict[str, Any]:
    """Return the object of a text of JSON.

    Raises
    ------
    ValueError
    """
    try:
        stated = json.loads(text)
    except json.JSONDecodeError:
        raise ValueError(f"{name} must be a JSON object, got text that is no JSON.") from None
    if not isinstance(stated, dict):
        raise ValueError(f"{name} must be a JSON object, got {type(stated).__name__}.")
    return stated


def json_of(path: Path) -> Any:
    """Return what a file of JSON holds; None where it holds something else."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))  # as editors on Windows write
    except ValueError:  # no JSON, or no text at all
        return None


def listed(text: str | None) -> list[str]:
    """Return names that a user separated by commas."""
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file that the block writes, and charges nothing for, where the disk fails.

    Raises
    ------
    OSError
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        words = f"{error.strerror}; nothing was written there"
        raise OSError(error.errno, words, str(path)) from error


def checked_output(path: Path, *, force: bool = False) -> Path:
    """Check that a file can be written: what is released cannot be taken back.

    Raises
    ------
    ValueError
    """
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {path.parent} for {path.name}; create it first.")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"Nothing can be written in the folder {path.parent}; name another.")
    if path.exists() and not force:
        raise ValueError(f"{path} is there already; give another name, or --force.")
    if path.is_file():
        with path.open("rb") as there:
            if there.read(16) == b"SQLite format 3\0":
                raise ValueError(f"{path} is a database, which may be a ledger; give another name.")
    return path
