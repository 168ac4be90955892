"""Contract checks for plugin authors: call them in your own test suite."""

from pacsklearn.testing.canonicalizer_check import check_canonicalizer
from pacsklearn.testing.noise_backend_check import check_noise_backend

__all__ = ["check_canonicalizer", "check_noise_backend"]
