"""As all tests: subsets that stay the same, and processes that released nothing."""

from tests.conftest import _nothing_released, _same_subsets, in_a_child, secret_subsets

__all__ = ["_nothing_released", "_same_subsets", "in_a_child", "secret_subsets"]
