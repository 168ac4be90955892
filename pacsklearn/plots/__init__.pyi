# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn.plots.additive_terms import AdditiveTermsDisplay as AdditiveTermsDisplay
from pacsklearn.plots.audit import AuditDisplay as AuditDisplay
from pacsklearn.plots.belief import BeliefDisplay as BeliefDisplay
from pacsklearn.plots.membership_bound import MembershipBoundDisplay as MembershipBoundDisplay
from pacsklearn.plots.noise_spectrum import NoiseSpectrum as NoiseSpectrum
from pacsklearn.plots.noise_spectrum import NoiseSpectrumDisplay as NoiseSpectrumDisplay
from pacsklearn.plots.report import PrivacyReport as PrivacyReport
from pacsklearn.plots.report import privacy_report as privacy_report
from pacsklearn.plots.privacy_utility import PrivacyUtilityDisplay as PrivacyUtilityDisplay
from pacsklearn.plots.slice_profile import SliceProfileDisplay as SliceProfileDisplay
from pacsklearn.plots.stability import StabilityDisplay as StabilityDisplay
