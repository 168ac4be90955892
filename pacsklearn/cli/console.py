"""What a command prints, and how it ends."""

from __future__ import annotations

import functools
import inspect
import json
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, final, get_type_hints

import typer

from pacsklearn.cli import INTERRUPTED, missing_extra
from pacsklearn.cli.extensions import packages
from pacsklearn.exceptions import (
    AuditViolationError,
    LedgerCorruptedError,
    PacsklearnError,
    PluginWarning,
)
from pacsklearn.kernel.ledger.address import without_password

VIOLATED, BAD_USAGE, DEFECT = 1, 2, 3

_TRACEBACK = "PACSKLEARN_TRACEBACK"


@final
class Output(NamedTuple):
    """What a command has found out: as data for ``--json``, as a text for people, and its end."""

    data: Any
    text: str
    code: int = 0


_JSON = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]

_OPTIONS = {
    "allow_exact=True": "--allow-exact",
    "on_behalf_of(user=": "--user",
    "on_behalf_of(project=": "--project",
}
"""What messages name as Python has it, and the options that say the same."""

note = functools.partial(typer.echo, err=True)
"""Print on standard error."""


def guarded(command: Callable[..., Output | None]) -> Callable[..., None]:
    """Return a command whose errors are one sentence and an exit code, without traceback or data.

    A message of pacsklearn quotes no data; of other errors only the kind is shown, since their
    words may. A parameter that is a dataclass (``columns: Columns``) is an option for each field.
    What the command returns is printed, and with ``--json`` its data.
    """
    options, groups = _options_of(command)

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        as_json, given = bool(kwargs.pop("as_json", False)), dict(kwargs)
        for name, kind in groups.items():
            kwargs[name] = kind(**{each.name: kwargs.pop(each.name) for each in fields(kind)})
        try:
            _check_files_differ(given)
            with warnings.catch_warnings():
                warnings.showwarning = _show
                _tell(command(*args, **kwargs), as_json=as_json)
        except (AuditViolationError, LedgerCorruptedError) as error:
            _fail(error, str(error), VIOLATED, as_json=as_json)
        except (PacsklearnError, typer.BadParameter) as error:
            here = [option for words, option in _OPTIONS.items() if words in str(error)]
            text = str(error) + "".join(f" Here that is {option}." for option in here)
            _fail(error, text, BAD_USAGE, as_json=as_json)
        except (TypeError, ValueError, OSError, ImportError) as error:
            _fail(error, _own_words(error), BAD_USAGE, as_json=as_json)
        except KeyboardInterrupt as error:
            text = "Interrupted. What a ledger was charged before stays charged."
            _end(error, text, INTERRUPTED, as_json=as_json)
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if os.environ.get(_TRACEBACK):
                raise
            text = (
                f"A defect: {type(error).__name__}. Its message is withheld, since it may quote "
                f"data; {_TRACEBACK}=1 shows it."
            )
            _fail(error, text, DEFECT, as_json=as_json)

    # What typer reads.
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in options}
    return run


def _tell(output: Output | None, *, as_json: bool) -> None:
    if output is not None:
        data, text, code = output
        try:
            typer.echo(json.dumps(data, indent=1, allow_nan=False) if as_json else text)
        except OSError as error:
            done = f"{error.strerror}; what was charged or written stays so"
            raise OSError(error.errno, done, "standard output") from None
        raise typer.Exit(code)


def _check_files_differ(given: dict[str, Any]) -> None:
    """Refuse one file in two roles: what is written would replace what is read."""
    roles: dict[Path, str] = {}
    for role, value in given.items():
        if isinstance(value, Path) or (role in ("schema", "ledger") and value is not None):
            # Without failing at links that lead to themselves, as resolve does.
            place = Path(os.path.realpath(str(value).removeprefix("sqlite:///")))
            first = roles.setdefault(place, role)
            if first != role:
                shown = without_password(str(value))
                raise ValueError(
                    f"{first} and {role} must be two files, got {shown} for both; give another "
                    "name."
                )


def _options_of(
    command: Callable[..., Output | None],
) -> tuple[list[inspect.Parameter], dict[str, Any]]:
    """Return parameters as typer reads them, and the dataclass of each that stands for several."""
    hints = get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters.values()
    groups = {each.name: hints[each.name] for each in parameters if is_dataclass(hints[each.name])}
    options: list[inspect.Parameter] = []
    for parameter in parameters:
        kind = groups.get(parameter.name)
        if kind is None:
            options.append(parameter.replace(annotation=hints[parameter.name]))
            continue
        types = get_type_hints(kind, include_extras=True)
        options += (
            each.replace(annotation=types[each.name], kind=parameter.kind)
            for each in inspect.signature(kind).parameters.values()
        )
    if hints.get("return") is Output:
        json_ = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False)
        options.append(json_.replace(annotation=_JSON))
    return options, groups


def _fail(error: BaseException, text: str, code: int, *, as_json: bool) -> NoReturn:
    if os.environ.get(_TRACEBACK):
        raise error
    _end(error, text, code, as_json=as_json)


def _end(error: BaseException, text: str, code: int, *, as_json: bool) -> NoReturn:
    stated = {"error": type(error).__name__, "message": text, "exit_code": code}
    if as_json:
        with suppress(OSError):  # a standard output that is full is told of below
            typer.echo(json.dumps(stated))
    note(text if code == INTERRUPTED else f"Error: {text}")
    raise typer.Exit(code) from None


def _own_words(error: BaseException) -> str:
    """Return the message, if it was raised by pacsklearn itself."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.strerror}: {error.filename}"
    if isinstance(error, ImportError) and (text := missing_extra(error)):
        return text
    trace, module = error.__traceback__, ""
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    if module.partition(".")[0] in packages():
        return str(error)
    return (
        f"{type(error).__name__} in {module.partition('.')[0] or 'Python'}; its message is "
        f"withheld, since it may quote data. {_TRACEBACK}=1 shows it."
    )


def _show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    # A plugin that failed is told by its distribution; other words may quote data unless ours.
    ours = category.__module__.startswith("pacsklearn") or issubclass(category, PluginWarning)
    if ours or "the messages are withheld" in str(message):
        note(f"Warning: {message}")
