"""Chooses the epoch with the best translations."""

from __future__ import annotations

from seqcap.config.training import TrainingRun
from seqcap.metrics.quality import measure
from seqcap.tasks.base import Ids, Split, Task
from seqcap.tasks.sentences import SentenceSplit
from seqcap.training.validation import Criteria


def criteria(task: Task, run: TrainingRun, validation: Split) -> Criteria:
    """Corpus BLEU-4 of words, as in evaluation, whatever the reward."""
    assert isinstance(validation, SentenceSplit)
    references = {row: [words] for row, words in enumerate(validation.words)}

    def corpus_bleu(captions: Ids) -> float:
        said = [(row, task.words(ids)) for row, ids in enumerate(captions.tolist())]
        return measure(references, said, ["BLEU4"])["BLEU4"].corpus()

    return Criteria({"val_bleu": corpus_bleu}, decisive="val_bleu")
