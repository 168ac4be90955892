"""As the tests of audits: small games, rounds that are played once, subsets that stay the same."""

from tests.audit.conftest import _each_round_is_played_once, halves, space, uneven
from tests.conftest import (
    _nothing_released,
    _same_subsets,
    few_draws,
    in_a_child,
    secret_subsets,
    shared_data,
)

__all__ = [
    "_each_round_is_played_once",
    "_nothing_released",
    "_same_subsets",
    "few_draws",
    "halves",
    "in_a_child",
    "secret_subsets",
    "shared_data",
    "space",
    "uneven",
]
