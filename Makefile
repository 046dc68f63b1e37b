# make check    what every commit must pass, in about a minute on two cores
# make test     what a pull request must pass, in about ten minutes on two cores
# make nightly  every sample, seed and pair, for some hours
# make bench    the timings, as tables
# make docs     the documentation site, into build/docs: a warning is an error
# make format   what a machine can tidy, and the pages that programs write
#
# They run with `python`, or, where that has not the tools, in .venv, which the first of them then fills.
TOOLS = badak importlinter mypy pytest ruff torch xdist
HAS_TOOLS = -c "import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, '$(TOOLS)'.split())))"
ifndef PYTHON
PYTHON := $(shell python $(HAS_TOOLS) 2>/dev/null && echo python || echo .venv/bin/python)
endif
JOBS ?= auto
PYTEST = OMP_NUM_THREADS=1 $(PYTHON) -m pytest -q -n $(JOBS) --dist worksteal
export PYTHONDONTWRITEBYTECODE =  # each process of the tests would compile all lines again: most of what they cost

.PHONY: check quick test nightly bench docs format lint tools

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
	$(PYTHON) -m ruff check src tests tools examples bench docs
	$(PYTHON) -m ruff format --check -q src tests tools examples bench docs
	$(PYTHON) -m mypy
	$(PYTHON) -c "from importlinter.cli import lint_imports_command as lint; lint()" --no-cache
	$(PYTHON) tools/size.py --check
	$(PYTHON) tools/vocabulary.py

quick: tools
	$(PYTEST) --tier check

test: JOBS = $(shell $(PYTHON) -c "import os; print(os.cpu_count() + 1)")  # one more than cores: tests wait for processes
test: tools
	$(PYTEST)

NIGHT := $(shell date +%Y%m%d)  # other seeds each night; what differs names its own

nightly: tools
	$(PYTEST) --tier nightly
	$(PYTHON) -m tests.programs --seeds $(NIGHT)0000:$(NIGHT)2000 --jobs 2
	$(PYTHON) -m tests.io.mutations --count 10000 --seed $(NIGHT)
	$(PYTHON) -m tests.distributed.kills 30 --seed $(NIGHT)
	$(PYTHON) -m tests.inspect.audit.measure --own --foreign --seed $(NIGHT)
	$(PYTHON) -m tests.inspect.doctor.measure
	$(PYTHON) -m tests.inspect.doctor.held_out
	$(PYTHON) -m tests.inspect.doctor.classroom_faults

bench:
	$(PYTHON) -m bench

SPHINX = PYTHONPATH=src:. $(PYTHON) -m sphinx -E -W --keep-going -q -c docs

docs:
	@$(PYTHON) -c "import furo, myst_parser, sphinx_click, sphinx_copybutton, sphinx_design" 2>/dev/null || { \
		echo 'make: Sphinx is not installed for $(PYTHON)'; echo 'fix: pip install -e ".[docs]"'; exit 1; }
	BADAK_LANG=en $(SPHINX) -d build/doctrees/en docs build/docs
	BADAK_LANG=ko $(SPHINX) -D language=ko -d build/doctrees/ko docs/ko build/docs/ko
	$(PYTHON) tools/site_links.py build/docs

format:
	$(PYTHON) -m ruff check --fix-only -q src tests tools examples bench docs
	$(PYTHON) -m ruff format -q src tests tools examples bench docs
	PYTHONPATH=src:. $(PYTHON) tools/stubs.py
	PYTHONPATH=src:. $(PYTHON) tools/errors_page.py
