"""A private model: fitted on the secret subset, canonical, noised."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn._validation import is_word
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.host import stage
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.noise.noise_law import Integers, NoiseLaw, Target
from pacsklearn.kernel.outputs.candidates import Fittable, check_wrapped
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.kernel.outputs.outputs import CandidateOutputs
from pacsklearn.kernel.plugins.registry import registry
from pacsklearn.kernel.release.plan import Part, Plan, chosen_backend
from pacsklearn.kernel.release.terms import public_facts
from pacsklearn.kernel.secret.space import RowSpace


class Reading:
    """How the numbers that were released become a model: post-processing given the law.

    This one takes them for the model's own.

    Attributes
    ----------
    public : tuple of str
        What the model holds beside the released numbers; a function of the whole table.
    prior : PublicPrior or None
        What is publicly expected of the model's predictions.
    """

    public: ClassVar[tuple[str, ...]] = ()
    prior: Any = None

    def check(self, estimator: Any) -> None:
        """Refuse an estimator whose release cannot be read so, before anything is fitted.

        Raises
        ------
        ValueError
        """

    def over(self, outputs: CandidateOutputs) -> Reading:
        """Return the reading of these outputs.

        Raises
        ------
        ValueError
            Where it says nothing about them.
        """
        return self

    def noise_variances(self, law: NoiseLaw) -> Floats:
        """Return the variance of the noise that is left in each number; (d,)."""
        return law.noise_variances

    def methods(self, canonicalizer: Canonicalizer) -> Iterable[str]:
        """Return the methods of the model."""
        return canonicalizer.methods

    def model(self, outputs: CandidateOutputs, law: NoiseLaw, vector: Floats) -> Any:
        """Return the model of a released vector, with what the law of its noise says."""
        del law
        return outputs.decode(vector)

    def plain(self, model: Any) -> Any:
        """Return the model of the released numbers alone."""
        return model


AS_RELEASED: Final = Reading()


@final
@dataclass(frozen=True)
class ReleaseChoices:
    """What a user chooses about a release of parameters.

    Parameters
    ----------
    noise : str or NoiseBackend, default="auto"
    metric : Metric, optional
        The canonicalizer's own when not given.
    canonicalizer : "auto", str or Canonicalizer, default="auto"
    reading : Reading
    """

    noise: Any = "auto"
    metric: Metric | None = None
    canonicalizer: Any = "auto"
    reading: Reading = AS_RELEASED


@final
@dataclass(frozen=True, eq=False, repr=False)
class ParameterPlan(Plan):
    """A release of a fitted model's parameters.

    A session takes it once; a game takes it again and again, with secrets of its own.
    """

    outputs: CandidateOutputs
    space: RowSpace
    backend: NoiseBackend
    cost: Metric
    target: Target
    provenance: tuple[Provenance, ...]
    reading: Reading
    _first: dict[bytes, NoiseLaw] = field(default_factory=dict)

    kind = "parameters"

    @classmethod
    def of(
        cls,
        estimator: Any,
        prepare: Callable[[], Fittable],
        target: Target,
        choices: ReleaseChoices,
    ) -> Self:
        """Fit the candidates of ``prepare``, once the plugins are known to be there."""
        check_wrapped(estimator)
        plugins, canonicalizer = registry(), choices.canonicalizer
        choices.reading.check(estimator)
        backend, used = chosen_backend(choices.noise, target)
        chosen = plugins.canonicalizer(canonicalizer, estimator)
        automatic = is_word(canonicalizer, "auto")
        provenance = (
            used,
            plugins.provenance("canonicalizer", chosen if automatic else canonicalizer),
        )
        # Last: what is wrong with an argument is said before every candidate is fitted.
        candidates = prepare()
        outputs = candidates.outputs(chosen)
        with stage("calibration"):
            reading = choices.reading.over(outputs)
            # It shapes the noise only: the bound is proved for whatever shape comes of it.
            cost = outputs.metric() if choices.metric is None else choices.metric
        return cls(outputs, candidates.space, backend, cost, target, provenance, reading)

    def calibrate(self, belief: NDArray[np.float64]) -> NoiseLaw:
        """Return the law under a belief; that of the first is kept, as games begin with it."""
        # By its bits: a law is that of one belief, and of none that is merely close.
        name = belief.tobytes()
        law = self._first.get(name)
        if law is None:
            with stage("calibration"):
                law = self.backend.calibrate(self.outputs.support(belief), self.target, self.cost)
            if not self._first:
                self._first[name] = law
        return law

    @property
    def n_outputs(self) -> int:
        """Length of the released vector."""
        return self.outputs.layout.size

    @property
    def released(self) -> tuple[str, ...]:
        """What comes out of the noisy vector."""
        return self.outputs.form.canonicalizer.noised

    @property
    def public(self) -> tuple[str, ...]:
        """What is released as it is."""
        return (*public_facts(self.outputs.layout), *self.reading.public)

    def value(self, law: NoiseLaw, observed: Integers) -> Any:
        """Return the fitted estimator of what was drawn."""
        return self.reading.model(self.outputs, law, law.decode(observed))

    def parts(self, law: NoiseLaw, observed: Integers) -> list[Part]:
        """Return the estimator, with the noise that reading has left in each of its numbers."""
        return [Part(law, self.value(law, observed), self.reading.noise_variances(law))]
