PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
# Modules are compiled when they are first imported: most never are.
PIP := $(PY) -m pip install --quiet --no-compile --no-input --disable-pip-version-check
DOCUMENTED := $(addprefix plugins/pacsklearn-,attacks bigdata papers publish service)
# All but torch, which alone weighs more than everything else together.
PLUGINS := $(filter-out %-torch,$(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml)))

# Two test processes that each start a BLAS pool would fight for the same cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Sums as the golden record has them, on every processor that has these instructions.
SAME_SUMS := $(shell grep -qw avx2 /proc/cpuinfo 2>/dev/null && echo OPENBLAS_CORETYPE=Haswell)
# Where the environment forbids to keep compiled modules, every process of the tests compiles them anew.
KEEP_COMPILED := PYTHONDONTWRITEBYTECODE=

# The folder the tests read, where it exists; the loaders ignore an empty name.
demo bench docs: export PACSKLEARN_DATA := $(or $(PACSKLEARN_DATA),$(abspath $(wildcard ../shared/data)))

TORCH ?= torch
SOAK ?= full
SAMPLE ?= 40
DIST_PYTHONS ?= $(PYTHON)

.PHONY: help demo test test-all test-bare test-alone test-pages soak mutants golden test-torch test-hubs test-range docs bench dist lint clean
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

help:
	@echo "make demo        private models on real data, beside the non-private ones"
	@echo "make test        lint, and of each claim the tests that show it"
	@echo "make test-bare   the wheel with what it requires and nothing else: its size, what it does"
	@echo "make test-alone  each distribution of plugins/ in an environment of its own"
	@echo "make test-pages  every page, where nothing is installed but what it names"
	@echo "make soak        the other tests; kills, interrupts, load and fuzz at full length"
	@echo "make mutants     the share of small faults that the tests notice"
	@echo "make golden      what BASE=<commit> and this tree release, compared bit for bit"
	@echo "make test-torch  the tests of plugins/pacsklearn-torch, with TORCH=torch==2.13.0"
	@echo "make test-hubs   the tests of pacsklearn-publish with MLflow and the Hugging Face Hub"
	@echo "make test-range  all tests on the oldest and the newest supported scikit-learn"
	@echo "make docs        docs/_build/html"
	@echo "make bench       the tables of benchmarks/"
	@echo "make dist        dist/, checked; DIST_PYTHONS=\"python3.11 python3.13\" to try the wheel on"
	@echo "make lint        ruff, mypy, import-linter"
	@echo "make clean       remove everything that was made"

demo: $(VENV)/.plot
	$(KEEP_COMPILED) $(PY) examples/demo.py

test: $(VENV)/.test
	$(PY) scripts/cpu_minutes.py $(MAKE) --no-print-directory -j 2 lint test-all

# Wheels in environments that hold nothing else than they require. Ours never come from an index.
test-bare test-alone test-pages: $(VENV)/.made
	$(PIP) "hatchling>=1.27" "packaging>=24"
	$(ONE_THREAD) $(PY) scripts/alone.py $(@:test-%=%)

# Every distribution's tests in the same processes: none waits for the longest of another.
test-all: $(VENV)/.test
	$(ONE_THREAD) $(SAME_SUMS) $(KEEP_COMPILED) $(PY) -m pytest -n $(WORKERS) --dist worksteal tests $(PLUGINS:%=%/tests)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The tests that make test leaves out; SOAK=sample, as CI does, runs a part of what takes hours.
soak: $(VENV)/.test
	$(ONE_THREAD) PACSKLEARN_SOAK=$(SOAK) $(PY) -m pytest -n $(WORKERS) -m soak --timeout 3600 tests $(PLUGINS:%=%/tests)

# Small faults in the rooms that carry the proofs, a sample of each; SAMPLE=0 for all (days).
mutants: $(VENV)/.test
	$(PIP) "cosmic-ray>=8.3" "coverage>=7.6"
	$(PY) scripts/mutants.py --sample $(SAMPLE) --jobs $(WORKERS)

# Not part of `make test`: torch alone weighs more than everything else together.
test-torch: $(VENV)/.test
	$(PIP) "$(TORCH)" && $(PIP) -e "plugins/pacsklearn-torch[test]"
	$(ONE_THREAD) $(PY) -m pytest plugins/pacsklearn-torch/tests

# Neither is this: MLflow brings a web server along.
test-hubs: $(VENV)/.test
	$(PIP) -e . -e "plugins/pacsklearn-publish[test,mlflow,huggingface]"
	$(ONE_THREAD) $(PY) -m pytest plugins/pacsklearn-publish/tests/test_mlflow.py
	$(ONE_THREAD) $(PY) -m pytest plugins/pacsklearn-publish/tests/test_huggingface.py

# Figures of releases in this tree and in another commit's, bit for bit on this machine.
golden: $(VENV)/.test
	@test -n "$(BASE)" || { echo "name a commit: make golden BASE=main~1"; exit 2; }
	@set -e; folder=$$(mktemp -d); \
	trap 'git worktree remove --force "$$folder/base"; rm -rf "$$folder"' EXIT; \
	git worktree add --quiet --detach "$$folder/base" "$(BASE)"; \
	(cd "$$folder/base" && PYTHONPATH=$$(printf "%s:" plugins/*/src). $(ONE_THREAD) $(abspath $(PY)) scripts/golden.py write "$$folder/base.json"); \
	PYTHONPATH=. $(ONE_THREAD) $(PY) scripts/golden.py write "$$folder/head.json"; \
	$(PY) scripts/golden.py compare "$$folder/base.json" "$$folder/head.json"

test-range:
	scripts/test_sklearn_range.sh

docs: $(VENV)/.docs
	rm -rf docs/generated/api # pages of names that are gone are warnings
	$(PY) -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.plot
	@set -e; for program in benchmarks/bench_*.py; do \
		echo "== $$program"; \
		$(PY) "$$program"; \
	done

# Wheels and sdists of the last commit, the same bytes wherever they are built.
dist:
	scripts/dist.sh $(DIST_PYTHONS)

clean:
	rm -rf $(VENV) build dist docs/_build docs/auto_examples docs/generated
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find pacsklearn tests plugins benchmarks examples docs scripts -name __pycache__ \
		-type d -prune -exec rm -rf {} + 2>/dev/null || true

# Each stamp is older than the files it was made from when an installation is out of date.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pacsklearn needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12")'
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.plot: pyproject.toml $(VENV)/.made
	$(PIP) -e ".[cli,fast,plot]"
	@touch $@

$(VENV)/.docs: pyproject.toml $(DOCUMENTED:%=%/pyproject.toml) $(VENV)/.made
	$(PIP) -e ".[docs,fast]" $(DOCUMENTED:%=-e %)
	@touch $@

$(VENV)/.test: pyproject.toml $(PLUGINS:%=%/pyproject.toml) $(VENV)/.made
	$(PIP) -e ".[test]" $(PLUGINS:%=-e "%[test]")
	@touch $@
