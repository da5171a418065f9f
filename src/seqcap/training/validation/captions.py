"""Chooses the epoch with the best captions of images."""

import numpy as np

from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.mixture import Metric, Mixture, RewardInputs
from seqcap.tasks.base import Split, Task
from seqcap.training.run import TrainingRun
from seqcap.training.validation import Criteria, Criterion


def criteria(task: Task, run: TrainingRun, validation: Split) -> Criteria:
    """Scores as in evaluation: EOS is not a token, document frequencies are the split's. A run with a reward keeps the
    epoch with the highest reward, other runs the one with the highest CIDEr."""
    vocabulary = task.vocabulary
    inputs = RewardInputs(validation.references, vocabulary.scored_words, run.reads.get("paraphrases"), eos=False)
    measured = {"val_cider": _mean(vocabulary.in_words(CiderD(inputs.plain)))}
    if run.reward in ({}, {"cider": 1.0}):
        return Criteria(measured, decisive="val_cider")
    measured["val_reward"] = _mean(vocabulary.in_words(Mixture(run.reward, inputs)))
    return Criteria(measured, decisive="val_reward")


def _mean(metric: Metric) -> Criterion:
    return lambda captions: float(metric.score(captions, np.arange(len(captions))).mean())
