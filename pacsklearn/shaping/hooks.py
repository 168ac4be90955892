"""What this ring adds to the registry: shapes of noise beside the default."""

from collections.abc import Iterator

from pacsklearn.kernel.plugins.kinds import hookimpl


@hookimpl
def pacsklearn_noise_backends() -> Iterator[str]:
    """Return backends that calibrate to nats, in closed form."""
    yield "pacsklearn.shaping.closed_forms:IsotropicBackend"
    yield "pacsklearn.shaping.closed_forms:DiagonalBackend"
    yield "pacsklearn.shaping.closed_forms:EigenBackend"
