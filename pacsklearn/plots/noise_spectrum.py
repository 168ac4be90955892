"""How far a model moves from subset to subset, and the noise that hides it, drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.plots.display import pyplot
from pacsklearn.plots.outputs_display import OutputsDisplay
from pacsklearn.plots.palette import legend_below, series_style
from pacsklearn.universe.metrics import as_metric

_BACKENDS = ("logdet", "eigen", "diagonal", "isotropic")
_MOST_DIRECTIONS = 60


@final
@dataclass(frozen=True)
class NoiseSpectrum:
    """Variances of a model's numbers over the candidates, and of the noise of several backends.

    A function of the rows without noise: for the curator.

    Parameters
    ----------
    budget : float
        Nats.
    variances : tuple of float
        Of the outputs, along their principal directions, most variable first.
    noises : tuple of str
        Backends.
    noise_variances : tuple of tuple of float
        Of each backend's noise, along the same directions.
    powers : tuple of float
        Sum of each backend's noise variances over all directions.
    """

    budget: float
    variances: tuple[float, ...]
    noises: tuple[str, ...]
    noise_variances: tuple[tuple[float, ...], ...]
    powers: tuple[float, ...]

    @classmethod
    def of(
        cls, outputs: Any, *, budget: float = 1 / 16, noise: Any = _BACKENDS, metric: Any = None
    ) -> NoiseSpectrum:
        """Compute the spectrum of outputs that are there.

        Parameters
        ----------
        outputs : array-like of shape (m, d)
            One vector for each candidate.
        budget : float, default=1/16
            Nats.
        noise : str, NoiseBackend or iterable of them
        metric : None, array-like or Metric
        """
        support, cost = Support(np.asarray(outputs, dtype=np.float64)), as_metric(metric)
        span = support.span(cost)
        axes = cost.root(span.mixing @ support.deviations)
        listed = [noise] if isinstance(noise, str) or not isinstance(noise, Iterable) else noise
        names, spectra, powers = [], [], []
        for value in listed:
            law = registry().noise_backend(value).calibrate(support, Target(budget), cost)
            # Part of each of the law's own axes that points along a principal direction.
            rooted = cost.root(law.axes) if len(law.axes) else np.empty((0, 0))
            along = rooted @ axes.T
            spectra.append(tuple((((law.step * law.scale) ** 2) @ along**2).tolist()))
            names.append(value if isinstance(value, str) else type(value).__name__)
            powers.append(float(law.noise_power))
        spread = tuple(span.variances.tolist())
        return cls(float(budget), spread, tuple(names), tuple(spectra), tuple(powers))


@dataclass(eq=False, kw_only=True, repr=False)
class NoiseSpectrumDisplay(OutputsDisplay):
    """Spread of a model along its principal directions, and the noise each backend spends there.

    Left, the variance over the candidates (grey bars) and the noise variance of each backend by
    direction; right, the power each backend spends in total. Shows functions of the rows: for the
    curator.

    Parameters
    ----------
    spectrum : NoiseSpectrum

    Attributes
    ----------
    axes_ : tuple of matplotlib Axes
        Directions, and powers.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from pacsklearn import Subsets
    >>> from pacsklearn.plots import NoiseSpectrumDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = NoiseSpectrumDisplay.from_estimator(RidgeClassifier(), X, y, secret=Subsets(16))
    """

    spectrum: NoiseSpectrum

    _size = (10, 4.4)
    _grid: ClassVar = {"ncols": 2, "width_ratios": (1.7, 1)}

    @classmethod
    def from_outputs(cls, outputs: Any, *, ax: Any = None, **options: Any) -> NoiseSpectrumDisplay:
        """Draw the spectrum of outputs that are there.

        Parameters
        ----------
        outputs : array-like of shape (m, d)
            One vector for each candidate.
        ax : pair of matplotlib Axes, optional
            A new figure is made when not given.
        **options : dict
            ``budget``, ``noise`` and ``metric``, as for :meth:`NoiseSpectrum.of`.
        """
        pyplot(cls.__name__)
        return cls(spectrum=NoiseSpectrum.of(outputs, **options)).plot(ax)

    def _draw(self, directions: Any, powers: Any) -> None:
        self._draw_directions(directions)
        self._draw_powers(powers)

    def _draw_directions(self, ax: Any) -> None:
        spectrum = self.spectrum
        shown = min(len(spectrum.variances), _MOST_DIRECTIONS)
        places = np.arange(1, shown + 1)
        ax.bar(places, spectrum.variances[:shown], color="0.8", label="outputs, without noise")
        every = max(1, shown // 12)
        for i, (name, variances) in enumerate(
            zip(spectrum.noises, spectrum.noise_variances, strict=True)
        ):
            values = np.array(variances[:shown])
            positive = np.where(values > 0, values, np.nan)
            style = {**series_style(i), "markersize": 4.5, "markevery": (i % every, every)}
            ax.plot(places, positive, **style, label=f"noise, {name}")
        ax.set_title(f"Noise by direction, budget {spectrum.budget:.4g} nats")
        ax.set_xlabel(f"principal direction of the outputs ({shown} of {len(spectrum.variances)})")
        ax.set(yscale="log", ylabel="variance (units of the metric, squared)")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(visible=True, axis="y", alpha=0.25)
        ax.set_xlim(0.3, shown + 0.7)
        legend_below(ax, 3, fontsize="small")

    def _draw_powers(self, ax: Any) -> None:
        spectrum = self.spectrum
        places = range(len(spectrum.powers))
        colours = [series_style(i)["color"] for i in places]
        bars = ax.barh(places, spectrum.powers, color=colours)
        ax.set_yticks(places, spectrum.noises)
        ax.invert_yaxis()
        least = min((power for power in spectrum.powers if power > 0), default=1.0)
        largest = max(spectrum.powers, default=0.0) or 1.0
        texts = [
            f"{power:.3g}" + f" ({power / least:.2g} times)" * (power > 1.05 * least)
            for power in spectrum.powers
        ]
        ax.bar_label(bars, texts, padding=3, fontsize="small")
        ax.set(xlim=(0, largest * 1.55), xlabel="noise power (sum of variances)")
        ax.set_title("Total noise")
        ax.spines[["top", "right"]].set_visible(False)
