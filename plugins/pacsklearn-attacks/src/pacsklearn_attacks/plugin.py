"""What this distribution adds to pacsklearn."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugins import hookimpl

pacsklearn_api = 1  # the number of the hooks that this was written for


@hookimpl
def pacsklearn_attacks() -> Iterator[str]:
    """Yield the attacks of this distribution."""
    yield from (
        "pacsklearn_attacks:KnownRowsAttack",
        "pacsklearn_attacks:FiguresAttack",
        "pacsklearn_attacks:LossThresholdAttack",
        "pacsklearn_attacks:ReconstructionAttack",
        "pacsklearn_attacks:CanaryAttack",
        "pacsklearn_attacks:LowOrderBitsAttack",
        "pacsklearn_attacks:RMIAAttack",
        "pacsklearn_attacks:RobustLiRAAttack",
        "pacsklearn_attacks:QuantileAttack",
        "pacsklearn_attacks:LabelOnlyAttack",
        "pacsklearn_attacks:PropertyAttack",
        "pacsklearn_attacks:AttributeAttack",
        "pacsklearn_attacks:RecordAttack",
        "pacsklearn_attacks:PoisoningAttack",
        "pacsklearn_attacks:PricesAttack",
        "pacsklearn_attacks:ExistenceAttack",
    )
