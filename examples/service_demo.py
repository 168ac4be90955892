"""Give a service that runs something to try: public data, a model of it, and a key.

    pacsklearn service run &
    python examples/service_demo.py

Does what a curator does, over the curator's own address, and prints a request to try.
"""

from __future__ import annotations

import argparse
import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from sklearn.datasets import load_breast_cancer

RECIPE = {
    "name": "demo",
    "dataset": "demo",
    "estimator": "StandardScaler+LinearSVC",
    "budget": "1/16",
    "secret": {"n": 64},
    "release": {"query_budget": "2^-12"},
}


def table() -> bytes:
    """Return a CSV of the data; its target is the last column."""
    data: Any = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in data.feature_names]
    lines = [",".join([*names, "benign"])]
    lines += [
        ",".join([*map(str, row), str(label)])
        for row, label in zip(data.data.tolist(), data.target.tolist(), strict=True)
    ]
    return "\n".join(lines).encode()


def main() -> None:
    """Register, fit, publish, and let one user in."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--curator", default="http://127.0.0.1:8471")
    options.add_argument("--callers", default="http://127.0.0.1:8470")
    options.add_argument("--key", type=Path, default=Path("pacsklearn-service.curator"))
    given = options.parse_args()

    def call(method: str, path: str, content: Any = None) -> Any:
        is_table = isinstance(content, bytes)
        body = content if is_table or content is None else json.dumps(content).encode()
        headers = {
            "Authorization": f"Bearer {given.key.read_text().strip()}",
            "Content-Type": "text/csv" if is_table else "application/json",
        }
        request = urllib.request.Request(f"{given.curator}/v1{path}", body, headers, method=method)
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    deadline = time.monotonic() + 300
    while True:  # until the service that was just begun is there, and can answer
        try:
            call("GET", "/models")
            break
        except (FileNotFoundError, urllib.error.URLError) as error:
            if getattr(error, "code", 503) != 503 or time.monotonic() > deadline:
                raise
        time.sleep(0.5)
    call("POST", "/datasets?name=demo&target=benign&ceiling=4.0", table())
    job = call("POST", "/models", RECIPE)
    while job["status"] in ("queued", "running"):
        time.sleep(0.2)
        job = call("GET", f"/jobs/{job['id']}")
    call("POST", "/models/demo/publish")
    call("POST", "/users", {"name": "demo", "note": "a demonstration"})
    call("PUT", "/datasets/demo/quotas", {"kind": "user", "name": "demo", "ceiling": 1 / 16})
    issued = call("POST", "/keys", {"user": "demo", "scopes": ["ask"], "days": 1.0})
    tensor = {"name": "X", "datatype": "FP64", "shape": [1, 30], "data": [1.0] * 30}
    print(f"curl -H 'Authorization: Bearer {issued['key']}' -H 'Content-Type: application/json' \\")
    print(f"  -d '{json.dumps({'inputs': [tensor]})}' {given.callers}/v2/models/demo/infer")


if __name__ == "__main__":
    main()
