"""The one place that knows every plugin."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar, final

from pacsklearn.exceptions import NoCanonicalizerError, PluginError, UnknownNameError
from pacsklearn.kernel.host import host
from pacsklearn.kernel.ledger.event import Provenance
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.outputs.batch_predictor import BatchPredictor
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.outputs.subset_fitter import SubsetFitter
from pacsklearn.kernel.plugins.catalogue import (
    Catalogue,
    Registration,
    Source,
    unregistered_provenance,
)
from pacsklearn.kernel.plugins.kinds import Kind

MadeT = TypeVar("MadeT")


@final
class Registry:
    """Everything that plugins hand over, by kind and name.

    Plugins are imported at the first question, and the classes of a kind at the first question
    about it. A plugin that fails is left out, kept in :attr:`failures` and warned about once.

    Parameters
    ----------
    find_entry_points : callable, optional
        Returns the entry points to load; the installed ones of the group ``pacsklearn`` when not
        given.

    Raises
    ------
    PluginClashError
        At every question about a kind of which two distributions claim one name or one estimator.
    PluginError
        With ``PACSKLEARN_STRICT_PLUGINS=1``, when a plugin fails.
    """

    def __init__(self, find_entry_points: Callable[[], Iterable[Any]] | None = None) -> None:
        self._source: Source = host().plugins(find_entry_points)
        self._lock = threading.RLock()
        self._catalogues: dict[str, Catalogue] = {}
        self._loading = False

    @property
    def failures(self) -> tuple[Any, ...]:
        """Plugins that were left out, and why; every kind is loaded for it."""
        for kind in self._source.kinds:
            self._catalogue(kind)
        return tuple(self._source.failures)

    def kinds(self) -> tuple[str, ...]:
        """Return kinds of plugins that anybody may add to."""
        return tuple(self._public)

    def _kind(self, name: object) -> Kind:
        known = self._source.kinds
        if not isinstance(name, str) or name not in known:
            raise ValueError(f"kind must be one of {', '.join(self._public)}, got {name!r}.")
        return known[name]

    def _kind_of(self, made: object) -> Kind:
        public = self._public.values()
        # Internal kinds (events, guarantees) are for our own distributions: nobody adds by hand.
        for kind in public:
            if kind.holds(made):
                return kind
        bases = ", ".join(f"{kind.noun} ({kind.base.__name__})" for kind in public)
        raise TypeError(
            f"Give a class of one of the kinds of plugins, {bases}. Got {_described(made)}."
        )

    @property
    def _public(self) -> Mapping[str, Kind]:
        return {name: kind for name, kind in self._source.kinds.items() if not kind.internal}

    def names(self, kind: str) -> tuple[str, ...]:
        """Return registered names of a kind, sorted."""
        return tuple(each.name for each in self.registrations(kind))

    def registrations(self, kind: str) -> tuple[Registration, ...]:
        """Return what is registered of a kind, with the facts of each class, by name."""
        with self._lock:
            return self._catalogue(kind).all()

    def register(self, made: MadeT) -> MadeT:
        """Add a class by hand; adding it again changes nothing.

        Raises
        ------
        PluginClashError
            When its name, or an estimator, belongs to another class.
        """
        kind = self._kind_of(made)
        with self._lock:
            self._catalogue(kind.name).add(Registration.of(kind, made))
        return made

    def unregister(self, made: Any) -> None:
        """Take a class away again.

        Raises
        ------
        UnknownNameError
            When it is not registered.
        """
        kind = self._kind_of(made)
        with self._lock:
            if not self._catalogue(kind.name).remove(made):
                raise self._unknown(kind, getattr(made, "name", made.__name__))

    def load(self, kind: str, name: str) -> Any:
        """Return the class of that name."""
        return self._registration(kind, name).made

    def make(self, kind: str, value: Any, *arguments: Any) -> Any:
        """Return an instance of the class of that name; an instance passes through.

        Parameters
        ----------
        kind : str
            One of :meth:`kinds`.
        value : str or instance
        *arguments
            What the class is called with.

        Raises
        ------
        UnknownNameError
            When there is no such name, or ``value`` is neither.
        """
        base = self._kind(kind).base
        if isinstance(value, base):
            return value
        # By name alone: what the class is called with is the caller's, never a plugin's.
        registration = self._registration(kind, value)
        made = registration.made(*arguments)
        if not isinstance(made, base):
            raise _wrong_type(registration, made)
        return made

    def noise_backend(self, value: str | NoiseBackend) -> NoiseBackend:
        """Return the noise backend of that name; an instance passes through."""
        made: NoiseBackend = self.make("noise_backend", value)
        return made

    def canonicalizer(self, value: str | Canonicalizer, estimator: Any) -> Canonicalizer:
        """Return the canonicalizer of that name for ``estimator``; an instance passes through.

        ``"auto"`` is :meth:`canonicalizer_for`.
        """
        if isinstance(value, Canonicalizer):
            return value
        if value == "auto":
            return self.canonicalizer_for(estimator)
        return self._canonicalizer(self._registration("canonicalizer", value), estimator)

    def canonicalizer_for(self, estimator: Any) -> Canonicalizer:
        """Return the canonicalizer of the nearest class along the estimator's MRO that has one.

        Raises
        ------
        NoCanonicalizerError
            When none has, or when it does not support the estimator's configuration.
        """
        cls = type(estimator)
        registration = self.claiming("canonicalizer", cls)
        if registration is None:
            hint = " Give an instance, not the class." if isinstance(estimator, type) else ""
            why = self.claiming("unsupported", cls)
            # A class that is known to have no parameters to release says why, and what to do.
            because = "" if why is None else f": {why.description}"
            advice = "" if why is None else f"{why.made.advice} ".lstrip()
            raise NoCanonicalizerError(
                f"No canonicalizer supports {cls.__qualname__}, so its "
                f"parameters cannot be released privately{because}.{hint}",
                f"{advice}Give canonicalizer=MyCanonicalizer() (of PACPrivate: in Parameters), or "
                "register one with pacsklearn.plugins.register(...)." + self._source.complaint,
            )
        return self._canonicalizer(registration, estimator)

    def claiming(self, kind: str, cls: type) -> Registration | None:
        """Return what claims the nearest class along the MRO; None where nothing does."""
        with self._lock:
            return next(self._catalogue(kind).claiming(cls), None)

    def batch_predictors_for(self, estimator: Any) -> tuple[type[BatchPredictor], ...]:
        """Return the batch predictors of classes along the estimator's MRO, the nearest first."""
        with self._lock:
            claiming = self._catalogue("batch_predictor").claiming(type(estimator))
            return tuple(each.made for each in claiming)

    def subset_fitter_for(self, estimator: Any) -> SubsetFitter | None:
        """Return what fits all candidates of ``estimator``, as configured, at once; or None."""
        claimer = self.claiming("subset_fitter", type(estimator))
        if claimer is None:
            return None
        fitter: SubsetFitter | None = claimer.made.for_estimator(estimator, self.subset_fitter_for)
        return fitter

    def provenance(self, kind: str, value: object) -> Provenance:
        """Return the distribution and version behind a name or an instance, for an event."""
        if isinstance(value, str):
            return self._registration(kind, value).provenance
        with self._lock:
            held = self._catalogue(kind).holding(type(value))
        return unregistered_provenance(value) if held is None else held.provenance

    def _canonicalizer(self, registration: Registration, estimator: Any) -> Canonicalizer:
        made = registration.made.for_estimator(estimator, self.canonicalizer_for)
        if not isinstance(made, Canonicalizer):
            raise _wrong_type(registration, made)
        for absent in (name for name, has in made.noised_if.items() if not has(estimator)):
            made.noised = tuple(name for name in made.noised if name != absent)
        return made

    def _registration(self, kind: str, name: object) -> Registration:
        with self._lock:
            registration = self._catalogue(kind).get(name)
        if registration is None:
            raise self._unknown(self._kind(kind), name)
        return registration

    def _unknown(self, kind: Kind, name: object) -> UnknownNameError:
        if isinstance(name, str):
            problem = f"No {kind.noun} is called {name!r}"
        else:
            article = "An" if kind.noun[0] in "aeiou" else "A"
            problem = (
                f"{article} {kind.noun} is given by its name or by an instance, got "
                f"{_described(name)}"
            )
        return UnknownNameError(
            f"{problem}. Known names: {', '.join(self.names(kind.name)) or 'none'}."
            + host().install_hint(kind.name, name)
            + self._source.complaint
        )

    def _catalogue(self, kind: str) -> Catalogue:
        """Return classes of a kind, imported at the first question about it."""
        wanted = self._kind(kind)
        with self._lock:
            if kind not in self._catalogues:
                if self._loading:
                    raise PluginError(
                        "a plugin may not ask the registry while it is being imported; yield "
                        "classes from its hooks"
                    )
                self._loading = True
                try:
                    self._catalogues[kind] = self._source.catalogue(wanted)
                finally:
                    self._loading = False
                # When all is loaded: a warning that is made an error must not leave half of it.
                self._source.warn()
            return self._catalogues[kind]


def _described(given: object) -> str:
    """Name a class, or an object by its class, for messages."""
    if isinstance(given, type):
        return f"the class {given.__qualname__}"
    return f"an object of type {type(given).__qualname__}"


def _wrong_type(registration: Registration, made: object) -> PluginError:
    kind = registration.kind
    return PluginError(
        f"The {kind.noun} {registration.name!r} of the distribution {registration} gave an object "
        f"of type {type(made).__qualname__}, not a {kind.base.__name__}."
    )


_REGISTRY: Final = Registry()


def registry() -> Registry:
    """Return the registry of this process; plugins are imported at its first question.

    Returns
    -------
    Registry

    Examples
    --------
    >>> from pacsklearn.plugins import registry
    >>> "logdet" in registry().names("noise_backend")
    True
    """
    return _REGISTRY
