"""Pure functions on arrays that bound what a release reveals. All information is in nats."""

from __future__ import annotations

from pacsklearn.capping.estimated_success import estimated_success
from pacsklearn.capping.minimum_trace_cover import minimum_trace_cover
from pacsklearn.estimators.dp_comparison import answers_until, dp_success
from pacsklearn.estimators.individual_information import (
    IndividualInformation,
    individual_information,
)
from pacsklearn.kernel.bounds.belief import belief_entropy, uniform_belief, update_belief
from pacsklearn.kernel.bounds.criterion_success import certified_success
from pacsklearn.kernel.bounds.dp_equivalent import dp_epsilon
from pacsklearn.kernel.bounds.lattice_bound import (
    SpanCoordinates,
    linear_bound,
    logdet_allocation,
    logdet_bound,
    span_coordinates,
)
from pacsklearn.kernel.bounds.mean_bound import upper_mean_bounds
from pacsklearn.kernel.bounds.mixture import GaussianMixture
from pacsklearn.kernel.bounds.noise_shape import NoiseShape
from pacsklearn.kernel.bounds.posterior_success import (
    binary_kl,
    mutual_information_for_success,
    posterior_success,
)
from pacsklearn.kernel.secret.packed_subsets import inclusion_counts, unpack_subset
from pacsklearn.padding.channel import channel_information
from pacsklearn.padding.least_padding import Padding, bucket_padding, least_padding
from pacsklearn.sampled.k_of_n import k_of_n_prior
from pacsklearn.sampled.mean_distance import mean_distance_bound
from pacsklearn.trials.mean_bound import upper_mean_bound
from pacsklearn.universe.balanced_design import balanced_design

__all__ = [
    "GaussianMixture",
    "IndividualInformation",
    "NoiseShape",
    "Padding",
    "SpanCoordinates",
    "answers_until",
    "balanced_design",
    "belief_entropy",
    "binary_kl",
    "bucket_padding",
    "certified_success",
    "channel_information",
    "dp_epsilon",
    "dp_success",
    "estimated_success",
    "inclusion_counts",
    "individual_information",
    "k_of_n_prior",
    "least_padding",
    "minimum_trace_cover",
    "linear_bound",
    "logdet_allocation",
    "logdet_bound",
    "mean_distance_bound",
    "mutual_information_for_success",
    "posterior_success",
    "span_coordinates",
    "uniform_belief",
    "unpack_subset",
    "update_belief",
    "upper_mean_bound",
    "upper_mean_bounds",
]
