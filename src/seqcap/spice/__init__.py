"""SPICE (Anderson et al., ECCV 2016) with spaCy's parser in place of Stanford's: no Java, and fast enough for a reward.

It is called "SPICE (spaCy)" wherever it is shown, because another parser gives slightly different numbers.
"""
