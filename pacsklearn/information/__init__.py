"""Pure functions on arrays that bound what a release reveals. All information is in nats."""

from __future__ import annotations

from pacsklearn.information.balanced_design import (
    balanced_design,
    inclusion_counts,
    unpack_subset,
)
from pacsklearn.information.belief import belief_entropy, uniform_belief, update_belief
from pacsklearn.information.dp_equivalent import answers_until, dp_epsilon, dp_success
from pacsklearn.information.lattice_bound import linear_bound, logdet_bound
from pacsklearn.information.logdet_allocation import logdet_allocation
from pacsklearn.information.membership_prior import k_of_n_prior
from pacsklearn.information.posterior_success import (
    binary_kl,
    mutual_information_for_success,
    posterior_success,
)
from pacsklearn.information.span import SpanCoordinates, span_coordinates

__all__ = [
    "SpanCoordinates",
    "answers_until",
    "balanced_design",
    "belief_entropy",
    "binary_kl",
    "dp_epsilon",
    "dp_success",
    "inclusion_counts",
    "k_of_n_prior",
    "linear_bound",
    "logdet_allocation",
    "logdet_bound",
    "mutual_information_for_success",
    "posterior_success",
    "span_coordinates",
    "uniform_belief",
    "unpack_subset",
    "update_belief",
]
