"""Mixtures, and how far each is from its Gaussian, by the textbook."""

from functools import cache

import numpy as np
from pacsklearn_papers import SurrogateGap

RNG = np.random.default_rng(0)
GAPS = {
    "two far points": SurrogateGap([[-1.0], [1.0]], [0.5, 0.5], [0.05]),
    "two near points": SurrogateGap([[-1.0], [1.0]], [0.5, 0.5], [1.0]),
    "one rare far point": SurrogateGap([[0.0], [5.0]], [0.95, 0.05], [0.3]),
    "many points": SurrogateGap(RNG.normal(size=(12, 1)), np.full(12, 1 / 12), [0.1]),
    "plane": SurrogateGap(RNG.normal(size=(6, 2)), RNG.dirichlet(np.ones(6)), [0.2, 0.05]),
    "nearly a line": SurrogateGap(RNG.normal(size=(6, 2)) * [3, 0.1], np.full(6, 1 / 6), [0.3, 1]),
}


def densities(gap, y):
    """Density of the mixture and of its Gaussian at rows ``y``, by the textbook."""
    shifts = (y[:, None, :] - gap.points) ** 2 / gap.noise
    scale = np.prod(np.sqrt(2 * np.pi * gap.noise))
    mixture = np.exp(-0.5 * shifts.sum(axis=2)) @ gap.weights / scale
    inverse = np.linalg.inv(gap.covariance)
    exponent = -0.5 * np.einsum("ni,ij,nj->n", y, inverse, y)
    gaussian = np.exp(exponent) / np.sqrt(np.linalg.det(2 * np.pi * gap.covariance))
    return mixture, gaussian


@cache
def exact(name):
    """KL(mixture || Gaussian) on a fine grid; the integrand is smooth and falls off."""
    gap = GAPS[name]
    reach = np.abs(gap.points).max(axis=0) + 8 * np.sqrt(gap.noise)
    axes = [np.linspace(-r, r, 4001 if gap.noise.size == 1 else 601) for r in reach]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, gap.noise.size)
    mixture, gaussian = densities(gap, grid)
    used = mixture > 1e-290
    cell = np.prod([axis[1] - axis[0] for axis in axes])
    return float(np.sum(mixture[used] * np.log(mixture[used] / gaussian[used])) * cell)
