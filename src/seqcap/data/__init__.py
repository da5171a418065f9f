"""Datasets: a dataset on disk or a generated world comes in; a task's tables, vocabularies and embeddings go out;
imports `errors`, `files`, `system`, `config` and `world`."""
