#!/usr/bin/env bash
# Run make test's tests and a sample of the long ones on the oldest and the newest supported packages.
#
#   scripts/test_sklearn_range.sh [oldest] [newest] [-- pytest arguments]
#
# PYTHON_OLDEST must be a Python for which the oldest packages have wheels (3.11 or 3.12).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python_oldest=${PYTHON_OLDEST:-python3.11}
python_newest=${PYTHON_NEWEST:-python3}
workers=${WORKERS:-2}
# All but torch, which alone weighs more than everything else together.
mapfile -t plugins < <(printf "%s\n" plugins/*/pyproject.toml | xargs -n1 dirname | grep -v -- -torch)

sets=()
while (($#)); do
    case $1 in
        oldest | newest) sets+=("$1") ;;
        --)
            shift
            break
            ;;
        *)
            echo "usage: $0 [oldest] [newest] [-- pytest arguments]; got '$1'" >&2
            exit 2
            ;;
    esac
    shift
done
((${#sets[@]})) || sets=(oldest newest)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

# The floors are read from pyproject.toml, so what is tested is what is declared.
floors() {
    "$1" - <<'PYTHON'
import re
import tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
extras = project["optional-dependencies"]
# Of the tables that tests encode, the newest go with the newest scikit-learn only.
tables = [line for line in extras["test"] if line.startswith("polars")]
for line in project["dependencies"] + extras["fast"] + extras["plot"] + tables:
    name, version = re.fullmatch(r"([A-Za-z0-9_.-]+)>=([0-9.]+)", line).groups()
    print(f"{name}=={version}")
PYTHON
}

run() {
    local name=$1 python=$2 venv="$work/$1" failed=0
    shift 2
    if ! command -v "$python" >/dev/null; then
        echo "$name: $python is not installed; set PYTHON_${name^^} to a Python 3.11 or newer" >&2
        return 1
    fi
    # Called in a condition, where bash ignores `set -e`: every step that may fail says so.
    "$python" -m venv "$venv" || return 1
    local install=("$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check)
    "${install[@]}" --upgrade pip || return 1
    local options=(--upgrade --upgrade-strategy eager)
    if [[ $name == oldest ]]; then
        floors "$venv/bin/python" >"$work/floors.txt" || return 1
        options=(--constraint "$work/floors.txt" --prefer-binary)
    fi
    local targets=(-e ".[test]") plugin
    for plugin in "${plugins[@]}"; do
        targets+=(-e "$plugin[test]")
    done
    "${install[@]}" "${options[@]}" "${targets[@]}" || return 1
    echo "== $name: $("$venv/bin/python" --version)"
    "$venv/bin/python" -m pip list --format=freeze |
        grep -iE '^(numpy|scipy|scikit-learn|joblib|threadpoolctl|pluggy|opendp|numba|pandas|matplotlib)=='
    local tests=("$venv/bin/python" -m pytest -p no:cacheprovider -n "$workers" tests "${plugins[@]/%//tests}")
    "${tests[@]}" "$@" || failed=1
    PACSKLEARN_SOAK=sample "${tests[@]}" -m soak --timeout 3600 "$@" || failed=1
    rm -rf "$venv"
    return "$failed"
}

status=0
for name in "${sets[@]}"; do
    python_variable="python_$name"
    if run "$name" "${!python_variable}" "$@"; then
        echo "== $name: passed"
    else
        echo "== $name: FAILED" >&2
        status=1
    fi
done
exit "$status"
