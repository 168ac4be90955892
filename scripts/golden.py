"""Write, or compare, the figures of the golden record: seeded calls over all that is released.

    python scripts/golden.py write [FILE]      the figures of this tree; into the stored record
                                               when no file is named
    python scripts/golden.py compare A B       figures that B states otherwise, bit for bit

``make golden BASE=<commit>`` writes both trees' figures on one machine and compares them. The calls
and their spelling are those of each tree (``tests/golden``); a call is known by its name.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def write(file: Path) -> None:
    """Write the figures of every call; a call that fails stands with its error."""
    from tests.golden.adapter import processor, taken
    from tests.golden.calls import calls

    figures: dict[str, object] = {"processor": processor()}
    start = time.process_time()
    for call in calls():
        began = time.process_time()
        try:
            figures[call.name] = taken(call)
        except Exception as error:  # noqa: BLE001 - it is part of what is compared
            figures[call.name] = {"error": f"{type(error).__name__}: {error}"}
            print(f"{call.name}: {type(error).__name__}: {error}", file=sys.stderr)
        if time.process_time() - began > 3:
            print(f"{call.name}: {time.process_time() - began:.1f} s", file=sys.stderr)
    lines = (f"{json.dumps(name)}: {json.dumps(each)}" for name, each in figures.items())
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(figures) - 1} calls in {time.process_time() - start:.0f} s of CPU")


def compare(base: Path, head: Path) -> int:
    """Print what differs; how many calls do."""
    old, new = (json.loads(file.read_text(encoding="utf-8")) for file in (base, head))
    old.pop("processor", None), new.pop("processor", None)
    differing = 0
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in old or name not in new:
            print(f"only in {'the base' if name in old else 'this tree'}: {name}")
            differing += 1
            continue
        was, now = old[name], new[name]
        changed = [key for key in {**was, **now} if repr(was.get(key)) != repr(now.get(key))]
        differing += bool(changed)
        for key in changed:
            print(f"{name}\n    {key}: {_short(was.get(key))} -> {_short(now.get(key))}")
    print(f"{differing} of {len(old)} calls differ")
    return differing


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 100 else f"{text[:97]}..."


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", *file]:
            write(Path(*file) if file else ROOT / "tests" / "golden" / "record.json")
        case ["compare", base, head]:
            sys.exit(bool(compare(Path(base), Path(head))))
        case _:
            sys.exit(__doc__)
