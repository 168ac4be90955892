"""Lines of JSON with time and request id; what callers or rows say is in none of them."""

from __future__ import annotations

import logging
from typing import Any, Final

import structlog

structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(),
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)
LOG: Final[Any] = structlog.get_logger("pacsklearn_service")


def write_to_stderr() -> None:
    """Begin to write; other packages' warnings stand between the lines."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger("pacsklearn_service").setLevel(logging.INFO)
