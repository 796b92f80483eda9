# Two commands do everything on a fresh machine: `make demo` and `make test`. Nothing needs root.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 4

.PHONY: demo test premises lint clean

demo: $(VENV)/.installed
	@$(BIN)/sselint check sample_configs; status=$$?; \
	echo; echo "sselint exited with $$status: 1 is right here, four of the eight samples are dangerous by design."; \
	test $$status -eq 1

test: $(VENV)/.test-installed lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q -m "not slow"

premises: $(VENV)/.test-installed
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q -m "premises or slow" tests/premises

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test-installed: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
