# make check   what every commit must pass, in about three minutes on two cores
# make test    every test
# make bench   the timings, as tables
# make format  what a machine can tidy, and the pages that programs write
PYTHON ?= python
JOBS ?= auto

.PHONY: check quick test bench format lint

lint:
	@$(PYTHON) -c "import ruff, mypy, importlinter" 2>/dev/null || { \
		echo 'make: the tools are not installed for $(PYTHON)'; echo 'fix: pip install -e ".[all,test]"'; exit 1; }
	$(PYTHON) -m ruff check src tests tools examples bench
	$(PYTHON) -m mypy
	lint-imports --no-cache
	$(PYTHON) tools/size.py --check

check:
	@$(MAKE) --no-print-directory -j2 lint quick  # beside each other

quick:
	OMP_NUM_THREADS=1 $(PYTHON) -m pytest -q -n $(JOBS) --dist worksteal -m "not slow"

test:
	OMP_NUM_THREADS=1 $(PYTHON) -m pytest -q -n $(JOBS) --dist worksteal

bench:
	$(PYTHON) -m bench

format:
	$(PYTHON) -m ruff check --fix-only -q src tests tools bench
	$(PYTHON) -m ruff format -q src tests tools
	PYTHONPATH=src:. $(PYTHON) tools/stubs.py
	PYTHONPATH=src:. $(PYTHON) tools/api.py
	PYTHONPATH=src:. $(PYTHON) tools/errors_page.py
