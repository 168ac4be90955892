"""Plugins: what authors import, and the registry that finds their work.

Every built-in is here too, loaded when it is asked for: statements name it
``pacsklearn.plugins:LinearClassifierCanonicalizer``.
"""

from typing import Any

from pacsklearn._discovery import built_ins
from pacsklearn._public import lazily
from pacsklearn.kernel.plugins.kinds import imported
from pacsklearn.kernel.plugins.registry import MadeT, registry

_for_authors, _, __all__ = lazily(__name__, __file__)
__all__ += ["register", "unregister"]


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
    "OneSidedBackend": "pacsklearn.padding.one_sided_law:OneSidedBackend",
    "ScaledTargetCanonicalizer": (
        "pacsklearn.canonical.transformed_target:ScaledTargetCanonicalizer"
    ),
}
"""What has a part in releases and is chosen by no name."""


def __getattr__(name: str) -> object:
    target = None if name.startswith("_") else (_PARTS.get(name) or built_ins().get(name))
    return _for_authors(name) if target is None else imported(target)


def __dir__() -> list[str]:
    return sorted({*__all__, *_PARTS, *built_ins()})
