"""The table of attacks in the documentation is the attacks' own."""

from __future__ import annotations

from pathlib import Path

from pacsklearn.audit.attack import ThreatModel
from pacsklearn.plugins import registry

PAGE = Path(__file__).parents[2] / "docs" / "attacks.md"


def expected_rows():
    """Lines of the table, from the attacks that pacsklearn and pacsklearn-attacks bring along."""
    known = registry()
    for name in known.names("attack"):
        attack = known.make("attack", name)
        if not type(attack).__module__.startswith(("pacsklearn.", "pacsklearn_attacks.")):
            continue
        threat = attack.threat
        assert isinstance(threat, ThreatModel), f"{name} states no threat model"
        yield (
            f"| `{name}` | {threat.goal} | {threat.knowledge} | {threat.power} | "
            f"{threat.reference} | {threat.cost} |"
        )


def test_every_attack_is_in_the_table_as_it_states_itself():
    head = "| attack | goal | knowledge | power | reference | cost |"
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(head) + 2
    end = next(n for n in range(start, len(lines)) if not lines[n].startswith("|"))
    assert lines[start:end] == list(expected_rows())
