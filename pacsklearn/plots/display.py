"""What all displays share: axes of their own or given ones, and one style."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np

from pacsklearn._optional import optional
from pacsklearn.plots.palette import COLOURS, STYLE


def pyplot(display: str) -> Any:
    """Return ``matplotlib.pyplot``, or an error that names the extra.

    Raises
    ------
    ImportError
    """
    return optional("matplotlib.pyplot", extra="plot", purpose=display)


@contextmanager
def _style() -> Iterator[None]:
    from cycler import cycler
    from matplotlib import rc_context

    with rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLOURS)}):
        yield


class Display(ABC):
    """A drawing. A kind of display states the axes that it needs, and draws on them."""

    _grid: ClassVar[Mapping[str, Any]] = {}
    """Arguments of :meth:`matplotlib.figure.Figure.subplots`."""

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or a pair of them for a display that has two, optional
            A new figure is made when not given.

        Raises
        ------
        ImportError
            Without matplotlib.
        ValueError
            When there are too many axes, or too few.
        """
        plt = pyplot(type(self).__name__) if ax is None else None
        with _style():
            if plt is not None:
                ax = self._new_axes(plt.figure(figsize=self._size, layout="constrained"))
            axes = tuple(np.ravel(np.asarray(ax, dtype=object)))
            if len(axes) != self._n_axes:
                raise ValueError(f"ax must hold {self._n_axes} Axes, got {len(axes)}.")
            self.figure_, self.axes_, self.ax_ = axes[0].figure, axes, axes[0]
            self._draw(*axes)
        return self

    def png(self) -> bytes:
        """Draw on a figure that pyplot does not know: none is left open, no backend is chosen."""
        from matplotlib.figure import Figure

        with _style():
            figure = Figure(figsize=self._size, layout="constrained")
            self.plot(ax=self._new_axes(figure))
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
        return stream.getvalue()

    @property
    def _size(self) -> tuple[float, float]:
        """Of a figure of its own, in inches."""
        return 7, 4.5

    @property
    def _n_axes(self) -> int:
        return int(self._grid.get("nrows", 1) * self._grid.get("ncols", 1))

    def _new_axes(self, figure: Any) -> Any:
        return figure.subplots(**self._grid)

    @abstractmethod
    def _draw(self, *axes: Any) -> None:
        """Draw on axes that are there."""
