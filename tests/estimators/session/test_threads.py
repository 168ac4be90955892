"""Rule 11: nothing that candidates, or the secret, do by the way shows, in any thread."""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from pacsklearn import Identification, Nats, PrivacySession, Subsets
from pacsklearn.exceptions import BudgetExhaustedError, FunctionError, SubsetFitError
from pacsklearn.kernel.release.procedure import ReleaseProcedure
from pacsklearn.secrets import release_sampled

X, Y = load_iris(return_X_y=True)
SECRETS = "secret 4711"


@pytest.fixture
def shown() -> Iterator[list[str]]:
    found: list[str] = []
    before = warnings.showwarning
    warnings.showwarning = lambda message, *_: found.append(str(message))  # type: ignore[assignment]
    warnings.simplefilter("always")
    yield found
    warnings.showwarning = before


def here(work: Callable[[], Any]) -> Any:
    return work()


def in_a_thread(work: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(250)


WHERE = pytest.mark.parametrize("where", [here, in_a_thread])


class Talking:
    """A function that talks about the drawn secret, and about nothing else."""

    def __init__(self, n_trials: int, talk: Callable[[], None]) -> None:
        self.n_calls, self._n_trials, self._talk = 0, n_trials, talk

    def __call__(self, secret: float) -> float:
        self.n_calls += 1
        if self.n_calls > self._n_trials + 1:  # the first trial is run once more
            self._talk()
        return secret


def talk() -> None:
    warnings.warn(SECRETS, RuntimeWarning, stacklevel=1)
    logging.getLogger("estimator").error(SECRETS)
    print(SECRETS)  # noqa: T201
    print(SECRETS, file=sys.stderr)  # noqa: T201
    os.write(1, SECRETS.encode())
    os.write(2, SECRETS.encode())
    thread = threading.Thread(target=warnings.warn, args=(SECRETS,))
    thread.start()
    thread.join()
    sys.exit(SECRETS)


@WHERE
def test_the_secrets_own_computation_leaves_no_trace(
    where: Callable[[Any], Any],
    shown: list[str],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A warning of it was printed in 4 of 4 releases from a worker thread."""
    for seed in range(2):
        function = Talking(220, talk)
        release = where(
            lambda function=function, seed=seed: release_sampled(
                function,
                lambda generator: float(generator.normal()),
                budget=0.5,
                n_calibration=20,
                n_certificate=200,
                gamma=0.01,
                seed=seed,
            )
        )
        assert function.n_calls == 222, "the secret was looked at"
        assert np.isfinite(release.value)
    assert shown == []
    assert "".join(capfd.readouterr()) == ""
    assert caplog.records == []


class Quoting(ClassifierMixin, BaseEstimator):
    """Warns, logs and fails with its rows in the text."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    def fit(self, X: Any, y: Any) -> Quoting:
        text = f"row {X[0]}"
        warnings.warn(text, UserWarning, stacklevel=1)
        logging.getLogger("estimator").error(text)
        if self.fails:
            raise ValueError(text)
        self.classes_, self.middle_ = np.unique(y), X[:, 0].mean()
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(X[:, 0] > self.middle_).astype(int)]


@WHERE
@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_what_candidates_say_is_told_once_without_their_words(
    where: Callable[[Any], Any],
    backend: str,
    shown: list[str],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def work() -> None:
        with joblib.parallel_config(backend):
            session = PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(8), n_jobs=2)
            session.responder(Quoting(), max_answers=4)
            with pytest.raises(SubsetFitError, match="withheld"):
                session.responder(Quoting(fails=True), max_answers=4)

    where(work)
    assert len(shown) == 1
    assert "Quoting: UserWarning in 8 of 8 subset fits" in shown[0]
    assert "row [" not in "".join(capfd.readouterr())
    assert caplog.records == []


@WHERE
def test_functions_of_candidates(where: Callable[[Any], Any], shown: list[str]) -> None:
    def quoting(rows: Any, y: Any) -> float:
        warnings.warn(f"row {rows[0]}", UserWarning, stacklevel=1)
        return float(rows.mean())

    def failing(rows: Any, y: Any) -> float:
        sys.exit(f"row {rows[0]}")

    def work() -> None:
        session = PrivacySession(X, Y, budget=Nats(1.0), secret=Subsets(8))
        session.release_function(quoting, budget=0.1)
        with pytest.raises(FunctionError, match="SystemExit"):
            session.release_function(failing, budget=0.1)

    where(work)
    assert len(shown) == 1
    assert "row [" not in shown[0]


@pytest.mark.product(only=1)
@pytest.mark.parametrize("what", ["model", "function"])
def test_a_race_for_the_one_release_of_a_criterion(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """8 of 10 races released more than one, each of them close to the cap."""
    everybody, check = threading.Barrier(3), ReleaseProcedure.check

    def checked(procedure: ReleaseProcedure, asked: Any) -> Any:
        target = check(procedure, asked)
        everybody.wait(60)  # all have been told that nothing was released so far
        return target

    monkeypatch.setattr(ReleaseProcedure, "check", checked)
    session = PrivacySession(X, Y, budget=Identification(0.9), secret=Subsets(8))

    def attempt(_: int) -> Any:
        try:
            if what == "model":
                return session.release(LinearDiscriminantAnalysis(), budget=0.3)
            return session.release_function(lambda rows, y: rows.mean(axis=0), budget=0.3)
        except BudgetExhaustedError:
            return None

    with ThreadPoolExecutor(3) as pool:
        released = [each for each in pool.map(attempt, range(3)) if each is not None]
    assert len(released) == len(session.ledger.events) == 1
