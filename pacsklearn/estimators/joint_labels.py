"""Private labels of a list of queries at once: one release, whose success can be capped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.answers.answer_kind import AnswerKind
from pacsklearn.kernel.answers.statement import of_agreed_answers
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee
from pacsklearn.kernel.noise.noise_law import Target
from pacsklearn.kernel.outputs.function_values import FunctionValues
from pacsklearn.kernel.outputs.models import AnsweringModels
from pacsklearn.kernel.release.function import FunctionPlan
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.kernel.release.release import Release


@final
@dataclass(frozen=True, eq=False, repr=False)
class JointLabels:
    """Labels that candidates give queries, as numbers; secret material.

    A one for the label of each contested query and a zero for every other label that some
    candidate gives it. Labels that no candidate gives are no numbers, nor are queries on which all
    agree.

    Parameters
    ----------
    kind : AnswerKind
        Labels.
    given : ndarray of bool, shape (n, n_classes, m)
    noised : ndarray of bool, shape (n, n_classes)
    """

    kind: AnswerKind
    given: NDArray[np.bool_]
    noised: NDArray[np.bool_]

    @classmethod
    def of(cls, kind: AnswerKind, codes: NDArray[Any]) -> Self:
        """Make the plan from what every candidate says of every query, (n, m) codes of labels."""
        given = codes[:, None, :] == np.arange(kind.width)[None, :, None]
        noised = given.any(axis=2) & ~given.all(axis=2)
        if not noised.any():  # one number that is the same for all of them: no noise is needed
            noised[0, codes[0, 0]] = True
        return cls(kind, given, noised)

    @property
    def n_contested(self) -> int:
        """Queries on which candidates disagree."""
        return int((self.given.any(axis=2).sum(axis=1) > 1).sum())

    def plan(self, target: Target) -> FunctionPlan:
        """Return the release of the numbers, up to what needs the secret."""
        vectors = np.ascontiguousarray(self.given[self.noised].T, dtype=np.float64)
        values = FunctionValues(vectors, (vectors.shape[1],))
        return FunctionPlan.over(lambda: values, "labels of queries", target)

    def labels(self, vector: Floats) -> NDArray[Any]:
        """Return the most likely label of every query, by a noisy vector of the plan."""
        scores = np.where(self.given.any(axis=2), self.given[:, :, 0].astype(np.float64), -np.inf)
        scores[self.noised] = vector
        return self.kind.decoded(list(scores.argmax(axis=1)))


def answer_together(
    procedure: ReleaseProcedure, models: AnsweringModels, kind: AnswerKind, X: Any, target: Target
) -> tuple[Release, int]:
    """Release the labels of all queries at once, and count how many of those are contested."""
    joint = JointLabels.of(kind, kind.predictions(models, models.checked(X)))
    (release,) = procedure.release(joint.plan(target))
    assert isinstance(release.guarantee, PACGuarantee)
    guarantee = of_agreed_answers(release.guarantee, kind.answers)
    labels = joint.labels(release.value)
    return replace(release, value=labels, guarantee=guarantee), joint.n_contested
