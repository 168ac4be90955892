"""The contract of a criterion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.kernel.secret.secret_space import SecretSpace
from pacsklearn.testing.broken_promise import broken_promise
from pacsklearn.testing.rule import Rule

_DECLARATIONS = Rule("declarations")


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
    wrong = broken_promise(made, np.asarray(space.weights, dtype=np.float64), seed=random_state)
    if wrong is not None:
        name, finding, remedy = wrong
        raise Rule(name).broken(finding, remedy)
