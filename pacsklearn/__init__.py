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

    from pacsklearn.additive.classifier import AdditiveClassifier
    from pacsklearn.additive.regressor import AdditiveRegressor
    from pacsklearn.audit.audit_record import Audit
    from pacsklearn.audit.run_audit import run_audit
    from pacsklearn.client.private_model import PrivateModel
    from pacsklearn.core.candidate_space import CandidateSpace
    from pacsklearn.core.canonicalizer import Canonicalizer, Encoding, Layout
    from pacsklearn.core.criterion import Criterion
    from pacsklearn.core.discrepancy_cap import DiscrepancyCap
    from pacsklearn.core.guarantee import Guarantee
    from pacsklearn.core.guess_criterion import GuessCriterion, k_of_n
    from pacsklearn.core.home_process import SubsetSeed
    from pacsklearn.core.metric import OperatorMetric
    from pacsklearn.core.noise_backend import NoiseBackend
    from pacsklearn.core.protecting_metric import ProtectingMetric
    from pacsklearn.core.pufferfish_guarantee import PufferfishGuarantee
    from pacsklearn.core.sampled_subsets import PoissonSubsets, SampledSubsets
    from pacsklearn.core.scenario import Scenario
    from pacsklearn.core.secret_space import SecretSpace
    from pacsklearn.core.slice_profile import SliceProfile
    from pacsklearn.display.additive_terms import AdditiveTermsDisplay
    from pacsklearn.display.audit import AuditDisplay
    from pacsklearn.display.belief import BeliefDisplay
    from pacsklearn.display.membership_bound import MembershipBoundDisplay
    from pacsklearn.display.noise_spectrum import NoiseSpectrum, NoiseSpectrumDisplay
    from pacsklearn.display.privacy_report import PrivacyReport, privacy_report
    from pacsklearn.display.privacy_utility import PrivacyUtilityDisplay
    from pacsklearn.display.slice_profile import SliceProfileDisplay
    from pacsklearn.display.stability import StabilityDisplay
    from pacsklearn.estimators.auto_private import AutoPrivateClassifier, AutoPrivateRegressor
    from pacsklearn.estimators.distillation import DistilledModel, distill
    from pacsklearn.estimators.fit_plan import FitPlan
    from pacsklearn.estimators.pac_private import PACPrivate
    from pacsklearn.estimators.privacy_curve import privacy_utility_curve
    from pacsklearn.estimators.privacy_utility_curve import PrivacyUtilityCurve
    from pacsklearn.estimators.private_search import PrivateGridSearchCV
    from pacsklearn.estimators.srpp_private import SRPPPrivate
    from pacsklearn.estimators.srpp_sgd.classifier import SRPPSGDClassifier
    from pacsklearn.estimators.srpp_sgd.regressor import SRPPSGDRegressor
    from pacsklearn.estimators.stabilized import StabilizedClassifier, StabilizedRegressor
    from pacsklearn.forests.classifier import FixedStructureForestClassifier
    from pacsklearn.forests.regressor import FixedStructureForestRegressor
    from pacsklearn.plugin import (
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
    from pacsklearn.publishing.bundle import Bundle, load_bundle
    from pacsklearn.publishing.publish import publish
    from pacsklearn.release.sampled import release_sampled
    from pacsklearn.scenarios.differing_rows import DifferingRows
    from pacsklearn.scenarios.group_scenario import GroupScenario
    from pacsklearn.scenarios.prevalence_scenario import PrevalenceScenario
    from pacsklearn.scenarios.simulator_scenario import SimulatorScenario
    from pacsklearn.schema.column import Column
    from pacsklearn.schema.encoder import SchemaEncoder
    from pacsklearn.schema.queries import SchemaQueries
    from pacsklearn.schema.schema import Schema
    from pacsklearn.session.privacy_session import PrivacySession
    from pacsklearn.stepwise.classifier import StepwiseClassifier
    from pacsklearn.stepwise.regressor import StepwiseRegressor
    from pacsklearn.tables.table import Table

del TYPE_CHECKING

__version__ = "0.1.0.dev0"

# Every name is imported when it is first asked for: importing pacsklearn costs next to nothing.
_NAMES = {
    "pacsklearn.additive.classifier": ("AdditiveClassifier",),
    "pacsklearn.additive.regressor": ("AdditiveRegressor",),
    "pacsklearn.audit.audit_record": ("Audit",),
    "pacsklearn.audit.run_audit": ("run_audit",),
    "pacsklearn.client.private_model": ("PrivateModel",),
    "pacsklearn.core.candidate_space": ("CandidateSpace",),
    "pacsklearn.core.canonicalizer": (
        "Canonicalizer",
        "Encoding",
        "Layout",
    ),
    "pacsklearn.core.criterion": ("Criterion",),
    "pacsklearn.core.discrepancy_cap": ("DiscrepancyCap",),
    "pacsklearn.core.guarantee": ("Guarantee",),
    "pacsklearn.core.guess_criterion": (
        "GuessCriterion",
        "k_of_n",
    ),
    "pacsklearn.core.home_process": ("SubsetSeed",),
    "pacsklearn.core.noise_backend": ("NoiseBackend",),
    "pacsklearn.core.metric": ("OperatorMetric",),
    "pacsklearn.core.protecting_metric": ("ProtectingMetric",),
    "pacsklearn.core.pufferfish_guarantee": ("PufferfishGuarantee",),
    "pacsklearn.core.sampled_subsets": ("PoissonSubsets", "SampledSubsets"),
    "pacsklearn.core.scenario": ("Scenario",),
    "pacsklearn.core.secret_space": ("SecretSpace",),
    "pacsklearn.core.slice_profile": ("SliceProfile",),
    "pacsklearn.display.additive_terms": ("AdditiveTermsDisplay",),
    "pacsklearn.display.audit": ("AuditDisplay",),
    "pacsklearn.display.belief": ("BeliefDisplay",),
    "pacsklearn.display.membership_bound": ("MembershipBoundDisplay",),
    "pacsklearn.display.noise_spectrum": (
        "NoiseSpectrum",
        "NoiseSpectrumDisplay",
    ),
    "pacsklearn.display.privacy_report": (
        "PrivacyReport",
        "privacy_report",
    ),
    "pacsklearn.display.privacy_utility": ("PrivacyUtilityDisplay",),
    "pacsklearn.display.slice_profile": ("SliceProfileDisplay",),
    "pacsklearn.display.stability": ("StabilityDisplay",),
    "pacsklearn.estimators.auto_private": (
        "AutoPrivateClassifier",
        "AutoPrivateRegressor",
    ),
    "pacsklearn.estimators.distillation": (
        "DistilledModel",
        "distill",
    ),
    "pacsklearn.estimators.fit_plan": ("FitPlan",),
    "pacsklearn.estimators.pac_private": ("PACPrivate",),
    "pacsklearn.estimators.privacy_curve": ("privacy_utility_curve",),
    "pacsklearn.estimators.privacy_utility_curve": ("PrivacyUtilityCurve",),
    "pacsklearn.estimators.private_search": ("PrivateGridSearchCV",),
    "pacsklearn.estimators.srpp_private": ("SRPPPrivate",),
    "pacsklearn.estimators.srpp_sgd.classifier": ("SRPPSGDClassifier",),
    "pacsklearn.estimators.srpp_sgd.regressor": ("SRPPSGDRegressor",),
    "pacsklearn.estimators.stabilized": (
        "StabilizedClassifier",
        "StabilizedRegressor",
    ),
    "pacsklearn.forests.classifier": ("FixedStructureForestClassifier",),
    "pacsklearn.forests.regressor": ("FixedStructureForestRegressor",),
    "pacsklearn.plugin": (
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
    "pacsklearn.publishing.bundle": (
        "Bundle",
        "load_bundle",
    ),
    "pacsklearn.publishing.publish": ("publish",),
    "pacsklearn.scenarios.differing_rows": ("DifferingRows",),
    "pacsklearn.scenarios.group_scenario": ("GroupScenario",),
    "pacsklearn.scenarios.prevalence_scenario": ("PrevalenceScenario",),
    "pacsklearn.scenarios.simulator_scenario": ("SimulatorScenario",),
    "pacsklearn.schema.column": ("Column",),
    "pacsklearn.schema.encoder": ("SchemaEncoder",),
    "pacsklearn.schema.queries": ("SchemaQueries",),
    "pacsklearn.schema.schema": ("Schema",),
    "pacsklearn.session.privacy_session": ("PrivacySession",),
    "pacsklearn.tables.table": ("Table",),
    "pacsklearn.release.sampled": ("release_sampled",),
    "pacsklearn.stepwise.classifier": ("StepwiseClassifier",),
    "pacsklearn.stepwise.regressor": ("StepwiseRegressor",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
_ROOMS = frozenset(
    {
        "accounting",
        "audit",
        "datasets",
        "exceptions",
        "information",
        "plugin",
        "scenarios",
        "testing",
    }
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
    "Bundle",
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
    "load_bundle",
    "privacy_report",
    "privacy_utility_curve",
    "publish",
    "register",
    "release_sampled",
    "run_audit",
    "unregister",
]
