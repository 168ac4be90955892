"""Rows as the client writes them and the service reads them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pacsklearn_service.server.signature import Signature
from pacsklearn_service.server.web.v2_protocol import read_v2
from pacsklearn_service.tensors import columns_of, written

KINDS = {"age": "number", "visits": "integer", "smokes": "boolean", "town": "text"}
FRAME = pd.DataFrame(
    {"town": ["Aš", "", "Zürich"], "smokes": [True, False, True], "visits": [3, -1, 2**40],
     "age": [31.5, 1e-300, -0.25]}
)  # fmt: skip


def test_the_service_reads_what_the_client_wrote() -> None:
    body, headers = written(columns_of(FRAME, KINDS), KINDS, {"max_charge": 0.5})
    facts = Signature(KINDS).facts()
    model = {"name": "risk@1", "signature": facts, "classes": [0, 1], "answers": "labels"}
    read = read_v2(body, headers["Inference-Header-Content-Length"], model, 10)
    columns = Signature(KINDS).unpacked(read.content)
    for name in KINDS:
        assert list(columns[name]) == FRAME[name].tolist()
    assert read.body.parameters.max_charge == 0.5


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [("town", [1, 2, 3], "hold texts"), ("smokes", [0.5, 0, 1], "of the kind 'boolean'"),
     ("visits", [0.5, 0, 1], "of the kind 'integer'"), ("age", [np.inf, 0, 1], "finite numbers"),
     ("age", ["private-word", 0, 1], "hold numbers")],
)  # fmt: skip
def test_other_kinds_are_refused_without_their_values(
    column: str, values: list[Any], words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(f"Column {column!r} must")) as caught:
        columns_of(FRAME.assign(**{column: pd.Series(values, dtype=object)}), KINDS)
    assert words in str(caught.value)
    assert "private-word" not in str(caught.value)


def test_rows_without_names_keep_their_kinds() -> None:
    rows = FRAME[[*KINDS]].to_numpy(object).tolist()
    told = columns_of(rows, KINDS)
    assert {name: told[name].tolist() for name in KINDS} == FRAME[[*KINDS]].to_dict("list")
    for one in (rows[0], FRAME.to_dict("records")):
        with pytest.raises(ValueError, match="of records a data frame"):
            columns_of(one, KINDS)
