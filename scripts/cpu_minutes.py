"""Run a command, and print the minutes of processor time it took with all that it started.

python scripts/cpu_minutes.py make -j 2 lint test-all
"""

from __future__ import annotations

import resource
import subprocess
import sys

# The jobserver of make is two open files.
code = subprocess.call(sys.argv[1:], close_fds=False)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{(used.ru_utime + used.ru_stime) / 60:.1f} minutes of CPU")
sys.exit(code)
