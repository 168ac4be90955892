"""What a budget costs in utility: the result of :func:`privacy_utility_curve`."""

from __future__ import annotations

import json
import math
import textwrap
from dataclasses import asdict, dataclass, field
from typing import Any, final

import numpy as np

from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon

CURATOR_ONLY = (
    "For the curator's eyes: these scores come from the private rows, without noise or with noise "
    "that can be predicted. Choosing a budget by looking at private data is itself a release "
    "unless the choice stays with the curator."
)

_LARGEST_DENOMINATOR = 4096


@final
@dataclass(frozen=True)
class PrivacyUtilityPoint:
    """Scores of simulated releases at one budget with one noise backend.

    Parameters
    ----------
    noise : str
        Noise backend.
    budget : float
        Nats allowed; of a cap, those that imply the same success.
    stated : str
        The budget as it was stated, in words.
    spent : float
        Bound on the nats that such a release reveals.
    posterior_membership : float
        Most that any adversary's success at one unit's membership can be after one such release.
    noise_power : float
        Sum of the noise variances, in the metric the noise was shaped for.
    scores : tuple of float
        Score of each simulated release on the held-out rows.
    """

    noise: str
    budget: float
    stated: str
    spent: float
    posterior_membership: float
    noise_power: float
    scores: tuple[float, ...] = field(repr=False)

    def quantile(self, share: float) -> float:
        """Return the score that a ``share`` of the releases stay below."""
        return float(np.quantile(self.scores, share))

    @property
    def median(self) -> float:
        """Median score of the releases."""
        return self.quantile(0.5)

    @property
    def mean(self) -> float:
        """Mean score of the releases."""
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        """Standard error of :attr:`mean`; it leaves out that the held-out rows are a sample too."""
        return float(np.std(self.scores, ddof=1) / math.sqrt(len(self.scores)))

    @property
    def dp_epsilon(self) -> float:
        """Epsilon of the differentially private mechanism with the same membership bound.

        Source: pac-private-algorithms, equation 2. A comparison, not a claim; infinite where the
        bound is 1.
        """
        return dp_epsilon(self.posterior_membership)

    def to_dict(self) -> dict[str, Any]:
        """Return numbers of this point by name, without the single scores."""
        return {
            "noise": self.noise,
            "budget": self.budget,
            "stated": self.stated,
            "spent": self.spent,
            "posterior_membership": self.posterior_membership,
            "dp_epsilon": self.dp_epsilon,
            "noise_power": self.noise_power,
            "n_releases": len(self.scores),
            "mean": self.mean,
            "standard_error": self.standard_error,
            "q05": self.quantile(0.05),
            "q25": self.quantile(0.25),
            "median": self.median,
            "q75": self.quantile(0.75),
            "q95": self.quantile(0.95),
        }


@final
@dataclass(frozen=True)
class PrivacyUtilityCurve:
    """Utility at several budgets and noise backends, for the curator's eyes.

    Made by :func:`privacy_utility_curve`. ``print`` shows :meth:`table`.

    Choosing a budget by looking at private data is itself a release unless the choice stays with
    the curator: nothing in here is covered by any guarantee.

    Parameters
    ----------
    estimator : str
        What was made private.
    scoring : str
        What is scored.
    points : tuple of PrivacyUtilityPoint
        By noise backend, then by growing budget.
    noiseless_score : float
        Mean score of the candidates' models without noise: the same mechanism, not private.
    all_rows_score : float
        Score of one model fitted on all training rows: not private either.
    prior_membership : float
        Success of guessing the membership of the least protected unit blindly.
    n_subsets, n_rows, n_test_rows : int
        Candidate subsets, rows they are drawn from, held-out rows.
    """

    estimator: str
    scoring: str
    points: tuple[PrivacyUtilityPoint, ...]
    noiseless_score: float
    all_rows_score: float
    prior_membership: float
    n_subsets: int
    n_rows: int
    n_test_rows: int

    @property
    def noises(self) -> tuple[str, ...]:
        """Noise backends, in the order they were asked for."""
        return tuple(dict.fromkeys(point.noise for point in self.points))

    @property
    def budgets(self) -> tuple[float, ...]:
        """Budgets in nats, increasing."""
        return tuple(sorted({point.budget for point in self.points}))

    def of(self, noise: str) -> tuple[PrivacyUtilityPoint, ...]:
        """Return the points of one noise backend, by growing budget."""
        if noise not in self.noises:
            raise ValueError(f"noise must be one of {', '.join(self.noises)}, got {noise!r}.")
        return tuple(point for point in self.points if point.noise == noise)

    def __str__(self) -> str:
        """Write plain text with aligned columns: one line for each backend and budget."""
        title = (
            f"{self.estimator}, {self.scoring} on {self.n_test_rows:,} held-out rows; "
            f"{self.n_subsets} subsets of {self.n_rows:,} rows, "
            f"{len(self.points[0].scores)} simulated releases a line"
        )
        number = _number_format(self)
        limits = (
            f"not private: {self.noiseless_score:{number}} without noise (mean of the "
            f"candidates), {self.all_rows_score:{number}} fitted on all training rows"
        )
        header = ("noise", "budget", "membership", "DP eps", "mean", "s.e.", "median")
        rows = [(*header, "5 %", "25 %", "75 %", "95 %", "noise power"), *map(_cells, self.points)]
        shown = [
            tuple(cell if isinstance(cell, str) else f"{cell:{number}}" for cell in row)
            for row in rows
        ]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in shown
        ]
        lines.insert(1, "-" * len(lines[0]))
        notes = [
            (
                "budget in nats, or a cap; membership: bound on any adversary's success at telling "
                f"whether one row, or group, was used, {self.prior_membership:.2%} by blind "
                "guessing; DP eps: same bound, a comparison only"
            ),
            CURATOR_ONLY,
        ]
        width = len(lines[1])
        text = [*textwrap.wrap(title, width), limits, "", *lines, ""]
        return "\n".join(text + [line for note in notes for line in textwrap.wrap(note, width)])

    def to_json(self, **options: Any) -> str:
        """Write JSON text, which :meth:`from_json` reads. ``options`` go to :func:`json.dumps`."""
        return json.dumps(asdict(self), **options)

    @classmethod
    def from_json(cls, text: str) -> PrivacyUtilityCurve:
        """Read a curve that :meth:`to_json` wrote."""
        data = json.loads(text)
        points = tuple(
            PrivacyUtilityPoint(**{**point, "scores": tuple(point["scores"])})
            for point in data.pop("points")
        )
        return cls(points=points, **data)


def budget_label(budget: float) -> str:
    """Return the budget as people write it: 1/64, 0.3, 4."""
    inverse = 1 / budget
    whole = round(inverse)
    if 1 < whole <= _LARGEST_DENOMINATOR and abs(inverse - whole) < 1e-9 * whole:
        return f"1/{whole}"
    return f"{budget:.4g}"


def _cells(point: PrivacyUtilityPoint) -> tuple[str | float, ...]:
    epsilon = point.dp_epsilon
    return (
        point.noise,
        point.stated,
        f"{_up(100 * point.posterior_membership, 2):.2f} %",
        "-" if math.isinf(epsilon) else f"{_up(epsilon, 3):.3f}",
        point.mean,
        f"{point.standard_error:.2g}",
        point.median,
        *(point.quantile(share) for share in (0.05, 0.25, 0.75, 0.95)),
        f"{point.noise_power:.3g}",
    )


def _up(value: float, decimals: int) -> float:
    """Round up, so that a printed bound never promises too much."""
    scale = 10**decimals
    # What is exact in decimals is not rounded up for its last bit.
    return math.ceil(value * scale - 1e-7) / scale


def _number_format(curve: PrivacyUtilityCurve) -> str:
    scores = [curve.noiseless_score, *(score for point in curve.points for score in point.scores)]
    return ".4f" if max(map(abs, scores)) < 10 else ".4g"
