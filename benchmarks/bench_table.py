"""A private fit of a table larger than memory: passes, seconds, peak memory.

    python benchmarks/bench_table.py --rows 2000000 --columns 20
    python benchmarks/bench_table.py --rows 20000000 --memory 2   # refuses to use more than 2 GB
    python benchmarks/bench_table.py --rows 1000000 --workers 2 --file-rows 50000

The table is written as Parquet into a temporary folder, a million rows a file, and is never held.
Workers sum whole files: give each several. What crosses between them and this process is counted as
it is pickled: what is sent once to each worker, and what comes back from each file.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, Self

import cloudpickle
import numpy as np
import pandas as pd
from pacsklearn_bigdata import Table
from pacsklearn_bigdata.sources import run_on_dask
from report import print_table
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacsklearn import AutoPrivateClassifier, Membership, PACPrivate

CAP = Membership(0.60)


def write(folder: Path, n_rows: int, p: int, file_rows: int) -> None:
    """Rows of a logistic law, a file at a time."""
    weights = np.random.default_rng(0).normal(size=p)
    for number, start in enumerate(range(0, n_rows, file_rows)):
        generator = np.random.default_rng([1, number])
        size = min(file_rows, n_rows - start)
        rows = generator.normal(size=(size, p))
        frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(p)])
        frame["y"] = (rows @ weights + generator.logistic(size=size) > 0).astype(np.int8)
        frame.to_parquet(folder / f"{number:05}.parquet")


class Traffic:
    """Bytes that tasks of a table's fit on workers, and their results, take while it is entered."""

    def __init__(self, table: Table) -> None:
        self.table, self.sent, self.back = table, 0, 0

    def __enter__(self) -> Self:
        def run(task: Any, n_parts: int, saw: Any) -> Any:
            self.sent += len(cloudpickle.dumps(task))
            for result in run_on_dask(task, n_parts, saw):
                self.back += len(pickle.dumps(result))
                yield result

        self.run = self.table._engine
        if self.run is run_on_dask:
            self.table._engine = run
        return self

    def __exit__(self, *_: object) -> None:
        self.table._engine = self.run


def measured(name: str, model: Any, table: Table, client: Any) -> list[Any]:
    """Passes, seconds and peak memory of one fit; processor time of workers."""
    before = {} if client is None else client.run(time.process_time)
    with warnings.catch_warnings(), Traffic(table) as traffic:
        warnings.simplefilter("ignore")
        begun, cpu = time.perf_counter(), time.process_time()
        model.fit(table)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    after = {} if client is None else client.run(time.process_time)
    each = [after[worker] - before[worker] for worker in after]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    n = table.profile.n_rows
    rate = n * table.n_passes / seconds / 1e6
    return [
        name,
        f"{n:,}",
        table.n_passes,
        f"{seconds:.1f}",
        f"{cpu:.1f}",
        " ".join(f"{one:.1f}" for one in each),
        f"{sum(each or [cpu]) / n / table.n_passes * 1e6:.2f}",
        f"{traffic.sent / 1e6:.2f}",
        f"{traffic.back / 1e6:.2f}",
        f"{rate:.2f}",
        f"{peak:.2f}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[200_000, 1_000_000])
    parser.add_argument("--file-rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--memory", type=float, help="GB that this process may use")
    parser.add_argument("--only", nargs="+", help="models whose names begin so")
    parser.add_argument("--workers", type=int, default=0, help="single-threaded dask workers")
    options = parser.parse_args()
    if options.memory:
        limit = int(options.memory * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    client, cluster = None, None
    if options.workers:
        from distributed import Client, LocalCluster

        cluster = LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=":0"
        )
        client = Client(cluster)
    lines = []
    for n_rows in [8_000, *options.rows]:  # the first for imports and compiled code
        file_rows = min(options.file_rows, n_rows // 8)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write(folder, n_rows, options.columns, file_rows)
            scaled = make_pipeline(StandardScaler(), LogisticRegression())
            for name, model, target in [
                ("PCA(5)", PACPrivate(PCA(5)), None),
                ("LogisticRegression", PACPrivate(LogisticRegression()), "y"),
                ("scaled LogisticRegression", PACPrivate(scaled), "y"),
                ("capped LogisticRegression", PACPrivate(scaled, budget=CAP), "y"),
                ("Auto by a cap", AutoPrivateClassifier(budget=CAP), "y"),
            ]:
                if options.only and not any(name.startswith(one) for one in options.only):
                    continue
                features = [f"x{i}" for i in range(options.columns)]
                classes = None if target is None else [0, 1]
                table = Table(
                    folder,
                    target=target,
                    features=features,
                    classes=classes,
                    engine=None if client is None else "dask",
                )
                lines.append(measured(name, model, table, client))
                print("  ", *lines[-1], flush=True)
    titles = [
        "model",
        "rows",
        "passes",
        "s",
        "CPU s here",
        "CPU s, each worker",
        "us a row and pass",
        "MB to each worker",
        "MB back",
        "M rows/s a pass",
        "peak GB",
    ]
    print_table(
        f"{options.columns} columns, 128 candidates, workers {options.workers}",
        titles,
        [line for line in lines if line[1] != "8,000"],
    )
    if cluster is not None:
        cluster.close()


if __name__ == "__main__":
    main()
