# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn.srpp.descent.classifier import SRPPSGDClassifier as SRPPSGDClassifier
from pacsklearn.srpp.descent.clipped_gradient import HuberLoss as HuberLoss
from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap as DiscrepancyCap
from pacsklearn.srpp.descent.regressor import SRPPSGDRegressor as SRPPSGDRegressor
from pacsklearn.srpp.laws.slice_profile import SliceProfile as SliceProfile
from pacsklearn.srpp.parameters.run_choices import Batches as Batches
from pacsklearn.srpp.descent.linear_parameters import Clipping as Clipping
from pacsklearn.srpp.descent.linear_parameters import Epochs as Epochs
from pacsklearn.srpp.descent.descent import LearningRate as LearningRate
from pacsklearn.srpp.parameters.slices import Noise as Noise
from pacsklearn.srpp.parameters.renyi import NoiseMultiplier as NoiseMultiplier
from pacsklearn.srpp.descent.descent import Penalty as Penalty
from pacsklearn.srpp.parameters.renyi import Renyi as Renyi
from pacsklearn.srpp.parameters.slices import Slices as Slices
from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee as PufferfishGuarantee
from pacsklearn.srpp.scenarios.differing_rows import DifferingRows as DifferingRows
from pacsklearn.srpp.scenarios.group_scenario import GroupScenario as GroupScenario
from pacsklearn.srpp.scenarios.prevalence_scenario import PrevalenceScenario as PrevalenceScenario
from pacsklearn.srpp.scenarios.scenario import Scenario as Scenario
from pacsklearn.srpp.scenarios.simulator_scenario import SimulatorScenario as SimulatorScenario
from pacsklearn.srpp.srpp_private import SRPPPrivate as SRPPPrivate
