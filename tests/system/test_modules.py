"""Captioners, objectives and retrievers are found by name, and nothing else beside them is."""

import pytest

from seqcap import models, objectives, retrieval


@pytest.mark.parametrize(
    ("package", "names", "known"),
    [
        (models, ("gpt", "decoding", "ensemble"), "attention, huggingface, lstm, transformer, translator"),
        (objectives, ("shared", "base"), "centred_reinforce, cross_entropy, "),
        (retrieval, ("grammar",), "clip, cross_attention, dual_"),
    ],
)
def test_other_names_get_one_line_with_the_allowed_ones(package, names, known):
    for name in names:
        with pytest.raises(ModuleNotFoundError, match=rf"{package.__name__} has {known}.*; not {name}$"):
            package.config_class(name)
