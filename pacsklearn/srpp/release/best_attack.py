"""The success of the best attack on a sliced law, computed for the law that is released."""

from __future__ import annotations

import numpy as np

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.noise.lattice import generator_for
from pacsklearn.kernel.noise.noise_law import Support
from pacsklearn.srpp.divergence.lattice_smoothing import CONTINUOUS_INFLATION
from pacsklearn.srpp.divergence.naming_success import HiddenSecrets, Question
from pacsklearn.srpp.laws.slice_profile import SliceProfile
from pacsklearn.srpp.laws.sliced_gaussian import unit_directions
from pacsklearn.srpp.laws.sliced_law import SlicedLaw
from pacsklearn.srpp.release.pufferfish_guarantee import BayesSuccess
from pacsklearn.srpp.scenarios.scenario import Worlds

GAMMA = 1e-6
"""Probability that a figure which takes draws is no bound, all of a statement together."""


def bayes_success(law: SlicedLaw, worlds: Worlds, profile: SliceProfile) -> BayesSuccess:
    """Return the success of Bayes' rule over the listed worlds, the worst of pairs and priors.

    Parameters
    ----------
    law : SlicedLaw
    worlds : Worlds
    profile : SliceProfile

    Returns
    -------
    BayesSuccess

    Notes
    -----
    A function of the law and of the list, never of the true secret: draws are seeded by a hash of
    the law. Figures are of continuous noise with shifts longer by a factor, which tells no less
    than the lattice's (:data:`~pacsklearn.srpp.divergence.lattice_smoothing.CONTINUOUS_INFLATION`).
    A slice tells no more than the whole release.
    """
    scale = (law.scale or 1) / CONTINUOUS_INFLATION
    directions = _directions(law, profile)
    generator = generator_for(Support(law.centres.astype(np.float64)), "name the secret")
    gamma = GAMMA / (2 * len(worlds.priors))
    worst = dict.fromkeys(("pair", "pair_slice", "secret", "secret_slice", "secret_blind"), 0.0)
    drawn = False
    for prior in range(len(worlds.priors)):
        # A secret in no pair may have no data under a prior: then it cannot be true there.
        laws = {one.secret: one.members for one in worlds.laws if one.prior == prior}
        hidden = HiddenSecrets(law.centres, scale, list(laws.values()))
        order = {secret: number for number, secret in enumerate(laws)}
        likely = worlds.prior[list(laws)] / worlds.prior[list(laws)].sum()
        everything = Question(tuple(order.values()), tuple(likely.tolist()))
        questions = [everything]
        questions += [Question((order[i], order[j]), (0.5, 0.5)) for i, j in worlds.pairs]
        if law.is_noiseless:
            whole = slices = [hidden.unnoised(question) for question in questions]
        else:
            seen = hidden.whole(questions, gamma, generator)
            along = hidden.one_slice(questions, directions, profile.weights, gamma, generator)
            drawn |= any(each.is_drawn for each in (*seen, *along))
            whole = [each.success for each in seen]
            slices = [min(a.success, w) for a, w in zip(along, whole, strict=True)]
        for name, success in (
            ("secret", whole[0]),
            ("secret_slice", slices[0]),
            ("secret_blind", everything.blind),
            ("pair", max(whole[1:])),
            ("pair_slice", max(slices[1:])),
        ):
            worst[name] = max(worst[name], success)
    return BayesSuccess(**worst, confidence=1 - GAMMA if drawn else 1.0)


def _directions(law: SlicedLaw, profile: SliceProfile) -> Floats:
    """Return slices of the output as unit directions of the whole numbers; zero where none show."""
    # Powers of two: outputs may be too small to multiply.
    axes = np.ldexp(law.axes, -np.frexp(np.max(np.abs(law.axes), initial=1e-300))[1])
    step = np.ldexp(law.step, -np.frexp(np.max(law.step, initial=1e-300))[1])
    return unit_directions(profile.directions @ axes.T, np.diag(step))
