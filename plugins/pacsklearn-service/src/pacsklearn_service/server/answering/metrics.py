"""What one coordinator counts of its models, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import prometheus_client as prometheus


@final
class Metrics:
    """What one coordinator counts; read on the curator's plane only.

    Parameters
    ----------
    missing, led : callable
        Give the numbers of published models that are not there, and of data sets that are led.
    """

    def __init__(self, missing: Callable[[], float], led: Callable[[], float]) -> None:
        self.registry = prometheus.CollectorRegistry()
        own: dict[str, Any] = {"registry": self.registry}
        by_model = own | {"labelnames": ["model"]}
        about = "Requests for answers, by model and how they ended."
        self.requests = prometheus.Counter(
            "pacsklearn_requests", about, ["model", "outcome"], **own
        )
        self.rows = prometheus.Counter("pacsklearn_rows", "Rows answered.", **by_model)
        about = "Seconds from a request's arrival at the coordinator to its answer."
        self.seconds = prometheus.Histogram("pacsklearn_request_seconds", about, **by_model)
        about = "Nats that callers were charged since the model was loaded."
        self.charged = prometheus.Gauge("pacsklearn_charged_nats", about, **by_model)
        about = "Data sets that this process leads."
        prometheus.Gauge("pacsklearn_datasets_led", about, **own).set_function(led)
        about = "Published models that could not be loaded, and are tried again."
        prometheus.Gauge("pacsklearn_models_missing", about, **own).set_function(missing)
