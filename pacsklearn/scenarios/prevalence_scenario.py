"""The secret is how frequent a value is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import check_integer
from pacsklearn.core.scenario import Law, Scenario, SecretColumn, World, Worlds
from pacsklearn.exceptions import ScenarioError
from pacsklearn.scenarios.checks import class_codes, is_number, pair_indices, secret_codes
from pacsklearn.scenarios.row_world import RowWorld

__all__ = ["PrevalenceScenario"]

Integers = NDArray[np.int64]

_EDITS = ("replace", "overwrite")
_GIVEN = "as given"


@final
@dataclass(frozen=True)
class PrevalenceScenario(Scenario):
    """Hide how frequent a value of the secret column (or a label) is.

    The release is fitted on the rows given. The other worlds are the same rows, as few of them
    edited as it takes to give the value another share; the n-th worlds of all shares edit the
    same rows first, and share all others.

    Parameters
    ----------
    shift : float, default=0.1
        Shares this much above and below the true one are to be hard to tell from it, for each
        value, as far as there are rows to edit.
    shares : sequence of float, optional
        Instead: the shares, for one value, that must be hard to tell from the true one and from
        one another. Choose them without looking at the rows.
    value : object, optional
        Value that the shares are of. When not given: every value with ``shift``; with ``shares``
        the last of two.
    pairs : iterable of (str, str), optional
        Pairs of secrets to be hard to tell apart; all pairs when not given. The true share is
        called ``"as given"``, the others ``"'a' 0.1 higher"``, ``"'a' 0.1 lower"`` or
        ``"'a' at 0.25"``.
    edit : {"replace", "overwrite"} or a sequence of them, default="replace"
        One prior each: rows are replaced by copies of rows with (or without) the value, or the
        value is overwritten where it stands in ``y`` or ``X``.
    n_draws : int, default=8
        Ways of choosing the edited rows.
    seed : int, default=0
        Public seed of the edits.

    Notes
    -----
    *Guarantee.* The true secret stands for the rows given and nothing else, so that the bound
    also holds against an adversary who knows them, in each comparison with one edited data set.
    The true share itself is never part of what is released.

    *Edge cases.* Where a share cannot be reached, because rows of one kind would run out, rows are
    edited as far as it goes: which secrets there are tells nothing about the true share. One row
    of each class is never edited.
    """

    shift: float = 0.1
    shares: Sequence[float] | None = None
    value: Any = None
    pairs: Iterable[tuple[str, str]] | None = None
    edit: Any = "replace"
    n_draws: int = 8
    seed: int = 0

    @property
    def protects(self) -> str:
        what = "a value of the secret column" if self.value is None else repr(self.value)
        if self.shares is None:
            each = "each value of the secret column" if self.value is None else what
            return (
                f"how frequent {each} is: its share against shares {self.shift:g} off, as far as "
                "the rows allow"
            )
        shares = ", ".join(f"{share:g}" for share in self.shares)
        return f"how frequent {what} is: its share against shares of {shares}"

    @property
    def releases(self) -> str:
        return "the model fitted on the rows given"

    @property
    def description(self) -> str:
        pairs = None if self.pairs is None else sorted(map(repr, self.pairs))
        return (
            f"PrevalenceScenario(shift={self.shift}, shares={self.shares}, value={self.value!r}, "
            f"pairs={pairs}, edit={self.edit!r}, n_draws={self.n_draws}, seed={self.seed})"
        )

    def worlds(self, X: Any, y: Any, secret: SecretColumn | None, realized: Any) -> Worlds:
        check_integer(name="n_draws", value=self.n_draws, minimum=1)
        check_integer(name="seed", value=self.seed, minimum=0)
        edits = _checked_edits(self.edit)
        if realized is not None:
            raise ScenarioError(
                "PrevalenceScenario takes no realized: the true share is that of the rows given."
            )
        n_rows = X.shape[0]
        values, codes = secret_codes(secret, n_rows, "PrevalenceScenario")
        assert secret is not None
        targets = list(self._targets(values, codes))
        if "overwrite" in edits and secret.place is None:
            raise ScenarioError(
                "edit='overwrite' needs the secret to be the target or a column of X; give "
                "secret='name of the column', or use edit='replace'."
            )
        editor = _Editor(values, codes, class_codes(y, n_rows), secret.place, self.seed)
        worlds: list[World] = [RowWorld(np.arange(n_rows))]
        laws = [Law(0, prior, (0,)) for prior in range(len(edits))]
        for number, (_, code, count) in enumerate(targets, start=1):
            for prior, edit in enumerate(edits):
                start = len(worlds)
                worlds += [editor.edited(code, count, edit, k) for k in range(self.n_draws)]
                laws.append(Law(number, prior, tuple(range(start, len(worlds)))))
        if not editor.edits_any:
            raise ScenarioError(
                "There is no data for any other share than the true one; give another shift or "
                "other shares, or more rows."
            )
        names = [_GIVEN, *(name for name, _, _ in targets)]
        return Worlds(
            secrets=tuple(names),
            priors=tuple(f"edit: {edit}" for edit in edits),
            worlds=tuple(worlds),
            laws=tuple(laws),
            pairs=pair_indices(self.pairs, names),
            realized=0,
        )

    def _targets(self, values: list[Any], codes: Integers) -> Iterator[tuple[str, int, int]]:
        """Name, value and number of rows with the value, of every other share there is."""
        n_rows, counts = codes.size, np.bincount(codes, minlength=len(values))
        if self.value is not None and self.value not in values:
            raise ScenarioError(f"No row has the value {self.value!r} in the secret column.")
        if self.shares is not None:
            if self.value is None and len(values) > 2:
                raise ScenarioError(
                    f"shares are of one value, and the secret column has {len(values)}; give "
                    "value=."
                )
            code = len(values) - 1 if self.value is None else values.index(self.value)
            _check_records(values[code], int(counts[code]))
            for share in _checked_shares(self.shares):
                count = round(share * n_rows)
                yield f"{values[code]!r} at {share:g}", code, min(max(count, 1), n_rows - 1)
            return
        shift: Any = self.shift
        if not is_number(shift) or not 0 < float(shift) < 1:
            raise ScenarioError(f"shift must be a number between 0 and 1, got {shift!r}.")
        chosen = range(len(values)) if self.value is None else [values.index(self.value)]
        for code in chosen:
            _check_records(values[code], int(counts[code]))
            step = max(1, round(float(shift) * n_rows))
            for word, count in (("higher", counts[code] + step), ("lower", counts[code] - step)):
                reached = int(min(max(count, 1), n_rows - 1))
                yield f"{values[code]!r} {shift:g} {word}", code, reached


class _Editor:
    """Edits rows in one order a draw, so that a larger change contains a smaller one."""

    def __init__(
        self, values: list[Any], codes: Integers, classes: Integers, place: Any, seed: int
    ) -> None:
        self._values = np.asarray(values)
        self._codes, self._classes, self._place, self._seed = codes, classes, place, seed
        self.edits_any = False

    def edited(self, code: int, count: int, edit: str, draw: int) -> RowWorld:
        having = self._codes == code
        n_rows, present = having.size, int(having.sum())
        raises = count > present
        generator = np.random.default_rng([self._seed, draw, code, int(raises)])
        order = generator.permutation(n_rows)
        spared = np.zeros(n_rows, dtype=bool)
        spared[order[np.unique(self._classes[order], return_index=True)[1]]] = True
        candidates = order[(having[order] != raises) & ~spared[order]]
        donors = generator.choice(np.flatnonzero(having == raises), n_rows)
        number = min(abs(count - present), candidates.size)
        self.edits_any |= number > 0
        edited, sources = candidates[:number], donors[:number]
        if edit == "replace":
            rows = np.arange(n_rows)
            rows[edited] = sources
            return RowWorld(rows)
        values = self._values[self._codes[sources]]
        return RowWorld(np.arange(n_rows), self._place, edited, values)


def _check_records(value: Any, count: int) -> None:
    if count < 2:
        raise ScenarioError(
            f"The value {value!r} of the secret column has a single record: its share cannot be "
            "hidden by editing rows. Merge it with another value, or name one with value=."
        )


def _checked_shares(shares: Any) -> list[float]:
    given: list[Any] = list(shares) if np.iterable(shares) and not isinstance(shares, str) else []
    usable = [is_number(share) and 0 < float(share) < 1 for share in given]
    if not given or not all(usable):
        raise ScenarioError(f"shares must be numbers between 0 and 1, got {shares!r}.")
    return sorted({float(share) for share in given})


def _checked_edits(edit: Any) -> tuple[str, ...]:
    edits = (edit,) if isinstance(edit, str) else tuple(edit)
    if not edits or any(each not in _EDITS for each in edits):
        raise ScenarioError(f"edit must be 'replace', 'overwrite' or both, got {edit!r}.")
    return edits
