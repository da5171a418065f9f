"""Captions (strings) come in, scene graphs and how well two of them match go out: SPICE (Anderson et al., ECCV 2016)
with spaCy's parser in place of Stanford's. Imports system, files and errors.

The metric is called "SPICE (spaCy)" wherever it is shown, because another parser gives slightly different numbers.
"""
