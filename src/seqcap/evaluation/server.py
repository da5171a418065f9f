"""Beam captions scored as COCO's server does: against few and against many references.
BLEU, METEOR, ROUGE-L, CIDEr and SPICE as in coco-caption (Chen et al., "Microsoft COCO Captions: data collection and
evaluation server", 2015), SPICE with spaCy's parser. CIDEr's document frequencies are those of the references scored
against: for c40 forty references per image, for c5 five. Unlike the others, SPICE falls with more references: its
recall is of all that they say."""

import numpy as np
import pyarrow as pa

from seqcap.evaluation.inputs import EvaluationConfig, first, read_references, read_runs
from seqcap.files.schemas import SCORES
from seqcap.metrics import quality
from seqcap.metrics.registry import METRICS, SERVER, find
from seqcap.rewards import PARSES


def evaluate(config: EvaluationConfig) -> pa.Table:
    """Scores every seed of every run: rows of `schemas.SCORES` with metrics "<metric> c<number of references>", of the
    split and of each image's best caption, and each image's counts of BLEU.
    `config.references` are the numbers of references to score against (COCO: 5 and 40), the first of each image. A
    number above that of some image has no rows. InputError for a malformed artifact, or a split without references."""
    references = read_references(config, config.split)
    runs = read_runs(config)
    best = [caption for run in runs for caption in first(run.captions["beam"])]
    fewest = min(len(captions) for captions in references.values())
    rows: list[pa.Table] = []
    for number in config.references or ():
        if number > fewest:
            continue
        some = {image: captions[:number] for image, captions in references.items()}
        measured = quality.measure(some, best, SERVER, PARSES.parent)
        for index, run in enumerate(runs):
            places = np.arange(index * len(references), (index + 1) * len(references))
            # BLEU-1 to BLEU-4 share their counts.
            counts = {find(f"{metric} c{number}").statistics: values.statistics for metric, values in measured.items()}
            rows += [run.counts("beam", name, references, count[places]) for name, count in counts.items() if name]
            for metric, values in measured.items():
                name = f"{metric} c{number}"
                rows.append(run.corpus("beam", name, values.corpus(places)))
                if METRICS[metric].level == "caption":
                    rows.append(run.scores("beam", name, references, values.per_caption[places]))
    return pa.concat_tables(rows) if rows else SCORES.empty_table()
