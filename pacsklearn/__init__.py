"""Private scikit-learn models with a provable guarantee.

Wrap an estimator, state a budget, call ``fit``::

    model = PACPrivate(LinearSVC(), budget=1 / 16).fit(X, y)
    print(model.guarantee_)
    publish(model.released_estimator_)
"""

from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.guarantee import Guarantee
from pacsklearn.core.layout import Layout
from pacsklearn.core.noise_backend import NoiseBackend
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.display.privacy_utility import PrivacyUtilityDisplay
from pacsklearn.estimators.distillation import DistilledModel, distill
from pacsklearn.estimators.pac_private import PACPrivate
from pacsklearn.estimators.privacy_curve import privacy_utility_curve
from pacsklearn.estimators.privacy_utility_curve import PrivacyUtilityCurve
from pacsklearn.estimators.private_search import PrivateGridSearchCV
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
from pacsklearn.session.privacy_session import PrivacySession

__version__ = "0.1.0.dev0"

__all__ = [
    "AttackRecord",
    "BatchPredictorRecord",
    "Canonicalizer",
    "CanonicalizerRecord",
    "DistilledModel",
    "Encoding",
    "Guarantee",
    "Layout",
    "NoiseBackend",
    "NoiseBackendRecord",
    "PACPrivate",
    "PrivacySession",
    "PrivacyUtilityCurve",
    "PrivacyUtilityDisplay",
    "PrivateGridSearchCV",
    "ScenarioRecord",
    "SecretSpace",
    "StabilizedClassifier",
    "StabilizedRegressor",
    "distill",
    "hookimpl",
    "privacy_utility_curve",
    "register",
    "unregister",
]
