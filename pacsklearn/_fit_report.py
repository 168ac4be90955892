"""Where the time of a private fit went."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import final


@final
@dataclass
class FitReport:
    """Seconds of each stage of a private fit, and how the candidates were fitted.

    For the curator: times follow from the universe and the machine, and no guarantee covers them.
    Every candidate is fitted, encoded and measured alike, whichever of them is the secret.

    Parameters
    ----------
    processor, wall : dict of str to float
        Seconds by stage: ``"design"``, ``"fits"``, ``"canonical form"``, ``"calibration"``,
        ``"certificate"`` and ``"other"``. Processor time is that of this process: what workers of
        another process spend is in the wall time only. The candidates' canonical forms are part of
        ``"fits"`` where they are fitted one by one.
    together, one_by_one : int
        How many candidates' models were fitted jointly, and how many by a fit of their own.
    reason : str
        Why some were fitted one by one; empty where none was.

    Examples
    --------
    >>> from pacsklearn._fit_report import recorded, stage
    >>> with recorded() as report:
    ...     with stage("fits"):
    ...         total = sum(range(1000))
    >>> sorted(report.wall)
    ['fits', 'other']
    """

    processor: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    together: int = 0
    one_by_one: int = 0
    reason: str = ""

    def __str__(self) -> str:
        width = max((len(name) for name in self.wall), default=0)
        lines = [f"{'stage'.ljust(width)}  CPU s    wall s"]
        lines += [
            f"{name.ljust(width)}  {self.processor[name]:<7.3f}  {wall:.3f}"
            for name, wall in self.wall.items()
        ]
        fits = [f"{self.together} candidates fitted together"] if self.together else []
        if self.one_by_one:
            why = f" ({self.reason})" if self.reason else ""
            fits.append(f"{self.one_by_one} one by one{why}")
        return "\n".join([*lines, *([", ".join(fits)] if fits else [])])


@final
class _Clock:
    """A report and the stages that are open, innermost last."""

    def __init__(self) -> None:
        self.report, self.open, self.since = FitReport(), ["other"], _now()

    def switch(self) -> None:
        """Credit the time since the last switch to the innermost stage."""
        processor, wall = _now()
        name, (before, earlier) = self.open[-1], self.since
        self.since = processor, wall
        spent, passed = self.report.processor, self.report.wall
        spent[name] = spent.get(name, 0.0) + (processor - before)
        passed[name] = passed.get(name, 0.0) + (wall - earlier)


# A context's own: sessions in other threads keep their own time.
_CLOCK: ContextVar[_Clock | None] = ContextVar("pacsklearn_fit_report", default=None)


def _now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


@contextmanager
def recorded() -> Iterator[FitReport]:
    """Record the stages of what runs inside, in this thread."""
    clock = _Clock()
    token = _CLOCK.set(clock)
    try:
        yield clock.report
    finally:
        clock.switch()
        _CLOCK.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Credit time to a stage, less that of stages inside it; nothing where none is recorded."""
    clock = _CLOCK.get()
    if clock is None:
        yield
        return
    clock.switch()
    clock.open.append(name)
    try:
        yield
    finally:
        clock.switch()
        clock.open.pop()


def note_fits(together: int, one_by_one: int, reason: str) -> None:
    """Add to the report how candidates were fitted, and why not together."""
    clock = _CLOCK.get()
    if clock is not None:
        clock.report.together += together
        clock.report.one_by_one += one_by_one
        clock.report.reason = reason if one_by_one else clock.report.reason
