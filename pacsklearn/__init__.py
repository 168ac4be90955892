"""Private scikit-learn models with a provable guarantee.

Wrap an estimator, state a budget, call ``fit``::

    model = PACPrivate(LinearSVC(), budget=1 / 16).fit(X, y)
    print(model.guarantee_)
    publish(model, "model.pac", key="curator.key")
"""

# Not from typing: until this file has run, Ctrl-C on the command line shows a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:  # what type checkers and editors read; the table below is what runs
    from typing import Any

    from pacsklearn.audit.audit_record import Audit
    from pacsklearn.audit.run_audit import run_audit
    from pacsklearn.bigdata.table import Table
    from pacsklearn.client.private_model import PrivateModel
    from pacsklearn.estimators.pac_private import PACPrivate
    from pacsklearn.estimators.privacy_session import PrivacySession
    from pacsklearn.estimators.private_search import PrivateGridSearchCV
    from pacsklearn.estimators.stabilized import StabilizedClassifier, StabilizedRegressor
    from pacsklearn.kernel.budget.criterion import Criterion
    from pacsklearn.kernel.budget.guess_criterion import GuessCriterion, k_of_n
    from pacsklearn.kernel.guarantee.guarantee import Guarantee
    from pacsklearn.kernel.noise.noise_backend import NoiseBackend
    from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
    from pacsklearn.kernel.outputs.metric import OperatorMetric
    from pacsklearn.kernel.outputs.protecting_metric import ProtectingMetric
    from pacsklearn.kernel.secret.candidate_space import CandidateSpace
    from pacsklearn.kernel.secret.home_process import SubsetSeed
    from pacsklearn.kernel.secret.secret_space import SecretSpace
    from pacsklearn.plots.additive_terms import AdditiveTermsDisplay
    from pacsklearn.plots.audit import AuditDisplay
    from pacsklearn.plots.belief import BeliefDisplay
    from pacsklearn.plots.membership_bound import MembershipBoundDisplay
    from pacsklearn.plots.noise_spectrum import NoiseSpectrum, NoiseSpectrumDisplay
    from pacsklearn.plots.privacy_report import PrivacyReport, privacy_report
    from pacsklearn.plots.privacy_utility import PrivacyUtilityDisplay
    from pacsklearn.plots.slice_profile import SliceProfileDisplay
    from pacsklearn.plots.stability import StabilityDisplay
    from pacsklearn.plugins import (
        AttackRecord,
        BatchPredictorRecord,
        CanonicalizerRecord,
        NoiseBackendRecord,
        ScenarioRecord,
        SubsetFitterRecord,
        hookimpl,
        register,
        unregister,
    )
    from pacsklearn.sampled.sampled import release_sampled
    from pacsklearn.sampled.sampled_subsets import PoissonSubsets, SampledSubsets
    from pacsklearn.srpp.descent.classifier import SRPPSGDClassifier
    from pacsklearn.srpp.descent.discrepancy_cap import DiscrepancyCap
    from pacsklearn.srpp.descent.regressor import SRPPSGDRegressor
    from pacsklearn.srpp.laws.slice_profile import SliceProfile
    from pacsklearn.srpp.release.pufferfish_guarantee import PufferfishGuarantee
    from pacsklearn.srpp.scenarios.differing_rows import DifferingRows
    from pacsklearn.srpp.scenarios.group_scenario import GroupScenario
    from pacsklearn.srpp.scenarios.prevalence_scenario import PrevalenceScenario
    from pacsklearn.srpp.scenarios.scenario import Scenario
    from pacsklearn.srpp.scenarios.simulator_scenario import SimulatorScenario
    from pacsklearn.srpp.srpp_private import SRPPPrivate
    from pacsklearn.tabular.additive.classifier import AdditiveClassifier
    from pacsklearn.tabular.additive.regressor import AdditiveRegressor
    from pacsklearn.tabular.choosing.auto_private import AutoPrivateClassifier, AutoPrivateRegressor
    from pacsklearn.tabular.choosing.fit_plan import FitPlan
    from pacsklearn.tabular.choosing.privacy_curve import privacy_utility_curve
    from pacsklearn.tabular.choosing.privacy_utility_curve import PrivacyUtilityCurve
    from pacsklearn.tabular.forests.classifier import FixedStructureForestClassifier
    from pacsklearn.tabular.forests.regressor import FixedStructureForestRegressor
    from pacsklearn.tabular.schema.column import Column
    from pacsklearn.tabular.schema.encoder import SchemaEncoder
    from pacsklearn.tabular.schema.queries import SchemaQueries
    from pacsklearn.tabular.schema.schema import Schema
    from pacsklearn.tabular.stepwise.classifier import StepwiseClassifier
    from pacsklearn.tabular.stepwise.regressor import StepwiseRegressor
    from pacsklearn.tabular.students.distillation import DistilledModel, distill

del TYPE_CHECKING

__version__ = "0.1.0.dev0"

# Every name is imported when it is first asked for: importing pacsklearn costs next to nothing.
_NAMES = {
    "pacsklearn.tabular.additive.classifier": ("AdditiveClassifier",),
    "pacsklearn.tabular.additive.regressor": ("AdditiveRegressor",),
    "pacsklearn.audit.audit_record": ("Audit",),
    "pacsklearn.audit.run_audit": ("run_audit",),
    "pacsklearn.client.private_model": ("PrivateModel",),
    "pacsklearn.kernel.secret.candidate_space": ("CandidateSpace",),
    "pacsklearn.kernel.outputs.canonicalizer": (
        "Canonicalizer",
        "Encoding",
        "Layout",
    ),
    "pacsklearn.kernel.budget.criterion": ("Criterion",),
    "pacsklearn.srpp.descent.discrepancy_cap": ("DiscrepancyCap",),
    "pacsklearn.kernel.guarantee.guarantee": ("Guarantee",),
    "pacsklearn.kernel.budget.guess_criterion": (
        "GuessCriterion",
        "k_of_n",
    ),
    "pacsklearn.kernel.secret.home_process": ("SubsetSeed",),
    "pacsklearn.kernel.noise.noise_backend": ("NoiseBackend",),
    "pacsklearn.kernel.outputs.metric": ("OperatorMetric",),
    "pacsklearn.kernel.outputs.protecting_metric": ("ProtectingMetric",),
    "pacsklearn.srpp.release.pufferfish_guarantee": ("PufferfishGuarantee",),
    "pacsklearn.sampled.sampled_subsets": ("PoissonSubsets", "SampledSubsets"),
    "pacsklearn.srpp.scenarios.scenario": ("Scenario",),
    "pacsklearn.kernel.secret.secret_space": ("SecretSpace",),
    "pacsklearn.srpp.laws.slice_profile": ("SliceProfile",),
    "pacsklearn.plots.additive_terms": ("AdditiveTermsDisplay",),
    "pacsklearn.plots.audit": ("AuditDisplay",),
    "pacsklearn.plots.belief": ("BeliefDisplay",),
    "pacsklearn.plots.membership_bound": ("MembershipBoundDisplay",),
    "pacsklearn.plots.noise_spectrum": (
        "NoiseSpectrum",
        "NoiseSpectrumDisplay",
    ),
    "pacsklearn.plots.privacy_report": (
        "PrivacyReport",
        "privacy_report",
    ),
    "pacsklearn.plots.privacy_utility": ("PrivacyUtilityDisplay",),
    "pacsklearn.plots.slice_profile": ("SliceProfileDisplay",),
    "pacsklearn.plots.stability": ("StabilityDisplay",),
    "pacsklearn.tabular.choosing.auto_private": (
        "AutoPrivateClassifier",
        "AutoPrivateRegressor",
    ),
    "pacsklearn.tabular.students.distillation": (
        "DistilledModel",
        "distill",
    ),
    "pacsklearn.tabular.choosing.fit_plan": ("FitPlan",),
    "pacsklearn.estimators.pac_private": ("PACPrivate",),
    "pacsklearn.tabular.choosing.privacy_curve": ("privacy_utility_curve",),
    "pacsklearn.tabular.choosing.privacy_utility_curve": ("PrivacyUtilityCurve",),
    "pacsklearn.estimators.private_search": ("PrivateGridSearchCV",),
    "pacsklearn.srpp.srpp_private": ("SRPPPrivate",),
    "pacsklearn.srpp.descent.classifier": ("SRPPSGDClassifier",),
    "pacsklearn.srpp.descent.regressor": ("SRPPSGDRegressor",),
    "pacsklearn.estimators.stabilized": (
        "StabilizedClassifier",
        "StabilizedRegressor",
    ),
    "pacsklearn.tabular.forests.classifier": ("FixedStructureForestClassifier",),
    "pacsklearn.tabular.forests.regressor": ("FixedStructureForestRegressor",),
    "pacsklearn.plugins": (
        "AttackRecord",
        "BatchPredictorRecord",
        "CanonicalizerRecord",
        "NoiseBackendRecord",
        "ScenarioRecord",
        "SubsetFitterRecord",
        "hookimpl",
        "register",
        "unregister",
    ),
    "pacsklearn.srpp.scenarios.differing_rows": ("DifferingRows",),
    "pacsklearn.srpp.scenarios.group_scenario": ("GroupScenario",),
    "pacsklearn.srpp.scenarios.prevalence_scenario": ("PrevalenceScenario",),
    "pacsklearn.srpp.scenarios.simulator_scenario": ("SimulatorScenario",),
    "pacsklearn.tabular.schema.column": ("Column",),
    "pacsklearn.tabular.schema.encoder": ("SchemaEncoder",),
    "pacsklearn.tabular.schema.queries": ("SchemaQueries",),
    "pacsklearn.tabular.schema.schema": ("Schema",),
    "pacsklearn.estimators.privacy_session": ("PrivacySession",),
    "pacsklearn.bigdata.table": ("Table",),
    "pacsklearn.sampled.sampled": ("release_sampled",),
    "pacsklearn.tabular.stepwise.classifier": ("StepwiseClassifier",),
    "pacsklearn.tabular.stepwise.regressor": ("StepwiseRegressor",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
_ROOMS = frozenset(
    {"audit", "datasets", "exceptions", "kernel", "plugins", "srpp", "tabular", "testing"}
)


def __getattr__(name: str) -> "Any":
    import importlib

    if name in _ROOMS:
        return importlib.import_module(f"pacsklearn.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'pacsklearn' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})


__all__ = [
    "AdditiveClassifier",
    "AdditiveRegressor",
    "AdditiveTermsDisplay",
    "AttackRecord",
    "Audit",
    "AuditDisplay",
    "AutoPrivateClassifier",
    "AutoPrivateRegressor",
    "BatchPredictorRecord",
    "BeliefDisplay",
    "CandidateSpace",
    "Canonicalizer",
    "CanonicalizerRecord",
    "Column",
    "Criterion",
    "DifferingRows",
    "DiscrepancyCap",
    "DistilledModel",
    "Encoding",
    "FitPlan",
    "FixedStructureForestClassifier",
    "FixedStructureForestRegressor",
    "GroupScenario",
    "Guarantee",
    "GuessCriterion",
    "Layout",
    "MembershipBoundDisplay",
    "NoiseBackend",
    "NoiseBackendRecord",
    "NoiseSpectrum",
    "NoiseSpectrumDisplay",
    "OperatorMetric",
    "PACPrivate",
    "PoissonSubsets",
    "PrevalenceScenario",
    "PrivacyReport",
    "PrivacySession",
    "PrivacyUtilityCurve",
    "PrivacyUtilityDisplay",
    "PrivateGridSearchCV",
    "PrivateModel",
    "ProtectingMetric",
    "PufferfishGuarantee",
    "SRPPPrivate",
    "SRPPSGDClassifier",
    "SRPPSGDRegressor",
    "SampledSubsets",
    "Scenario",
    "ScenarioRecord",
    "Schema",
    "SchemaEncoder",
    "SchemaQueries",
    "SecretSpace",
    "SimulatorScenario",
    "SliceProfile",
    "SliceProfileDisplay",
    "StabilityDisplay",
    "StabilizedClassifier",
    "StabilizedRegressor",
    "StepwiseClassifier",
    "StepwiseRegressor",
    "SubsetFitterRecord",
    "SubsetSeed",
    "Table",
    "distill",
    "hookimpl",
    "k_of_n",
    "privacy_report",
    "privacy_utility_curve",
    "register",
    "release_sampled",
    "run_audit",
    "unregister",
]
