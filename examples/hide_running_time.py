"""Hide a key-dependent running time by padding that costs less than constant time.

Run it with ``python examples/hide_running_time.py``.

Square-and-multiply takes one multiplication more for every one-bit of the key. Whoever measures a
signature's running time therefore learns how many bits are set. Answers may only be delayed, never
sped up; waiting for the slowest key always hides everything and costs the most. Here the delay is
drawn such that what all measurements reveal stays within a budget, exactly computed over all keys.
"""

from __future__ import annotations

import secrets

import numpy as np

from pacsklearn import Nats, PrivacySession
from pacsklearn.kernel.noise.noise_law import Support, Target
from pacsklearn.padding.one_sided_law import OneSidedBackend

BITS, MICROSECONDS = 8, 40
KEYS = range(2**BITS)


def running_time(key: int, base: int = 7, modulus: int = 65_521) -> int:
    """Microseconds that ``base ** key % modulus`` takes: its multiplications, counted."""
    result, operations = 1, 0
    for bit in format(key, f"0{BITS}b"):
        result, operations = result * result % modulus, operations + 1
        if bit == "1":
            result, operations = result * base % modulus, operations + 1
    assert result == pow(base, key, modulus)
    return operations * MICROSECONDS


def table(budgets: list[float]) -> str:
    """Mean delays in microseconds, and the best guess of the key, for one measurement."""
    times = Support(np.array([[float(running_time(key))] for key in KEYS]))
    lines = [
        "budget   random delay   best buckets   constant time   naming the key",
        f"{'none':>6}   {0.0:12.1f}   {0.0:12.1f}   {0.0:13.1f}   {(BITS + 1) / 2**BITS:13.2%}",
    ]
    for budget in budgets:
        law = OneSidedBackend().calibrate(times, Target(budget))
        channel = np.stack([law.channel[key] for key in KEYS])
        best_guess = float(np.sum(channel.max(axis=0)) / len(KEYS))
        lines.append(
            f"{budget:6.3f}   {law.expected_padding:12.1f}   {law.bucket_padding:12.1f}   "
            f"{law.constant_padding:13.1f}   {best_guess:13.2%}"
        )
    return "\n".join(lines)


def main() -> None:
    """Deliver three signatures of one key, each as late as its release says."""
    print(table([1 / 64, 1 / 16, 1 / 4, 1.0]), end="\n\n")

    key = secrets.randbelow(2**BITS)
    with PrivacySession.over(KEYS, secret=key, budget=Nats(3 / 4)) as session:
        for number in range(3):
            release = session.release_function(running_time, noise="one_sided", budget=1 / 4)
            assert release.value >= running_time(key)
            print(f"signature {number + 1} leaves after {release.value} microseconds")
        print()
        print(release.guarantee)


if __name__ == "__main__":
    main()
