"""Runs of private gradient descent, played with the rows that pull hardest."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import softmax
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from pacsklearn.audit.game import Game, Round, read_only
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.bounds.posterior_success import posterior_success
from pacsklearn.srpp.descent.base import LinearSGD, Problem
from pacsklearn.srpp.descent.clipped_gradient import clipped_sum
from pacsklearn.srpp.descent.linear_parameters import LinearChoices
from pacsklearn.srpp.descent.srpp_sgd_accountant import SRPPSGDAccountant
from pacsklearn.srpp.divergence.discrepancy import largest_discrepancy, second_moment
from pacsklearn.srpp.parameters.renyi import NoiseMultiplier
from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee
from pacsklearn.srpp.scenarios.differing_rows import DifferingRows

# Weight, entry and target of the rows that pull: their gradients are far above any clipping norm,
# wherever the model goes.
_WEIGHT, _ENTRY, _TARGET = 1e280, 1e-3, 1e100
# Deltas at which a run is asked for its epsilon: the bound on an attack is the best of them.
_DELTAS = (1e-5, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Transcript:
    """What a run of gradient descent gives away.

    Parameters
    ----------
    parameters, means : list of ndarray of shape (k, n_features + 1)
        The model before each step, and the noised mean gradient that it stepped along.
    held : list of int or None
        Rows that pull in each step's batch, where the batches may be known; None where not.
    """

    parameters: list[Floats]
    means: list[Floats]
    held: list[int | None]


@final
class DescentGame(Game):
    """One of two tables is trained on, and every step of the run is seen: the whole transcript.

    The tables are the worst that the guarantee allows: they differ in as many rows as it says, in
    the targets of those rows, which weigh so much that each is clipped in every step; no other row
    weighs anything. Each round is a run by the estimator's own code, with noise from the round's
    generator. The posterior is exact: the adversary knows the gradients under both tables at every
    step, and how likely a batch holds how many of these rows; or how many it holds, where the
    accounting lets the batches be known.

    Parameters
    ----------
    model : SRPPSGDClassifier or SRPPSGDRegressor
        Fitted.

    Raises
    ------
    NotFittedError
        When the model is not fitted, or has no guarantee.
    ValueError
        When the guarantee does not cover a single row that differs.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pacsklearn.audit import run_audit
    >>> from pacsklearn.srpp import SRPPSGDClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SRPPSGDClassifier(batches=200, epochs=2, classes=[0, 1]).fit(X, y)
    >>> run_audit(model, n_trials=100, attacks=["map"]).passed
    True
    """

    def __init__(self, model: LinearSGD) -> None:
        guarantee, record = (vars(model).get(name) for name in ("guarantee_", "_record"))
        if not isinstance(guarantee, PufferfishGuarantee) or record is None:
            raise NotFittedError(
                "An audit replays a run with a guarantee: call fit on the model first, with noise."
            )
        secret: Any = guarantee.secret
        self._information = secret.information
        count = _differing(secret)
        choices = LinearChoices.of(model)
        together = {"discrepancy": None, "charged_together": record.n_steps}
        budget = choices.run.budget
        epochs = record.n_steps // math.ceil(secret.n_rows / secret.batch_size)
        changes = {
            "scenario": DifferingRows(count),
            "batches": choices.run.batches.set_params(**together),
            "budget": NoiseMultiplier(
                record.noise_multiplier, budget.order, budget.delta, allow_exact=True
            ),
            "epochs": choices.epochs.set_params(n=max(1, epochs), early_stopping=False),
            "ledger": None,
        }
        if is_classifier(model):
            changes |= {"class_weight": None, "classes": model.classes_}
        self._model = clone(model).set_params(**changes)
        self._rows = np.zeros((secret.n_rows, model.n_features_in_))
        self._rows[:count, 0] = _ENTRY
        if choices.clipping.feature_bounds is not None:
            self._rows *= np.asarray(choices.clipping.feature_bounds, dtype=np.float64)
        self._loss, self._shown = choices.loss, choices.run.batches.accounting != "secret-batches"
        self._weights = np.where(np.arange(secret.n_rows) < count, _WEIGHT, 0.0)
        self.prior = read_only(np.full(2, 0.5))
        # A rehearsal of both: what pulls, and what its run is worth.
        rehearsed = [self._trained(secret, seed=0)[1:] for secret in range(2)]
        self._problems = [problem for problem, *_ in rehearsed]
        _, self._accountant, n_steps = rehearsed[0]
        noise = self._noise = float(record.noise_multiplier)
        costs = [self._accountant.costs(noise, n_steps, delta) for delta in _DELTAS]
        pairs = [(each.full_epsilon, each.delta) for each in (guarantee.costs, *costs)]
        # Of a mean over batches that are known, information alone bounds what is seen here.
        pairs = [(math.inf, 0.0)] if secret.averaged_over else pairs
        self._most = min(1 - (1 - delta) / (1 + math.exp(min(e, 700.0))) for e, delta in pairs)

    def bound(self, blind: float) -> float:
        """Return success that is allowed at naming the table, by all figures of the guarantee."""
        # Half of it: two tables drawn from the prior differ with probability 1/2.
        allowed = posterior_success(self._information / 2, blind)
        return min(allowed, self._most) if blind <= 0.5 else allowed

    def play(self, generator: np.random.Generator) -> Round:
        secret, seed = int(generator.integers(2)), int(generator.integers(2**31 - 1))
        transcript, *_ = self._trained(secret, seed)
        ratio = [self._log_likelihood(transcript, problem) for problem in self._problems]
        return Round(secret, softmax(ratio), transcript)

    def _trained(
        self, secret: int, seed: int
    ) -> tuple[Transcript, Problem, SRPPSGDAccountant, int]:
        """Return one run of the estimator's own code on a table, watched from inside."""
        model: Any = clone(self._model).set_params(random_state=seed)
        targets = np.zeros(len(self._rows))
        targets[self._weights > 0] = _TARGET * (1 - 2 * secret)
        if is_classifier(model):
            targets = model.classes[np.where(self._weights > 0, secret, 0)]
        seen = Transcript([], [], [])
        met: list[Any] = []
        descend = model._descend

        def watched(run: Any, problem: Problem, *rest: Any, **more: Any) -> None:
            met.extend((problem, run.accountant))
            pulls = self._weights > 0 if self._shown else None
            descend(_WatchedRun(run, model, seen, pulls), problem, *rest, **more)

        model._descend = watched
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # noise of a game is seeded, and nothing is released
            model.fit(self._rows, targets, sample_weight=self._weights)
        return seen, *met, len(seen.means)

    def _log_likelihood(self, seen: Transcript, problem: Problem) -> float:
        """Return the log-likelihood of everything released, had the table been this one.

        Up to a constant.
        """
        cap, (norm,) = self._accountant.cap, self._accountant.clipping.norms
        deviation = norm * self._noise
        counts = np.arange(cap.largest + 1)
        total = 0.0
        log_law = cap.log_law
        assert log_law is not None
        for parameters, mean, held in zip(seen.parameters, seen.means, seen.held, strict=True):
            pull = clipped_sum(
                problem.X[:1], problem.targets[:1], parameters, self._loss, norm,
                self._weights[:1], intercept=self._model.fit_intercept,
            )  # fmt: skip
            shift, moved = pull / deviation, mean * cap.batch_size / deviation
            along, square = float(np.sum(shift * moved)), float(np.sum(shift**2))
            joint = log_law + counts * along - counts**2 * square / 2
            total += float(np.logaddexp.reduce(joint) if held is None else joint[held])
        return total


@final
class _WatchedRun:
    """A run, and somebody who writes down what it gives away."""

    def __init__(self, run: Any, model: Any, seen: Transcript, pulls: Any) -> None:
        self._run, self._model, self._seen, self._pulls = run, model, seen, pulls

    def next_batch(self) -> Any:
        rows = self._run.next_batch()
        self._seen.held.append(None if self._pulls is None else int(np.sum(self._pulls[rows])))
        return rows

    def noised_mean(self, total: Floats) -> Floats:
        parameters = self._model._descent.parameters
        mean: Floats = self._run.noised_mean(total)
        self._seen.parameters.append(parameters.copy())
        self._seen.means.append(mean.reshape(parameters.shape))
        return mean


def _differing(secret: Any) -> int:
    """Return the most rows in which two tables may differ, by the figures that are stated."""
    batches, square = (secret.batch_size, secret.sampling), secret.second_moment * (1 + 1e-9)

    def is_beyond(count: int) -> bool:
        largest = largest_discrepancy(secret.n_rows, count, *batches)
        return largest > secret.largest or second_moment(secret.n_rows, count, *batches) > square

    count = bisect_left(range(secret.n_rows + 1), True, key=is_beyond) - 1
    if count < 1:
        raise ValueError(
            f"The guarantee covers {secret.second_moment:g} differing rows of a batch in mean "
            "square, fewer than a single row of the table: no two tables are known to play with."
        )
    return count
