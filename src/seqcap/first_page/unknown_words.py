"""Unknown words in the captions of results that were decoded before decoding left them out: what they lose is not an
objective's alone."""

import gzip
import json
from pathlib import Path

from seqcap.data.vocabulary import SPECIALS, UNK
from seqcap.report.summary import RESULTS

_CAPTIONS = "captions"  # `seqcap.report.caption_files` writes it; to import that takes seconds
_WORD = SPECIALS[UNK]
_FEW = 1.0  # captions in a hundred, of which nothing is said


def share(folder: Path) -> float:
    """In how many of a hundred best captions of a beam there is an unknown word, by the published captions in a folder
    of results: of the run that has most; 0 without such captions."""
    files = (folder / RESULTS / _CAPTIONS).glob("*_beam.json.gz")
    return max(map(_share, files), default=0.0)


def in_words(folder: Path) -> str:
    """ "up to 64 of a hundred texts have unknown words ([older decoding](#limits))"; "" of few."""
    most = share(folder)
    return f"up to {most:.0f} of a hundred texts have unknown words ([older decoding](#limits))" * (most >= _FEW)


def _share(path: Path) -> float:
    captions = [caption["caption"].split() for caption in json.loads(gzip.decompress(path.read_bytes()))]
    return 100 * sum(_WORD in words for words in captions) / len(captions)
