"""Private scikit-learn models with a provable guarantee.

Wrap an estimator, state a budget, call ``fit``::

    model = PACPrivate(LinearSVC(), budget=1 / 16).fit(X, y)
    print(model.guarantee_)
    publish(model.released_estimator_)
"""

from pacsklearn.core.candidate_space import CandidateSpace
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.criterion import Criterion
from pacsklearn.core.discrepancy_cap import DiscrepancyCap
from pacsklearn.core.guarantee import Guarantee
from pacsklearn.core.guess_criterion import GuessCriterion, k_of_n
from pacsklearn.core.layout import Layout
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.operator_metric import OperatorMetric
from pacsklearn.core.poisson_subsets import PoissonSubsets
from pacsklearn.core.protecting_metric import ProtectingMetric
from pacsklearn.core.pufferfish_guarantee import PufferfishGuarantee
from pacsklearn.core.scenario import Scenario
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.core.slice_profile import SliceProfile
from pacsklearn.display.privacy_utility import PrivacyUtilityDisplay
from pacsklearn.estimators.distillation import DistilledModel, distill
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.estimators.privacy_curve import privacy_utility_curve
from pacsklearn.estimators.privacy_utility_curve import PrivacyUtilityCurve
from pacsklearn.estimators.private_search import PrivateGridSearchCV
from pacsklearn.estimators.srpp_private import SRPPPrivate
from pacsklearn.estimators.srpp_sgd.classifier import SRPPSGDClassifier
from pacsklearn.estimators.srpp_sgd.regressor import SRPPSGDRegressor
from pacsklearn.estimators.stabilized import StabilizedClassifier, StabilizedRegressor
from pacsklearn.plugin import (
    AttackRecord,
    BatchPredictorRecord,
    CanonicalizerRecord,
    NoiseBackendRecord,
    ScenarioRecord,
    hookimpl,
    register,
    unregister,
)
from pacsklearn.scenarios.differing_rows import DifferingRows
from pacsklearn.scenarios.group_scenario import GroupScenario
from pacsklearn.scenarios.prevalence_scenario import PrevalenceScenario
from pacsklearn.scenarios.simulator_scenario import SimulatorScenario
from pacsklearn.session.privacy_session import PrivacySession
from pacsklearn.session.sampled_release import release_sampled

__version__ = "0.1.0.dev0"

__all__ = [
    "AttackRecord",
    "BatchPredictorRecord",
    "CandidateSpace",
    "Canonicalizer",
    "CanonicalizerRecord",
    "Criterion",
    "DifferingRows",
    "DiscrepancyCap",
    "DistilledModel",
    "Encoding",
    "GroupScenario",
    "Guarantee",
    "GuessCriterion",
    "Layout",
    "NoiseBackend",
    "NoiseBackendRecord",
    "OperatorMetric",
    "PACPrivate",
    "PoissonSubsets",
    "PrevalenceScenario",
    "PrivacySession",
    "PrivacyUtilityCurve",
    "PrivacyUtilityDisplay",
    "PrivateGridSearchCV",
    "ProtectingMetric",
    "PufferfishGuarantee",
    "SRPPPrivate",
    "SRPPSGDClassifier",
    "SRPPSGDRegressor",
    "Scenario",
    "ScenarioRecord",
    "SecretSpace",
    "SimulatorScenario",
    "SliceProfile",
    "StabilizedClassifier",
    "StabilizedRegressor",
    "distill",
    "hookimpl",
    "k_of_n",
    "privacy_utility_curve",
    "register",
    "release_sampled",
    "unregister",
]
