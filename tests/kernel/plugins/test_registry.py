"""Names, isolation, clashes and provenance."""

from __future__ import annotations

import os
import threading
import types
import warnings
from collections import Counter
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.svm import SVC, LinearSVC

from pacsklearn.exceptions import (
    NoCanonicalizerError,
    PluginClashError,
    PluginError,
    PluginWarning,
    UnknownNameError,
)
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.plugins.catalogue import unregistered_provenance
from pacsklearn.plugins import (
    API,
    Registry,
    Unsupported,
    hookimpl,
    register,
    registry,
    unregister,
)

BACKENDS = (
    "criterion",
    "diagonal",
    "eigen",
    "isotropic",
    "logdet",
)


@dataclass
class Distribution:
    name: str
    version: str


class FakeEntryPoint:
    """What importlib.metadata gives, for a plugin that is not installed."""

    def __init__(self, distribution: str, plugin: Any, name: str = "plugin") -> None:
        self.name, self.dist, self.loads = name, Distribution(distribution, "1.2"), 0
        self._plugin = plugin

    def load(self) -> Any:
        self.loads += 1
        if isinstance(self._plugin, BaseException):
            raise self._plugin
        return self._plugin


def plugin_of(hook: str, answer: Any) -> types.SimpleNamespace:
    def implementation():
        if isinstance(answer, Exception):
            raise answer
        return answer

    return types.SimpleNamespace(
        pacsklearn_api=API, **{hook: hookimpl(specname=hook)(implementation)}
    )


def backends(*classes: Any) -> types.SimpleNamespace:
    return plugin_of("pacsklearn_noise_backends", classes)


def canonicalizers(*classes: Any) -> types.SimpleNamespace:
    return plugin_of("pacsklearn_canonicalizers", classes)


class ToyBackend(NoiseBackend):
    name = "toy"

    def calibrate(self, support, target, metric):
        raise NotImplementedError


class ToyCanonicalizer(Canonicalizer):
    name = "toy"

    def __init__(self, parts=()):
        self.parts = parts

    @classmethod
    def for_estimator(cls, estimator, resolve):
        nested = getattr(estimator, "nested", None)
        return cls(() if nested is None else (resolve(nested),))

    def encode(self, estimator, X):
        raise NotImplementedError

    def decode(self, vector, layout, template):
        raise NotImplementedError


class ToyEstimator(BaseEstimator):
    def __init__(self, nested=None):
        self.nested = nested


class ToyChild(ToyEstimator):
    pass


TOY_NAME = f"{__name__}.ToyEstimator"


def named(name: str) -> type[ToyBackend]:
    """Noise backend of that name."""
    return type("ToyBackend", (ToyBackend,), {"name": name, "__module__": __name__})


def claiming(*estimators: Any, name: str = "toy") -> type[ToyCanonicalizer]:
    """Canonicalizer of these estimators."""
    facts = {"name": name, "estimators": estimators, "__module__": __name__}
    return type("ToyCanonicalizer", (ToyCanonicalizer,), facts)


TOY = claiming(ToyEstimator)


@pytest.fixture
def empty():
    return Registry(list)


class TestNames:
    def test_the_process_has_one_registry(self):
        assert registry() is registry()

    def test_known_names(self, empty):
        assert empty.names("noise_backend") == BACKENDS
        assert empty.names("scenario") == ("differing_rows", "group", "prevalence")

    def test_an_unknown_name_lists_the_known_ones(self, empty):
        with pytest.raises(UnknownNameError, match=rf"'logdte'.* {', '.join(BACKENDS)}"):
            empty.noise_backend("logdte")
        with pytest.raises(UnknownNameError, match="linear_classifier"):
            empty.canonicalizer("nope", LinearSVC())

    def test_a_class_is_not_an_instance(self, empty):
        with pytest.raises(UnknownNameError, match="ToyBackend"):
            empty.noise_backend(ToyBackend)

    def test_an_unknown_kind_lists_the_kinds(self, empty):
        with pytest.raises(ValueError, match="batch_predictor"):
            empty.names("noise")

    def test_instances_pass_through(self, empty):
        backend, canonicalizer = ToyBackend(), ToyCanonicalizer()
        assert empty.noise_backend(backend) is backend
        assert empty.canonicalizer(canonicalizer, LinearSVC()) is canonicalizer


class TestRegisteringByHand:
    def test_register_and_unregister(self, empty):
        assert empty.register(TOY) is TOY
        assert isinstance(empty.canonicalizer("toy", ToyEstimator()), ToyCanonicalizer)
        empty.unregister(TOY)
        assert "toy" not in empty.names("canonicalizer")
        with pytest.raises(NoCanonicalizerError):
            empty.canonicalizer_for(ToyEstimator())
        with pytest.raises(UnknownNameError, match="'toy'"):
            empty.unregister(TOY)

    def test_the_process_registry_is_the_one_that_is_filled(self):
        mine = register(named("mine"))
        try:
            assert registry().load("noise_backend", "mine") is mine
        finally:
            unregister(mine)
        assert "mine" not in registry().names("noise_backend")

    def test_registering_twice_changes_nothing(self, empty):
        empty.register(TOY)
        empty.register(TOY)
        assert empty.names("canonicalizer").count("toy") == 1

    def test_register_decorates(self, empty):
        @empty.register
        class Mine(ToyBackend):
            name = "mine"

        assert empty.load("noise_backend", "mine") is Mine

    def test_a_builtin_name_is_taken(self, empty):
        with pytest.raises(PluginClashError, match=r"'logdet'.*'pacsklearn'"):
            empty.register(named("logdet"))
        assert empty.provenance("noise_backend", "logdet").distribution == "pacsklearn"

    def test_a_subclass_that_states_no_name_of_its_own_clashes(self, empty):
        class Mine(empty.load("noise_backend", "logdet")):
            pass

        with pytest.raises(PluginClashError, match=r"'logdet'.*'pacsklearn'"):
            empty.register(Mine)

    def test_a_builtin_estimator_is_taken(self, empty):
        with pytest.raises(PluginClashError, match=r"sklearn\.svm\.LinearSVC.*'linear_classifier'"):
            empty.register(claiming("sklearn.svm.LinearSVC"))
        assert "toy" not in empty.names("canonicalizer")

    def test_a_class_and_its_name_are_one_claim(self, empty):
        with pytest.raises(PluginClashError, match="LinearSVC"):
            empty.register(claiming(LinearSVC))

    def test_a_notebook_cell_can_run_twice(self, empty):
        def cell():
            facts = {"name": "mine", "__module__": "__main__"}
            return empty.register(type("Mine", (ToyBackend,), facts))

        cell()
        second = cell()
        assert empty.load("noise_backend", "mine") is second


class TestMatching:
    def test_the_nearest_class_wins(self, empty):
        child = claiming(ToyChild, name="child")
        empty.register(TOY)
        assert type(empty.canonicalizer_for(ToyChild())) is TOY
        empty.register(child)
        assert type(empty.canonicalizer_for(ToyChild())) is child
        assert type(empty.canonicalizer_for(ToyEstimator())) is TOY

    def test_a_subclass_and_a_qualified_name(self, empty):
        empty.register(claiming(TOY_NAME))
        assert isinstance(empty.canonicalizer("auto", ToyChild()), ToyCanonicalizer)

    def test_private_modules_may_be_named(self, empty):
        empty.register(claiming(f"{ToyEstimator.__module__}._private.ToyEstimator"))
        assert isinstance(empty.canonicalizer_for(ToyEstimator()), ToyCanonicalizer)

    def test_nested_estimators_are_resolved(self, empty):
        empty.register(TOY)
        (part,) = empty.canonicalizer_for(ToyEstimator(nested=ToyEstimator())).parts
        assert isinstance(part, ToyCanonicalizer)

    def test_an_unsupported_estimator_says_what_to_do(self, empty):
        with pytest.raises(NoCanonicalizerError) as caught:
            empty.canonicalizer_for(SVC())
        for words in ("SVC", "canonicalizer=MyCanonicalizer()", "pacsklearn.plugins.register"):
            assert words in str(caught.value)

    def test_a_class_instead_of_an_instance(self, empty):
        with pytest.raises(NoCanonicalizerError, match="instance"):
            empty.canonicalizer_for(LinearSVC)

    def test_a_canonicalizer_that_makes_something_else(self, empty):
        class Odd(ToyCanonicalizer):
            name, estimators = "odd", ToyEstimator

            @classmethod
            def for_estimator(cls, estimator, resolve):
                return {}

        empty.register(Odd)
        with pytest.raises(PluginError, match="dict"):
            empty.canonicalizer_for(ToyEstimator())

    def test_a_plugin_says_why_it_has_none(self, empty):
        @empty.register
        class Toys(Unsupported):
            name, description, advice = "toys", "it is a toy", "Ridge can be released."
            estimators = (ToyEstimator,)

        with pytest.raises(NoCanonicalizerError, match="Ridge"):
            empty.canonicalizer_for(ToyChild())


class TestEntryPoints:
    def test_plugins_load_lazily_and_once(self):
        point = FakeEntryPoint("acme", backends(named("acme")))
        asked = Counter()

        def find():
            asked["points"] += 1
            return [point]

        plugins = Registry(find)
        assert not asked
        assert "acme" in plugins.names("noise_backend")
        assert isinstance(plugins.noise_backend("acme"), ToyBackend)
        assert (asked["points"], point.loads) == (1, 1)

    def test_threads_share_one_load(self):
        point = FakeEntryPoint("acme", backends(named("acme")))
        plugins = Registry(lambda: [point])
        threads = [
            threading.Thread(target=plugins.names, args=("attack",), daemon=True) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        assert point.loads == 1

    @pytest.mark.parametrize(
        ("plugin", "error_type", "words"),
        [
            (ImportError("no libgomp"), "ImportError", "no libgomp"),
            (SystemExit("a script's end"), "SystemExit", "a script's end"),
            (
                plugin_of("pacsklearn_noise_backends", RuntimeError("boom")),
                "RuntimeError",
                "boom",
            ),
            (backends(dict), "TypeError", "is a subclass of NoiseBackend, got the class dict"),
            (backends(ToyCanonicalizer), "TypeError", "got the class ToyCanonicalizer"),
            (backends(ToyBackend()), "TypeError", "got an object of type ToyBackend"),
            (backends("no_such_package_here:Thing"), "ModuleNotFoundError", "no_such_package"),
            (backends("pacsklearn.exceptions:Nothing"), "AttributeError", "Nothing"),
            (backends("logdet"), "ModuleNotFoundError", "logdet"),
            (plugin_of("pacsklearn_noise_backends", None), "PluginError", "must yield classes"),
            (plugin_of("pacsklearn_noises", ()), "PluginValidationError", "unknown hook"),
            (types.SimpleNamespace(pacsklearn_api=API), "PluginError", "implements no hook"),
            (types.SimpleNamespace(), "PluginError", "states no pacsklearn_api"),
            (types.SimpleNamespace(pacsklearn_api=API - 1), "PluginError", "made for API"),
            (types.SimpleNamespace(pacsklearn_api=API + 1), "PluginError", "made for API"),
        ],
    )
    def test_a_failing_plugin_is_left_out(self, plugin, error_type, words):
        good = FakeEntryPoint("good", backends(named("good")))
        plugins = Registry(lambda: [FakeEntryPoint("bad-plugin", plugin), good])
        with pytest.warns(PluginWarning, match="plugin") as caught:
            assert "good" in plugins.names("noise_backend")
        assert len(caught) == 1
        (failure,) = plugins.failures
        assert (failure.distribution, failure.version) == ("bad-plugin", "1.2")
        assert failure.error_type == error_type
        assert words in failure.message
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UnknownNameError, match="failed"):
                plugins.noise_backend("bad")
            with pytest.raises(NoCanonicalizerError, match="failed"):
                plugins.canonicalizer_for(SVC())

    def test_nothing_of_a_failing_plugin_stays(self):
        plugin = backends(named("half"), "not.there:Backend")
        plugins = Registry(lambda: [FakeEntryPoint("bad", plugin)])
        with pytest.warns(PluginWarning):
            assert "half" not in plugins.names("noise_backend")

    def test_one_warning_for_a_distribution(self):
        points = [FakeEntryPoint("bad", ImportError(name), name) for name in ("one", "two")]
        plugins = Registry(lambda: points)
        with pytest.warns(PluginWarning) as caught:
            assert len(plugins.failures) == 2
        assert len(caught) == 1

    def test_hooks_cannot_wrap_those_of_others(self):
        @hookimpl(wrapper=True, specname="pacsklearn_noise_backends")
        def sneaky():
            classes = yield
            return classes[:1]

        plugin = types.SimpleNamespace(pacsklearn_api=API, sneaky=sneaky)
        plugins = Registry(lambda: [FakeEntryPoint("bad", plugin)])
        with pytest.warns(PluginWarning, match="wrapper"):
            assert plugins.names("noise_backend") == BACKENDS

    def test_a_plugin_may_not_register_while_it_is_imported(self):
        point = FakeEntryPoint("bad", None)
        plugins = Registry(lambda: [point])
        point.load = lambda: plugins.register(TOY)
        with pytest.warns(PluginWarning, match="imported"):
            assert "toy" not in plugins.names("canonicalizer")

    def test_strict_mode_raises(self, monkeypatch):
        monkeypatch.setenv("PACSKLEARN_STRICT_PLUGINS", "1")
        plugins = Registry(lambda: [FakeEntryPoint("bad", ImportError("no libgomp"))])
        with pytest.raises(PluginError, match="ImportError"):
            plugins.names("attack")

    @pytest.mark.parametrize(
        ("limit", "expected"),
        [
            (None, {"one", "two"}),
            ("", set()),
            ("acme-one", {"one"}),
            ("Acme_One , second", {"one", "two"}),
            ("second", {"two"}),
        ],
    )
    def test_the_environment_limits_plugins(self, monkeypatch, limit, expected):
        if limit is None:
            monkeypatch.delenv("PACSKLEARN_PLUGINS", raising=False)
        else:
            monkeypatch.setenv("PACSKLEARN_PLUGINS", limit)
        points = [
            FakeEntryPoint("acme-one", backends(named("one")), "first"),
            FakeEntryPoint("acme-two", backends(named("two")), "second"),
        ]
        plugins = Registry(lambda: points)
        assert {"one", "two"} & set(plugins.names("noise_backend")) == expected
        assert sum(point.loads for point in points) == len(expected)

    def test_a_limit_that_matches_nothing_is_reported(self, monkeypatch):
        monkeypatch.setenv("PACSKLEARN_PLUGINS", "acme")
        plugins = Registry(list)
        with pytest.warns(PluginWarning, match="installed"):
            assert plugins.failures[0].distribution == "acme"
        monkeypatch.setenv("PACSKLEARN_STRICT_PLUGINS", "1")
        with pytest.raises(PluginError, match="installed"):
            Registry(list).names("attack")


class TestClashes:
    def test_two_distributions_with_one_name(self):
        points = [FakeEntryPoint(name, backends(named("best"))) for name in ("acme", "bolt")]
        plugins = Registry(lambda: points)
        for _ in range(2):
            with pytest.raises(PluginClashError, match="best"):
                plugins.names("noise_backend")
        assert plugins.names("canonicalizer")  # what does not clash is there

    def test_two_distributions_with_one_estimator(self):
        points = [
            FakeEntryPoint(name, canonicalizers(claiming(TOY_NAME, name=name)))
            for name in ("acme", "bolt")
        ]
        with pytest.raises(PluginClashError, match="ToyEstimator"):
            Registry(lambda: points).names("canonicalizer")

    def test_one_name_in_two_kinds_is_no_clash(self, empty):
        empty.register(ToyBackend)
        empty.register(TOY)


class TestTargets:
    def test_a_target_that_ends_the_program_at_import(self, tmp_path, monkeypatch):
        (tmp_path / "acme_script.py").write_text("import sys\n\nsys.exit(3)\n")
        monkeypatch.syspath_prepend(tmp_path)
        plugins = Registry(lambda: [FakeEntryPoint("acme", backends("acme_script:Backend"))])
        with pytest.warns(PluginWarning, match="SystemExit"):
            assert plugins.names("noise_backend") == BACKENDS

    def test_a_plugin_that_fails_in_one_kind_gives_the_others(self):
        plugin = backends("not.there:Backend")
        plugin.pacsklearn_canonicalizers = canonicalizers(TOY).pacsklearn_canonicalizers
        plugins = Registry(lambda: [FakeEntryPoint("acme", plugin)])
        assert "toy" in plugins.names("canonicalizer")
        with pytest.warns(PluginWarning, match="left"):
            assert plugins.names("noise_backend") == BACKENDS


class TestProvenance:
    def test_of_a_plugin(self):
        plugins = Registry(lambda: [FakeEntryPoint("acme-noise", backends(ToyBackend))])
        found = plugins.provenance("noise_backend", "toy")
        assert (found.name, found.distribution, found.version) == ("toy", "acme-noise", "1.2")
        assert found.target == f"{__name__}:ToyBackend"
        assert plugins.provenance("noise_backend", ToyBackend()) == found

    def test_of_a_builtin(self, empty):
        backend = empty.noise_backend("eigen")
        found = empty.provenance("noise_backend", backend)
        assert (found.name, found.distribution) == ("eigen", "pacsklearn")
        assert found.target == "pacsklearn.plugins:EigenBackend"

    def test_of_an_instance_nobody_registered(self, empty):
        found = empty.provenance("noise_backend", ToyBackend())
        assert (found.name, found.version) == ("ToyBackend", "unversioned")
        assert found.distribution == __name__.split(".", maxsplit=1)[0]

    def test_the_version_of_what_is_installed_is_found(self, empty):
        import sklearn

        empty.register(type("Odd", (ToyBackend,), {"name": "odd", "__module__": "sklearn.svm"}))
        found = empty.provenance("noise_backend", "odd")
        assert (found.distribution, found.version) == ("sklearn", sklearn.__version__)

    def test_an_unknown_name_has_none(self, empty):
        with pytest.raises(UnknownNameError):
            empty.provenance("noise_backend", "nope")


def test_installed_packages_are_looked_through_once(monkeypatch, tmp_path):
    """Every fit with a class that is registered nowhere looked through all of them again."""
    looked, look = [], metadata.packages_distributions
    monkeypatch.setattr(metadata, "packages_distributions", lambda: looked.append(1) or look())
    monkeypatch.syspath_prepend(tmp_path)
    for _ in range(3):
        assert unregistered_provenance(ToyBackend()).version == "unversioned"
    assert len(looked) == 1
    (tmp_path / "late-1.0.dist-info").mkdir()  # installed while the process runs
    (tmp_path / "late-1.0.dist-info" / "METADATA").write_text("Name: late\nVersion: 1.0\n")
    os.utime(tmp_path, (0, 0))
    assert unregistered_provenance(ToyBackend()).version == "unversioned"
    assert len(looked) == 2


@pytest.mark.parametrize(("kind", "name"), [("noise_backend", "stackelberg"), ("attack", "rmia")])
def test_what_a_distribution_of_this_repository_brings_is_named(kind: str, name: str) -> None:
    """By its path: an index may give the name to somebody else."""
    alone = Registry(list)
    with pytest.raises(UnknownNameError, match="plugins"):
        alone.provenance(kind, name)
