"""Sums and fits on a cluster of two processes: the same bits, no secret sent, nothing lost."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pacsklearn_bigdata import Table, sources
from pacsklearn_bigdata.exceptions import TableError
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from pacsklearn import PACPrivate, Subsets, config_context

distributed = pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")

GENERATOR = np.random.default_rng(1)
X = GENERATOR.normal(size=(3000, 3))
Y = (X @ [1.0, -1.0, 0.5] + GENERATOR.logistic(size=3000) > 0).astype(int)
NAMES = ["a", "b", "c"]
MODEL = LogisticRegression()


# For each test: where workers were killed dask's cluster may lose count of those that follow.
@pytest.fixture
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", protocol="tcp"
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


@pytest.fixture
def threads() -> Iterator[Any]:
    """One worker in this process, for what is decided before anything is sent."""
    with distributed.Client(processes=False, n_workers=1, dashboard_address=":0") as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame = pd.DataFrame(X, columns=NAMES).assign(y=Y)
    for i in range(4):
        frame.iloc[750 * i : 750 * i + 750].to_parquet(tmp_path / f"{i}.parquet")
    return tmp_path


def private(estimator: Any, seed: int = 0, **options: Any) -> PACPrivate:
    return PACPrivate(estimator, secret=Subsets(16, seed=3), random_state=seed, **options)


def fitted(model: PACPrivate, *data: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data).released_estimator_


@pytest.mark.soak
def test_sums_are_the_same_bits_wherever_they_are_taken(client: Any, folder: Path) -> None:
    def table(**options: Any) -> Table:
        return Table(folder, target="y", classes=[0, 1], batch_rows=200, **options)

    here = fitted(private(MODEL), table())
    there = fitted(private(MODEL), table(engine="dask"))
    assert np.array_equal(here.coef_, there.coef_)
    assert np.array_equal(here.intercept_, there.intercept_)


@pytest.mark.soak
def test_dask_collections(client: Any, folder: Path) -> None:
    """Their partitions are pieces, as files are."""
    da = pytest.importorskip("dask.array")
    dd = pytest.importorskip("dask.dataframe")
    here = fitted(private(PCA(2)), Table(folder, features=NAMES))
    frame = dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=4)
    for collection in (da.from_array(X, chunks=(750, 2)), frame):
        there = fitted(private(PCA(2)), Table(collection))
        assert np.array_equal(here.components_, there.components_)


@pytest.mark.soak
def test_candidates_are_fitted_on_workers(client: Any) -> None:
    with config_context(fast_fit=False):
        here = fitted(private(MODEL), X[:400], Y[:400])
        with sources.dask_workers():
            there = fitted(private(MODEL), X[:400], Y[:400])
    assert np.array_equal(here.coef_, there.coef_)


@pytest.mark.soak
def test_a_worker_that_dies_loses_nothing(client: Any, folder: Path, monkeypatch: Any) -> None:
    def table(**options: Any) -> Table:
        return Table(folder, target="y", classes=[0, 1], **options)

    here = fitted(private(MODEL), table())
    client.wait_for_workers(2, timeout=60)
    first = next(iter(client.scheduler_info()["workers"]))
    run, calls = sources.run_on_dask, []

    def killing(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            client.run(lambda: __import__("os")._exit(1), workers=[first], on_error="ignore")
        return run(*args)

    monkeypatch.setattr(sources, "run_on_dask", killing)
    there = fitted(private(MODEL), table(engine="dask"))
    assert len(calls) > 3
    assert np.array_equal(here.coef_, there.coef_)


@pytest.mark.soak
@pytest.mark.parametrize("when", ["before", "after"])
def test_what_was_sent_to_workers_that_die_is_sent_again(
    client: Any, monkeypatch: Any, when: str
) -> None:
    """Before the scheduler knew of it, or with every copy: the fit failed."""
    client.wait_for_workers(2, timeout=60)
    first, *others = client.run(os.getpid).values()
    scatter, sent = client.scatter, []

    def killing(*args: Any, **options: Any) -> Any:
        sent.append(1)
        if len(sent) > 1:
            return scatter(*args, **options)
        if when == "before":
            os.kill(first, signal.SIGKILL)
        held = scatter(*args, **options)
        for worker in others if when == "before" else (first, *others):
            os.kill(worker, signal.SIGKILL)
        return held

    monkeypatch.setattr(client, "scatter", killing)
    assert list(sources.run_on_dask(abs, 4, lambda *_: None)) == [0, 1, 2, 3]
    assert len(sent) > 1
    # Not for ever: somebody may cancel whatever is sent.
    monkeypatch.setattr(sources, "_MOST_LOST", 1)
    monkeypatch.setattr(client, "scatter", lambda *_, **__: cancelled())
    with pytest.raises(CancelledError):
        list(sources.run_on_dask(abs, 4, lambda *_: None))


def cancelled() -> Any:
    raise CancelledError


def test_workers_are_sent_nothing_that_depends_on_the_secret(
    threads: Any, folder: Path, monkeypatch: Any
) -> None:
    """Whatever candidate is the secret, workers receive the same bytes; and no nouns of it."""
    sent: list[list[bytes]] = []
    run = sources.run_on_dask

    def recorded(task: Any, *rest: Any) -> Any:
        sent[-1].append(cloudpickle.dumps(task))
        return run(task, *rest)

    monkeypatch.setattr(sources, "run_on_dask", recorded)
    models = []
    for seed in (0, 1, 2):
        sent.append([])
        table = Table(folder, target="y", classes=[0, 1], engine="dask")
        models.append(fitted(private(MODEL, seed), table))
    assert not np.array_equal(models[0].coef_, models[1].coef_)
    assert len(sent[0]) > 2
    assert sent[0] == sent[1] == sent[2]
    for one in sent[0]:
        assert all(
            word not in one for word in (b"Ledger", b"Sampler", b"PrivacySession", b"Secret")
        )


def test_rows_never_cross_a_network_in_the_clear(threads: Any, monkeypatch: Any) -> None:
    facts = dict(threads.scheduler_info())
    monkeypatch.setattr(
        distributed.Client,
        "scheduler_info",
        lambda *_, **__: facts | {"address": "tcp://10.0.0.7:8786"},
    )
    with pytest.raises(TableError, match="clear"):
        Table(X, engine="dask").total(None)
    with pytest.raises(TableError, match="clear"), sources.dask_workers():
        private(DecisionTreeClassifier()).fit(X, Y)
    monkeypatch.setattr(
        distributed.Client,
        "scheduler_info",
        lambda *_, **__: facts | {"address": "tls://10.0.0.7:8786"},
    )
    Table(X, engine="dask").total(None)


def test_a_client_is_asked_for(monkeypatch: Any) -> None:
    def none() -> Any:
        raise ValueError

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(TableError, match="needs"):
        Table(X, engine="dask").total(None)
