"""Captions (strings) come in, scene graphs and how well they match go out; may import errors, files and system.

SPICE (Anderson et al., ECCV 2016) with spaCy's parser instead of Stanford's. Another parser gives slightly different
numbers, so the metric is called "SPICE (spaCy)" wherever it is shown."""
