"""Plugins: what authors import, and the registry that finds their work.

Every built-in is here too, loaded when it is asked for: statements name it
``pacsklearn.plugins:LinearClassifierCanonicalizer``.
"""

from typing import TYPE_CHECKING, Any

from pacsklearn._discovery import PluginFailure, built_ins
from pacsklearn.audit.attack import Attack, AttackResult, InsertingAttack, ThreatModel
from pacsklearn.audit.game import Game, Round
from pacsklearn.canonical.protecting_metric import ProtectingMetric
from pacsklearn.canonical.unsupported import Unsupported
from pacsklearn.kernel.budget.budget import Budget
from pacsklearn.kernel.budget.cap import Cap
from pacsklearn.kernel.budget.caps import Success
from pacsklearn.kernel.budget.criterion import Criterion
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion, k_of_n
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.ledger.log import DoubtError, Log, MovedError, UnreachableError
from pacsklearn.kernel.ledger.row import Position, Row
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.plugins.catalogue import Registration
from pacsklearn.kernel.plugins.kinds import API, hookimpl, imported
from pacsklearn.kernel.plugins.registry import MadeT, Registry, registry
from pacsklearn.srpp.scenarios.scenario import Scenario
from pacsklearn.universe.metrics import OperatorMetric

__all__ = [
    "API",
    "Attack",
    "AttackResult",
    "BatchPredictor",
    "Budget",
    "Canonicalizer",
    "Cap",
    "Criterion",
    "DoubtError",
    "Encoding",
    "Game",
    "GuessCriterion",
    "InsertingAttack",
    "Layout",
    "Log",
    "MovedError",
    "NoiseBackend",
    "OperatorMetric",
    "PluginFailure",
    "Position",
    "ProtectingMetric",
    "Provenance",
    "Registration",
    "Registry",
    "Round",
    "Row",
    "Scenario",
    "SubsetFitter",
    "Success",
    "ThreatModel",
    "UnreachableError",
    "Unsupported",
    "hookimpl",
    "k_of_n",
    "register",
    "registry",
    "unregister",
]


def register(made: MadeT) -> MadeT:
    """Add a class of any kind of plugin without packaging it; usable as a decorator.

    Parameters
    ----------
    made : class
        Subclass of :class:`~pacsklearn.plugins.Canonicalizer`,
        :class:`~pacsklearn.plugins.NoiseBackend`, :class:`~pacsklearn.plugins.Attack` or of the
        base of another kind, with its ``name``, and the ``estimators`` that it claims where its
        kind is found by them.

    Returns
    -------
    class
        The same, to be passed to :func:`unregister`.

    Raises
    ------
    PluginClashError
        When the name, or an estimator, belongs to another class.

    Examples
    --------
    >>> from pacsklearn.kernel.noise.lattice import ClosedFormBackend
    >>> from pacsklearn.plugins import register, registry, unregister
    >>> class Mine(ClosedFormBackend):
    ...     name, proof = "mine", "linear bound"
    ...
    ...     def variances(self, signal, budget):
    ...         return signal * signal.size / (2 * budget)
    >>> "mine" in (registry().names("noise_backend") if register(Mine) else ())
    True
    >>> unregister(Mine)
    """
    return registry().register(made)


def unregister(made: Any) -> None:
    """Take a registered class away again.

    Parameters
    ----------
    made : class
        What was registered.

    Raises
    ------
    UnknownNameError
        When it is not registered.
    """
    registry().unregister(made)


_PARTS = {
    "ConfidentBackend": "pacsklearn.sampled.confident:ConfidentBackend",
    "OneSidedBackend": "pacsklearn.padding.one_sided:OneSidedBackend",
    "ScaledTargetCanonicalizer": (
        "pacsklearn.canonical.transformed_target:ScaledTargetCanonicalizer"
    ),
}
"""What has a part in releases and is chosen by no name."""

if not TYPE_CHECKING:  # type checkers know the names above, and nothing else

    def __getattr__(name):
        target = None if name.startswith("_") else (_PARTS.get(name) or built_ins().get(name))
        if target is None:
            raise AttributeError(f"module 'pacsklearn.plugins' has no attribute {name!r}")
        return imported(target)


def __dir__() -> list[str]:
    return sorted({*__all__, *_PARTS, *built_ins()})
