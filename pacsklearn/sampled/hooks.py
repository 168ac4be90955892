"""What this ring adds to the registry: secrets that cannot be listed."""

from collections.abc import Iterator

from pacsklearn.kernel.plugins.kinds import hookimpl


@hookimpl
def pacsklearn_stated_secrets() -> Iterator[str]:
    """Yield the secrets that guarantees of this ring are about."""
    yield "pacsklearn.sampled.drawn_rows:DrawnRows"
    yield "pacsklearn.sampled.sampled_secret:SampledSecret"
