# make quick   runs a few small runs of every paper, up to reports/quick/report.md
# make repro   runs the whole pipeline, up to reports/report.md
# make test    runs all tests
# make snapshots  writes the pages that tests compare, tests/papers/snapshots, anew: read the difference
# make test-extras  runs the tests of what works with TRL and lmms-eval, and of the pages of `make docs`
# make docs    builds a page per objective, reward and metric in site/
# make campaigns  runs all tests with more examples, and the campaigns of docs/development.md: hours
# make lint    runs ruff, import-linter and mypy, and checks the graph
# make bench   measures speed, see benchmarks/results
# Each first sets up .venv with the pinned requirements. As many stages run side by side as there are cores; JOBS=2 sets
# their number.
PYTHON ?= python3
SIDE_BY_SIDE := $(if $(JOBS),--jobs $(JOBS))
BIN := .venv/bin
EXTRAS := .venv-extras
export PATH := $(CURDIR)/$(BIN):$(PATH)
export OMP_NUM_THREADS := 1
export DVC_NO_ANALYTICS := 1
# Every stage is a process of its own, and would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: quick repro test snapshots test-extras docs campaigns lint bench flickr8k flickr8k_sizes multi30k

quick: $(BIN)/.installed
	seqcap repro $(SIDE_BY_SIDE) --experiment experiments/quick.yaml --publish reports/quick
	@echo "The report is reports/quick/report.md"

repro: $(BIN)/.installed
	seqcap repro $(SIDE_BY_SIDE)
	@echo "The report is reports/report.md"

test: $(BIN)/.installed
	pytest

snapshots: $(BIN)/.installed
	SEQCAP_RENEW_SNAPSHOTS=1 pytest -n 0 tests/papers/test_pages.py tests/first_page/test_report.py

test-extras: $(EXTRAS)/.installed
	$(EXTRAS)/bin/python -m pytest -n 0 tests/extras

docs: $(EXTRAS)/.installed
	$(EXTRAS)/bin/python -m mkdocs build

campaigns: $(BIN)/.installed
	SEQCAP_FULL=1 pytest
	python tests/mutations.py
	python tests/campaigns/bad_input.py
	python tests/campaigns/users_data.py
	python tests/campaigns/training_kills.py
	python tests/campaigns/kills.py

lint: $(BIN)/.installed
	ruff check .
	ruff format --check .
	lint-imports --no-cache
	mypy
	seqcap graph --check

bench: $(BIN)/.installed
	python benchmarks/rewards.py
	python benchmarks/doors.py
	python benchmarks/training.py
	python benchmarks/walk.py
	python benchmarks/cores.py --papers psst

# Runs the graph on Flickr8k in a clone under runs/, and copies its reports to reports/flickr8k. FLICKR8K: its folder.
# Without a network it needs torchvision's weights: TORCH_HOME, an absolute path, has them in hub/checkpoints/.
FLICKR8K ?= ../shared/data/flickr8k
flickr8k: $(BIN)/.installed
	seqcap repro $(SIDE_BY_SIDE) --experiment experiments/flickr8k.yaml --root $(abspath $(FLICKR8K)) --publish reports/flickr8k

# What loss smoothing gains with 500 and with 6,000 of Flickr8k's photographs, in reports/smoothing_flickr8k.
FEWER := runs/fewer
flickr8k_sizes: $(BIN)/.installed
	for number in 500 6000; do \
	  test -d $(FEWER)/$$number || $(BIN)/python examples/fewer_images.py $(FLICKR8K) $(FEWER)/$$number $$number || exit 1; \
	done
	seqcap repro $(SIDE_BY_SIDE) --experiment experiments/smoothing_flickr8k.yaml --root $(abspath $(FEWER)) --publish reports/smoothing_flickr8k

# The same with Multi30k's German and English sentences, in reports/multi30k. MULTI30K: their folder.
MULTI30K ?= ../shared/data/multi30k
multi30k: $(BIN)/.installed
	seqcap repro $(SIDE_BY_SIDE) --experiment experiments/multi30k.yaml --root $(abspath $(MULTI30K)) --publish reports/multi30k

$(BIN)/.installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

# A second environment, which also sees all that .venv has. Nothing in it has a part in any result.
$(EXTRAS)/.installed: requirements-extras.txt $(BIN)/.installed
	rm -rf $(EXTRAS)
	$(BIN)/python -m venv --without-pip $(EXTRAS)
	echo "import site; site.addsitedir('$$(echo $(CURDIR)/.venv/lib/python*/site-packages)')" > $(EXTRAS)/main.pth
	mv $(EXTRAS)/main.pth $(EXTRAS)/lib/python*/site-packages/
	$(EXTRAS)/bin/python -m pip install --quiet --no-deps --requirement requirements-extras.txt
	touch $@
