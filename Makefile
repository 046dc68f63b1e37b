# make check   what every commit must pass, in two to three minutes on two cores
# make test    every test
# make bench   the timings, as tables
# make format  what a machine can tidy, and the pages that programs write
#
# They run with `python`, or, where that has not the tools, in .venv, which the first of them then fills.
TOOLS = badak importlinter mypy pytest ruff torch xdist
HAS_TOOLS = -c "import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, '$(TOOLS)'.split())))"
ifndef PYTHON
PYTHON := $(shell python $(HAS_TOOLS) 2>/dev/null && echo python || echo .venv/bin/python)
endif
JOBS ?= auto

.PHONY: check quick test bench format lint tools

check:
	@$(MAKE) --no-print-directory -j2 lint quick  # beside each other

# Once, before lint and tests, so that nobody reads why a test file cannot be imported.
tools:
ifeq ($(PYTHON),.venv/bin/python)
	@$(PYTHON) $(HAS_TOOLS) 2>/dev/null || { \
		echo 'make: python has not the tools; filling .venv, once (some minutes)'; \
		python3 -m venv .venv && $(PYTHON) -m pip install -q -e ".[all,test]" || { \
		echo 'make: .venv could not be filled, as is said above'; \
		echo 'fix: install Python 3.11 to 3.14 with its venv, and let pip reach PyPI'; exit 1; }; }
else
	@$(PYTHON) $(HAS_TOOLS) 2>/dev/null || { \
		echo 'make: the tools are not installed for $(PYTHON)'; echo 'fix: pip install -e ".[all,test]"'; exit 1; }
endif

lint: tools
	$(PYTHON) -m ruff check src tests tools examples bench
	$(PYTHON) -m ruff format --check -q src tests tools examples bench
	$(PYTHON) -m mypy
	$(PYTHON) -c "from importlinter.cli import lint_imports_command as lint; lint()" --no-cache
	$(PYTHON) tools/size.py --check

quick: tools
	OMP_NUM_THREADS=1 $(PYTHON) -m pytest -q -n $(JOBS) --dist worksteal -m "not slow"

test: tools
	OMP_NUM_THREADS=1 $(PYTHON) -m pytest -q -n $(JOBS) --dist worksteal

bench:
	$(PYTHON) -m bench

format:
	$(PYTHON) -m ruff check --fix-only -q src tests tools examples bench
	$(PYTHON) -m ruff format -q src tests tools examples bench
	PYTHONPATH=src:. $(PYTHON) tools/stubs.py
	PYTHONPATH=src:. $(PYTHON) tools/api.py
	PYTHONPATH=src:. $(PYTHON) tools/errors_page.py
