"""No window, and no figure left open."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import pytest


@pytest.fixture(autouse=True)
def no_windows() -> Iterator[None]:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
