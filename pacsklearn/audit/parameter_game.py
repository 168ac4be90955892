"""Released vectors, played by their noise laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np

from pacsklearn._validation import check_budget
from pacsklearn.audit.game import CandidateGame, Round
from pacsklearn.estimators.game_procedure import game_procedure
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.noise.noise_law import Integers, NoiseLaw
from pacsklearn.kernel.noise.sampler import SeededSampler
from pacsklearn.kernel.release.plan import Plan
from pacsklearn.kernel.secret.space import Space

# Of an account for laws on which all candidates agree, which cost nothing.
_LEAST_CEILING = 1e-12
LawOrRule: TypeAlias = NoiseLaw | Callable[[Floats], NoiseLaw]


@final
class ParameterGame(CandidateGame):
    """One release, or several of one secret, over and over with fresh secrets.

    Parameters
    ----------
    releases : NoiseLaw, callable, or sequence of them
        In order. A callable gets the belief after the releases before, of shape (m,), and gives
        the law calibrated to it, as a session does.
    space : SecretSpace or CandidateSpace
        Candidates, prior, and units where candidates are subsets.
    information : float, optional
        Nats that all releases together reveal at most: the session's budget. The sum of the laws'
        bounds when not given, which holds for laws that are fixed beforehand; required where one
        depends on the belief.
    decode : callable, optional
        Turns the released vectors, one positional argument each, into what is shown to the attack:
        a fitted model, say. The tuple of vectors when not given.

    Raises
    ------
    BudgetError, ValueError
        When an argument is not of that form, or a law has another number of candidates.

    Notes
    -----
    Each round takes the releases as a session does, by the session's own code: calibrated to the
    belief, charged, drawn, learnt from. A release that does not fit under ``information`` raises
    ``BudgetExhaustedError``, as in a session.

    The noise is a rounded Gaussian of the lattice's scale from the round's generator, as for
    :class:`~pacsklearn.audit.transcript_game.TranscriptGame`. The posterior is by the released
    integers, from which everything shown is computed.

    Examples
    --------
    >>> import numpy as np
    >>> from pacsklearn.audit.identification_attack import IdentificationAttack
    >>> from pacsklearn.audit.parameter_game import ParameterGame
    >>> from pacsklearn.kernel.outputs.metric import IdentityMetric
    >>> from pacsklearn.kernel.noise.noise_law import Support
    >>> from pacsklearn.kernel.noise.noise_law import Target
    >>> from pacsklearn.plugins import registry
    >>> from pacsklearn.secrets import balanced_space
    >>> outputs = np.random.default_rng(0).normal(size=(16, 3))
    >>> law = registry().noise_backend("logdet").calibrate(
    ...     Support(outputs), Target(1 / 4), IdentityMetric()
    ... )
    >>> game = ParameterGame(law, balanced_space(40, n_subsets=16))
    >>> IdentificationAttack().run(game, n_trials=200, seed=0).violates()
    False
    """

    def __init__(
        self,
        releases: LawOrRule | Sequence[LawOrRule],
        space: Space,
        *,
        information: float | None = None,
        decode: Callable[..., Any] | None = None,
    ) -> None:
        self._releases: tuple[LawOrRule, ...] = (
            tuple(releases) if isinstance(releases, Sequence) else (releases,)
        )
        if not self._releases:
            raise ValueError("releases must hold at least one noise law.")
        fixed = [_check_law(law, space).bound for law in self._releases if not callable(law)]
        if information is not None:
            promised = check_budget(budget=information, name="information")
        elif len(fixed) == len(self._releases):
            promised = sum(fixed)
        else:
            raise ValueError(
                "information is missing: releases that depend on the belief have no sum known "
                "beforehand; give the session's budget."
            )
        super().__init__(space, promised)
        # Laws fixed beforehand fit by their own sum, whatever information they are said to reveal.
        own = math.fsum(fixed) if len(fixed) == len(self._releases) else promised
        self._ceiling = max(own, _LEAST_CEILING)
        self._decode = decode

    def play(self, generator: np.random.Generator) -> Round:
        played = taken(self._releases, self._space, self._ceiling, None, generator)
        if self._decode is None:
            return played
        return replace(played, released=self._decode(*played.released))


def taken(
    releases: Sequence[LawOrRule],
    space: Space,
    ceiling: float,
    criterion: Criterion | None,
    generator: np.random.Generator,
) -> Round:
    """Return the round of a game that shows the released vectors.

    One session, by the session's own code.
    """
    procedure = game_procedure(space, SeededSampler(generator), ceiling, criterion)
    secret = procedure.secret.index  # drawn before the noise
    steps = [procedure.take(_LawPlan(release, space)) for release in releases]
    shown = tuple(step.law.decode(step.observed) for step in steps)
    return Round(secret, procedure.secret.belief, shown)


@final
@dataclass(frozen=True, eq=False, repr=False)
class _LawPlan(Plan):
    """One step of a session, with a law that is given."""

    release: LawOrRule
    space: Space

    kind = "parameters"
    n_outputs = 0
    released = public = provenance = ()

    def calibrate(self, belief: Floats) -> NoiseLaw:
        release = self.release
        return _check_law(release(belief) if callable(release) else release, self.space)

    def value(self, law: NoiseLaw, observed: Integers) -> Floats:
        return law.decode(observed)


def _check_law(law: Any, space: Space) -> NoiseLaw:
    if not isinstance(law, NoiseLaw):
        raise ValueError(
            "releases must be noise laws, or callables that give one for a belief, got an object "
            f"of type {type(law).__name__}."
        )
    if len(law.centres) != space.n_candidates:
        raise ValueError(
            f"releases must be laws for the {space.n_candidates} candidates of space, got one for "
            f"{len(law.centres)}; calibrate them to outputs of the same space."
        )
    return law
