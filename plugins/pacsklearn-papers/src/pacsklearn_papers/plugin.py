"""What this distribution adds to pacsklearn."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugins import hookimpl

pacsklearn_api = 1  # the number of the hooks that this was written for


@hookimpl
def pacsklearn_noise_backends() -> Iterator[str]:
    """Yield the noise backends of this distribution."""
    yield "pacsklearn_papers:ResidualBackend"
    yield "pacsklearn_papers:StackelbergBackend"
