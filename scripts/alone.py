"""Install wheels where nothing else is, and use them: what they forgot to require is missing.

    python scripts/alone.py bare    pacsklearn without extras: its size, the programs in tests/smoke
    python scripts/alone.py alone   each distribution of plugins/ by itself: its README's examples
    python scripts/alone.py pages   every page with the distributions that it, or README, installs

An environment holds a wheel and what it requires. Distributions of this repository come from its
own wheels, whatever an index may give under their names; the others from the index.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
MADE = ROOT / "build" / "alone"
WHEELS = MADE / "wheels"
MOST_MEGABYTES = 585
# Torch alone weighs more than everything else together; `make test-torch` has it.
LEFT_OUT = "pacsklearn-torch"

# What any distribution has to do, whatever it is: be importable, and be found by its entry points.
EVERY = """
import importlib, importlib.metadata as metadata, sys
own = metadata.distribution(sys.argv[1])
importlib.import_module(sys.argv[1].replace("-", "_"))
for entry in own.entry_points:
    if entry.group == "pacsklearn":  # commands need what the extra cli installs
        entry.load()
from pacsklearn.plugins import registry
print(f"{sys.argv[1]} {own.version}: {len(list(own.entry_points))} entry points, "
      f"{len(registry().names('noise_backend'))} noise backends")
"""


def main() -> None:
    """Build all wheels, then try those that are asked for."""
    plugins = sorted(table.parent for table in ROOT.glob("plugins/*/pyproject.toml"))
    homes = {read(home)["name"]: home for home in [ROOT, *plugins]}
    build(homes)
    if sys.argv[1:] == ["bare"]:
        bare = environment("pacsklearn", homes=homes)
        programs = sorted((ROOT / "tests" / "smoke").glob("*.py"))
        size = megabytes(bare)
        print(f"{size} MB installed, at most {MOST_MEGABYTES} are allowed")
        failed = [each.name for each in programs if not ran(bare, "-W", "error", str(each))]
        failed += [f"{size} MB"] * (size > MOST_MEGABYTES)
    elif sys.argv[1:] == ["alone"]:
        names = [name for name in homes if name not in ("pacsklearn", LEFT_OUT)]
        prepared(homes)
        with ThreadPoolExecutor(2) as pool:  # one waits for the index while another computes
            worked = list(pool.map(partial(works_alone, homes=homes), names))
        failed = [name for name, works in zip(names, worked, strict=True) if not works]
        print(f"{LEFT_OUT} is left to make test-torch")
    elif sys.argv[1:2] == ["pages"]:
        failed = [page.name for page in documented(sys.argv[2:]) if not runs(page, homes)]
    else:
        sys.exit(__doc__)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def read(home: Path) -> dict[str, object]:
    """The project table of a distribution."""
    with (home / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


def build(homes: dict[str, Path]) -> None:
    """One wheel for every distribution, of the sources as they are."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(WHEELS)]
    for home in homes.values():
        subprocess.run(words, cwd=home, check=True, capture_output=True)


def foreign(name: str, homes: dict[str, Path], extras: frozenset[str] = frozenset()) -> set[str]:
    """Requirements of a distribution and of ours that it requires, without these."""
    table = read(homes[name])
    lines = list(table.get("dependencies", []))
    for extra in extras:
        lines += table["optional-dependencies"][extra]
    found = set()
    for line in lines:
        wanted = Requirement(line)
        if wanted.name in homes:
            found |= foreign(wanted.name, homes, frozenset(wanted.extras))
        elif wanted.marker is None or wanted.marker.evaluate():
            found.add(line)
    return found


def environment(*names: str, homes: dict[str, Path]) -> Path:
    """A new environment of distributions: their requirements from the index, then our wheels."""
    base, home = prepared(homes), MADE / "+".join(names)
    shutil.rmtree(home, ignore_errors=True)
    venv.create(home, with_pip=False, symlinks=True)
    shutil.copytree(packages(base), packages(home), copy_function=linked, dirs_exist_ok=True)
    wanted = [Requirement(name) for name in names]
    others = set().union(*(foreign(each.name, homes, frozenset(each.extras)) for each in wanted))
    if others := others - foreign("pacsklearn", homes):
        pip(home, *sorted(others))
    # No index: an unnamed requirement, or one of our names that is no wheel of ours, ends this.
    pip(home, "--pre", "--no-index", "--find-links", str(WHEELS), *names)
    return home


def documented(names: list[str]) -> list[Path]:
    """The pages with code that are named, or else all."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [page for page in pages if "```python" in page.read_text(encoding="utf-8")]
    if unknown := set(names) - {page.stem for page in pages}:
        sys.exit(f"no page with code is called {', '.join(sorted(unknown))}")
    return [page for page in pages if not names or page.stem in names]


def runs(page: Path, homes: dict[str, Path]) -> bool:
    """Whether a page runs where nothing is installed but what README and the page itself name."""
    lines = re.split(r"pip install\s", readme(ROOT))[1:2]
    lines += re.split(r"pip install\s", page.read_text(encoding="utf-8"))[1:]
    names = set()
    for line in lines:
        for home, extras in re.findall(
            r"(\.(?:/[\w/-]+)?)(\[[\w,]+\])?(?=[\s\"`])", line.split("\n\n")[0]
        ):
            names.add(read(ROOT / home)["name"] + extras)
    home = MADE / "+".join(sorted(names))
    if not home.exists():
        environment(*sorted(names), homes=homes)
    return ran(home, str(ROOT / "tests" / "docs" / "blocks.py"), str(page))


def prepared(homes: dict[str, Path]) -> Path:
    """What every environment begins with, kept for the next: the requirements of pacsklearn."""
    home, wanted = MADE / "base", sorted(foreign("pacsklearn", homes))
    stamp, text = home / "requirements.txt", "\n".join([sys.version, *wanted])
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != text:
        shutil.rmtree(home, ignore_errors=True)
        venv.create(home, with_pip=False, symlinks=True)
        pip(home, *wanted)
        stamp.write_text(text, encoding="utf-8")
    return home


def linked(source: str, target: str) -> None:
    """One file under two names where the disk allows it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def pip(home: Path, *words: str) -> None:
    """Install into an environment that has no pip itself."""
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check")
    inside = str(home / "bin" / "python")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", inside, "install", *quiet, *words], check=True
    )


def packages(home: Path) -> Path:
    """Its site-packages."""
    return home / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def megabytes(home: Path) -> int:
    """What an environment takes on the disk."""
    sizes = (file.lstat().st_blocks for file in home.rglob("*") if not file.is_dir())
    return round(sum(sizes) * 512 / 2**20)


def works_alone(name: str, homes: dict[str, Path]) -> bool:
    """Whether a distribution can be imported, is found, and does what its README shows."""
    home = environment(name, homes=homes)
    examples = re.findall(r"^```python$(.*?)^```$", readme(homes[name]), re.MULTILINE | re.DOTALL)
    shown = home / "README.py"
    shown.write_text("\n".join(examples[:1]), encoding="utf-8")
    return ran(home, "-W", "error", "-c", EVERY, name) and ran(home, str(shown))


def readme(home: Path) -> str:
    """What a distribution says of itself."""
    return (home / "README.md").read_text(encoding="utf-8")


def ran(home: Path, *words: str) -> bool:
    """Whether a program ended well; no source stands in for a wheel."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    start = time.perf_counter()
    done = subprocess.run([str(home / "bin" / "python"), *words], cwd=home, env=kept, check=False)
    state = "ok" if done.returncode == 0 else "FAILED"
    print(
        f"{home.name}: {Path(words[-1]).name} {state}, {time.perf_counter() - start:.1f} s",
        flush=True,
    )
    return done.returncode == 0


if __name__ == "__main__":
    main()
