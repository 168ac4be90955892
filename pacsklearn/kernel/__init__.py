"""The nouns."""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself takes longer to load than what is imported here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _nobody() -> Any:
    raise RuntimeError("pacsklearn.kernel.surroundings must be set before the kernel is used.")


# Makes the Host (kernel/host.py) that is told and asked; set when pacsklearn is imported.
surroundings: Callable[[], Any] = _nobody
