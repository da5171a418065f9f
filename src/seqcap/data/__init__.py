"""Datasets: what is captioned or translated (images, clips, sentences), and its words as ids and vectors.

In come a dataset on disk or a generated world; out come a task's tables (`files.schemas`), vocabulary and embeddings.
Imports `errors`, `files`, `system`, `config` and `world`.
"""
