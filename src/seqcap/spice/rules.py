"""Rules from a dependency parse to scene-graph tuples.
They follow Schuster, Krishna, Chang, Fei-Fei and Manning, "Generating semantically precise scene graphs from textual
descriptions" (VL 2015, section 3: quantifiers, pronouns, then patterns over the dependencies), with SPICE's changes
(Anderson et al., ECCV 2016, section 3.1): numbers are attributes and plurals are not copied, every noun is an object,
and a verb without an object is an attribute, as in their figure 1."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from seqcap.spice.matching import Tuples

VERSION = 1  # part of the parser's version. Raise it when the rules change, so that old parses are not used.


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# "a lot of dogs" means dogs (Schuster et al., section 3.2.1).
QUANTITIES = word_set(
    "assortment bit both bunch couple dozen dozens handful hundreds kind lot lots multitude number pair pairs "
    "plenty plethora series some sort thousands ton tons type variety"
)
# "in front of" and "to the left of" are relations; their nouns are not objects.
PLACES = word_set("bottom center centre front left middle midst right top")
ADVERBS = word_set("across adjacent ahead along atop away close inside left near nearby next out outside right")
MALE = word_set("batter boy brother catcher dad father gentleman groom guy he husband king male man son")
FEMALE = word_set("bride daughter female girl grandmother lady mom mother queen she sister wife woman")
PEOPLE = (
    MALE
    | FEMALE
    | word_set(
        "adult baby child cyclist driver individual kid people person pitcher player rider skateboarder skier "
        "snowboarder someone student surfer swimmer teenager toddler worker"
    )
)
PRONOUNS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "male"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "female"),
    **dict.fromkeys(("it", "its", "itself"), "thing"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves"), "several"),
}
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
PLURALS = frozenset({"NNS", "NNPS"})
RELATIVES = frozenset({"WDT", "WP", "WP$"})
MODIFIERS = frozenset({"compound", "nmod"})
OBJECTS = frozenset({"dobj", "dative", "attr"})
# A word with one of these relations and no subject shares its head's subject.
SHARED = word_set("acl acomp advcl advmod agent amod ccomp conj oprd pcomp prep prt relcl xcomp")


class Token(NamedTuple):
    """A word of a parsed sentence.

    Attributes:
        word: in lower case.
        lemma: its base form.
        tag: Penn Treebank part of speech.
        relation: dependency label of spaCy's English models (ClearNLP's).
        head: index of the head; a root is its own head.
    """

    word: str
    lemma: str
    tag: str
    relation: str
    head: int


def tuples(tokens: Sequence[Token]) -> Tuples:
    """The distinct objects, attributes and relations of one parsed caption, each in the order of the words."""
    return _Parse(tokens).tuples()


class _Parse:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.children: list[list[int]] = [[] for _ in tokens]
        for i, token in enumerate(tokens):
            if token.head != i:
                self.children[token.head].append(i)
        self.is_object = [self._is_object(i) for i in range(len(tokens))]

    def tuples(self) -> Tuples:
        tokens, lemma = self.tokens, [token.lemma for token in self.tokens]
        objects = [(lemma[i],) for i in range(len(tokens)) if self.is_object[i]]
        attributes: list[tuple[str, ...]] = []
        relations: list[tuple[str, ...]] = []
        for i, token in enumerate(tokens):
            if token.relation == "prep" or (token.relation == "dative" and token.tag in ("IN", "TO")):
                relations.extend(
                    (lemma[source], relation, lemma[target])
                    for relation, target in self._prepositional(i)
                    for source in self._subjects(token.head)
                    if source != target
                )
            elif token.tag in NOUNS and token.relation in MODIFIERS:
                attributes.extend((lemma[o], token.lemma) for o in self._noun(token.head))
            elif token.relation == "poss":
                relations.extend(
                    (lemma[owner], "have", lemma[o]) for owner in self._nouns(i) for o in self._noun(token.head)
                )
            elif token.relation == "nummod":
                attributes.extend((lemma[o], token.lemma) for o in self._noun(token.head))
            elif self._is_adjective(i):
                attributes.extend((lemma[o], token.lemma) for o in self._subjects(i))
            elif token.tag[:2] == "VB" and token.relation not in ("aux", "auxpass"):
                self._verb(i, attributes, relations)
        return tuple(dict.fromkeys([*objects, *attributes, *relations]))

    def _is_object(self, i: int) -> bool:
        token = self.tokens[i]
        if token.tag not in NOUNS or not any(letter.isalnum() for letter in token.word):
            return False
        if token.relation in MODIFIERS and self.tokens[token.head].tag in NOUNS:
            return False
        return not self._counted(i) and not self._is_place(i)

    def _counted(self, i: int) -> list[int]:
        """The nouns that a quantity counts: "dogs" for "lot" in "a lot of dogs"; empty for other words."""
        token = self.tokens[i]
        return self._under_of(i) if token.word in QUANTITIES or token.tag == "CD" else []

    def _is_place(self, i: int) -> bool:
        token = self.tokens[i]
        return token.relation == "pobj" and token.word in PLACES and bool(self._under_of(i))

    def _under_of(self, i: int) -> list[int]:
        return [
            noun
            for child in self._labelled(i, "prep")
            if self.tokens[child].word == "of"
            for noun in self._labelled(child, "pobj")
        ]

    def _labelled(self, i: int, *relations: str) -> list[int]:
        return [child for child in self.children[i] if self.tokens[child].relation in relations]

    def _noun(self, i: int) -> list[int]:
        """The objects that a word stands for: itself, what it counts, its antecedent, or none."""
        token = self.tokens[i]
        if self.is_object[i]:
            return [i]
        if token.tag in NOUNS and token.relation in MODIFIERS:
            return self._noun(token.head)
        if token.word in PRONOUNS:
            return self._antecedent(i)
        if token.tag in RELATIVES:
            while self.tokens[i].relation != "relcl":
                if self.tokens[i].head == i:
                    return []
                i = self.tokens[i].head
            return self._noun(self.tokens[i].head)
        return [noun for counted in self._counted(i) for noun in self._nouns(counted)]

    def _nouns(self, i: int) -> list[int]:
        """The objects of a word and of those joined to it by "and" or "or"."""
        found = self._noun(i)
        for other in self._labelled(i, "conj"):
            if self.tokens[other].tag in NOUNS or self.tokens[other].word in PRONOUNS:
                found = found + self._nouns(other)
        return found

    def _antecedent(self, i: int) -> list[int]:
        """The first object before a pronoun that agrees with it: a caption's topic comes first."""
        kind = PRONOUNS[self.tokens[i].word]
        before = [j for j in range(i) if self.is_object[j]]
        for agrees in _AGREEMENT[kind]:
            for j in before:
                if agrees(self.tokens[j]) or (kind == "several" and self._labelled(j, "conj")):
                    return [j]
        return []

    def _subjects(self, i: int) -> list[int]:
        token = self.tokens[i]
        if token.tag in NOUNS or token.tag in RELATIVES or token.word in PRONOUNS:
            return self._noun(i)
        own = self._labelled(i, "nsubj", "nsubjpass")
        if not own and self._labelled(i, "expl"):
            own = self._labelled(i, *OBJECTS)
        if own:
            return [noun for subject in own for noun in self._nouns(subject)]
        return self._subjects(token.head) if token.relation in SHARED and token.head != i else []

    def _is_adjective(self, i: int) -> bool:
        token = self.tokens[i]
        if token.relation == "conj":
            return token.tag[:2] in ("JJ", "VB") and token.head != i and self._is_adjective(token.head)
        if token.relation not in ("amod", "acomp", "oprd") or self._counted(token.head):
            return False
        return not self._opens_preposition(i)

    def _opens_preposition(self, i: int) -> bool:
        """Whether a word is the first half of a preposition: "next" in "next to", "out" in "out of"."""
        token = self.tokens[i]
        if token.relation == "prep":
            return not self._labelled(i, "pobj", "pcomp")
        return token.word in ADVERBS and token.tag not in NOUNS and bool(self._labelled(i, "prep"))

    def _prepositional(self, i: int) -> Iterator[tuple[str, int]]:
        token = self.tokens[i]
        if token.word == "of" and self._counted(token.head):
            return
        relation = token.word
        if token.head != i and self._opens_preposition(token.head):
            relation = f"{self.tokens[token.head].word} {relation}"
        for pobj in self._labelled(i, "pobj"):
            if self._is_place(pobj):
                for noun in self._under_of(pobj):
                    yield from ((f"{relation} {self.tokens[pobj].word} of", target) for target in self._nouns(noun))
            else:
                yield from ((relation, target) for target in self._nouns(pobj))

    def _verb(self, i: int, attributes: list[tuple[str, ...]], relations: list[tuple[str, ...]]) -> None:
        token, lemma = self.tokens[i], [token.lemma for token in self.tokens]
        if self._opens_preposition(i):
            return
        subjects = self._subjects(i)
        agents = [
            noun
            for by in self._labelled(i, "agent")
            for pobj in self._labelled(by, "pobj")
            for noun in self._nouns(pobj)
        ]
        objects = [noun for child in self._labelled(i, *OBJECTS) for noun in self._nouns(child)]
        if token.relation == "relcl" and not objects and not self._is_passive(i):
            # "the horse that a man rides": the object precedes the clause.
            objects = [noun for noun in self._noun(token.head) if noun not in subjects]
            objects = objects if subjects else []
        relations.extend((lemma[agent], token.lemma, lemma[noun]) for agent in agents for noun in subjects)
        related = [(lemma[s], token.lemma, lemma[o]) for s in subjects for o in objects if s != o]
        relations.extend(related)
        if not agents and not related and token.lemma != "be":
            attributes.extend((lemma[noun], token.lemma) for noun in subjects)

    def _is_passive(self, i: int) -> bool:
        return bool(self._labelled(i, "nsubjpass", "auxpass"))


_AGREEMENT: dict[str, tuple[Callable[[Token], bool], ...]] = {
    "male": (lambda t: t.lemma in PEOPLE - FEMALE, lambda t: t.lemma not in FEMALE),
    "female": (lambda t: t.lemma in PEOPLE - MALE, lambda t: t.lemma not in MALE),
    "thing": (lambda t: t.lemma not in PEOPLE and t.tag not in PLURALS,),
    "several": (lambda t: t.tag in PLURALS or t.lemma == "people", lambda t: t.lemma in PEOPLE),
}
