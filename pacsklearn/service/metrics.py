"""Counters for Prometheus: of the service as a whole, never of a row, a label or a caller."""

from __future__ import annotations

from typing import final

import prometheus_client as prometheus

__all__ = ["Metrics"]


@final
class Metrics:
    """What one coordinator counts; read on the curator's plane only."""

    def __init__(self) -> None:
        self.registry = prometheus.CollectorRegistry()
        self.requests = prometheus.Counter(
            "pacsklearn_requests",
            "Requests for answers, by model and how they ended.",
            ["model", "outcome"],
            registry=self.registry,
        )
        self.rows = prometheus.Counter(
            "pacsklearn_rows", "Rows answered.", ["model"], registry=self.registry
        )
        self.charged = prometheus.Gauge(
            "pacsklearn_charged_nats",
            "Nats that callers were charged since the model was loaded.",
            ["model"],
            registry=self.registry,
        )
        self.leads = prometheus.Gauge(
            "pacsklearn_holds_lease",
            "1 while this process holds the lease.",
            registry=self.registry,
        )
