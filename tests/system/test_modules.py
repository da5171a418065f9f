"""Captioners, objectives and retrievers are found by name, and nothing else beside them is."""

import pytest

from seqcap import models, objectives, retrieval
from seqcap.objectives import cross_entropy


@pytest.mark.parametrize(
    ("package", "names", "known"),
    [
        (models, ("gpt", "decoding", "ensemble"), "attention, lstm, transformer, translator"),
        (objectives, ("cooperation", "smoothing", "discriminated"), "cross_entropy, "),
        (retrieval, ("grammar",), "clip, dual_"),
    ],
)
def test_other_names_get_one_line_with_the_allowed_ones(package, names, known):
    for name in names:
        with pytest.raises(ModuleNotFoundError, match=rf"{package.__name__} has {known}.*; not {name}$"):
            package.config_class(name)


def test_an_objective_is_found_by_name():
    assert objectives.config_class("cross_entropy") is cross_entropy.Config
    assert objectives.model_class("cross_entropy") is cross_entropy.Model
