# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn.testing.attack_check import check_attack as check_attack
from pacsklearn.testing.attack_games import AttackGames as AttackGames
from pacsklearn.testing.attack_games import example_games as example_games
from pacsklearn.testing.canonicalizer_check import check_canonicalizer as check_canonicalizer
from pacsklearn.testing.criterion_check import check_criterion as check_criterion
from pacsklearn.testing.ledger_check import check_ledger as check_ledger
from pacsklearn.testing.ledger_scheme_check import check_ledger_scheme as check_ledger_scheme
from pacsklearn.testing.noise_backend_check import check_noise_backend as check_noise_backend
from pacsklearn.testing.scenario_check import check_scenario as check_scenario
