"""The kind of plugin that this ring declares: attacks."""

from __future__ import annotations

from collections.abc import Iterable

from pacsklearn.kernel.plugins.kinds import kind


@kind("attack", "pacsklearn.audit.attack:Attack")
def pacsklearn_attacks() -> Iterable[type | str]:
    """Measure a lower bound on the leakage, to hold against a guarantee.

    Returns
    -------
    iterable of subclasses of Attack, or of their names
    """
    return (
        "pacsklearn.audit.membership_attack:OptimalMembershipAttack",
        "pacsklearn.audit.identification_attack:IdentificationAttack",
        "pacsklearn.audit.map_attack:MapAttack",
        "pacsklearn.audit.shadow_attack:LiRAAttack",
    )
