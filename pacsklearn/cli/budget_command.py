"""``pacsklearn budget``: one number said in four ways."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from pacsklearn.cli.console import guarded, say
from pacsklearn.cli.options import Json, number


@guarded
def budget(
    *,
    nats: Annotated[str | None, typer.Option(help="Mutual information, such as 1/16.")] = None,
    membership: Annotated[
        str | None, typer.Option(help="Most that an adversary's success may be, such as 60%.")
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Epsilon of DP with the same membership bound.")
    ] = None,
    delta: Annotated[str, typer.Option(help="Delta of that DP.")] = "0",
    prior: Annotated[str, typer.Option(help="Success of guessing blindly.")] = "1/2",
    answers: Annotated[
        int | None, typer.Option(help="Share the nats among so many contested answers.")
    ] = None,
    per_answer: Annotated[
        str | None, typer.Option(help="Nats an answer: how many until the bound is reached.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Convert between nats, success, an equivalent epsilon and a number of answers."""
    from pacsklearn.estimators.dp_comparison import answers_until, dp_success
    from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
    from pacsklearn.kernel.bounds.posterior_success import (
        mutual_information_for_success,
        posterior_success,
    )

    given = {"nats": nats, "membership": membership, "epsilon": epsilon}
    stated = [name for name, value in given.items() if value is not None]
    if len(stated) != 1:
        raise ValueError("Give exactly one of --nats, --membership and --epsilon.")
    blind, doubt = number(prior, "prior"), number(delta, "delta")
    if nats is not None:
        information = number(nats, "nats")
        bound = posterior_success(information, blind)
    else:
        # An epsilon is compared at even odds or worse; its own prior is part of the question.
        bound = (
            number(membership, "membership")
            if membership is not None
            else dp_success(number(epsilon, "epsilon"), doubt, blind)
        )
        information = mutual_information_for_success(bound, blind)
    even = posterior_success(information, 0.5)
    same = dp_epsilon(even, doubt)
    facts = {
        "nats": information,
        "prior": blind,
        "success": bound,
        "delta": doubt,
        "epsilon": None if math.isinf(same) else same,
    }
    upper = math.ceil(1e4 * bound) / 100
    epsilons = "no finite epsilon" if math.isinf(same) else f"epsilon {same:.4g}"
    lines = [
        f"mutual information    {information:.6g} nats",
        f"any success           at most {upper:.2f} %, blindly {100 * blind:.4g} %",
        f"same membership bound {epsilons} at delta {doubt:g} (a comparison, not a claim of DP)",
    ]
    if answers is not None:
        if answers < 1:
            raise ValueError(f"answers must be at least 1, got {answers}.")
        facts["answers"], facts["nats_per_answer"] = answers, information / answers
        lines.append(f"each of {answers:,} answers  {information / answers:.6g} nats")
    if per_answer is not None:
        each = number(per_answer, "per-answer")
        count = answers_until(bound, each, blind)
        facts["nats_per_answer"], facts["answers"] = each, count
        lines.append(f"answers at {each:.6g}   {count:,} contested ones")
    say(facts, "\n".join(lines), as_json=as_json)
