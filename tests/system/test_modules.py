"""Captioners, objectives and retrievers are found by name, and nothing else beside them is."""

import pytest

from seqcap import models, objectives, retrieval
from seqcap.objectives import cross_entropy


@pytest.mark.parametrize(
    ("package", "name"),
    [
        (models, "gpt"),
        (models, "decoding"),
        (models, "ensemble"),
        (objectives, "cooperation"),
        (objectives, "smoothing"),
        (objectives, "discriminated"),
        (retrieval, "grammar"),
    ],
)
def test_other_names_get_one_line_with_the_allowed_ones(package, name):
    known = {
        models: "attention, lstm, transformer, translator",
        objectives: "cross_entropy, ",
        retrieval: "clip, dual_",
    }
    with pytest.raises(ModuleNotFoundError, match=rf"{package.__name__} has {known[package]}.*; not {name}$"):
        package.config_class(name)


def test_an_objective_is_found_by_name():
    assert objectives.config_class("cross_entropy") is cross_entropy.Config
    assert objectives.model_class("cross_entropy") is cross_entropy.Model
