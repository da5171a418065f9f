"""METEOR's paraphrases of a task's words: `paraphrases.py <task>` -> artifacts/words/<task>/paraphrases.parquet."""

import sys

from seqcap.config.data import WordsConfig
from seqcap.data.vocabulary import SPECIALS, Vocabulary
from seqcap.errors import one_line_errors
from seqcap.files.parquet import write_table
from seqcap.files.schemas import PARAPHRASES, VOCABULARY
from seqcap.rewards.meteor_resources import filter_paraphrases
from seqcap.system.scratch import alone
from seqcap.tasks import ARTIFACTS

if __name__ == "__main__":
    with one_line_errors(), alone(f"paraphrases-{sys.argv[1]}"):
        task = WordsConfig.read("paraphrases", sys.argv[1]).task
        words = Vocabulary.read(ARTIFACTS / task / "data" / VOCABULARY).words[len(SPECIALS) :]
        write_table(ARTIFACTS / f"words/{task}/paraphrases.parquet", filter_paraphrases(words), PARAPHRASES)
