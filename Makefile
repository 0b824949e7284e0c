# crawlrank: `make` shows what there is. Everything runs in .venv, which these targets make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# what `make pipeline` ranks, where it works, and further options of `crawlrank run`. ARCHIVES is what
# a shell would have: globs, and quotes or \ before blanks. WORK is one path, as it is.
ARCHIVES ?= sample_data/aut-example.arc.gz sample_data/aut-example.warc.gz
WORK     ?= work/sample
OPTIONS  ?=
RUNNER   ?= local

# a path as one word of a shell
quoted = '$(subst ','\'',$(1))'

# what `make bench` extracts from, beside the checkout; see docs/benchmarks.md
REFERENCE ?= ../shared/reference
REAL := $(wildcard $(REFERENCE)/archives/ics-uci/*.gz)
define BENCH_EXTRACT
$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' \
	  && $(MAKE) compiled \
	  && $(BIN)/python scripts/bench/bench_extract.py $(REAL) --profile --processes 2 --compiled $(COMPILED)
endef

# where `make compiled` leaves the packages, and the tests of the folders that are compiled in them
COMPILED ?= work/compiled
COMPILED_TESTS := $(addprefix tests/jobs/kernel/,archive captures formats keys links markup)

# files with tests of a marker: those alone are imported
with = $(shell grep -rl --include='test_*.py' 'mark\.$(1)\b' tests)

# tests that disturb whatever else runs in a Hadoop
FAULTS := tests/systems/test_hadoop_faults.py

# Python keeps what it has compiled, which hundreds of processes of tests would compile again
unexport PYTHONDONTWRITEBYTECODE

# of `make fuzz`
COUNT ?= 15000
PAGES ?= 200000
HOSTILE ?= 15000
SEED  ?= 1

.PHONY: help setup pipeline test lint types unit quick smoke test-slow test-all test-pythons test-exits test-steady test-linear test-loops test-times mutants coverage test-heritrix test-hadoop test-spark test-browser test-programs test-install sbom site compiled wheels test-compiled test-real fuzz bench benchmarks clean
.DEFAULT_GOAL := help

help: ## This list
	@echo "crawlrank: from web archives to a precedence file for Heritrix"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-22s%s\n", $$1, $$2}'
	@echo
	@echo '  make pipeline ARCHIVES="crawl/*.warc.gz" WORK=work/crawl OPTIONS="--bins 10"'
	@echo "  make pipeline ARCHIVES=\"'my crawl/*.warc.gz'\" WORK=\"work/my crawl\""

# each file that is installed has one of the hashes that constraints/hashes.txt has; what has no wheel
# is built by what is installed first
PINNED := --quiet --disable-pip-version-check --no-deps --require-hashes
BUILT  := --use-pep517 --no-build-isolation
BUILDERS := '^(setuptools|hatchling|editables|packaging|pathspec|pluggy|tomli|tomlkit|trove-classifiers)=='

setup: $(VENV)/.done ## Make .venv with crawlrank and what development needs

# What a run needs comes first, as constraints/run lists it. Python compiles there what it imports,
# sooner than pip compiles all. What is interrupted is made anew.
$(VENV)/.run: pyproject.toml constraints/*.txt constraints/run/*.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' \
	  || { echo "crawlrank needs Python 3.10 to 3.13; name one: make PYTHON=python3.12"; exit 1; }
	@echo 'setup: crawlrank and what a run needs go to $(VENV), which takes a minute'
	@for name in jobs pipeline; do [ -e crawlrank/$$name/__init__.py ] \
	  || ln -sfn ../$$name crawlrank/$$name; done # an archive of the sources may lack these links
	@$(PYTHON) -m venv --clear $(VENV)
	@tag=$$($(PYTHON) -c 'import sys; print("py%d%d" % sys.version_info[:2])'); \
	  for pins in '' run/; do \
	    awk 'NR == FNR { of[$$1] = $$0; next } { print ($$1 in of) ? of[$$1] : $$1 }' \
	      constraints/hashes.txt constraints/$$pins$$tag.txt > $(VENV)/$${pins:+run-}pinned.txt || exit 1; \
	  done
	@grep -E $(BUILDERS) $(VENV)/pinned.txt > $(VENV)/builders.txt
	@$(BIN)/python -m pip install $(PINNED) -r $(VENV)/builders.txt
	@$(BIN)/python -m pip install $(PINNED) $(BUILT) --no-compile -r $(VENV)/run-pinned.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.done: $(VENV)/.run
	@echo 'setup: what development needs is added to $(VENV), which takes some minutes'
	@rm $(VENV)/.run
	@$(BIN)/python -m pip install $(PINNED) $(BUILT) -r $(VENV)/pinned.txt
	@touch $(VENV)/.run $@

pipeline: $(VENV)/.run ## Rank ARCHIVES (the sample crawl) in WORK; leaves WORK/precedence.txt
	$(BIN)/crawlrank run $(ARCHIVES) --work $(call quoted,$(WORK)) --runner $(RUNNER) $(OPTIONS)

test: setup ## Lint, types and all tests that need nothing but this folder
	@$(MAKE) --no-print-directory -j 3 lint types unit

lint: setup ## ruff: style and format
	@$(BIN)/ruff check --quiet && $(BIN)/ruff format --check --quiet && echo 'lint: ok'

types: setup ## mypy, strict
	@$(BIN)/mypy --no-error-summary && echo 'types: ok'

# two more workers than cores, as tests wait for processes that they start, and for the disk
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count() + 2)')
PYTEST := $(BIN)/pytest --quiet --no-header --brief --workers $(WORKERS)
REAL_SYSTEMS := heritrix or hadoop or spark or browser or programs
TARGETS_OF_THEIR_OWN := $(REAL_SYSTEMS) or real or linear

unit: setup ## pytest; TESTS: files and folders, all by default
	@$(PYTEST) $(TESTS)

# a part of every folder, and one run of each engine
QUICK := $(foreach name,layers lines keys records html_links extraction tables classes graph ranking \
  embedded_ranks heritrix_form lint manifest cli sample,$(shell find tests -name test_$(name).py))

quick: setup ## Lint, types and the tests to run while at work
	@$(MAKE) --no-print-directory -j 3 lint types unit TESTS='$(QUICK)'

test-slow: export CRAWLRANK_EXAMPLES ?= 1
test-slow: setup ## What `make test` leaves out: slow tests, and drawn ones with ten times the examples
	@$(PYTEST) -m 'not ($(TARGETS_OF_THEIR_OWN)) and (slow or drawn)' $(TESTS)

# what the gate (`.ci/run`) calls, and what it leaves out
GATE := pipeline test smoke
ALL  := test-slow test-exits test-pythons test-real test-linear test-loops test-hadoop test-spark \
  test-heritrix test-browser test-programs test-install test-compiled mutants fuzz

test-all: setup ## All tests, one target after the other, and a table of them; hours
	@$(BIN)/python scripts/run_targets.py $(GATE) $(ALL)

# the Pythons that crawlrank supports, but for that of .venv
PYTHONS ?= 3.10 3.11 3.12 3.13
test-pythons: setup ## `make test` with each of PYTHONS that differs from .venv's; each must be there
	@own=$$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); failed=; \
	for version in $(PYTHONS); do \
	  [ $$version = $$own ] || $(MAKE) --no-print-directory test VENV=.venv-$$version \
	    PYTHON="$$(.ci/find-python $$version || echo python$$version)" || failed="$$failed $$version"; \
	done; [ -z "$$failed" ] || { echo "make test fails with Python$$failed"; exit 1; }

# the smallest test of each: SMOKE=1 in the targets of all
smoke: setup ## The smallest test of each real system: Hadoop, Spark, Heritrix, Chromium, an installed wheel
	@for target in test-hadoop test-spark test-heritrix test-browser; do \
	  $(MAKE) --no-print-directory $$target SMOKE=1 || exit 1; done
	@$(MAKE) --no-print-directory test-install WAYS=wheel
SMALLEST = $(if $(SMOKE), and smoke)

test-exits: export CRAWLRANK_EXITS ?= 200
test-exits: setup ## Whether CRAWLRANK_EXITS processes of each way to read tables end as they should
	@$(BIN)/pytest --quiet --no-header -m slow tests/pipeline/cli/test_exits.py

# how often, and what keeps the machine busy meanwhile, for an hour at most
TIMES ?= 3
BUSY := timeout 3600 $(BIN)/python -c 'while True: pass'
test-steady: setup ## TESTS, TIMES times in random order, beside three busy processes
	@for one in 1 2 3; do $(BUSY) & busy="$$busy $$!"; done; trap 'kill $$busy' EXIT; \
	for seed in $$(seq $(TIMES)); do $(PYTEST) --order=$$seed $(TESTS) || exit 1; done

test-times: setup ## What each folder and file of tests takes, and the slowest tests
	@mkdir -p work
	@$(PYTEST) --costs=work/costs.jsonl $(TESTS)
	@$(BIN)/python scripts/times_of_tests.py work/costs.jsonl

mutants: setup ## Whether the tests see each of a hundred faults in the code (ONLY: names or areas)
	PYTHONPATH=scripts $(BIN)/python -m mutants $(if $(ONLY),--only $(ONLY))

# a line for each module; with SLOW=1 what slow tests reach, too
COVERED = work/coverage/$(if $(SLOW),all,test).txt
# tests of CPU time, and of what processes write, may fail where these are traced
coverage: setup ## Branches of the code that `make test` takes, in processes too (SLOW=1: adds slow tests to them)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'coverage>=7.10'
	@$(if $(SLOW),,$(BIN)/coverage erase &&) $(BIN)/coverage run -m pytest --quiet --no-header --brief \
	  --workers $(WORKERS) $(if $(SLOW),-m 'not ($(TARGETS_OF_THEIR_OWN)) and slow') $(TESTS) || [ $$? = 1 ]
	@$(BIN)/coverage combine --quiet $(if $(SLOW),--append) && $(BIN)/coverage report --sort=cover > $(COVERED)
	@$(BIN)/coverage report --format=total && echo 'percent of lines and branches; by module: $(COVERED)'

# tests of folders with loops that numba compiles
LOOPS := tests/jobs/kernel/rank $(addprefix tests/pipeline/,analysis engines/embedded online planning ranking) \
  $(addprefix tests/jobs/kernel/,markup/test_scanner.py archive/test_record_headers.py archive/test_odd_headers.py captures/test_hostile_pages.py)

test-real: setup ## Real crawls with default options: every ranking against solutions in extended precision
	@$(PYTEST) -m real $(call with,real)

test-linear: setup ## Hostile input by the productions of each grammar: CPU time grows as the input does
	@$(PYTEST) -m linear $(TESTS)

test-loops: setup ## The tests of compiled loops, whose machine code checks the bounds of arrays here
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/work/checked-loops $(PYTEST) $(LOOPS)
	@NUMBA_DISABLE_JIT=1 $(PYTEST) --workers 0 $(shell find tests -name 'test_exact_sums.py' -o -name 'test_machine_code.py')

# programs of others keep their data where they always do, on a disk
test-heritrix test-hadoop test-spark test-browser test-programs: export TMPDIR ?= /tmp

test-heritrix: setup ## Crawls by a real Heritrix on loopback; needs a JDK (17 or later) and Maven
	PYTHONPATH=scripts $(BIN)/python -m heritrix.distribution
	$(BIN)/pytest -m 'heritrix$(SMALLEST)' --workers 2 $(call files,heritrix)

# of the files with tests of a marker, with SMOKE=1 those that have its smallest
files = $(if $(SMOKE),$(filter $(call with,smoke),$(call with,$(1))),$(call with,$(1)))

test-hadoop: setup ## Jobs on a real one-node Hadoop; needs a JDK (17 or 21), Maven, namespaces
	rm -rf work/package && $(BIN)/crawlrank cluster package --output work/package
	CRAWLRANK_PACKAGE=work/package PYTHONPATH=scripts $(BIN)/python -m hadoop --folder work/hadoop with \
	  sh -ec '$(BIN)/pytest -m "hadoop$(SMALLEST)" --workers 2 \
	      $(filter-out $(FAULTS),$(call files,hadoop))$(if $(SMOKE),,; \
	    $(BIN)/pytest -m hadoop $(FAULTS))'

compiled: setup ## Extraction compiled by mypyc, in COMPILED; needs a C compiler
	rm -rf $(COMPILED)
	tag=$$($(BIN)/python -c 'import sys; print("py%d%d" % sys.version_info[:2])'); \
	  CRAWLRANK_COMPILE=1 PIP_CONSTRAINT=$(CURDIR)/constraints/$$tag.txt \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(COMPILED) .

wheels: setup ## The wheels to give to others, in dist/: one for this Python and processor, one for all
	$(BIN)/python scripts/install/make_wheels.py

# from there, as Python's `-c` imports from the folder it is started in
test-compiled: compiled ## The tests of extraction on what is compiled
	cd $(COMPILED) && $(abspath $(BIN))/python -c 'import crawlrank.jobs.kernel.captures.extraction as made; \
	  assert made.__file__.endswith((".so", ".pyd")), made.__file__'
	cd $(COMPILED) && PYTHONPATH=$(abspath $(COMPILED)) $(abspath $(BIN))/pytest --workers $(WORKERS) \
	  --rootdir $(CURDIR) -c $(CURDIR)/pyproject.toml -m "not pure" $(addprefix $(CURDIR)/,$(COMPILED_TESTS))

# of drivers of clusters, too: none of them lives long enough for the slower compiler to pay
test-spark: export SPARK_SUBMIT_OPTS = -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
test-spark: setup ## Jobs on a real Spark of this machine; needs a JDK (17 or 21)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pyspark==4.0.1
	$(BIN)/pytest -m 'spark$(SMALLEST)' $(call files,spark)

# a replay of archives, which wants other versions of libraries than crawlrank has
PYWB := $(CURDIR)/work/pywb/bin
test-browser: setup ## Pages in a real Chromium; needs the packages chromium and npm
	$(BIN)/python -m pip install --quiet --disable-pip-version-check playwright==1.65.2
	[ -x $(PYWB)/wayback ] || [ "$(SMOKE)" ] || { rm -rf work/pywb && $(BIN)/python -m venv work/pywb && \
	  $(PYWB)/python -m pip install --quiet --disable-pip-version-check pywb==2.10.0 'setuptools<81'; }
	CRAWLRANK_PYWB=$(PYWB) $(BIN)/pytest -m 'browser$(SMALLEST)' --workers 2 $(call files,browser)

test-programs: setup ## Graphs in a real Gephi and WebGraph; needs a JDK (17 or later) and Maven
	PYTHONPATH=scripts $(BIN)/python -m graph_programs
	$(BIN)/pytest -m programs --workers 2 $(call files,programs)

test-install: setup ## Each way to install (WAYS: some), in new environments, and the first crawl there; needs git
	$(BIN)/python scripts/install/try_install.py $(WAYS)

sbom: setup ## What is installed for development, as a CycloneDX bill of materials in work/
	scripts/sbom $(VENV) work/crawlrank.cdx.json

site: setup ## docs/ as a site, in work/site-of-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fuzz: setup ## Extraction of 15,000 mutated archives, 200,000 pages and 15,000 hostile archives (COUNT, PAGES, HOSTILE, SEED); finds go to work/fuzz
	$(BIN)/python scripts/fuzz.py --count $(COUNT) --seed $(SEED) --out work/fuzz
	$(BIN)/python scripts/fuzz_pages.py --count $(PAGES) --seed $(SEED) --out work/fuzz
	$(BIN)/python scripts/fuzz_hostile.py --count $(HOSTILE) --seed $(SEED) --out work/fuzz

bench: setup ## Speed of extraction where REFERENCE has archives, and of OPIC
	$(BIN)/python scripts/bench/bench_opic.py
	$(if $(REAL),$(BENCH_EXTRACT))

benchmarks: setup ## Measure anew all that docs/benchmarks.md says; an hour or two
	mkdir -p work/benchmarks
	$(if $(REAL),$(BENCH_EXTRACT) --json work/benchmarks/extract.json)
	$(if $(REAL),$(BIN)/python scripts/bench/bench_pipeline.py $(REAL) --json work/benchmarks/pipeline.json)
	$(BIN)/python scripts/bench/bench_keys.py --json work/benchmarks/keys.json
	$(BIN)/python scripts/bench/bench_opic.py --json work/benchmarks/opic.json
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python scripts/bench/bench_rank.py --edges 1,10 --json work/benchmarks/rank.json
	$(BIN)/python scripts/bench/bench_rounds.py --json work/benchmarks/rounds.json
	$(BIN)/python scripts/bench/bench_compare.py --json work/benchmarks/compare.json
	$(BIN)/python scripts/bench/bench_scale.py --json work/benchmarks/scale.json
	$(BIN)/python scripts/bench/bench_memory.py --folder work/benchmarks/memory --json work/benchmarks/memory.json
	$(if $(REAL),$(BIN)/python scripts/bench/bench_jobs.py $(REAL) --copies 8 --json work/benchmarks/jobs.json)
	$(BIN)/python scripts/docs/make_benchmarks_page work/benchmarks
	$(if $(REAL),$(BIN)/python scripts/costs/scaling.py work/benchmarks --page)
	$(BIN)/python scripts/costs/skew.py --page

clean: ## Remove .venv, caches and the sample's work folder
	rm -rf $(VENV) work/sample .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
