"""Noise that only ever adds: for running times, message sizes and other things that grow."""

from __future__ import annotations

from typing import final

import numpy as np

from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.padding.least_padding import bucket_padding, least_padding
from pacsklearn.padding.one_sided_law import OneSidedLaw

_LARGEST = 2.0**53


@final
class OneSidedBackend:
    """The least mean padding whose exact mutual information meets the budget.

    Outputs are one integer a candidate, in public units (microseconds, bytes); the released
    integer is never below the candidate's own. Not a ``NoiseBackend``: its law is no Gaussian.

    Guarantee
    ---------
    ``I(S; Y) = bound <= budget``, summed exactly over candidates and levels: no tail is cut off
    and nothing is estimated. A single outcome can rule out candidates altogether, namely those
    whose value is larger; that is inherent in noise that only adds. Sources: the problem,
    black-box-privatization; the padding, :func:`~pacsklearn.bounds.least_padding`.
    """

    def calibrate(self, support: Support, target: Target) -> OneSidedLaw:
        """Return the law whose bound is at most ``target.budget`` under the support's belief.

        Parameters
        ----------
        support : Support
            Outputs of shape (m, 1), whole numbers below 2**53.
        target : Target
        """
        outputs = support.outputs
        if outputs.shape[1] != 1:
            raise ValueError(
                f"one-sided noise is for one number a candidate, got {outputs.shape[1]}; release "
                "the numbers one by one."
            )
        if np.any(outputs != np.rint(outputs)):
            raise ValueError(
                "one-sided noise is for whole numbers in a public unit such as microseconds or "
                "bytes; some candidate's output is not whole. Round up to a unit."
            )
        if np.any(np.abs(outputs) >= _LARGEST):
            raise ValueError("one-sided noise needs outputs below 2**53; use a coarser unit.")
        values, row = np.unique(outputs[:, 0].astype(np.int64), return_inverse=True)
        weights = np.bincount(row, weights=support.weights, minlength=values.size)
        weights = weights / weights.sum()
        padding = least_padding(values, weights, target.budget)
        return OneSidedLaw(
            padding=padding,
            row=row.reshape(-1).astype(np.int64),
            bound=padding.information,
            constant_padding=float(weights @ (values[-1] - values)),
            bucket_padding=bucket_padding(values, weights, target.budget).expected,
        )
