# Public names, a line each, with the module that defines them: __init__.py reads these lines too.
# fmt: off
from pacsklearn._config import config_context as config_context
from pacsklearn._config import get_config as get_config
from pacsklearn._config import set_config as set_config
from pacsklearn.estimators.subsets import Subsets as Subsets
from pacsklearn.estimators.pac_private import PACPrivate as PACPrivate
from pacsklearn.estimators.released_answers import Answers as Answers
from pacsklearn.estimators.released_parameters import Parameters as Parameters
from pacsklearn.estimators.privacy_session import PrivacySession as PrivacySession
from pacsklearn.estimators.private_search import PrivateGridSearchCV as PrivateGridSearchCV
from pacsklearn.kernel.budget.caps import Identification as Identification
from pacsklearn.kernel.budget.caps import KOfN as KOfN
from pacsklearn.kernel.budget.caps import Membership as Membership
from pacsklearn.kernel.budget.nats import Nats as Nats
from pacsklearn.kernel.guarantee.guarantee import Guarantee as Guarantee
from pacsklearn.sampled.sampled_subsets import SampledSubsets as SampledSubsets
from pacsklearn.srpp.srpp_private import SRPPPrivate as SRPPPrivate
from pacsklearn.tabular.choosing.auto_private import AutoPrivateClassifier as AutoPrivateClassifier
from pacsklearn.tabular.choosing.auto_private import AutoPrivateRegressor as AutoPrivateRegressor
from pacsklearn.tabular.choosing.tuning import Tuned as Tuned
from pacsklearn.tabular.students.student import Student as Student

__version__: str
