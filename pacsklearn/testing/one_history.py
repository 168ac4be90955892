"""A decoder in a process of its own, which has encoded one candidate and no other."""

from __future__ import annotations

import multiprocessing
import warnings
from multiprocessing.connection import Connection
from typing import Any, Self, final

from sklearn.base import clone
from threadpoolctl import threadpool_limits

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Layout
from pacsklearn.testing.encode_rules import fresh_copy
from pacsklearn.testing.fingerprint import fingerprint, fingerprints
from pacsklearn.testing.fitted_candidates import FittedCandidates

_SECONDS = 120.0


@final
class OneHistory:
    """Encodes one candidate and decodes a vector, where nothing was encoded before.

    Made before the check encodes anything: whatever a canonicalizer keeps outside itself, in its
    class or in a module, is then of this candidate alone.

    Parameters
    ----------
    canonicalizer : Canonicalizer
    candidates : FittedCandidates
    index : int
        Candidate that is encoded.
    """

    def __init__(
        self, canonicalizer: Canonicalizer, candidates: FittedCandidates, index: int
    ) -> None:
        context = multiprocessing.get_context("fork")
        self._here, there = context.Pipe()
        self._process = context.Process(
            target=_decode, args=(there, canonicalizer, candidates, index), daemon=True
        )
        with warnings.catch_warnings():
            # Of threads that a fork leaves behind: the child computes with one.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        there.close()

    @classmethod
    def of_each(
        cls, canonicalizer: Canonicalizer, candidates: FittedCandidates, *indices: int
    ) -> list[Self]:
        """Return one history for each candidate; none where processes cannot be forked."""
        if "fork" not in multiprocessing.get_all_start_methods():
            return []
        return [cls(canonicalizer, candidates, index) for index in indices]

    def decoded(self, vector: Floats, layout: Layout) -> dict[str, str]:
        """Return the hash of each attribute of what ``vector`` decodes to, and of what it does.

        Raises
        ------
        RuntimeError
            When the process does not answer, with the error that it met.
        """
        self._here.send((vector, layout))
        answer: Any = self._here.recv() if self._here.poll(_SECONDS) else "no answer"
        if isinstance(answer, str):
            raise RuntimeError(f"decode could not be tried in a process of its own: {answer}.")
        return dict(answer)

    def close(self) -> None:
        """End the process."""
        self._here.close()
        self._process.kill()
        self._process.join()


def _decode(
    pipe: Connection, canonicalizer: Canonicalizer, candidates: FittedCandidates, index: int
) -> None:
    vector, layout = pipe.recv()
    try:
        # One thread: pools of threads do not survive a fork.
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            worker = fresh_copy(canonicalizer)
            worker.encode(candidates.estimators[index], candidates.subset(index))
            released = worker.decode(vector, layout, clone(candidates.unfitted))
            content = fingerprints(released)
            content["what it does"] = fingerprint(worker.behaviour(released, candidates.X))
    except Exception as error:  # noqa: BLE001 - raised again where the check runs
        pipe.send(f"{type(error).__name__}: {error}")
    else:
        pipe.send(content)
