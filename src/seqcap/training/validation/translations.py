"""Chooses the epoch with the best translations."""

import numpy as np

from seqcap.data.vocabulary import PAD, SPECIALS
from seqcap.rewards.bleu import Bleu
from seqcap.rewards.corpus import bleu_from_statistics
from seqcap.rewards.sequences import References
from seqcap.tasks.base import Ids, Split, Task
from seqcap.tasks.sentences import SentenceSplit
from seqcap.training.run import TrainingRun
from seqcap.training.validation import Criteria


def criteria(task: Task, run: TrainingRun, validation: Split) -> Criteria:
    """Corpus BLEU-4 of words, as in evaluation, whatever the reward."""
    assert isinstance(validation, SentenceSplit)
    ids: dict[str, int] = {}

    def encode(words: list[str]) -> list[int]:
        return [ids.setdefault(word, len(SPECIALS) + len(ids)) for word in words]

    bleu = Bleu(References([[encode(words)] for words in validation.words], eos=False))
    other = len(SPECIALS) + len(ids)

    def corpus_bleu(captions: Ids) -> float:
        hypotheses = [[ids.get(word, other) for word in task.words(row)] for row in captions.tolist()]
        padded = np.full((len(hypotheses), max(map(len, hypotheses)) + 1), PAD)
        for row, hypothesis in zip(padded, hypotheses, strict=True):
            row[: len(hypothesis)] = hypothesis
        statistics = bleu.statistics(padded, np.arange(len(padded)))
        return float(bleu_from_statistics(statistics.sum(0))[3])

    return Criteria({"val_bleu": corpus_bleu}, decisive="val_bleu")
