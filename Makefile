# Every target does its own set-up: on a fresh machine with python3 (3.11 to 3.13), make and git, `make demo` is enough.
# Nothing is installed outside this folder. `make help` lists the targets.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo serve test slow anywhere compose mutate lint style types fmt texts bench studies fast soak chaos lock release clean venv venv-dev

BIN := .venv/bin

# Some machines forbid bytecode, and then every process compiles the whole project first.
unexport PYTHONDONTWRITEBYTECODE

# Settings of `make demo`. SERVE=0 stops after the leaderboard; the same SEED gives the same cards and the same leaderboard.
SEED ?= 1
BOARDS ?=
SERVE ?= 1
PORT ?= 8000
# Arguments of `make test` for pytest: make test ARGS="tests/engine -k deal"
ARGS ?=
# Number of places that `make mutate` breaks.
MUTANTS ?= 320

help:  ## this list
	@echo "The Tute League"; echo
	@sed -n 's/^\([a-z]*\):.*  ## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name what; do printf '  make %-7s %s\n' "$$name" "$$what"; done
	@echo; echo "  make demo SERVE=0 SEED=7 BOARDS=16     without the site, with other cards and more boards per match"
	@echo "  make serve PORT=8080 QUIET=1           on another port; log warnings and errors only"
	@echo "  make test ARGS=\"tests/engine -x\"       a part of the suite"
	@echo "  PYTHON=/path/to/python3.12             the interpreter for .venv"

venv:
	@.ci/venv demo

venv-dev:
	@.ci/venv dev

demo: venv  ## house bots play a round robin in the sandbox; leaderboard; site on http://127.0.0.1:8000
	@$(BIN)/python manage.py demo --seed "$(SEED)" --bind 127.0.0.1:$(PORT) $(if $(BOARDS),--boards $(BOARDS)) $(if $(filter 0 no false,$(SERVE)),--no-serve)

serve: venv  ## the site, a worker and the scheduler on this machine, with the league in var/
	@$(BIN)/python manage.py serve --bind 127.0.0.1:$(PORT) $(if $(QUIET),--quiet)

test: style $(if $(ARGS),types)  ## lint, types, import contracts and all tests that are not slow, on real PostgreSQL, Redis and Chromium
	@.ci/test $(or $(ARGS),quick)

slow: venv-dev  ## the slow tests: random kills, real kernels, every page in the browser; with `make test` this is the whole suite
	@.ci/test slow

anywhere: venv-dev  ## tests that depend on the place, under other time zones, locales, dates, paths, users, orders, and Pythons of Debian (ONLY=NAME: one of them)
	@$(BIN)/python -m tests.anywhere $(if $(ONLY),--only $(ONLY)) $(ARGS)

compose: venv-dev  ## build the image and run the league in containers, as docs/operations/ describes, on its own Docker daemon (root on Debian; BEFORE=COMMIT: an upgrade, too)
	@$(BIN)/python -m tests.ops.containers

mutate: venv-dev  ## break the code in a sample of places and see whether a test notices (MUTANTS=320 SEED=1)
	@$(BIN)/python -m tests.mutate --sample $(MUTANTS) --seed $(SEED) --least 90 $(ARGS)

lint: style types  ## ruff, mypy, import contracts

style: venv-dev
	@echo "== ruff"; $(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
	@echo "== import contracts"; $(BIN)/lint-imports --no-cache
	@echo "== words and names"; $(BIN)/python -m tests.support.words

types: venv-dev
	@echo "== mypy"; DEBUG=1 STATE_DIR=var/test $(BIN)/mypy  # Its plugin loads the settings: never with the league in var/.

fmt: venv-dev  ## format the code and fix what ruff can fix
	@$(BIN)/ruff check --fix-only --quiet . ; $(BIN)/ruff format .

texts: venv-dev  ## regenerate derived files: texts of the pages, tables of the SDK, the kits and the tiers, the list of games, a new game's replays
	@DEBUG=1 STATE_DIR=var/test $(BIN)/python manage.py texts
	@$(BIN)/python -m bots.tables
	@$(BIN)/python -m engine.runner.rare_decisions
	@$(BIN)/tute rules >docs/games.md
	@$(BIN)/tute sandbox tiers --write docs/sandbox.md
	@$(BIN)/python -m tests.engine.golden --missing

bench: venv-dev  ## the benchmarks of rules, search and environments, as source and compiled, as ratios to a rival in the same run (a quarter of an hour); fails if a page of a large league is too heavy
	@copies=$$(mktemp -d) && trap 'rm -rf "$$copies"' EXIT && export BENCH_COPIES="$$copies" && \
	$(BIN)/python benchmarks/engine.py && \
	$(BIN)/python benchmarks/search.py --deals 100 && \
	$(BIN)/python benchmarks/environments.py
	@$(BIN)/python benchmarks/site.py --weigh

studies: venv-dev  ## the lab's reports of all games and the studies of docs/studies (an hour; BOARDS=192: boards of each table); stop it and go on at will
	@$(BIN)/python benchmarks/studies.py $(if $(BOARDS),--boards $(BOARDS)) $(ARGS)

fast: venv-dev  ## compile the rules (mypyc; needs a C compiler); without it they run as Python source, slower
	@find engine -name '*.so' -not -path '*/_compiled/*' -delete
	@$(BIN)/python -W ignore::RuntimeWarning -m engine.compiling

soak: venv-dev  ## the long runs that belong to neither test nor slow (SOAK_S=300: seconds)
	@.ci/test -m soak -s $(ARGS)

chaos: venv-dev  ## random kills, lost messages, servers that go away; the tables must not change (CHAOS_S=600: seconds)
	@.ci/test -m soak -s tests/chaos $(ARGS)

lock:  ## resolve the dependencies again into the lock files (UPGRADE=1: newest versions)
	@.ci/lock $(if $(filter 1 yes true,$(UPGRADE)),--upgrade)

release: venv-dev  ## check, test, build and tag a release (VERSION=1.0.0); DRY_RUN=1 only prints the steps
	@DRY_RUN="$(DRY_RUN)" .ci/release "$(VERSION)"

clean:  ## remove all generated files except var/, which contains the league's data
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache var/test
	rm -rf engine/_compiled; rm -f ./*__mypyc.*.so; find engine -name '*.so' -delete
	find engine bots league tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
	@[ ! -d var ] || echo "var/ stays: it contains the database of the league. Remove it by hand to start again."
