"""Alembic runs this file: the connection is the caller's, and so is its transaction."""

from __future__ import annotations

from alembic import context


def run() -> None:
    """Run the steps that Alembic was asked for."""
    context.configure(
        connection=context.config.attributes["connection"], version_table="service_version"
    )
    context.run_migrations()


if hasattr(context, "config"):  # there is none when the file is only imported
    run()
