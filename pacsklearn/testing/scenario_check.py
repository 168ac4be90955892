"""The contract of a scenario."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pacsklearn.exceptions import ScenarioError
from pacsklearn.kernel.noise.sampler import Sampler
from pacsklearn.kernel.outputs.candidates import FitOptions
from pacsklearn.srpp.parameters.renyi import Renyi
from pacsklearn.srpp.parameters.slices import Slices
from pacsklearn.srpp.release.calibrated_worlds import (
    CalibratedWorlds,
    SlicedOptions,
    StatedRows,
    calibrated_worlds,
)
from pacsklearn.srpp.release.sliced_release import sliced_release
from pacsklearn.srpp.release.world_outputs import Query
from pacsklearn.srpp.scenarios.scenario import Scenario, SecretColumn, Worlds
from pacsklearn.testing.fingerprint import fingerprint
from pacsklearn.testing.rule import Rule

_FORM = Rule("form")
_LAW = Rule("law")
_LIST = Rule("list")

_TEXTS = ("protects", "releases", "description")
_STRICT = "let worlds() depend on its arguments and on the scenario's parameters alone."


def check_scenario(
    scenario: Scenario, X: Any, y: Any = None, *, secret: Any = None, query: Query | None = None
) -> None:
    """Check that nothing a release shows depends on which listed secret is true.

    Parameters
    ----------
    scenario : Scenario
        As the registry or a user would give it.
    X, y : array-likes
        Rows to try it on.
    secret : array-like of shape (n_rows,), optional
        What the secret is about, where the scenario is told.
    query : Query, optional
        What is released; the column means of ``X`` when not given.

    Raises
    ------
    AssertionError
        Naming the rule that is broken and what to do.

    Notes
    -----
    Each listed data set is forced to be the true one in turn, in the same call: where the table is
    a universe by forcing the draw; where it is released on, by handing in a table of that secret.

    1. *Form*: texts are there, equal in copies; the list is one of data sets of the rows given.
    2. *List*: secrets, laws, pairs and data sets are the same in every call, and the table is not
       written into.
    3. *Law*: centres, grid, axes, origin, scale and costs are the same bit for bit, whichever data
       set was the true one.
    4. *Guarantee*: so is all that is printed, but for the ledger's position.
    5. *Release*: without noise what leaves is the forced data set's own output, on that grid.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.srpp import PrevalenceScenario
    >>> from pacsklearn.testing import check_scenario
    >>> X = np.arange(80.0).reshape(40, 2)
    >>> check_scenario(PrevalenceScenario(n_draws=2), X, secret=np.arange(40) % 3 == 0)
    """
    _FORM.require_instance(scenario, Scenario)
    _check_texts(scenario)
    column = None if secret is None else SecretColumn(np.asarray(secret))
    released = Query.of_function(_column_means) if query is None else query
    options = SlicedOptions(Renyi(1.0), Slices(20))
    before = _content(X, y)
    first = _calibrated(scenario, released, StatedRows(X, y, column), options)
    _LIST.require(
        _content(X, y) == before,
        "The table that was given is another one after the data sets were listed.",
        "let neither worlds() nor a world's data write into it: copy the rows that are edited.",
    )
    reference: str | None = None
    for secret_index, position in _forced(first.worlds):
        table = X, y
        if not scenario.redrawn:
            world = first.worlds.worlds[first.worlds.law(secret_index, 0).members[position]]
            table = world.data(*(scenario.reference or (None, None, None))[:2])
        rows = StatedRows(*table, column)
        other = _calibrated(scenario, released, rows, options)
        _check_list(first.worlds, other.worlds)
        _check_law(first, other)
        if scenario.redrawn:
            rows = replace(rows, realized=other.worlds.secrets[secret_index])
        release = sliced_release(
            released,
            scenario,
            rows,
            options,
            fitting=FitOptions(),
            ledger=None,
            sampler=_Forced(position),
            provenance=(),
        )
        printed = json.dumps(release.guarantee.to_dict(), sort_keys=True)
        reference = printed if reference is None else reference
        Rule("guarantee").require(
            printed == reference,
            "What is printed differs between listed data sets forced to be the true one.",
            "print nothing that depends on which data set or secret is true.",
        )
        _check_release(other, release.value, released, secret_index, position)


def _content(*table: Any) -> str:
    """Return the hash of the numbers alone: frames and sparse matrices keep more beside them."""
    return fingerprint([each.toarray() if issparse(each) else np.asarray(each) for each in table])


def _check_texts(scenario: Scenario) -> None:
    other = copy.deepcopy(scenario)
    for name in _TEXTS:
        text = getattr(scenario, name, None)
        _FORM.require(
            isinstance(text, str) and text,
            f"{name} is {text!r}.",
            f"give {name} as a text that tells nothing about the rows.",
        )
        _FORM.require(
            getattr(other, name) == text,
            f"{name} differs between a scenario and its copy.",
            "derive it from the parameters alone.",
        )


def _calibrated(
    scenario: Scenario, query: Query, rows: StatedRows, options: SlicedOptions
) -> CalibratedWorlds:
    try:
        return calibrated_worlds(query, scenario, rows, options)
    except ScenarioError:
        raise
    except Exception as error:
        raise _FORM.broken(
            f"Its data sets cannot be released on: {type(error).__name__}: {error}.",
            "return Worlds over the rows given, as worlds() says; or give another query.",
        ) from error


def _check_list(first: Worlds, other: Worlds) -> None:
    for name in ("secrets", "priors", "laws", "pairs", "values", "weights"):
        _LIST.require(
            getattr(first, name) == getattr(other, name),
            f"{name} of the list differ between two calls.",
            _STRICT,
        )
    listed = [fingerprint([world.rows for world in each.worlds]) for each in (first, other)]
    _LIST.require(listed[0] == listed[1], "The data sets listed differ between two calls.", _STRICT)


def _check_law(first: CalibratedWorlds, other: CalibratedWorlds) -> None:
    for name in ("centres", "step", "axes", "origin"):
        mine, theirs = getattr(first.law, name), getattr(other.law, name)
        _LAW.require(
            mine.shape == theirs.shape and mine.tobytes() == theirs.tobytes(),
            f"{name} of the law differ between listed data sets forced to be the true one: an "
            "adversary reads them off the released numbers.",
            _STRICT,
        )
    _LAW.require(
        (first.law.scale, first.law.costs) == (other.law.scale, other.law.costs),
        "The price differs between listed data sets forced to be the true one.",
        _STRICT,
    )


def _check_release(
    calibrated: CalibratedWorlds, value: Any, query: Query, secret: int, position: int
) -> None:
    law = calibrated.law
    centre = law.centres[calibrated.worlds.law(secret, 0).members[position]]
    expected = query.form.decode(law.decode(centre), calibrated.outputs.first.layout)
    Rule("release").require(
        fingerprint(value) == fingerprint(expected),
        "Without noise a release is not the output that the law has for the true data set.",
        "let World.data depend on its arguments alone.",
    )


def _forced(worlds: Worlds) -> Iterator[tuple[int, int]]:
    """Yield each secret with the positions of its data sets; few of very many."""
    for secret in range(len(worlds.secrets)):
        n = len(worlds.law(secret, 0).members)
        for position in range(n if n <= 16 else 1):
            yield secret, position


@final
class _Forced(Sampler):
    """Draws the data set at a position, and no noise."""

    is_secure = False

    def __init__(self, position: int) -> None:
        self._position = position

    def index(self, weights: NDArray[np.float64]) -> int:
        return self._position

    def noise(self, size: int) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)


def _column_means(X: Any) -> Any:
    return np.asarray(X, dtype=np.float64).mean(axis=0)
