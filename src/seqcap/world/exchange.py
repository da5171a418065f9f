"""True captions with one fact exchanged: "a red ball" for "a blue ball". The checker says that the caption is true and
what comes of it is false. A retriever that ranks the one above the other knows that fact."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from seqcap.world.captions import HYPERNYMS
from seqcap.world.checker import check
from seqcap.world.graph import KINDS, Scene, pick
from seqcap.world.words import ENGLISH

TRIES = 4  # phrases that are tried for a fact: some say what is true, too ("on" for "above")


class Table:
    """Phrases of one kind, by what they mean, with how often people choose each.

    Args:
        phrases: meaning -> its phrases, words joined by spaces -> their weights.
    """

    def __init__(self, phrases: Mapping[str, Mapping[str, float]]) -> None:
        self.phrases = phrases
        self._by_first: dict[str, list[tuple[list[str], str]]] = {}
        for meaning, texts in phrases.items():
            for text in texts:
                words = text.split()
                self._by_first.setdefault(words[0], []).append((words, meaning))
        for options in self._by_first.values():
            options.sort(key=lambda option: -len(option[0]))

    def places(self, words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
        """Where a caption has a phrase: its first word, the word after it, its meaning; the longest at each word."""
        for start, word in enumerate(words):
            for phrase, meaning in self._by_first.get(word, ()):
                end = start + len(phrase)
                if list(words[start:end]) == phrase:
                    yield start, end, meaning
                    break

    def other(self, meaning: str, rng: np.random.Generator) -> list[str]:
        """The words of a phrase of another meaning."""
        phrases = self.phrases[pick(rng, [other for other in self.phrases if other != meaning])]
        return pick(rng, list(phrases), list(phrases.values())).split()


def _nouns(kinds: Iterable[str], plural: bool) -> Table:
    table = ENGLISH["nouns"]
    return Table({kind: {forms.split()[plural]: weight for forms, weight in table[kind].items()} for kind in kinds})


# People are exchanged for people, animals for animals, things for things: nobody needs to see a picture of a sleeping
# car to know that it is wrong.
_ALIKE = [*HYPERNYMS.values(), frozenset(KINDS).difference(*HYPERNYMS.values())]
# Kind of a fact -> its phrases.
TABLES: Mapping[str, Sequence[Table]] = {
    "object": [_nouns(sorted(kinds), plural) for kinds in _ALIKE for plural in (False, True)],
    "number": [Table({str(number): {word: 1} for word, number in ENGLISH["numbers"].items()})],
    "colour": [Table(ENGLISH["colours"])],
    "size": [Table(ENGLISH["sizes"]), Table(ENGLISH["person_sizes"])],
    "texture": [Table(ENGLISH["textures"]), Table(ENGLISH["marks"])],
    # Few things fly.
    "action": [Table({action: texts for action, texts in ENGLISH["participles"].items() if action != "flying"})],
    "relation": [Table(ENGLISH["relations"])],
    "background": [Table(ENGLISH[name]) for name in ("places", "places_below", "settings")],
}


def exchange(words: Sequence[str], scene: Scene, rng: np.random.Generator) -> dict[str, list[str]]:
    """Kind of fact -> a caption's words with one such fact exchanged; without the kinds of which it says nothing. Empty
    if the caption is not true of its scene."""
    original = check(words, scene)
    if original.precision < 1:
        return {}
    found = {}
    for kind, tables in TABLES.items():
        for other in exchanged_words(words, tables, rng):
            verdict = check(other, scene)
            understood = all(statement.kind != "unparsed" for statement in verdict.statements)
            if understood and verdict.precision < 1 and len(verdict.statements) == len(original.statements):
                found[kind] = other
                break
    return found


def exchanged_words(words: Sequence[str], tables: Sequence[Table], rng: np.random.Generator) -> Iterator[list[str]]:
    """A caption's words, `TRIES` times, with another phrase for one of a table's; nothing where it has none."""
    found = [(table, place) for table in tables for place in table.places(words)]
    for _ in range(TRIES if found else 0):
        table, (start, end, meaning) = pick(rng, found)
        yield _with_articles([*words[:start], *table.other(meaning, rng), *words[end:]])


def _with_articles(words: Sequence[str]) -> list[str]:
    """ "a" and "an" as the next word needs them: otherwise they would tell which word was exchanged."""
    pairs = zip(words, [*words[1:], ""], strict=True)
    return [("an" if after[:1] in set("aeiou") else "a") if word in ("a", "an") else word for word, after in pairs]
