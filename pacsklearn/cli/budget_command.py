"""``pacsklearn budget``: one number said in four ways."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from pacsklearn.cli.console import Output, guarded
from pacsklearn.cli.options import Limit, number


@guarded
def budget(
    *,
    limit: Limit,
    epsilon: Annotated[
        str | None, typer.Option(help="Epsilon of DP with the same membership bound.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(help="Delta of that DP: 0, or 1e-5 with --renyi.")
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(help="Success of guessing blindly: 1/2, or 1/128 with --identification."),
    ] = None,
    answers: Annotated[
        int | None, typer.Option(help="Share the nats among so many contested answers.")
    ] = None,
    per_answer: Annotated[
        str | None, typer.Option(help="Nats an answer: how many until the bound is reached.")
    ] = None,
) -> Output:
    """Convert between nats, success, an equivalent epsilon and a number of answers."""
    from pacsklearn.estimators.dp_comparison import answers_until, dp_success
    from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
    from pacsklearn.kernel.bounds.posterior_success import (
        mutual_information_for_success,
        posterior_success,
    )

    stated = limit.given
    if (stated is None) == (epsilon is None):
        raise ValueError("Give exactly one budget, or --epsilon.")
    if stated is not None and limit.budget is not None:
        from pacsklearn.cli.recipe import budget_of

        stated = budget_of({"budget": stated}).to_dict()  # or says what is wrong with it
        if not stated.keys() & {"nats", "cap", "order"}:
            raise ValueError(
                "--budget states neither nats nor a cap, and nothing else is converted."
            )
    if stated is not None and stated["name"] == "renyi":
        return _renyi(stated, number(delta or "1e-5", "--delta"))
    blind, doubt = number(prior or _blind(stated), "--prior"), number(delta or "0", "--delta")
    if stated is None:
        # An epsilon is compared at even odds or worse; its own prior is part of the question.
        bound = dp_success(number(epsilon, "--epsilon"), doubt, blind)
    else:
        bound = stated.get("cap") or posterior_success(stated["nats"], blind)
    information = (stated or {}).get("nats") or mutual_information_for_success(bound, blind)
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
    if stated is not None and "cap" in stated:
        lines.append("under the cap itself  the success alone is promised, not these nats")
    if answers is not None:
        if answers < 1:
            raise ValueError(f"answers must be at least 1, got {answers}.")
        facts["answers"], facts["nats_per_answer"] = answers, information / answers
        lines.append(f"each of {answers:,} answers  {information / answers:.6g} nats")
    if per_answer is not None:
        each = number(per_answer, "--per-answer")
        count = answers_until(bound, each, blind)
        facts["nats_per_answer"], facts["answers"] = each, count
        lines.append(f"answers at {each:.6g}   {count:,} contested ones")
    return Output(facts, "\n".join(lines))


def _blind(stated: dict[str, Any] | None) -> str:
    """Return the success of guessing blindly where it is not given."""
    name = "nats" if stated is None else stated["name"]
    if name not in ("nats", "membership", "identification"):
        raise ValueError(
            f"How often guessing blindly meets {name} depends on the rows: give it by --prior."
        )
    return "1/128" if name == "identification" else "1/2"


def _renyi(stated: dict[str, Any], delta: float) -> Output:
    """Say a Renyi divergence as epsilon and delta."""
    from pacsklearn.srpp.divergence.renyi_conversion import epsilon_at_order

    epsilon = epsilon_at_order(stated["epsilon"], stated["order"], delta)
    return Output(
        {"renyi": stated["epsilon"], "order": stated["order"], "delta": delta, "epsilon": epsilon},
        f"Renyi divergence      {stated['epsilon']:.6g} nats of order {stated['order']:g}\n"
        f"between two secrets   epsilon {epsilon:.4g} at delta {delta:g}, of what is bounded: "
        "slices, or the whole release",
    )
