"""How good a release would be, beside the public constant that would be released instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from scipy.special import stdtrit
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor

from pacsklearn.kernel.outputs.run import attempt
from pacsklearn.priors import Constant
from pacsklearn.universe.public_prior import PublicPrior

_CONFIDENCE = 0.975
_MOST_SHARES = 8


def decimals(score: float) -> str:
    """Return a score with three decimals; one of very many digits as a power of ten."""
    return f"{score:.3g}" if abs(score) >= 1e6 else f"{score:.3f}"


@final
@dataclass(frozen=True)
class Utility:
    """Scores of simulated releases of one option.

    Parameters
    ----------
    name : str
        What was simulated.
    scores : tuple of float
        One a simulated release, on rows outside the drawn subset; none where it was left out.
    temperature : float, default=1.0
        What the decisions that were scored were divided by.
    why_not : str
        Why it may not be chosen; empty where it may.
    right : tuple of float
        Share of labels that are right in the same releases, where log-probabilities are scored.
    """

    name: str
    scores: tuple[float, ...] = field(repr=False)
    temperature: float = 1.0
    why_not: str = ""
    right: tuple[float, ...] = field(default=(), repr=False)

    @property
    def mean(self) -> float:
        """Expected score of a release."""
        return float(np.mean(self.scores)) if self.scores else math.nan

    @property
    def spread(self) -> float:
        """Standard deviation of single releases about it."""
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else 0.0

    @property
    def standard_error(self) -> float:
        """Standard error of :attr:`mean`, from the simulated releases alone."""
        return self.spread / math.sqrt(len(self.scores)) if self.scores else math.nan

    @property
    def merits(self) -> tuple[float, ...]:
        """What options are chosen by: scores, to log-probabilities of which accuracy is added.

        A sum of a strictly proper score and of a proper one is strictly proper. What is behind in
        accuracy by more than it is ahead in log-probability is not chosen.
        """
        if not self.right:
            return self.scores
        return tuple(score + right for score, right in zip(self.scores, self.right, strict=True))

    @property
    def merit(self) -> float:
        """Mean of :attr:`merits`."""
        return float(np.mean(self.merits)) if self.scores else math.nan

    def behind(self, other: Utility, *, in_merit: bool = False) -> float:
        """Return the standard errors by which it is behind another on the draws that both have."""
        mine, theirs = (one.merits if in_merit else one.scores for one in (self, other))
        n_common = min(len(mine), len(theirs))
        with np.errstate(invalid="ignore"):  # infinite scores
            difference = np.subtract(theirs[:n_common], mine[:n_common])
            error = float(difference.std(ddof=1)) / math.sqrt(n_common)
        mean = float(difference.mean())
        return mean / error if error else math.copysign(math.inf, mean) if mean else 0.0

    def __str__(self) -> str:
        read = f", accuracy {np.mean(self.right):.3f}" if self.right else ""
        read += f", decisions divided by {self.temperature:.3g}" * (self.temperature != 1)
        return (
            f"{decimals(self.mean)} +- {decimals(self.spread)} a release "
            f"(s.e. {self.standard_error:.2g}){read}"
        )


@final
@dataclass(frozen=True)
class Verdict:
    """Utility of every option by simulated releases, and of the constant that they must beat.

    Made once, at the law that is released, for everybody who asks: the plan, the choice and the
    warning. For the curator: it is a function of the private rows.

    Parameters
    ----------
    scoring : str
        What is scored; more is better.
    options : tuple of Utility
        The first is what is released; of several, its figure is that of fresh draws.
    reference : Utility
        Score of the public constant in the draws of the first option: what would be released
        in its place, never a frequency or a mean of the table. Without scores where no constant is
        publicly known.
    """

    scoring: str
    options: tuple[Utility, ...]
    reference: Utility

    @property
    def expected(self) -> Utility:
        """Utility of what is released."""
        return self.options[0]

    @property
    def gain(self) -> float:
        """Mean score above the reference's, draw by draw; nan without one."""
        if not self.reference.scores:
            return math.nan
        return self.expected.mean - self.reference.mean

    @property
    def beats_reference(self) -> bool:
        """Whether a release is better than the constant beyond the doubt of so many draws."""
        if math.isnan(self.gain):
            return True
        doubt = float(stdtrit(len(self.reference.scores) - 1, _CONFIDENCE))
        return self.reference.behind(self.expected) > doubt

    @property
    def why(self) -> str:
        """The verdict as a sentence."""
        expected, reference = self.expected, self.reference
        if math.isnan(self.gain):
            mean = decimals(expected.mean)
            return f"{self.scoring} {mean}; no constant is publicly known beside it"
        words = "is expected to be no better than"
        if self.gain > 0:
            words = "beats" if self.beats_reference else "is not sure to beat"
        return (
            f"{expected.name} {words} {reference.name}: {self.scoring} {decimals(expected.mean)} "
            f"(s.e. {expected.standard_error:.2g}) beside {decimals(reference.mean)}"
        )


_NO_REFERENCE = Utility("no constant", ())


def public_constant(estimator: Any, y: Any, prior: PublicPrior | Constant | None = None) -> Any:
    """Return a fitted constant in an estimator's place; None where nothing is publicly expected.

    Parameters
    ----------
    estimator : estimator
    y : array-like of shape (n_rows,)
        Its classes, which are public, are all that is read.
    prior : PublicPrior or Constant, optional
        Of regressors, and of classifiers: without one all classes are equally probable.
    """
    if y is None or np.ndim(y) != 1:
        return None
    constant: Any
    if is_classifier(estimator):
        classes = np.unique(np.asarray(y))
        shares = np.full(classes.size, 1 / classes.size)
        if isinstance(prior, Constant):
            shares = prior.of(classes)
        constant = DummyClassifier(strategy="prior")
        return constant.fit(np.zeros((classes.size, 1)), classes, sample_weight=shares)
    if not is_regressor(estimator) or prior is None or isinstance(prior, Constant):
        return None
    constant = DummyRegressor(strategy="constant", constant=prior.mean)
    return constant.fit(np.zeros((1, 1)), [prior.mean])


def reference_of(
    constant: Any,
    score: Callable[[Any, Any, Any], float],
    held_out: Callable[[int], tuple[Any, Any]],
    draws: Sequence[int],
) -> Utility:
    """Return the utility of a constant in place of releases of the drawn candidates."""
    if constant is None:
        return _NO_REFERENCE

    def work() -> tuple[float, ...]:
        known = {index: score(constant, *held_out(index)) for index in set(draws)}
        return tuple(known[index] for index in draws)

    # A scorer of the user's may ask for what a constant does not offer.
    scores = attempt(work, fits=True).value
    return _NO_REFERENCE if scores is None else Utility(constant_name(constant), scores)


def constant_name(constant: Any) -> str:
    """Return a public constant in words."""
    if hasattr(constant, "classes_"):
        shares = [f"{share:.3g}" for share in constant.class_prior_]
        more = [f"... ({len(shares)} classes)"] if len(shares) > _MOST_SHARES else []
        return f"the constant probabilities {', '.join(shares[:_MOST_SHARES] + more)}"
    return f"the constant {float(np.ravel(constant.constant_)[0]):g}"
