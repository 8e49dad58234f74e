# Everything a clone needs: `make` lists it. Set-up is looked at first by each target that needs it.
.DEFAULT_GOAL := help
.PHONY: help setup demo test quick test-full lineage kills guarantee faults lint hooks docs bench baseline experiments server web clean pins
MAKEFLAGS += --no-print-directory
# Every command, worker and test is a process that loads the package: compiled once, not each time.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
# One benchmark instead of all: make bench NAME=imports
NAME ?=
# How many processes share the tests: one more than a small machine has cores, since many wait for a
# server. tests/together.py says which tests stay together.
WORKERS ?= 3
PYTEST := $(BIN)/python -m pytest -n $(WORKERS)

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv, install the pinned packages, find or bring Java
	@python=$$(sh tools/find-python.sh) && exec "$$python" tools/setup.py

demo: setup ## start a local Neo4j and show what Whence does
	@$(BIN)/python -m whence demo

test: setup ## run the tests (ARGS="..." is passed to pytest)
	@$(PYTEST) -m "not full" $(ARGS)

# What a change to the engine's meaning, the language or the layout breaks first: no Spark, no Neo4j.
QUICK := tests/engine/processors tests/engine/palettes tests/engine/test_formula.py tests/engine/test_chain_file.py \
	tests/engine/test_chain_errors.py tests/engine/test_values.py tests/ground/test_docs.py tests/ground/test_layout.py
quick: setup ## run the quick tests, in less than a minute: no Spark, no Neo4j
	@$(PYTEST) -m "not full and not spark and not neo4j and not fault" $(QUICK) $(ARGS)

test-full: setup ## run all tests with the large profiles
	@WHENCE_TEST_PROFILE=full $(PYTEST) $(ARGS)

lineage: setup ## compare whatever follows what leads where with slow ways, 10^5 random cases each
	@WHENCE_TEST_PROFILE=full $(BIN)/python -m pytest -q tests/engine/lineage tests/store/test_packed_lineage.py $(ARGS)

guarantee: setup ## corrupt inputs 100,000 times: what is called unaffected never changes
	@WHENCE_TEST_PROFILE=full $(BIN)/python -m pytest -q tests/guarantee $(ARGS)

kills: setup ## kill runs on Spark at every named point, and print how often at each
	@WHENCE_TEST_PROFILE=full $(BIN)/python -m pytest -m fault tests/engine/runners $(ARGS)

# In one process: what is counted is counted once.
FAULTY := tests/store/loading tests/engine/runners/test_stream_killed.py
faults: setup ## break everything on the way into the graph; print the hits of each fault
	@WHENCE_TEST_PROFILE=full $(BIN)/python -m pytest -p tests.fault_report -m fault $(FAULTY) $(ARGS)

lint: setup ## run ruff, mypy, basedpyright and import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/basedpyright
	@$(BIN)/lint-imports

hooks: setup ## check style and types at each commit, with the pinned tools
	@$(BIN)/pre-commit install

docs: setup ## build the manual into build/docs
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs build/docs
	@echo "the manual is built: open build/docs/index.html"

bench: setup ## run every benchmark, or one: NAME=imports; BENCH_QUICK=1 for a short look
	@$(BIN)/python -m bench $(NAME)

baseline: setup ## keep what make bench measured last as the baseline, or one: NAME=imports
	@$(BIN)/python -m bench --baseline $(NAME)

experiments: setup ## repeat the experiments and write the evaluation (ARGS="--quick throughput")
	@$(BIN)/python -m experiments $(ARGS)

server: setup ## start the local Neo4j
	@$(BIN)/python -m whence server start

web: setup ## show runs and answers in the browser (ARGS="--port 8080 --record DIR")
	@$(BIN)/python -m whence web $(ARGS)

clean: ## remove what was built here; your data folder stays
	@rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@rm -rf .coverage metastore_db derby.log spark-warehouse
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

pins: setup ## pin the newest allowed versions, with hashes
	@sh tools/pins.sh
