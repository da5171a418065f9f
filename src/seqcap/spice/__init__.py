"""Captions (strings) come in, scene graphs and how well they match go out; may import errors, files and system. SPICE
(Anderson et al., ECCV 2016) with spaCy's parser instead of Stanford's. The metric is called "SPICE (spaCy)" wherever it
is shown, because another parser gives slightly different numbers."""
