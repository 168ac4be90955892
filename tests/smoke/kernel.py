"""The kernel where pacsklearn's own requirements are all there is: models, a ledger, a session."""

import importlib.util
import tempfile
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from pacsklearn import Nats, PACPrivate, PrivacySession
from pacsklearn.exceptions import BudgetExhaustedError, RepeatedReleaseWarning
from pacsklearn.kernel.ledger.shared_ledger import SharedLedger

# One table after the other is what is tried here.
warnings.simplefilter("ignore", RepeatedReleaseWarning)

for absent in ("numba", "rich", "pandas", "matplotlib", "typer", "yaml", "pytest"):
    assert importlib.util.find_spec(absent) is None, f"{absent} is installed"

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :6]
for noise in ("isotropic", "diagonal", "eigen", "logdet"):
    model = PACPrivate(LinearDiscriminantAnalysis(), budget=1 / 4, noise=noise).fit(X, y)
    assert model.guarantee_.for_release
    assert 0.5 < model.guarantee_.posterior_membership < 0.84
    assert np.shape(model.released_estimator_.coef_) == (1, 6)
    assert noise in model.guarantee_.to_json()

# A ledger refuses what would pass its ceiling.
with tempfile.TemporaryDirectory() as folder:
    ledger = SharedLedger.found(f"sqlite:///{folder}/clinic.db", ceiling=0.3)
    private = PACPrivate(LinearDiscriminantAnalysis(), budget=1 / 4, ledger=ledger).fit(X, y)
    spent, refused = ledger.spent, False
    assert 0 < spent <= 0.25
    try:
        private.fit(X, y)
    except BudgetExhaustedError:
        refused = True
    assert refused
    assert ledger.spent == spent

# A session: a model, a function, and an account of both.
with PrivacySession(X, y, budget=Nats(1.0)) as session:
    session.release(LinearDiscriminantAnalysis(), budget=0.25)
    mean = session.release_function(lambda rows, targets: rows.mean(axis=0), budget=0.25)
    assert mean.value.shape == (6,)
    assert 0 < session.ledger.spent <= 0.5
