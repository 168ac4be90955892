from __future__ import annotations

import copy
import io
import json
import pickle
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import Nats, PACPrivate, Subsets
from pacsklearn.estimators.model_digest import model_digest
from pacsklearn.estimators.model_file import TRUSTED, from_file, to_file
from pacsklearn.exceptions import BundleError
from pacsklearn.kernel.plugins.registry import registry
from tests.canonical.cases import CASES, MIXTURES, names


@pytest.fixture(scope="module")
def private():
    model = make_pipeline(StandardScaler(), RidgeClassifier())
    return PACPrivate(model, budget=Nats(1.0), secret=Subsets(16)).fit(*load_iris(return_X_y=True))


def test_a_released_model_comes_back_without_its_marks(private):
    released = private.released_estimator_
    read = from_file(to_file(released))
    assert model_digest(read) == released.pacsklearn_digest_
    assert not hasattr(read, "pacsklearn_guarantee_")
    assert hasattr(released, "pacsklearn_guarantee_")


def test_a_file_holds_no_addresses_and_is_the_same_every_time(private):
    content = to_file(private.released_estimator_)
    again = copy.deepcopy(private.released_estimator_)
    assert to_file(again) == content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert all(len(name) < 12 for name in archive.namelist())


def changed(content, edit, **more):
    """skops file with its schema edited, and members added."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(stream, "w") as made:
        for name in archive.namelist():
            text = archive.read(name)
            if name == "schema.json":
                document = json.loads(text)
                edit(document)
                text = json.dumps(document).encode()
            made.writestr(name, text)
        for name, text in more.items():
            made.writestr(name, text)
    return stream.getvalue()


class Planted:
    """What a hostile file would like to run."""

    ran = False

    def __init__(self) -> None:
        Planted.ran = True


def hostile():
    good = to_file(StandardScaler().fit(np.ones((2, 2))))

    def other_class(document):
        document["__module__"], document["__class__"] = __name__, "Planted"

    def system(document):
        document["content"]["content"]["with_mean"] = {
            "__class__": "system", "__module__": "os", "__loader__": "FunctionNode",
            "__id__": 1, "content": {"module_path": "os", "function": "system"},
        }  # fmt: skip

    def method(document):
        document["content"]["content"]["with_mean"] = {
            "__class__": "fit", "__module__": "sklearn.preprocessing", "__loader__": "MethodNode",
            "__id__": 2, "content": {"func": "fit", "obj": {}},
        }  # fmt: skip

    def type_node(document):
        document["content"]["content"]["with_mean"] = {
            "__class__": "Popen", "__module__": "subprocess", "__loader__": "TypeNode", "__id__": 3,
        }  # fmt: skip

    def other_function(document):
        function = document["content"]["content"]["func"]
        function["content"] = {"module_path": "os", "function": "system"}

    def nothing(document):
        del document

    return {
        "another class": changed(good, other_class),
        "a function": changed(good, system),
        "a method": changed(good, method),
        "a type": changed(good, type_node),
        "one file more": changed(good, nothing, hidden=b"rows"),
        "no zip": b"not a zip",
        "no schema": changed(good, lambda d: d.clear()),
        "a function of numpy": skops.io.dumps(FunctionTransformer(np.save)),
        "a function like one of numpy": changed(
            to_file(FunctionTransformer(np.log1p)), other_function
        ),
    }


@pytest.mark.parametrize("what", hostile())
def test_a_file_cannot_bring_code(what):
    with pytest.raises(BundleError):
        from_file(hostile()[what])
    assert not Planted.ran


def test_the_list_of_trusted_classes_is_fixed_and_runs_nothing_on_loading():
    assert isinstance(TRUSTED, tuple)
    for name in TRUSTED:
        module, _, kind = name.rpartition(".")
        loaded = getattr(__import__(module, fromlist=[kind]), kind)
        # skops calls __new__ and sets the state: neither may be of our own making.
        if module.startswith("pacsklearn"):
            assert not {"__new__", "__setstate__"} & vars(loaded).keys()


def test_whatever_is_ours_and_released_may_stand_in_a_file():
    kinds = registry().registrations("canonicalizer")
    ours = {name for one in kinds for name in one.estimators if name.startswith("pacsklearn.")}
    assert {"pacsklearn.tabular.SchemaColumns"} < ours <= set(TRUSTED)


def test_models_that_need_code_are_refused():
    with pytest.raises(BundleError):
        to_file(FunctionTransformer(lambda rows: rows))
    with pytest.raises(BundleError):
        to_file(FunctionTransformer(np.save))
    tree = DecisionTreeClassifier().fit(np.eye(2), [0, 1])
    with pytest.raises(BundleError, match="a bundle holds no trees"):
        to_file(tree)


_READ = """
import pickle, sys
from pathlib import Path
from pacsklearn.estimators.model_digest import model_digest
from pacsklearn.estimators.model_file import from_file
for content, digest in pickle.loads(Path(sys.argv[1]).read_bytes()):
    assert model_digest(from_file(content)) == digest
"""


# One process reads many: a twentieth of the cases in the ordinary run, the others in the long one.
@pytest.mark.soak
@pytest.mark.parametrize(
    "part", [pytest.param(k, marks=[pytest.mark.soak] if k else []) for k in range(20)]
)
def test_whatever_is_decoded_can_be_read_where_the_original_never_was(part, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # deprecated estimators are cases too
        models = [
            case.canonicalizer.decode(case.vectors[0].copy(), case.layout, case.blank())
            for case in CASES[part::20]
        ]
        written = [(to_file(model), model_digest(model)) for model in models]
    files = tmp_path / "files"
    files.write_bytes(pickle.dumps(written))
    done = subprocess.run(  # noqa: S603 - the interpreter itself
        [sys.executable, "-c", _READ, str(files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("case", MIXTURES, ids=names(MIXTURES))
def test_a_mixture_has_the_same_densities_to_the_last_bit(case):
    """Of a matrix in another order than the file's the products were rounded otherwise."""
    model = case.decode(case.vectors[0])
    again = from_file(to_file(model))
    for method in ("predict_proba", "score_samples"):
        assert np.array_equal(getattr(again, method)(case.X), getattr(model, method)(case.X))
