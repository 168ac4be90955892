"""A coordinator that has let its lease end without a word: stopped perhaps, and holding locks."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def own_name() -> str:
    """Return the name of this process, by which no other one on any machine is meant.

    Empty without /proc.
    """
    return _name(os.getpid())


def end(name: str) -> bool:
    """Kill the process of a name, where it runs on this machine and is another than this one.

    It has no lease any more, so that nothing it could still do would count.
    """
    process = int(name.rpartition(" ")[2] or 0)
    if process == os.getpid() or not name or name != _name(process):
        return False
    try:
        os.kill(process, signal.SIGKILL)
    except OSError:  # it has just ended, or is somebody else's
        return False
    return True


def is_stopped(name: str) -> bool:
    """Return whether the process of a name runs on this machine and was told to stand still."""
    process = int(name.rpartition(" ")[2] or 0)
    return bool(name) and name == _name(process) and _stat(process)[0] in "Tt"


def _stat(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _name(process: int) -> str:
    """Return name of a process of this machine; empty where it is gone, or none can be given."""
    try:
        # The number of a process is used again; not with the same time of its beginning.
        began = _stat(process)[19]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return ""
    return f"{boot} {space} {began} {process}"
