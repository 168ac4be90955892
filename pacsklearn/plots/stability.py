"""How many candidates it takes until the noise no longer changes, drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacsklearn._validation import check_integer
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.plots.display import pyplot
from pacsklearn.plots.outputs_display import OutputsDisplay
from pacsklearn.plots.palette import NEUTRAL, legend_below, series_style
from pacsklearn.universe.metrics import as_metric


@dataclass(eq=False, kw_only=True, repr=False)
class StabilityDisplay(OutputsDisplay):
    """Noise power that fewer candidates would have led to, relative to all of them.

    For each number of candidates, median and quartiles over random choices of so many. A model
    that is stable from subset to subset needs little noise; a curve that is flat says that more
    candidates would not change how much. Nothing rests on it: the guarantee is exact for the
    candidates there are.

    Parameters
    ----------
    sizes : tuple of int
        Numbers of candidates, increasing; the last is all of them.
    powers : dict of str to ndarray of shape (n_orders, n_sizes)
        Noise power relative to all candidates, by backend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Notes
    -----
    Source of the question: pac-private-algorithms, section 7.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from pacsklearn import Subsets
    >>> from pacsklearn.plots import StabilityDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = StabilityDisplay.from_estimator(RidgeClassifier(), X, y, secret=Subsets(32))
    """

    sizes: tuple[int, ...]
    powers: dict[str, Any]

    _size = (7, 4.2)

    @classmethod
    def from_outputs(
        cls,
        outputs: Any,
        *,
        budget: float = 1 / 16,
        noise: Any = ("logdet", "diagonal"),
        metric: Any = None,
        sizes: Iterable[int] | None = None,
        n_orders: int = 20,
        random_state: int = 0,
        ax: Any = None,
    ) -> StabilityDisplay:
        """Draw from outputs that are there.

        Parameters
        ----------
        outputs : array-like of shape (m, d)
            One vector for each candidate.
        budget : float, default=1/16
            Nats.
        noise : str or iterable of str
            Backends.
        metric : None, array-like or Metric
        sizes : iterable of int, optional
            Numbers of candidates; powers of two from 8 on when not given.
        n_orders : int, default=20
            Random choices of so many candidates.
        random_state : int, default=0
        ax : matplotlib Axes, optional
            A new figure is made when not given.
        """
        pyplot(cls.__name__)
        vectors, cost = np.asarray(outputs, dtype=np.float64), as_metric(metric)
        m = len(vectors)
        check_integer(name="n_orders", value=n_orders, minimum=1)
        wanted = [2**power for power in range(3, m.bit_length())] if sizes is None else sizes
        counted = tuple(sorted({min(int(size), m) for size in wanted} | {m}))
        if counted[0] < 2:
            raise ValueError(f"sizes must be numbers of candidates, 2 or more, got {counted[0]}.")
        generator = np.random.default_rng(random_state)
        orders = [generator.permutation(m) for _ in range(n_orders)]
        target, powers = Target(budget), {}

        def power(backend: NoiseBackend, rows: Any) -> float:
            return float(backend.calibrate(Support(vectors[rows]), target, cost).noise_power)

        for name in [noise] if isinstance(noise, str) else list(noise):
            backend = registry().noise_backend(name)
            whole = power(backend, slice(None))
            if not whole > 0:
                raise ValueError(
                    f"The {name!r} backend needs no noise at budget={budget!r}; give a smaller "
                    "budget."
                )
            shares = [[power(backend, each[:size]) / whole for size in counted] for each in orders]
            powers[str(name)] = np.array(shares)
        return cls(sizes=counted, powers=powers).plot(ax)

    def _draw(self, ax: Any) -> None:
        self.lines_ = []
        for i, (name, powers) in enumerate(self.powers.items()):
            low, middle, high = np.quantile(100 * powers, (0.25, 0.5, 0.75), axis=0)
            label = f"{name}: median and quartiles"
            (line,) = ax.plot(self.sizes, middle, **series_style(i), label=label)
            ax.fill_between(self.sizes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
            self.lines_.append(line)
        ax.axhline(100, color=NEUTRAL, linestyle="--", linewidth=1, label="all candidates")
        ax.set_xscale("log", base=2)
        ax.set_xticks(self.sizes, [str(size) for size in self.sizes])
        ax.minorticks_off()
        ax.set(ylim=(0, None), ylabel="noise power (% of that of all candidates)")
        ax.set_xlabel("number of candidates")
        ax.grid(visible=True, axis="y", alpha=0.25)
        legend_below(ax)
