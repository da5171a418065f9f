# make repro   everything, ending with reports/report.md
# make test    the whole test suite
# make lint    ruff and mypy
# All three first set up .venv from the pinned requirements.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export OMP_NUM_THREADS := 1
export DVC_NO_ANALYTICS := 1

.PHONY: repro test lint bench flickr8k multi30k

repro: $(BIN)/.installed
	dvc repro
	@echo "The report is reports/report.md"

test: $(BIN)/.installed
	pytest

lint: $(BIN)/.installed
	ruff check .
	ruff format --check .
	mypy

bench: $(BIN)/.installed
	python benchmarks/rewards.py
	python benchmarks/training.py

# The same graph on Flickr8k (FLICKR8K: its folder), in a clone of its own; publishes reports/flickr8k/.
FLICKR8K ?= ../shared/data/flickr8k
flickr8k: $(BIN)/.installed
	seqcap repro --jobs 2 --experiment experiments/flickr8k.yaml --root $(abspath $(FLICKR8K)) --publish reports/flickr8k

# The same graph with Multi30k's German and English sentences (MULTI30K: their folder); publishes reports/multi30k/.
MULTI30K ?= ../shared/data/multi30k
multi30k: $(BIN)/.installed
	seqcap repro --jobs 2 --experiment experiments/multi30k.yaml --root $(abspath $(MULTI30K)) --publish reports/multi30k

$(BIN)/.installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@
