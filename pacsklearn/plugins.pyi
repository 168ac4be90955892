# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn._discovery import PluginFailure as PluginFailure
from pacsklearn.audit.attack import Attack as Attack
from pacsklearn.audit.attack import AttackResult as AttackResult
from pacsklearn.audit.attack import InsertingAttack as InsertingAttack
from pacsklearn.audit.attack import ThreatModel as ThreatModel
from pacsklearn.audit.game import Game as Game
from pacsklearn.audit.game import Round as Round
from pacsklearn.canonical.protecting_metric import ProtectingMetric as ProtectingMetric
from pacsklearn.canonical.unsupported import Unsupported as Unsupported
from pacsklearn.kernel.budget.budget import Budget as Budget
from pacsklearn.kernel.budget.cap import Cap as Cap
from pacsklearn.kernel.budget.caps import Success as Success
from pacsklearn.kernel.budget.criterion import Criterion as Criterion
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion as GuessCriterion
from pacsklearn.kernel.budget.guess_criterion import k_of_n as k_of_n
from pacsklearn.kernel.ledger.event import Provenance as Provenance
from pacsklearn.kernel.ledger.log import DoubtError as DoubtError
from pacsklearn.kernel.ledger.log import Log as Log
from pacsklearn.kernel.ledger.log import MovedError as MovedError
from pacsklearn.kernel.ledger.log import UnreachableError as UnreachableError
from pacsklearn.kernel.ledger.row import Position as Position
from pacsklearn.kernel.ledger.row import Row as Row
from pacsklearn.kernel.noise.noise_backend import NoiseBackend as NoiseBackend
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor as BatchPredictor
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer as Canonicalizer
from pacsklearn.kernel.outputs.canonicalizer import Encoding as Encoding
from pacsklearn.kernel.outputs.canonicalizer import Layout as Layout
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter as SubsetFitter
from pacsklearn.kernel.plugins.catalogue import Registration as Registration
from pacsklearn.kernel.plugins.kinds import API as API
from pacsklearn.kernel.plugins.kinds import hookimpl as hookimpl
from pacsklearn.kernel.plugins.registry import Registry as Registry
from pacsklearn.kernel.plugins.registry import registry as registry
from pacsklearn.srpp.scenarios.scenario import Scenario as Scenario
from pacsklearn.universe.metrics import OperatorMetric as OperatorMetric

import typing

import pacsklearn.kernel.plugins.registry as _registry

def register(made: _registry.MadeT) -> _registry.MadeT: ...
def unregister(made: typing.Any) -> None: ...
