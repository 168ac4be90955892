"""What this distribution adds to pacsklearn."""

from __future__ import annotations

from pacsklearn.plugins import NoiseBackendRecord, hookimpl


@hookimpl
def pacsklearn_noise_backends() -> list[NoiseBackendRecord]:
    """Noise backends of this distribution."""
    return [
        NoiseBackendRecord(
            name="stackelberg",
            target="pacsklearn_papers:StackelbergBackend",
            description="SR-PAC as published, with a learned decoder: an estimate for comparison",
        )
    ]
