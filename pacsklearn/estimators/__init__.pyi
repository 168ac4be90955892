# Public names, a line each, with the module that defines them: the module beside it reads them too.
# fmt: off
from pacsklearn.estimators.averaged import AveragedClassifier as AveragedClassifier
from pacsklearn.estimators.pac_private import PACPrivate as PACPrivate
from pacsklearn.estimators.privacy_session import PrivacySession as PrivacySession
from pacsklearn.estimators.private_search import PrivateGridSearchCV as PrivateGridSearchCV
from pacsklearn.estimators.stabilized import StabilizedClassifier as StabilizedClassifier
from pacsklearn.estimators.stabilized import StabilizedRegressor as StabilizedRegressor
