"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import pickle
import secrets
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from pacsklearn.tabular.choosing.judge import FIRST_RELEASES
from tests.inside import forget_releases
from tests.product import leave_the_rest_for_soak

# A machine that is busy with other work is no fault of a test, and neither is what it draws: the
# same examples in every run but the long ones, which look for new ones.
settings.register_profile(
    "any time",
    deadline=None,
    derandomize="PACSKLEARN_SOAK" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any time")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Ten thousand tests stay: looking for garbage among them took a quarter of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    leave_the_rest_for_soak(items)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with the public data files, next to the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the shared data folder {folder} is not on this machine")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _same_subsets() -> Iterator[pytest.MonkeyPatch]:
    """Subsets that are drawn in secret are the same in every run of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pacsklearn.universe.design._drawn", lambda: 0)
        yield patch


@pytest.fixture(scope="session", autouse=True)
def _few_rehearsals() -> Iterator[None]:
    """Before it advises, a fit simulates two releases in place of eight: a fifth of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pacsklearn.tabular.choosing.planning.FIRST_RELEASES", 2)
        yield


@pytest.fixture
def all_rehearsals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate all of them after all: the test is about what a fit advises."""
    monkeypatch.setattr("pacsklearn.tabular.choosing.planning.FIRST_RELEASES", FIRST_RELEASES)


@pytest.fixture(autouse=True)
def _nothing_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins as a process of its own would: no table was released about before."""
    forget_releases(monkeypatch)


@pytest.fixture
def secret_subsets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw them in secret after all."""
    monkeypatch.setattr(
        "pacsklearn.universe.design._drawn", lambda: secrets.randbits(256) | 1 << 256
    )


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Certify the best attack on a sliced release with as few draws as it ever does.

    Its bound holds with any number of them, and is the looser the fewer there are.
    """
    monkeypatch.setattr("pacsklearn.srpp.divergence.naming_success._PRODUCTS", 1)


@pytest.fixture
def in_a_child() -> Callable[[Callable[[], Any]], Any]:
    """Run something in a forked child: what it returns, or the error it raises."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    return _in_a_child


def _in_a_child(work: Callable[[], Any]) -> Any:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            try:
                found = work()
            except Exception as error:  # noqa: BLE001 - the parent looks at it
                found = error
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(pickle.dumps(found))
        except BaseException:  # noqa: BLE001 - a child must not go on with the parent's tests
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return pickle.loads(told)
