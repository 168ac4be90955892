"""Contract checks for plugin authors: call them in your own test suite."""

from pacsklearn.testing.attack_check import check_attack
from pacsklearn.testing.canonicalizer_check import check_canonicalizer
from pacsklearn.testing.criterion_check import check_criterion
from pacsklearn.testing.example_games import AttackGames, example_games
from pacsklearn.testing.ledger_check import check_ledger
from pacsklearn.testing.ledger_scheme_check import check_ledger_scheme
from pacsklearn.testing.noise_backend_check import check_noise_backend
from pacsklearn.testing.scenario_check import check_scenario

__all__ = [
    "AttackGames",
    "check_attack",
    "check_canonicalizer",
    "check_criterion",
    "check_ledger",
    "check_ledger_scheme",
    "check_noise_backend",
    "check_scenario",
    "example_games",
]
