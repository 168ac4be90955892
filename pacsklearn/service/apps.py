"""The two applications: one for callers, one for the curator."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from pacsklearn.service import curator_plane, data_plane, private_plane
from pacsklearn.service.console import pages
from pacsklearn.service.link import Link
from pacsklearn.service.settings import Settings
from pacsklearn.service.slot import Slot
from pacsklearn.service.web import new_app

__all__ = ["caller_app", "curator_app"]


def caller_app(link: Link, settings: Settings, lifespan: Any = None) -> FastAPI:
    """Data plane and private plane."""
    app = new_app("pacsklearn", link, settings, lifespan)
    app.include_router(data_plane.router)
    app.include_router(private_plane.router)
    if settings.slot is not None:
        app.add_middleware(Slot, seconds=settings.slot)
    return app


def curator_app(link: Link, settings: Settings, lifespan: Any = None) -> FastAPI:
    """Curator plane, and its console."""
    app = new_app("pacsklearn curator", link, settings, lifespan)
    app.include_router(curator_plane.router)
    app.include_router(curator_plane.metrics)
    app.include_router(pages.router)
    return app
