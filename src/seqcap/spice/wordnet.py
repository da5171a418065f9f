"""METEOR 1.5's WordNet, from the installed pycocoevalcap: which words share a meaning, inflected forms included."""

import importlib.util
import zipfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from seqcap.errors import InputError

INSTALL = "install pycocoevalcap 1.2: pip install 'seqcap[meteor]'"
# WordNet's rules of detachment for nouns, verbs and adjectives; the first that gives a known word counts.
ENDINGS = [
    *[("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man")],
    *[("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    *[("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
]


class WordNet(NamedTuple):
    """Which words share a meaning.

    Attributes:
        synsets: word -> the numbers of its synsets, separated by spaces.
        exceptions: irregular form -> its base forms.
    """

    synsets: dict[str, str]
    exceptions: dict[str, list[str]]

    def find_synsets(self, word: str) -> set[int]:
        """Synsets of a lower-case word and of its base forms: irregular ones, else by detaching an ending."""
        known = [self.synsets.get(form, "") for form in (word, *self._bases(word))]
        return {int(number) for numbers in known for number in numbers.split()}

    def _bases(self, word: str) -> list[str]:
        if word in self.exceptions:
            return self.exceptions[word]
        if len(word) > 2 and not word.endswith("ss"):
            for ending, replacement in ENDINGS:
                if word.endswith(ending) and (base := word.removesuffix(ending) + replacement) in self.synsets:
                    return [base]
        return []


@cache
def wordnet() -> WordNet:
    """METEOR's WordNet, read once per process (0.2 s); errors as in `read_lists`."""
    synsets, inflected = read_lists("synonym/english.synsets", "synonym/english.exceptions")
    exceptions: dict[str, list[str]] = {}
    for base, forms in zip(inflected[::2], inflected[1::2], strict=False):
        for form in forms.split():
            exceptions.setdefault(form, []).append(base)
    return WordNet(dict(zip(synsets[::2], synsets[1::2], strict=False)), exceptions)


def read_lists(*names: str) -> list[list[str]]:
    """The lines of word lists in METEOR's jar; InputError if the jar is missing or damaged, or lacks a list."""
    jar = meteor_file("meteor-1.5.jar")
    try:
        with zipfile.ZipFile(jar) as archive:
            return [archive.read(name).decode().split("\n") for name in names]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(jar, f"cannot be read ({error})", f"re-{INSTALL}") from None


def meteor_file(name: str) -> Path:
    """Path of a file in pycocoevalcap's METEOR folder; InputError if it is not installed."""
    package = importlib.util.find_spec("pycocoevalcap")
    for root in (package.submodule_search_locations or []) if package else []:
        path = Path(root) / "meteor" / name
        if path.is_file():
            return path
    raise InputError(name, "is not installed", INSTALL)
