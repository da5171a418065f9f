"""The questions to people for PSST's Table 5: captions of this run at its two operating points, one seed."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from seqcap.files import parquet, schemas
from seqcap.papers.psst.methods import PLACES, ST, Place
from seqcap.papers.psst.rows import PEOPLE, method_of, row_of
from seqcap.rating.page import AccuracyItem, NaturalnessItem
from seqcap.report.inputs import Results
from seqcap.tasks import ARTIFACTS

IMAGES = 200  # the paper has 300. The page holds each with a similar one, and has to be small enough to send.


def questions(results: Results, similar: Mapping[int, int]) -> tuple[list[AccuracyItem], list[NaturalnessItem]]:
    """Accuracy and naturalness on the same images for every model, drawn with a fixed seed. Accuracy: each method's run
    that is nearest to its operating point, and people's captions. Naturalness: the same at the other operating point,
    against the reference. Methods that are not part of the run are left out."""
    methods = {row: method_of(row) for row in results.paper.published.rows("table5") if row != PEOPLE}
    items = np.random.default_rng(0).permutation(sorted(similar))[:IMAGES].tolist()
    captions = _captions(results, PLACES["table5"], methods)
    if captions:
        # One of people's captions of each image, drawn with a fixed seed; its words, as of captioners.
        path = ARTIFACTS / results.config.pictures / "data/references.parquet"
        references: pd.DataFrame = parquet.read_table(path, schemas.REFERENCES).to_pandas()
        written, rng = references.groupby("item")["tokens"], np.random.default_rng(0)
        captions[PEOPLE] = {item: " ".join(rng.choice(written.get_group(item).to_numpy())) for item in items}
    accuracy = [
        AccuracyItem(item, similar[item], row, texts[item]) for row, texts in captions.items() for item in items
    ]
    captions, reference = _captions(results, PLACES["naturalness"], methods), row_of(results.paper, ST, "table5")
    others = captions.pop(reference, None)
    naturalness = [
        NaturalnessItem(item, row, texts[item], reference, others[item])
        for row, texts in captions.items()
        for item in items
        if others is not None
    ]
    return accuracy, naturalness


def _captions(results: Results, place: Place, methods: Mapping[str, str]) -> dict[str, dict[int, str]]:
    """Row -> image -> greedy caption of its method's run at an operating point, first seed."""
    found = {}
    for row, method in methods.items():
        if name := place.at(results, method):
            decoded, seed = results.decoded(name), results.by_name[name].seeds[0]
            chosen = decoded[(decoded["decoder"] == "greedy") & (decoded["seed"] == seed)]
            found[row] = dict(zip(chosen["item"], chosen["text"], strict=True))
    return found
