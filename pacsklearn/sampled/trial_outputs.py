"""The mechanism for one subset at a time: fit, encode, align to what the first trials agreed on.

The secret's own is given up when it takes too long.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar, final

import numpy as np

from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn._validation import warn_user
from pacsklearn.exceptions import DesignWarning
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.candidates import Candidates, FitOptions
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding
from pacsklearn.kernel.outputs.outputs import CHECKED_ROWS, CandidateOutputs, Known, SubsetEncoder
from pacsklearn.kernel.outputs.run import Outcome, attempt
from pacsklearn.kernel.outputs.subset_fitting import joint_models, over_subsets
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.universe.design import candidates_over

if TYPE_CHECKING:  # which gives what is here
    from pacsklearn.sampled.drawn_subsets import DrawnSubsets, Members

_TOGETHER = 128
# Copies of the reference that a vector is aligned with, so that it moves to them and not they.
_COPIES = 8


@final
@dataclass(frozen=True, eq=False, repr=False)
class SubsetMap:
    """From a subset to the vector that is released of it, noise aside; secret material.

    A function of the one subset and of public things: the calibration trials, whose first gives
    structure and alignment. Where the fit fails, or its structure is another, there is no vector.

    Parameters
    ----------
    candidates : Candidates
        Of the calibration trials.
    outputs : CandidateOutputs
        Of the calibration trials, aligned.
    first : ndarray of bool, shape (n_units,)
        The first trial, with which every other subset is fitted.
    drawn : DrawnSubsets
    """

    candidates: Candidates
    outputs: CandidateOutputs
    first: Members
    drawn: DrawnSubsets

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        drawn: DrawnSubsets,
        n_calibration: int,
        options: FitOptions,
        canonicalizer: Canonicalizer,
    ) -> tuple[Self, Floats]:
        """Fit the calibration trials; the map, and their vectors."""
        trials = drawn.trials(0, n_calibration)
        candidates = candidates_over(estimator, X, y, trials.space, options)
        outputs = candidates.outputs(canonicalizer)
        return cls(candidates, outputs, drawn.trial(0), drawn), outputs.vectors[trials.numbers]

    def of_trials(self, start: int, stop: int) -> list[Floats | None]:
        """Return the vectors of the trials of these numbers, by as many workers as there are."""
        outputs: list[Floats | None] = []
        kinds: list[type[Warning]] = []
        for low in range(start, stop, _TOGETHER):
            trials = self.drawn.trials(low, min(low + _TOGETHER, stop), self.first)
            outcomes = self._outcomes(trials.space)
            kinds += [kind for outcome in outcomes[1:] for kind in outcome.warnings]
            vectors = [self._vector(outcome) for outcome in outcomes]
            outputs += [vectors[number] for number in trials.numbers[1:]]
        for kind in sorted(set(kinds), key=lambda kind: kind.__name__):
            warn_user(
                f"{type(self.candidates.estimator).__name__}: {kind.__name__} in "
                f"{kinds.count(kind)} of {stop - start} trial fits (the messages are withheld "
                "because they may quote rows).",
                kind,
            )
        return outputs

    def of_subset(self, members: Members) -> Floats | None:
        """Return the vector of one subset, fitted in this process.

        Secret material where the subset is.
        """
        return self._vector(self._alone(members))

    def _alone(self, members: Members) -> Outcome:
        """Return the encoding of one subset, fitted with the first trial as all others are."""
        # Of a subset twice in one space the joint fit would see two candidates that are one.
        if np.array_equal(self.first, members):
            return Outcome(Encoding(self.outputs.vectors[0], self.outputs.layout))
        pair = np.packbits(np.stack([self.first, members], axis=1), axis=1)
        space = SecretSpace(pair, 2, np.full(2, 0.5), self.drawn.unit_of_row)
        known = self._jointly(space)
        return Outcome() if known is None else self._encoder.encoded(space, 1, known[1])

    def _outcomes(self, space: SecretSpace) -> list[Outcome]:
        """Return the encodings of all candidates of a space, the first trial being its first."""
        known = self._jointly(space)
        if known is None:
            # One that spoils the joint fit of all may not take the others with it: it would not,
            # when one of those is the secret.
            members = space.membership()
            return [self._alone(members[:, index]) for index in range(space.n_subsets)]
        options = replace(self.candidates.options, verbose=0)
        return over_subsets(self._encoder.encoded, space=space, options=options, each=known)

    @property
    def _encoder(self) -> SubsetEncoder:
        own, outputs = self.candidates, self.outputs
        params = dict(own.options.fit_params)
        return SubsetEncoder(outputs.form, own.X, own.y, params, checked_every=0)

    def _jointly(self, space: SecretSpace) -> list[Known] | None:
        """Return model and encoding of each candidate, where they are fitted together; else None.

        None in place of the list where the joint fit fails.
        """
        one = self._encoder
        fast, ordinary = self.candidates.options.fast_fit, self.outputs.reference

        work = (one.form.template, one.X, one.y, one.params, space, ordinary)
        joint = attempt(partial(joint_models, *work, fast_fit=fast), fits=True).value
        if joint is None:
            return None
        encoded = attempt(partial(one.known_jointly, joint.models, space), "encode").value
        return encoded or [None if model is None else (model, None) for model in joint.models]

    def _vector(self, outcome: Outcome) -> Floats | None:
        encoding, layout = outcome.value, self.outputs.layout
        if encoding is None or layout.differences(encoding.layout):
            return None
        return attempt(partial(self._aligned, encoding.vector), "align").value

    def _aligned(self, vector: Floats) -> Floats:
        outputs = self.outputs
        if type(outputs.form.canonicalizer).align is Canonicalizer.align:
            return vector
        rows = safe_indexing(self.candidates.X, np.arange(min(CHECKED_ROWS, self.drawn.n_rows)))
        together = np.stack([*[outputs.vectors[0]] * _COPIES, vector])
        return outputs.form.align(together, outputs.layout, rows)[-1]


def warn_of_trials(name: str, n_failed: int, n_trials: int) -> None:
    """Warn of trials of which nothing could be released; trials are independent of the secret."""
    if n_failed:
        warn_user(
            f"{name} could not be released on {n_failed} of {n_trials} trial subsets: its fit "
            "failed there, or gave another structure. Where that happens to the secret, the "
            "trials' centre is released in its place, with the same noise and charge. Fix the "
            "structure by a parameter, or collect more rows.",
            DesignWarning,
        )


T = TypeVar("T")

_GRACE = 2.0
_EVERY = 0.02


def within(seconds: float, work: Callable[[], T]) -> T | None:
    """Return the value of ``work()``, or None when it fails or does not end in time.

    It runs in a thread of this process. Where time is up the thread is told to end; Python code
    does, and code of compiled libraries when it comes back. Until then it is left to itself.
    """
    finished: list[T] = []

    def run() -> None:
        try:
            value = work()
        except BaseException:  # noqa: BLE001 - what failed may not show
            return
        finished.append(value)

    thread = threading.Thread(target=run, name="pacsklearn-secret", daemon=True)
    thread.start()
    thread.join(seconds)
    kept = finished[:]
    given_up = time.monotonic() + _GRACE
    while thread.is_alive() and time.monotonic() < given_up:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
        )
        thread.join(_EVERY)
    return kept[0] if kept else None
