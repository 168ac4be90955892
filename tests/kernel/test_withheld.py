"""What work on private rows says by the way is withheld, whatever threads do meanwhile."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from joblib import Parallel as JoblibParallel
from sklearn.utils.parallel import Parallel, delayed

from pacsklearn.kernel.outputs.withheld import silence, unprinted, withheld

ROW = "row 0.123456789 of patient 17"


@pytest.fixture
def shown() -> Iterator[list[str]]:
    """Texts of the warnings that are shown, in this and in every other thread."""
    found: list[str] = []
    before = warnings.showwarning

    def show(message: Any, *_: object) -> None:
        found.append(str(message))

    warnings.showwarning = show  # type: ignore[assignment]
    yield found
    warnings.showwarning = before


def in_a_thread(work: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(60)


def warned() -> list[type[Warning]]:
    with withheld() as kinds:
        warnings.warn(ROW, UserWarning, stacklevel=1)
    return kinds


@pytest.mark.parametrize("where", [lambda work: work(), in_a_thread])
@pytest.mark.parametrize("action", ["always", "default", "ignore", "error"])
def test_warnings_are_withheld_and_their_kinds_told(
    where: Callable[[Any], Any], action: Any, shown: list[str]
) -> None:
    warnings.simplefilter(action)
    for _ in range(2):
        assert where(warned) == [UserWarning]
    assert shown == []


def test_outside_a_block_nothing_changes(shown: list[str]) -> None:
    warnings.simplefilter("always")
    before = list(warnings.filters)
    warned()
    assert warnings.filters == before
    warnings.warn("mine", stacklevel=1)
    assert shown == ["mine"]
    warnings.simplefilter("error")
    warned()
    with pytest.raises(UserWarning):
        warnings.warn("mine", stacklevel=1)


def test_filters_of_other_threads_come_and_go(shown: list[str]) -> None:
    """catch_warnings in one thread puts back what the other had replaced."""
    entered, left = threading.Event(), threading.Event()

    def other() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            entered.set()
            assert left.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(60)
    with withheld() as kinds:
        left.set()
        thread.join(60)
        warnings.simplefilter("always")
        warnings.warn(ROW, RuntimeWarning, stacklevel=1)
    assert kinds == [RuntimeWarning]
    assert shown == []


def test_many_threads_at_once(shown: list[str]) -> None:
    warnings.simplefilter("always")

    def work(_: int) -> list[type[Warning]]:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            return warned()

    with ThreadPoolExecutor(8) as pool:
        assert all(UserWarning in kinds for kinds in pool.map(work, range(200)))
    assert shown == []


def test_threads_that_begin_meanwhile_are_withheld_and_others_are_not(shown: list[str]) -> None:
    warnings.simplefilter("always")
    with ThreadPoolExecutor(1) as bystander:
        bystander.submit(int).result(60)
        with withheld() as kinds:
            in_a_thread(lambda: warnings.warn(ROW, RuntimeWarning, stacklevel=1))
            bystander.submit(lambda: warnings.warn("mine", stacklevel=1)).result(60)
    assert kinds == [RuntimeWarning]
    assert shown == ["mine"]


def test_a_new_thread_serves_the_block_that_began_it(shown: list[str]) -> None:
    with withheld() as kinds:

        def other() -> list[type[Warning]]:
            with withheld() as theirs:
                in_a_thread(lambda: warnings.warn(ROW, RuntimeWarning, stacklevel=1))
            return theirs

        assert in_a_thread(other) == [RuntimeWarning]
    assert kinds == []
    assert shown == []


def tell(_: int) -> None:
    warnings.warn(ROW, RuntimeWarning, stacklevel=1)


def test_worker_threads_of_scikit_learn(shown: list[str]) -> None:
    with withheld() as kinds:
        Parallel(n_jobs=2, backend="threading")(delayed(tell)(i) for i in range(4))
    assert kinds == [RuntimeWarning] * 4
    assert shown == []


PROCESSES = """
import sys, warnings
from sklearn.utils.parallel import Parallel, delayed
from pacsklearn.kernel.outputs.withheld import withheld

warnings.simplefilter("always")

def run(text):
    for backend in ("loky", "multiprocessing"):
        Parallel(n_jobs=2, backend=backend)(delayed(warnings.warn)(text) for _ in range(3))

with withheld():
    run("quotes a row")
run("outside")
"""


@pytest.mark.parametrize("where", [lambda work: work(), in_a_thread])
def test_log_records_are_withheld(
    where: Callable[[Any], Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)

    def work() -> None:
        with withheld():
            logging.getLogger("some.estimator").critical("%s", ROW)

    where(work)
    assert caplog.records == []
    logging.getLogger("some.estimator").warning("mine")
    assert [record.getMessage() for record in caplog.records] == ["mine"]


def test_a_block_inside_a_block_has_kinds_of_its_own() -> None:
    with withheld() as outer:
        assert warned() == [UserWarning]
        warnings.warn(ROW, FutureWarning, stacklevel=1)
    assert outer == [FutureWarning]


def test_an_error_ends_a_block(shown: list[str]) -> None:
    warnings.simplefilter("always")
    with pytest.raises(KeyError), withheld():
        raise KeyError(ROW)
    warnings.warn("mine", stacklevel=1)
    assert shown == ["mine"]


def print_in_c(text: str) -> None:
    """Print as compiled code does: kept back by the C library until somebody flushes.

    By a stream of its own: where Python is told to keep nothing back (PYTHONUNBUFFERED), the
    library's first one keeps nothing either.
    """
    library = ctypes.CDLL(None)
    library.fdopen.restype = ctypes.c_void_p
    library.fputs(text.encode(), ctypes.c_void_p(library.fdopen(1, b"w")))


def chatter() -> None:
    print(ROW)  # noqa: T201
    print(ROW, file=sys.stderr)  # noqa: T201
    os.write(1, ROW.encode())
    os.write(2, ROW.encode())
    if os.name == "posix":
        print_in_c(ROW)
        ctypes.CDLL(None).puts(ROW.encode())


@pytest.mark.parametrize("where", [lambda work: work(), in_a_thread])
@pytest.mark.parametrize("capture", ["capfd", "capsys"])
def test_nothing_is_printed_in_silence(
    where: Callable[[Any], Any], capture: str, request: pytest.FixtureRequest
) -> None:
    captured = request.getfixturevalue(capture)

    def work() -> None:
        with silence():
            chatter()
            with silence():
                chatter()
            chatter()

    where(work)
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)
    assert "".join(captured.readouterr()) == ""
    print("mine")  # noqa: T201
    os.write(2, b"mine")
    assert captured.readouterr().out == "mine\n"


@pytest.mark.parametrize("block", [silence, withheld])
def test_threads_that_the_work_began_are_silent_for_their_lifetime(
    block: Callable[[], Any], shown: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """A timer printed, warned and wrote in 2 of 2 tries, once the block had ended."""
    over, reached = threading.Event(), threading.Event()

    def speak() -> None:
        while not over.is_set():
            time.sleep(0.01)
        reached.set()
        warnings.warn(ROW, RuntimeWarning, stacklevel=1)
        logging.getLogger("estimator").error(ROW)
        print(ROW)  # noqa: T201
        print(ROW, file=sys.stderr)  # noqa: T201
        if block is silence:
            os.write(1, ROW.encode())
            os.system(f"echo {ROW}")  # noqa: S605

    def begin() -> None:
        timers.append(threading.Timer(0, speak))
        timers[0].start()

    timers: list[threading.Timer] = []
    with block():
        # In turn: what a thread begins is as silent as what began it.
        first = threading.Thread(target=begin)
        first.start()
        first.join()
    over.set()
    timers[0].join(60)
    assert not timers[0].is_alive()
    # In silence the thread was ended before it could say anything.
    assert reached.is_set() is (block is withheld)
    assert shown == []
    assert "".join(capfd.readouterr()) == ""
    with withheld():
        pass
    print("mine")  # noqa: T201
    assert capfd.readouterr().out == "mine\n"


def test_a_thread_whose_join_was_interrupted_is_ended_with_the_block(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """After Ctrl-C in a join(), Python 3.11 says of the thread that it has ended."""

    ended = threading.Event()

    def work() -> None:
        try:
            time.sleep(0.5)  # until it is waited for
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
            os.write(1, ROW.encode())
        finally:
            ended.set()

    def waited() -> None:
        with silence():
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            thread.join(10)

    # A process that a shell began in the background ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            waited()
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.wait(30)
    assert capfd.readouterr() == ("", "")


def test_threads_of_others_go_on(capfd: pytest.CaptureFixture[str]) -> None:
    go_on = threading.Event()

    def others() -> None:
        go_on.wait(20)
        os.write(1, b"mine")

    other = threading.Thread(target=others)
    other.start()
    with silence():
        chatter()
    go_on.set()
    other.join()
    assert "mine" in capfd.readouterr().out


def test_what_was_printed_before_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    sys.stdout.write("before, unfinished")
    if os.name == "posix":
        print_in_c(" C before")
    with silence():
        chatter()
    out = capfd.readouterr().out
    assert "before, unfinished" in out
    assert os.name != "posix" or "C before" in out
    assert ROW not in out


def test_a_closed_stream_is_left_alone(in_a_child: Callable[[Callable[[], Any]], Any]) -> None:
    def work() -> bool:
        os.close(2)
        with silence():
            os.write(1, ROW.encode())
        try:
            os.fstat(2)
        except OSError:
            return True
        return False

    assert in_a_child(work) is True


def test_a_child_forked_in_a_block_is_withheld_too(
    in_a_child: Callable[[Callable[[], Any]], Any], capfd: pytest.CaptureFixture[str]
) -> None:
    with withheld():
        in_a_child(lambda: warnings.warn(ROW, stacklevel=1))
        JoblibParallel(n_jobs=2, backend="multiprocessing")([(tell, (0,), {}), (tell, (1,), {})])
    assert ROW not in "".join(capfd.readouterr())


PRINTING = """
import ctypes, os, sys, threading, warnings
import numpy as np
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from pacsklearn import PACPrivate, PrivacySession, SampledSubsets, Subsets, config_context

print("BEGIN", file=sys.stderr, flush=True)
warnings.simplefilter("ignore")
X, y = load_iris(return_X_y=True)


def talks(rows):
    print("ROW", rows[0])
    print("ROW", rows[0], file=sys.stderr)
    sys.stdout.buffer.write(b"ROW of bytes")
    os.write(1, b"ROW by its descriptor")
    ctypes.CDLL(None).puts(b"ROW by the C library")
    return rows


def chatty(rows, y=None):
    return talks(rows).mean(axis=0)


talking = FunctionTransformer(talks)
with config_context(fast_fit=False):
    PACPrivate(make_pipeline(talking, GaussianNB()), secret=Subsets(4)).fit(X, y)
PACPrivate(make_pipeline(talking, GaussianNB()), secret=Subsets(4), n_jobs=2).fit(X, y)
neighbours = make_pipeline(talking, KNeighborsClassifier())
PACPrivate(neighbours, secret=Subsets(4)).fit(X, y).predict(X[:3])
PACPrivate(make_pipeline(StandardScaler(), GaussianNB(), verbose=True), secret=Subsets(4)).fit(X, y)
for loud in (LinearSVC(verbose=5), LogisticRegression(solver="liblinear", verbose=5)):
    with config_context(fast_fit=False):
        PACPrivate(loud, secret=Subsets(4)).fit(X[:100], y[:100])
PACPrivate(SVC(verbose=True), secret=Subsets(4), n_jobs=2).fit(X, y).predict(X[:3])
with PrivacySession(X, y, budget=1.0, secret=Subsets(4)) as session:
    session.release_function(chatty, budget=0.1)
with PrivacySession(X, y, budget=1.0, secret=SampledSubsets()) as session:
    session.release_function(chatty, budget=0.1)
print("END", flush=True)
"""


@pytest.fixture(scope="module")
def said() -> tuple[str, str, str]:
    """Stdout, and stderr before and after candidates are fitted, with the same worker processes."""
    found = subprocess.run(  # noqa: S603 - our own programs
        [sys.executable, "-c", PROCESSES + PRINTING],
        capture_output=True,
        text=True,
        # Unbuffered, the C library would keep nothing back, which is what is tried.
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            "PYTHONUNBUFFERED": "",
        },
        timeout=240,
        check=True,
    )
    before, begun, after = found.stderr.partition("BEGIN\n")
    assert begun
    return found.stdout, before, after


@pytest.mark.soak
def test_processes_that_the_work_begins(said: tuple[str, str, str]) -> None:
    """A search inside a candidate warns in processes of its own, on the same stderr."""
    assert "quotes a row" not in "".join(said)
    assert said[1].count("UserWarning: outside") == 6


@pytest.mark.soak
def test_what_candidates_print_is_withheld_from_every_stream_and_worker(
    said: tuple[str, str, str],
) -> None:
    """Whoever reads the output of a service saw rows of all candidates, and of the secret."""
    assert said[0] == "END\n"
    assert said[2] == ""


def test_threads_print_what_they_like_meanwhile(capsys: pytest.CaptureFixture[str]) -> None:
    """Joblib's threads fit candidates, and another one serves requests."""
    begun, done = threading.Event(), threading.Event()

    def serves() -> None:
        begun.wait(10)
        sys.stdout.write("request served\n")
        done.set()

    server = threading.Thread(target=serves)
    server.start()
    with withheld():
        sys.stdout.write(ROW)
        begun.set()
        done.wait(10)
    server.join()
    with withheld(), withheld():
        sys.stderr.write(ROW)
    sys.stdout.write("after\n")
    assert capsys.readouterr() == ("request served\nafter\n", "")


def test_streams_are_put_back_even_when_somebody_else_changed_them() -> None:
    before = sys.stdout
    with withheld():
        assert sys.stdout is not before
        assert sys.stdout.encoding == before.encoding
    assert sys.stdout is before


def test_whatever_a_stream_can_do_is_withheld(capsys: pytest.CaptureFixture[str]) -> None:
    with withheld():
        assert sys.stdout.write("four") == 4
        sys.stdout.writelines(["one", "two"])
        assert sys.stdout.buffer.write(b"three") == 5
        assert sys.stdout.writable()
        sys.stdout.flush()
    sys.stdout.writelines(["mine", " too"])
    assert capsys.readouterr().out == "mine too"


@pytest.mark.parametrize(
    ("background", "daemon", "held"),
    [("joblib.", False, True), ("concurrent.", False, True), ("", True, True), ("", False, False)],
)
def test_descriptors_are_held_where_no_other_thread_may_want_them(
    background: str, daemon: bool, held: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of joblib's threads, of those that end with the program, and of a server's own."""
    done = threading.Event()
    kind = type("Worker", (threading.Thread,), {"__module__": f"{background}elsewhere"})
    other = kind(target=done.wait, args=(60,), daemon=daemon)
    other.start()
    try:
        with unprinted():
            os.write(1, b"compiled")
    finally:
        done.set()
        other.join()
    assert capfd.readouterr().out == ("" if held else "compiled")


def test_a_thread_that_is_not_the_main_one_holds_no_descriptors(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def work() -> None:
        with unprinted():
            os.write(1, b"compiled")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    assert capfd.readouterr().out == "compiled"


def test_an_error_in_a_block_lets_output_through_again(capfd: pytest.CaptureFixture[str]) -> None:
    for block in (unprinted, silence):
        with pytest.raises(KeyError), block():
            raise KeyError
    os.write(1, b"mine")
    assert capfd.readouterr().out == "mine"


_INTERRUPTED = """
import os, random, signal, sys
from pacsklearn.kernel.outputs.withheld import silence, unprinted, withheld

def stop(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, stop)
random.seed(0)
shown, out = os.fstat(1).st_ino, sys.stdout
for _ in range(300):
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 2e-3))
            while True:
                with withheld(), silence():
                    pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
    if os.fstat(1).st_ino != shown or getattr(sys.stdout, "stream", sys.stdout) is not out:
        os._exit(3)
print("heard")
"""


def test_an_interrupt_leaves_nothing_withheld() -> None:
    """Ctrl-C between two steps of a block left the process without its output for good."""
    done = subprocess.run(  # noqa: S603 - the interpreter itself
        [sys.executable, "-c", _INTERRUPTED],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "heard\n"), done.stderr
