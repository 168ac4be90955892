#!/usr/bin/env bash
# usage: dist.sh PYTHON...
# dist/: wheels and sdists of the last commit, of this package and of each distribution in plugins/, the
# same bytes whenever and wherever they are built; then the wheel of this package alone in a clean
# environment of every PYTHON (make test-alone tries the others). Tools and environments are thrown away.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

if [ -n "$(git status --porcelain)" ]; then
  echo "A distribution is made from a commit, and there are changes that are in none; commit them first." >&2
  exit 1
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH # the source folder must not stand in for the wheel

pip() { "$1" -m pip install --quiet --no-input --disable-pip-version-check "${@:2}"; }

"$1" -m venv "$work/tools"
tools=$work/tools/bin
pip "$tools/python" build "hatchling>=1.27" twine check-wheel-contents

# Twice, from two folders: what depends on the clock, the place or the order of files differs.
for copy in one another; do
  mkdir -p "$work/$copy/source"
  git archive HEAD | tar -x -C "$work/$copy/source"
  rm -rf "$work/$copy/source/plugins/pacsklearn-template" # copied by authors of plugins, never uploaded
  for folder in . "$work/$copy"/source/plugins/pacsklearn-*; do
    (cd "$work/$copy/source" && "$tools/python" -m build --no-isolation --outdir "$work/$copy/dist" "$folder" \
      > "$work/$copy/log" 2>&1) || { cat "$work/$copy/log" >&2; exit 1; }
  done
done
(cd "$work/one/dist" && sha256sum -- *) > "$work/sums"
(cd "$work/another/dist" && sha256sum --check --quiet "$work/sums")
wheel=$(echo "$work"/one/dist/pacsklearn-*.whl)

"$tools/twine" check --strict "$work"/one/dist/*
"$tools/check-wheel-contents" "$work"/one/dist/*.whl
# Nothing is missing (the migrations of ledgers are found by a path, not imported), nothing is extra.
diff <(git ls-files pacsklearn | LC_ALL=C sort) \
  <("$tools/python" -m zipfile --list "$wheel" | awk '/^pacsklearn\// {print $1}' | LC_ALL=C sort)

for python in "$@"; do
  "$python" -m venv --clear "$work/clean"
  pip "$work/clean/bin/python" "${wheel}[cli]"
  (cd "$work" && PATH="$work/clean/bin:$PATH" "$work/clean/bin/python" "$root/scripts/try_wheel.py")
done

rm -rf dist
cp -R "$work/one/dist" dist
cat "$work/sums"
