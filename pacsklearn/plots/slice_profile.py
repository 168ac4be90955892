"""What a sliced release costs along each slice, drawn around a circle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.plots.display import Display, pyplot
from pacsklearn.plots.palette import COLOURS, legend_below
from pacsklearn.srpp.divergence.world_distances import slice_distances
from pacsklearn.srpp.laws.slice_profile import SliceProfile

_LABEL_ANGLE = 22.5


@dataclass(eq=False, kw_only=True, repr=False)
class SliceProfileDisplay(Display):
    """Renyi divergence between the releases of two secrets, slice by slice.

    The polygon is the divergence along each slice, of the pair of secrets for which the average is
    largest; circles are the average over slices, the joint cost, and the full view's. Of two
    numbers the angle is the slice's direction; of more it has no meaning, and slices are sorted by
    their divergence.

    Parameters
    ----------
    profile : SliceProfile
    divergences : ndarray of shape (n_slices,)
        Nats.
    order : float
        Renyi order.
    full : float, optional
        Divergence of the whole release.

    Attributes
    ----------
    ax_ : matplotlib PolarAxes
    figure_ : matplotlib Figure

    Notes
    -----
    Source: srpp, Figure 1 and sections 4.1 and 4.2.

    Examples
    --------
    >>> from pacsklearn.plots import SliceProfileDisplay
    >>> from pacsklearn.srpp import SliceProfile
    >>> profile = SliceProfile.uniform(2, n_slices=16)
    >>> divergences = 2.0 * profile.directions[:, 0] ** 2
    >>> display = SliceProfileDisplay(profile=profile, divergences=divergences, order=4).plot()
    """

    profile: SliceProfile
    divergences: Floats
    order: float
    full: float | None = None

    _size = (6, 6.8)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        secret: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        ax: Any = None,
    ) -> SliceProfileDisplay:
        """Replay a fitted estimator's law and draw it; for the curator.

        Parameters
        ----------
        estimator : SRPPPrivate
            Fitted.
        X, y, secret, fit_params
            As given to its ``fit``.
        ax : matplotlib PolarAxes, optional
            A new figure is made when not given.
        """
        from pacsklearn.audit.sliced_game import replay_sliced

        pyplot(cls.__name__)
        replayed = replay_sliced(estimator, X, y, secret=secret, fit_params=fit_params)
        law, profile, order = replayed.law, replayed.profile, replayed.law.costs.order
        vectors = np.stack([law.decode(centre) for centre in law.centres])
        spread = (profile.directions @ law.axes.T * law.step * law.scale) ** 2
        instances = [(left.members, right.members) for left, right in replayed.worlds.instances()]
        distances = slice_distances(vectors, instances, profile.directions)
        with np.errstate(divide="ignore", invalid="ignore"):
            divergences = order * distances**2 / (2 * spread.sum(axis=1))
        # Without noise only slices along which nothing differs are left.
        divergences = np.where(distances > 0, divergences, 0.0)
        worst = divergences[int(np.argmax(divergences @ profile.weights))]
        return cls(profile=profile, divergences=worst, order=order, full=law.costs.full).plot(ax)

    @property
    def average(self) -> float:
        """Weighted mean over the slices, in nats."""
        return float(self.profile.weights @ self.divergences)

    @property
    def joint(self) -> float:
        """Log-moment over the slices, in nats; never below :attr:`average`."""
        scaled = (self.order - 1) * self.divergences
        return float(logsumexp(scaled, b=self.profile.weights)) / (self.order - 1)

    def _new_axes(self, figure: Any) -> Any:
        figure.set_layout_engine("none")
        return figure.add_axes((0.1, 0.17, 0.8, 0.72), projection="polar")

    def _draw(self, ax: Any) -> None:
        if getattr(ax, "name", "") != "polar":
            raise ValueError("ax must be polar axes: figure.add_subplot(projection='polar').")
        angles, values = self._around()
        closed = np.append(angles, angles[0] + 2 * np.pi), np.append(values, values[0])
        ax.fill(*closed, color=COLOURS[3], alpha=0.25)
        marker = "o" if len(values) <= 64 else None
        label = f"along each of {self.profile.n_slices} slices"
        ax.plot(*closed, color=COLOURS[3], marker=marker, markersize=3.5, label=label)
        circle = np.linspace(0, 2 * np.pi, 361)
        levels = [
            ("average over slices", self.average, "--", COLOURS[0]),
            ("joint over slices", self.joint, ":", COLOURS[2]),
        ]
        if self.full is not None:
            levels.append(("full view", self.full, "-.", COLOURS[1]))
        for name, level, style, colour in levels:
            around, label = np.full(circle.size, level), f"{name}: {level:.3g} nats"
            ax.plot(circle, around, style, color=colour, linewidth=1.8, label=label)
        ax.set_ylim(0, 1.05 * max([float(values.max()), *(level for _, level, _, _ in levels)]))
        ax.set_rlabel_position(_LABEL_ANGLE)
        ax.tick_params(axis="y", labelsize="small")
        if self.profile.dimension != 2:
            ax.set_xticks([])
        ax.set_title(f"Renyi divergence of order {self.order:g} (nats)", pad=16)
        legend_below(ax, inches=0.4)

    def _around(self) -> tuple[Floats, Floats]:
        if self.profile.dimension == 2:
            angles = np.arctan2(self.profile.directions[:, 1], self.profile.directions[:, 0])
            # A slice and its opposite are the same.
            both = np.concatenate([angles, angles + np.pi]) % (2 * np.pi)
            order = np.argsort(both)
            return both[order], np.tile(self.divergences, 2)[order]
        # The largest at the top, falling to both sides.
        falling = np.sort(self.divergences)[::-1]
        values = np.concatenate([falling[::2], falling[1::2][::-1]])
        return np.pi / 2 + np.linspace(0, 2 * np.pi, values.size, endpoint=False), values
