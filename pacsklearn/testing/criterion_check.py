"""The contract of a criterion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.testing.rule import Rule

_DECLARATIONS = Rule("declarations")
_GAINS = Rule("gains")
_SUCCESS = Rule("success")

_BELIEFS = 1000
# Candidates that share most of the mass: from one to nearly all.
_CONCENTRATIONS = (0.02, 0.2, 1.0, 5.0)
_ROUNDING = 1e-9
# Targets that are compared at once.
_TARGETS = 512


def check_criterion(
    criterion: Criterion | Callable[[SecretSpace | CandidateSpace], Criterion],
    space: SecretSpace | CandidateSpace,
    *,
    random_state: int = 0,
) -> None:
    """Check that a criterion's success is that of the best guess it declares.

    Noise is chosen for this success: one that is too small releases the exact model, and one that
    is not convex bounds nothing.

    Parameters
    ----------
    criterion : Criterion or callable
        Or what makes one for a secret space.
    space : SecretSpace or CandidateSpace
        Candidates and their prior; some dozens find more than a few.
    random_state : int, default=0
        Seed of the beliefs.

    Raises
    ------
    AssertionError
        Naming the rule that is broken and what to do.

    Notes
    -----
    The rules, for every target, at all beliefs that are certain of a candidate, at the prior, and
    at 1,000 random beliefs:

    1. *Gains*: tables of probabilities, a row for each guess and a column for each candidate; the
       same in every call.
    2. *Success*: the largest expected gain of any guess, to 1e-9; the same in every call, for the
       targets that are asked for. It is so by construction where ``success`` is inherited.
    3. *Prior*: the success of the prior belief.
    4. *Sets, lowest, distinct*: what certificates are shortened by follows from the tables.

    Where a criterion of a plugin or a user's own is used, its tables alone are believed.

    Examples
    --------
    >>> from pacsklearn.secrets import balanced_space
    >>> from pacsklearn.kernel.budget.guess_criterion import identification
    >>> from pacsklearn.testing import check_criterion
    >>> check_criterion(identification, balanced_space(40, n_subsets=16, seed=0))
    """
    made = criterion if isinstance(criterion, Criterion) else criterion(space)
    _DECLARATIONS.require_instance(made, Criterion)
    for name in ("name", "statement"):
        text = getattr(made, name, None)
        _DECLARATIONS.require(
            isinstance(text, str) and text,
            f"{name} is {text!r}.",
            f"set {name} to a text; the guarantee quotes it.",
        )
    weights = np.asarray(space.weights, dtype=np.float64)
    _check_tables(made, weights / weights.sum(), np.random.default_rng(random_state))


def _check_tables(criterion: Criterion, weights: Floats, generator: np.random.Generator) -> None:
    m, n = weights.size, criterion.n_targets
    remedy = "return how many targets there are, at least 1."
    Rule("targets").require(n >= 1, f"n_targets is {n!r}.", remedy)
    count = _BELIEFS // len(_CONCENTRATIONS)
    drawn = [generator.dirichlet(np.full(m, each), count) for each in _CONCENTRATIONS]
    beliefs = np.concatenate([weights[None, :], np.eye(m), *drawn])
    lowest = np.inf
    for start in range(0, n, _TARGETS):
        targets = np.arange(start, min(n, start + _TARGETS))
        try:
            best, again = (Criterion.success(criterion, beliefs, targets) for _ in range(2))
        except ValueError as error:
            remedy = "return gains of every guess, in that form."
            raise _GAINS.broken(str(error), remedy) from error
        _GAINS.require(
            np.array_equal(best, again),
            "They differ between two calls.",
            "derive them from the candidates alone.",
        )
        _check_success(criterion, beliefs, targets, best)
        prior = np.asarray(criterion.prior(weights))
        Rule("prior").require(
            prior.shape == (n,) and np.allclose(prior[targets], best[0], rtol=0, atol=_ROUNDING),
            "It is not the success of the best guess at each target under the prior.",
            "inherit prior: it is the success of the prior belief.",
        )
        if (sets := criterion.sets(targets)) is not None:
            inside = beliefs @ sets.T.astype(np.float64)
            Rule("sets").require(
                np.abs(0.5 + np.abs(inside - 0.5) - best).max() <= _ROUNDING,
                "Telling whether the secret is in the set of a target is not its table.",
                "return None, or for each target the candidates of the event that is told.",
            )
        lowest = min(lowest, float(best.min()))
    Rule("lowest").require(
        0 <= criterion.lowest <= lowest + _ROUNDING,
        f"lowest is {criterion.lowest!r}, and {lowest:.6g} is the success at a belief.",
        "set lowest = 0, or less than any belief has.",
    )
    kept = {int(target) for target in criterion.distinct}
    tables = {_table(criterion, target) for target in kept}
    Rule("distinct").require(
        all(_table(criterion, each) in tables for each in range(n) if each not in kept),
        "A target that it leaves out has a table that none of the others has.",
        "inherit distinct, or leave out targets whose table another one has.",
    )


def _check_success(
    criterion: Criterion, beliefs: Floats, targets: NDArray[np.intp], best: Floats
) -> None:
    """Check the success of a few targets against brute force over their guesses."""
    value, again = (np.asarray(criterion.success(beliefs, targets)) for _ in range(2))
    _SUCCESS.require(
        value.shape == best.shape and np.all(np.isfinite(value)),
        f"It has shape {value.shape}, not {best.shape}, or holds numbers that are not finite.",
        "return a number for each belief and each of the targets given.",
    )
    remedy = "use no randomness in success."
    _SUCCESS.require(np.array_equal(value, again), "It differs between two calls.", remedy)
    # Columns belong to the targets that are asked for, in that order.
    turned = np.asarray(criterion.success(beliefs, targets[::-1]))[:, ::-1]
    worst = np.unravel_index(np.argmax(np.abs(value - best)), best.shape)
    _SUCCESS.require(
        max(np.abs(value - best).max(), np.abs(turned - best).max()) <= _ROUNDING,
        f"At a belief it is {value[worst]:.6g}, where the best of the guesses in gains has "
        f"{best[worst]:.6g}.",
        "inherit success, which takes the best of all guesses, or compute the same; declare "
        "every guess in gains.",
    )


def _table(criterion: Criterion, target: int) -> bytes:
    """Return the rows of a target's table, in an order that does not matter."""
    rows = np.concatenate([np.asarray(each, dtype=np.float64) for each in criterion.gains(target)])
    return np.unique(rows, axis=0).tobytes()
