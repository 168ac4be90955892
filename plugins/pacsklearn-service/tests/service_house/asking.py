"""A caller of its own process, with nothing but the standard library: it may be killed any time.

    python asking.py port key rows written first

Asks row after row, the same one under the same key until it is answered, and writes down what it
was told: number, label, nats, and when the request that was answered began and ended.
"""

import http.client
import json
import struct
import sys
import time
from pathlib import Path

N_COLUMNS = 4
PAUSE = 0.01


def ask(connection: http.client.HTTPConnection, key: str, i: int, row: tuple[float, ...]) -> object:
    """What the service says to one row; None when it has to be asked again."""
    tensor = {"name": "X", "datatype": "FP64", "shape": [1, N_COLUMNS], "data": [list(row)]}
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Idempotency-Key": f"k{i}",
    }
    try:
        body = json.dumps({"inputs": [tensor]})
        connection.request("POST", "/v2/models/risk/infer", body, headers)
        reply = connection.getresponse()
        told = json.loads(reply.read())
    except (OSError, http.client.HTTPException, ValueError):
        connection.close()
        return None
    if reply.status in (409, 429, 503, 504):  # to be tried again, the service says
        return None
    assert reply.status == 200, (reply.status, told)
    return told["outputs"][0]["data"][0], told["parameters"]["charged"]


def main() -> None:
    port, key, rows, written, first = sys.argv[1:]
    content = Path(rows).read_bytes()
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=5)
    size = 8 * N_COLUMNS
    with Path(written).open("a", buffering=1) as file:
        for i in range(int(first), len(content) // size):
            told = None
            while told is None:
                time.sleep(PAUSE)
                began = time.monotonic()
                told = ask(
                    connection, key, i, struct.unpack_from(f"{N_COLUMNS}d", content, i * size)
                )
            file.write(json.dumps([i, *told, began, time.monotonic()]) + "\n")


if __name__ == "__main__":
    main()
