"""METEOR's paraphrases of the image task's vocabulary -> artifacts/image/paraphrases.parquet."""

from seqcap.artifacts import PARAPHRASES, write_table
from seqcap.data.vocabulary import SPECIALS, Vocabulary
from seqcap.errors import one_line_errors
from seqcap.rewards.meteor_resources import filter_paraphrases

if __name__ == "__main__":
    with one_line_errors():
        words = Vocabulary.read("artifacts/image/data/vocabulary.json").words[len(SPECIALS) :]
        write_table("artifacts/image/paraphrases.parquet", filter_paraphrases(words), PARAPHRASES)
