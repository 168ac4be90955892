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

import numpy as np
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
from pacsklearn.kernel.budget.criterion import MEMBERSHIP_AIM
from pacsklearn.kernel.budget.guess_criterion import GuessCriterion
from pacsklearn.kernel.noise.noise_backend import NoiseBackend
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer
from pacsklearn.kernel.plugins.discovery import unregistered_provenance
from pacsklearn.kernel.secret.candidate_space import CandidateSpace
from pacsklearn.plugins import (
    AttackRecord,
    CanonicalizerRecord,
    CriterionRecord,
    NoiseBackendRecord,
    Registry,
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
    "residual",
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

    return types.SimpleNamespace(**{hook: hookimpl(specname=hook)(implementation)})


def backends(*records: Any) -> types.SimpleNamespace:
    return plugin_of("pacsklearn_noise_backends", records)


def canonicalizers(*records: Any) -> types.SimpleNamespace:
    return plugin_of("pacsklearn_canonicalizers", records)


class ToyBackend(NoiseBackend):
    def calibrate(self, support, target, metric):
        raise NotImplementedError


class ToyCanonicalizer(Canonicalizer):
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
TOY = CanonicalizerRecord("toy", ToyCanonicalizer, (ToyEstimator,))


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
        with pytest.raises(UnknownNameError, match="got the class ToyBackend"):
            empty.noise_backend(ToyBackend)

    def test_an_unknown_kind_lists_the_kinds(self, empty):
        with pytest.raises(ValueError, match="canonicalizer, batch_predictor, subset_fitter"):
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
        record = register(AttackRecord("toy-attack", "package.module:Attack"))
        try:
            assert record in registry().records("attack")
        finally:
            unregister(record)
        assert record not in registry().records("attack")

    def test_registering_twice_changes_nothing(self, empty):
        empty.register(TOY)
        empty.register(TOY)
        empty.register(CanonicalizerRecord("toy", ToyCanonicalizer, (ToyEstimator,)))
        assert empty.names("canonicalizer").count("toy") == 1

    def test_a_builtin_name_is_taken(self, empty):
        with pytest.raises(PluginClashError, match=r"'logdet'.*'pacsklearn'"):
            empty.register(NoiseBackendRecord("logdet", ToyBackend))
        assert empty.provenance("noise_backend", "logdet").distribution == "pacsklearn"

    def test_a_builtin_estimator_is_taken(self, empty):
        claim = ("sklearn.svm.LinearSVC",)
        with pytest.raises(PluginClashError, match=r"sklearn\.svm\.LinearSVC.*'linear_classifier'"):
            empty.register(CanonicalizerRecord("mine", ToyCanonicalizer, claim))
        assert "mine" not in empty.names("canonicalizer")

    def test_a_class_and_its_name_are_one_claim(self, empty):
        with pytest.raises(PluginClashError, match="LinearSVC"):
            empty.register(CanonicalizerRecord("mine", ToyCanonicalizer, (LinearSVC,)))

    def test_what_is_not_a_record_is_refused(self, empty):
        with pytest.raises(TypeError, match="CanonicalizerRecord"):
            empty.register(ToyBackend)

    def test_a_notebook_cell_can_run_twice(self, empty):
        def cell():
            cls = type("Mine", (ToyBackend,), {"__module__": "__main__"})
            return empty.register(NoiseBackendRecord("mine", cls))

        cell()
        second = cell()
        assert empty.load("noise_backend", "mine") is second.target


class TestMatching:
    def test_the_nearest_class_wins(self, empty):
        empty.register(TOY)
        child = CanonicalizerRecord("child", lambda: ToyCanonicalizer("child"), (ToyChild,))
        assert empty.canonicalizer_for(ToyChild()).parts == ()
        empty.register(child)
        assert empty.canonicalizer_for(ToyChild()).parts == "child"
        assert empty.canonicalizer_for(ToyEstimator()).parts == ()

    def test_a_subclass_and_a_qualified_name(self, empty):
        empty.register(CanonicalizerRecord("toy", ToyCanonicalizer, (TOY_NAME,)))
        assert isinstance(empty.canonicalizer("auto", ToyChild()), ToyCanonicalizer)

    def test_private_modules_may_be_named(self, empty):
        claim = (f"{ToyEstimator.__module__}._private.ToyEstimator",)
        empty.register(CanonicalizerRecord("toy", ToyCanonicalizer, claim))
        assert isinstance(empty.canonicalizer_for(ToyEstimator()), ToyCanonicalizer)

    def test_nested_estimators_are_resolved(self, empty):
        empty.register(TOY)
        (part,) = empty.canonicalizer_for(ToyEstimator(nested=ToyEstimator())).parts
        assert isinstance(part, ToyCanonicalizer)

    def test_an_unsupported_estimator_says_what_to_do(self, empty):
        with pytest.raises(NoCanonicalizerError) as caught:
            empty.canonicalizer_for(SVC())
        for words in ("SVC", "canonicalizer=MyCanonicalizer()", "pacsklearn.register"):
            assert words in str(caught.value)

    def test_a_class_instead_of_an_instance(self, empty):
        with pytest.raises(NoCanonicalizerError, match="Give an instance, not the class"):
            empty.canonicalizer_for(LinearSVC)

    def test_a_target_of_another_type(self, empty):
        empty.register(CanonicalizerRecord("odd", dict, (ToyEstimator,)))
        with pytest.raises(PluginError, match="gave an object of type dict, not a Canonicalizer"):
            empty.canonicalizer_for(ToyEstimator())
        empty.register(NoiseBackendRecord("odd", dict))
        with pytest.raises(PluginError, match="not a NoiseBackend"):
            empty.noise_backend("odd")


class TestEntryPoints:
    def test_plugins_load_lazily_and_once(self):
        point = FakeEntryPoint("acme", backends(NoiseBackendRecord("acme", ToyBackend)))
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
        point = FakeEntryPoint("acme", backends(NoiseBackendRecord("acme", ToyBackend)))
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
            (backends("logdet"), "PluginError", "records of type NoiseBackendRecord"),
            (
                backends(AttackRecord("x", "package.module:Thing")),
                "PluginError",
                "got an object of type AttackRecord",
            ),
            (plugin_of("pacsklearn_noise_backends", None), "PluginError", "an iterable of"),
            (plugin_of("pacsklearn_noises", ()), "PluginValidationError", "unknown hook"),
            (types.SimpleNamespace(), "PluginError", "implements no hook"),
        ],
    )
    def test_a_failing_plugin_is_left_out(self, plugin, error_type, words):
        good = FakeEntryPoint("good", backends(NoiseBackendRecord("good", ToyBackend)))
        plugins = Registry(lambda: [FakeEntryPoint("bad-plugin", plugin), good])
        with pytest.warns(PluginWarning, match="'bad-plugin' was left out") as caught:
            assert "good" in plugins.names("noise_backend")
        assert len(caught) == 1
        (failure,) = plugins.failures
        assert (failure.distribution, failure.version) == ("bad-plugin", "1.2")
        assert failure.error_type == error_type
        assert words in failure.message
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UnknownNameError, match=r"failed to load: bad-plugin 1\.2"):
                plugins.noise_backend("bad")
            with pytest.raises(NoCanonicalizerError, match=r"failed to load: bad-plugin 1\.2"):
                plugins.canonicalizer_for(SVC())

    def test_nothing_of_a_failing_plugin_stays(self):
        plugin = backends(NoiseBackendRecord("half", ToyBackend), "not a record")
        plugins = Registry(lambda: [FakeEntryPoint("bad", plugin)])
        with pytest.warns(PluginWarning):
            assert "half" not in plugins.names("noise_backend")

    def test_one_warning_for_a_distribution(self):
        points = [FakeEntryPoint("bad", ImportError("x"), name) for name in ("one", "two")]
        plugins = Registry(lambda: points)
        with pytest.warns(PluginWarning) as caught:
            assert len(plugins.failures) == 2
        assert len(caught) == 1

    def test_hooks_cannot_wrap_those_of_others(self):
        @hookimpl(wrapper=True, specname="pacsklearn_noise_backends")
        def sneaky():
            records = yield
            return records[:1]

        plugins = Registry(lambda: [FakeEntryPoint("bad", types.SimpleNamespace(sneaky=sneaky))])
        with pytest.warns(PluginWarning, match="is a wrapper"):
            assert plugins.names("noise_backend") == BACKENDS

    def test_a_plugin_may_not_register_while_it_is_imported(self):
        point = FakeEntryPoint("bad", None)
        plugins = Registry(lambda: [point])
        point.load = lambda: plugins.register(TOY)
        with pytest.warns(PluginWarning, match="while it is being imported"):
            assert "toy" not in plugins.names("canonicalizer")

    def test_strict_mode_raises(self, monkeypatch):
        monkeypatch.setenv("PACSKLEARN_STRICT_PLUGINS", "1")
        plugins = Registry(lambda: [FakeEntryPoint("bad", ImportError("no libgomp"))])
        with pytest.raises(PluginError, match=r"bad 1\.2 \(ImportError: no libgomp\)"):
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
            FakeEntryPoint("acme-one", backends(NoiseBackendRecord("one", ToyBackend)), "first"),
            FakeEntryPoint("acme-two", backends(NoiseBackendRecord("two", ToyBackend)), "second"),
        ]
        plugins = Registry(lambda: points)
        assert {"one", "two"} & set(plugins.names("noise_backend")) == expected
        assert sum(point.loads for point in points) == len(expected)

    def test_a_limit_that_matches_nothing_is_reported(self, monkeypatch):
        monkeypatch.setenv("PACSKLEARN_PLUGINS", "acme")
        plugins = Registry(list)
        with pytest.warns(PluginWarning, match=r"'acme'.*not installed"):
            assert plugins.failures[0].distribution == "acme"
        monkeypatch.setenv("PACSKLEARN_STRICT_PLUGINS", "1")
        with pytest.raises(PluginError, match="not installed"):
            Registry(list).names("attack")


class TestClashes:
    def test_two_distributions_with_one_name(self):
        points = [
            FakeEntryPoint(name, backends(NoiseBackendRecord("best", ToyBackend, name)))
            for name in ("acme", "bolt")
        ]
        plugins = Registry(lambda: points)
        for _ in range(2):
            with pytest.raises(PluginClashError, match=r"'best': 'acme' 1.2 and 'bolt' 1.2"):
                plugins.names("attack")

    def test_two_distributions_with_one_estimator(self):
        points = [
            FakeEntryPoint(
                name, canonicalizers(CanonicalizerRecord(name, ToyCanonicalizer, (TOY_NAME,)))
            )
            for name in ("acme", "bolt")
        ]
        with pytest.raises(PluginClashError, match=r"ToyEstimator: 'acme' of 'acme'.*of 'bolt'"):
            Registry(lambda: points).names("attack")

    def test_one_name_in_two_kinds_is_no_clash(self, empty):
        empty.register(NoiseBackendRecord("toy", ToyBackend))
        empty.register(TOY)


class TestTargets:
    @pytest.mark.parametrize(
        "target", ["no_such_package_here:Thing", "pacsklearn.exceptions:NoSuchThing"]
    )
    def test_a_target_that_cannot_be_loaded_names_the_distribution(self, target):
        plugins = Registry(
            lambda: [FakeEntryPoint("acme", backends(NoiseBackendRecord("x", target)))]
        )
        with pytest.raises(PluginError, match=r"'x' of the distribution 'acme' 1.2"):
            plugins.noise_backend("x")

    def test_a_target_that_ends_the_program_at_import(self, tmp_path, monkeypatch):
        (tmp_path / "acme_script.py").write_text("import sys\n\nsys.exit(3)\n")
        monkeypatch.syspath_prepend(tmp_path)
        record = NoiseBackendRecord("x", "acme_script:Backend")
        plugins = Registry(lambda: [FakeEntryPoint("acme", backends(record))])
        with pytest.raises(PluginError, match=r"cannot be loaded .* SystemExit: 3"):
            plugins.noise_backend("x")

    def test_a_string_target_is_imported_on_demand(self, empty):
        empty.register(NoiseBackendRecord("x", "pacsklearn.kernel.noise.lattice:LogdetBackend"))
        assert type(empty.noise_backend("x")).__name__ == "LogdetBackend"


class TestProvenance:
    def test_of_a_plugin(self):
        record = NoiseBackendRecord("acme", ToyBackend)
        plugins = Registry(lambda: [FakeEntryPoint("acme-noise", backends(record))])
        found = plugins.provenance("noise_backend", "acme")
        assert (found.name, found.distribution, found.version) == ("acme", "acme-noise", "1.2")
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

        empty.register(NoiseBackendRecord("odd", "sklearn.svm:LinearSVC"))
        found = empty.provenance("noise_backend", "odd")
        assert (found.distribution, found.version) == ("sklearn", sklearn.__version__)

    def test_an_unknown_name_has_none(self, empty):
        with pytest.raises(UnknownNameError):
            empty.provenance("noise_backend", "nope")


def test_an_installed_distribution_is_found(tmp_path, monkeypatch):
    info = tmp_path / "acme_noise-3.4.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-noise\nVersion: 3.4\n")
    (info / "entry_points.txt").write_text("[pacsklearn]\nacme = acme_noise_plugin\n")
    (tmp_path / "acme_noise_plugin.py").write_text(
        "from pacsklearn.plugins import NoiseBackendRecord, hookimpl\n"
        "@hookimpl\n"
        "def pacsklearn_noise_backends():\n"
        "    return [NoiseBackendRecord('acme', 'acme_noise_plugin:Missing')]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PACSKLEARN_PLUGINS", "acme-noise")
    assert Registry().provenance("noise_backend", "acme").version == "3.4"


def test_a_criterion_of_a_plugin_is_asked_for_by_name_and_number():
    def shared(space, k):
        return GuessCriterion(np.eye(space.n_candidates), f"{k} shared", "share", MEMBERSHIP_AIM)

    record = register(CriterionRecord("k_shared", shared))
    try:
        found = registry().criterion("7_shared", CandidateSpace.of("ab"))
        assert (found.name, found.aim) == ("7 shared", MEMBERSHIP_AIM)
    finally:
        unregister(record)
    with pytest.raises(UnknownNameError, match="No criterion is called 'k_shared'"):
        registry().criterion("7_shared", CandidateSpace.of("ab"))


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
    with pytest.raises(UnknownNameError, match=r"pip install \./plugins/pacsklearn-\w+"):
        alone.provenance(kind, name)
