"""Private scikit-learn models with a provable guarantee.

Wrap an estimator, state a budget, call ``fit``::

    model = PACPrivate(LinearSVC(), budget=1 / 16).fit(X, y)
    print(model.guarantee_)
    publish(model, "model.pac", key="curator.key")
"""

__version__ = "0.1.0.dev0"

from pacsklearn import kernel
from pacsklearn._public import lazily


def _surroundings() -> object:
    from pacsklearn._host import Surroundings

    return Surroundings()


kernel.surroundings = _surroundings

_ROOMS = """
    audit bounds datasets estimators exceptions kernel plots plugins priors secrets srpp
    tabular testing
"""
__getattr__, __dir__, __all__ = lazily(__name__, __file__, frozenset(_ROOMS.split()))
