"""What this ring adds to the registry: the least noise under a cap."""

from collections.abc import Iterator

from pacsklearn.kernel.plugins.kinds import hookimpl


@hookimpl
def pacsklearn_noise_backends() -> Iterator[str]:
    """Yield the backends that calibrate to the success of an attack."""
    yield "pacsklearn.capping.criterion:CriterionBackend"
