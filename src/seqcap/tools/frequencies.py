"""`seqcap frequencies`: the document frequencies of references in files, kept for CIDEr of other images."""

from collections.abc import Sequence
from pathlib import Path

from seqcap.files.writing import check_output
from seqcap.metrics.files import read_references, words_of
from seqcap.rewards.frequencies import DocumentFrequencies
from seqcap.tools.systems import TEST_SPLIT


def count(references: Sequence[Path], split: str | None, out: Path) -> str:
    """Writes the document frequencies of all images of the references; returns what was counted. InputError as
    `read_references`, or if `out` cannot be written."""
    check_output(out, read=references)
    known = read_references(references, split or TEST_SPLIT)
    words = [[words_of(text, references[0], image) for text in known[image]] for image in known]
    counted = DocumentFrequencies.of_tokens(words)
    counted.write(out)
    return f"{out}: {len(counted):,} n-grams of {counted.images:,} images"
