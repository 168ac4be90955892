"""A guarantee's words about private answers."""

from __future__ import annotations

from dataclasses import replace

from pacsklearn.kernel.guarantee.pac_guarantee import PACGuarantee

_HEADLINE = (
    "what all candidates agree on is a function of the whole table and is in it without noise, "
    "however small the budget"
)
_NOT_CERTIFIED = (
    "none: which rows are asked next, and the noise of their answers, depend on the answers "
    "before, so no law is fixed beforehand; the bound implied by the budget stands alone"
)
_AGREED_ANSWERS = (
    "Answers on which all candidates agree: they are functions of the universe and are given "
    "however small the budget is."
)


def of_agreed_answers(guarantee: PACGuarantee, answers: str) -> PACGuarantee:
    """Return the guarantee that says first what is in answers without noise."""
    return replace(
        guarantee,
        headline="; ".join(filter(None, (guarantee.headline, _HEADLINE))),
        released=(f"answers ({answers})",),
        public=(*guarantee.public, "which queries all candidates agree on"),
        not_covered=(*guarantee.not_covered, _AGREED_ANSWERS),
    )


def responses_guarantee(
    guarantee: PACGuarantee, answers: str, n_answered: int, n_contested: int, step_budget: float
) -> PACGuarantee:
    """Return the guarantee of a session with what one of its responders has answered."""
    worst = n_answered * step_budget
    return replace(
        of_agreed_answers(guarantee, answers),
        details=(
            ("answers given", f"{n_answered:,}, {n_contested:,} of them charged"),
            ("step budget", f"{step_budget:.6g} nats a charged answer"),
            ("charging every answer", f"{worst:.6g} nats (the papers' accounting)"),
            ("certified membership", _NOT_CERTIFIED),
        ),
    )
