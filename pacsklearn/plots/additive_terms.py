"""What each term of a released additive model adds, with the band of its noise, drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Self, final

import numpy as np
from scipy.stats import norm
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.plots.display import Display, pyplot
from pacsklearn.plots.palette import COLOURS, MARKERS, NEUTRAL
from pacsklearn.tabular.additive.additive_model import AdditiveModel
from pacsklearn.tabular.additive.canonicalizer import deviations_of_levels
from pacsklearn.tabular.additive.terms import Term, placed

_MOST_TERMS = 9
_EPOCH = date(1970, 1, 1)


@final
@dataclass(frozen=True, eq=False)
class _TermEffect:
    """Released effects of a term's levels, and half the width of their bands; (n_levels, k)."""

    term: Term
    effects: Floats
    half_widths: Floats


@dataclass(eq=False, kw_only=True, repr=False)
class AdditiveTermsDisplay(Display):
    """Terms of a released additive model, with bands that its noise stays in.

    One picture a term: a staircase over the bins of a number or date, points for categories and
    for missing values, a map for a pair. The band around a released effect holds, with the stated
    probability for each level by itself, the effect before the noise was added. It says nothing
    about how far that would have been another one on other rows. Everything drawn is a function
    of what was released and of the noise law.

    Parameters
    ----------
    model : AdditiveModel
        Fitted.
    noise_variances : ndarray of shape (n_outputs,), optional
        As in :class:`PACPrivate`; no bands when not given.
    confidence : float, default=0.95
        Of the bands.

    Attributes
    ----------
    axes_ : tuple of matplotlib Axes
        One a term.
    figure_ : matplotlib Figure

    Notes
    -----
    The noise is discrete Gaussian on a grid of ``2**20`` steps to its deviation, for which normal
    quantiles are exact to about a millionth. Terms that are to be monotone are repaired after the
    noise, and regressors with a public prior drawn toward it: the band of a repaired term is that
    of the noise before the repair, that of a drawn one leaves out how far it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pacsklearn import PACPrivate, Subsets
    >>> from pacsklearn.plots import AdditiveTermsDisplay
    >>> from pacsklearn.tabular import AdditiveClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdditiveClassifier(feature_range=(0, 8), n_bins=4)
    >>> private = PACPrivate(model, secret=Subsets(16)).fit(X, y == 2)
    >>> display = AdditiveTermsDisplay.from_estimator(private)
    """

    model: AdditiveModel
    noise_variances: Any = None
    confidence: float = 0.95

    @classmethod
    def from_estimator(
        cls, private: Any, *, terms: Iterable[str] | None = None, confidence: float = 0.95
    ) -> AdditiveTermsDisplay:
        """Draw a private model.

        Parameters
        ----------
        private : PACPrivate or Release
            Of an :class:`AdditiveClassifier` or :class:`AdditiveRegressor`, fitted.
        terms, confidence
            As for :meth:`plot`, and for the class.

        Raises
        ------
        TypeError
            When something else was released.
        """
        pyplot(cls.__name__)
        # A Release names both without the underscore of fitted attributes.
        model = getattr(private, "released_estimator_", getattr(private, "value", None))
        variances = getattr(private, "noise_variances_", getattr(private, "noise_variances", None))
        if not isinstance(model, AdditiveModel) or variances is None:
            if hasattr(private, "__sklearn_is_fitted__"):
                check_is_fitted(private)
            raise TypeError(
                f"{cls.__name__} draws a released AdditiveClassifier or AdditiveRegressor, got "
                f"{type(private).__name__} of {type(model).__name__}; give the fitted "
                "PACPrivate(AdditiveClassifier(...)), or the Release of a session."
            )
        return cls(model=model, noise_variances=variances, confidence=confidence).plot(terms)

    def plot(self, terms: Iterable[str] | None = None, *, ax: Any = None) -> Self:  # type: ignore[override]
        """Draw.

        Parameters
        ----------
        terms : iterable of str, optional
            Their names, as :meth:`AdditiveModel.effects` has them. The nine whose effects differ
            most when not given.
        ax : sequence of matplotlib Axes, optional
            One a term. A new figure is made when not given.

        Raises
        ------
        ImportError
            Without matplotlib.
        """
        self._shown = self._chosen(terms)
        return super().plot(ax)

    @property
    def _n_axes(self) -> int:
        return len(self._shown)

    @property
    def _rows_and_columns(self) -> tuple[int, int]:
        columns = min(3, self._n_axes)
        return -(-self._n_axes // columns), columns

    @property
    def _size(self) -> tuple[float, float]:
        rows, columns = self._rows_and_columns
        return 3.9 * columns + 0.6, 3.0 * rows + 0.3

    def _new_axes(self, figure: Any) -> Any:
        places = range(1, self._n_axes + 1)
        return [figure.add_subplot(*self._rows_and_columns, place) for place in places]

    def _draw(self, *axes: Any) -> None:
        placed = list(zip(axes, self._shown, strict=True))
        single = [ax for ax, one in placed if len(one.term.columns) < 2]
        for ax in single[1:]:
            ax.sharey(single[0])  # so that a wide band can be told from a large effect
        for ax, one in placed:
            (self._draw_map if len(one.term.columns) > 1 else self._draw_levels)(ax, one)
        if single:
            single[0].set_ylabel(self._quantity)
            if len(self._scores) > 1:
                single[0].legend(fontsize="small", title_fontsize="small")
        for ax, _ in placed:
            for drawn in (ax, *(image.colorbar.ax for image in ax.images)):
                for text in drawn.findobj(lambda part: hasattr(part, "set_parse_math")):
                    text.set_parse_math(False)  # "$10 to $20" is a category and no formula

    @property
    def _scores(self) -> list[str]:
        """Names of the scores."""
        classes = getattr(self.model, "classes_", ())
        return [str(one) for one in classes] if len(classes) > 2 else [""]

    @property
    def _quantity(self) -> str:
        if not is_classifier(self.model):
            return "added to the prediction"
        if len(self._scores) > 1:
            return "added to the score of the class"
        return f"added to the log-odds of {self.model.classes_[1]}"

    def _chosen(self, names: Iterable[str] | None) -> list[_TermEffect]:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must lie between 0 and 1, got {self.confidence!r}.")
        levels = np.atleast_2d(self.model.coef_)
        widths = np.zeros_like(levels)
        if self.noise_variances is not None:
            quantile = norm.ppf((1 + self.confidence) / 2)
            widths = quantile * deviations_of_levels(self.model, self.noise_variances)
        effects = {
            term.name: _TermEffect(term, levels[:, own].T, widths[:, own].T)
            for term, own in placed(self.model.terms_)
        }
        if names is None:
            spread = {name: np.ptp(one.effects, axis=0).max() for name, one in effects.items()}
            most = set(sorted(effects, key=lambda name: -spread[name])[:_MOST_TERMS])
            return [one for name, one in effects.items() if name in most]
        listed = [names] if isinstance(names, str) else list(names)
        unknown = [name for name in listed if name not in effects]
        if unknown or not listed:
            raise ValueError(f"terms must be among {', '.join(effects)}; got {listed!r}.")
        return [effects[name] for name in listed]

    def _draw_levels(self, ax: Any, one: _TermEffect) -> None:
        (column,) = one.term.columns
        numeric = column.kind in ("number", "date")
        edges = _edges(one.term) if numeric else np.arange(one.term.n_levels) - 0.5
        bins, width = edges.size - 1, (edges[-1] - edges[0])
        places = (edges[1:] + edges[:-1]) / 2
        # Missing values stand apart from the range.
        aside = edges[-1] + (0.13 * width if numeric else 0.5)
        shift = (0.02 * width if numeric else 0.12) * (len(self._scores) > 1)
        for k, name in enumerate(self._scores):
            colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
            effect, half = one.effects[:, k], one.half_widths[:, k]
            moved = shift * (k - (len(self._scores) - 1) / 2)
            points = {"color": colour, "fmt": marker, "capsize": 2.5, "markersize": 4}
            if numeric:
                ax.stairs(effect[:bins], edges, baseline=None, color=colour, label=name or None)
                low, high = effect[:bins] - half[:bins], effect[:bins] + half[:bins]
                ends = np.append(low, low[-1]), np.append(high, high[-1])
                ax.fill_between(edges, *ends, step="post", alpha=0.22, color=colour, linewidth=0)
                ax.errorbar([aside + moved], effect[bins:], half[bins:], **points)
            else:
                at = np.append(places, aside) + moved
                ax.errorbar(at, effect, half, label=name or None, **points)
        ax.axhline(0, color=NEUTRAL, linewidth=0.8, alpha=0.6)
        ax.set_title(one.term.name)
        if numeric:
            ticks = edges[0] + width * np.array([0.0, 0.45, 0.9])
            labels = [_tick_label(tick, column.kind) for tick in ticks]
            ax.set_xticks([*ticks, aside], [*labels, "missing"], fontsize="small")
        else:
            names = [*map(str, column.categories), "other or\nmissing"]
            turned = 45 if sum(map(len, names)) > 40 else 0
            ax.set_xticks([*places, aside], names, fontsize="small", rotation=turned)

    def _draw_map(self, ax: Any, one: _TermEffect) -> None:
        """Draw a map of the pair's first score; cells whose band holds zero are crossed out."""
        sizes, (first, second) = one.term.sizes, one.term.columns
        effect, half = (values[:, 0].reshape(sizes) for values in (one.effects, one.half_widths))
        limit = float(np.abs(effect).max()) or 1.0
        image = ax.imshow(effect, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        ax.figure.colorbar(image, ax=ax, label=self._quantity)
        hidden = np.argwhere((np.abs(effect) <= half) & (half > 0))
        ax.plot(hidden[:, 1], hidden[:, 0], "x", color=NEUTRAL, markersize=5)
        for axis, column, place in ((ax.yaxis, first, 0), (ax.xaxis, second, 1)):
            labels = Term((column,), one.term.n_bins).labels
            axis.set_ticks(range(sizes[place]), labels, fontsize="x-small")
            axis.set_label_text(column.name)
        ax.tick_params(axis="x", rotation=45)
        scores = self._scores
        ax.set_title(one.term.name if len(scores) == 1 else f"{one.term.name}: {scores[0]}")


def _edges(term: Term) -> Floats:
    """Return the bounds of the bins, outer ones included; (n_bins + 1,)."""
    (column,) = term.columns
    inner = column.cuts(term.n_bins)
    low, high = column.bounds
    # Bins at the ends are open; where the range ends at an edge they are drawn a little wide.
    margin = 0.05 * (high - low)
    low = low if low < inner[0] else inner[0] - margin
    high = high if high > inner[-1] else inner[-1] + margin
    return np.array([low, *inner, high])


def _tick_label(value: float, kind: str) -> str:
    return f"{_EPOCH + timedelta(days=round(value)):%Y-%m}" if kind == "date" else f"{value:.3g}"
