"""Decides which statements a caption makes about a scene, and which of them are true."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal

from seqcap.world.graph import CANONICAL, INVERSE, KINDS, MOTIONS, Scene
from seqcap.world.parser import Parsed, Phrase, parse
from seqcap.world.words import ENGLISH

StatementKind = Literal["object", "count", "attribute", "action", "motion", "relation", "background", "unparsed"]


@dataclass(frozen=True)
class Statement:
    """A statement of a caption, and whether it is true of the scene.

    Attributes:
        kind: what it is about, such as an object or what it does.
        text: what it says, in a few words.
        true: whether it holds in the scene.
        facts: the `Scene.facts` that it tells if it is true.
    """

    kind: StatementKind
    text: str
    true: bool
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What a caption says about its scene. A true statement may tell no fact: "an animal" does not tell that it is a
    dog.

    Attributes:
        statements: distinct ones.
        facts: those of `Scene.facts` that the true statements tell.
        total_facts: how many facts the scene has.
    """

    statements: tuple[Statement, ...]
    facts: frozenset[str]
    total_facts: int

    @property
    def precision(self) -> float:
        """True statements / statements; 0 without statements."""
        true = sum(statement.true for statement in self.statements)
        return true / len(self.statements) if self.statements else 0.0

    @property
    def recall(self) -> float:
        """Facts told / facts of the scene."""
        return len(self.facts) / self.total_facts

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where both are."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def recall_of_set(verdicts: Sequence[Verdict]) -> float:
    """The share of a scene's facts that its captions, at least one, tell together."""
    return len(frozenset[str]().union(*(verdict.facts for verdict in verdicts))) / verdicts[0].total_facts


def check(tokens: Sequence[str], scene: Scene) -> Verdict:
    """Judges a caption (words without end marks) of a scene, or of a clip, where relations must hold throughout.

    Each phrase stands for one object of its kind (a plural phrase for several), and no object belongs to two phrases.
    Of all such assignments, the best makes the most statements true; ties go to the one that tells the most facts,
    then to the first in the order of the objects. What is said of a phrase must be true of its object; without an
    object, nothing is true. A number is right if there are so many things of the kind, or so many that fit the whole
    phrase ("two red balls"). A maximal run of words that cannot be parsed, such as "<unk>", is one false statement.
    """
    parsed = parse(tuple(tokens))
    judgements = (_judge(parsed, scene, assignment) for assignment in _assignments(parsed, scene))
    best = max(judgements, key=lambda found: (sum(statement.true for statement in found), len(_facts(found))))
    unparsed = (Statement("unparsed", text, False) for text in parsed.unparsed)
    return Verdict((*best, *unparsed), _facts(best), len(scene.facts))


def _facts(statements: Iterable[Statement]) -> frozenset[str]:
    return frozenset(chain.from_iterable(statement.facts for statement in statements if statement.true))


_Objects = tuple[int, ...]


def _assignments(parsed: Parsed, scene: Scene) -> Iterable[tuple[_Objects, ...]]:
    """All assignments of objects to phrases, no object twice. A phrase has none, (), only if none fits it, or if
    another phrase may need the object."""
    phrases = parsed.phrases
    options: list[list[_Objects]] = []
    for phrase in phrases:
        fitting = [i for i, thing in enumerate(scene.objects) if thing.kind in phrase.kinds]
        least = min(phrase.number or 2, len(fitting))
        most = least if phrase.number else len(fitting)
        sizes = range(least, most + 1) if fitting else ()
        choices = [group for size in sizes for group in combinations(fitting, size)]
        if not choices or any(other is not phrase and other.kinds & phrase.kinds for other in phrases):
            choices.append(())
        options.append(choices)
    # Phrases that say the same are interchangeable: one order of them is enough.
    twins = [
        next((j for j in range(i - 1, -1, -1) if not (phrases[j].related or p.related) and phrases[j].key == p.key), -1)
        for i, p in enumerate(phrases)
    ]
    chosen: list[_Objects] = []

    def extend(used: frozenset[int]) -> Iterable[tuple[_Objects, ...]]:
        i = len(chosen)
        if i == len(phrases):
            yield tuple(chosen)
            return
        for choice in options[i]:
            if not used.isdisjoint(choice):
                continue
            if twins[i] >= 0 and choice and (not chosen[twins[i]] or chosen[twins[i]] > choice):
                continue
            chosen.append(choice)
            yield from extend(used.union(choice))
            chosen.pop()

    return extend(frozenset())


def _judge(parsed: Parsed, scene: Scene, assignment: tuple[_Objects, ...]) -> list[Statement]:
    judged: list[Statement] = []
    for phrase, objects in zip(parsed.phrases, assignment, strict=True):
        noun, things = phrase.noun, [scene.objects[i] for i in objects]
        named = tuple(f"object:{i}" for i in objects) if noun in KINDS else ()
        judged.append(Statement("object", noun, bool(objects), named))
        for name, value in phrase.attributes:
            holds = bool(things) and all(getattr(thing, name) == value for thing in things)
            judged.append(Statement("attribute", f"{value} {noun}", holds, tuple(f"{name}:{i}" for i in objects)))
        for action in phrase.actions:
            told = [fact for i in objects if (fact := scene.does(i, action)) is not None]
            holds = bool(things) and len(told) == len(things)
            kind: StatementKind = "motion" if action in MOTIONS else "action"
            judged.append(Statement(kind, f"{noun} {action.replace('_', ' ')}", holds, tuple(told)))
        if phrase.number != 1:
            judged.append(_judge_number(phrase, objects, scene))
    seen: set[tuple[str, _Objects | int, _Objects | int]] = set()
    for name, subject, other in parsed.relations:
        key = (name, assignment[subject] or subject, assignment[other] or other)
        if name in INVERSE and name not in CANONICAL:
            key = (INVERSE[name], key[2], key[1])
        elif name == "next_to" and str(key[1]) > str(key[2]):
            key = (name, key[2], key[1])
        if key in seen:
            continue
        seen.add(key)
        pairs = [(i, j) for i in assignment[subject] for j in assignment[other]]
        holds = bool(pairs) and all(name in scene.relations[pair] for pair in pairs)
        told = [fact for pair in pairs if (fact := scene.relation_fact(name, *pair)) is not None]
        text = f"{parsed.phrases[subject].noun} {name.replace('_', ' ')} {parsed.phrases[other].noun}"
        judged.append(Statement("relation", text, holds, tuple(told)))
    for place in parsed.backgrounds:
        holds = place in (scene.background, *ENGLISH["weather"][scene.background])
        judged.append(Statement("background", place, holds, ("background",) if place == scene.background else ()))
    return judged


def _judge_number(phrase: Phrase, objects: _Objects, scene: Scene) -> Statement:
    of_kind = [(i, thing) for i, thing in enumerate(scene.objects) if thing.kind in phrase.kinds]
    fitting = [
        i
        for i, thing in of_kind
        if all(getattr(thing, name) == value for name, value in phrase.attributes)
        and all(scene.does(i, action) for action in phrase.actions)
    ]
    if phrase.number == 0:
        return Statement("count", f"several {phrase.noun}", len(objects) > 1, ())
    exact = len(of_kind) == phrase.number
    holds = len(objects) == phrase.number and (exact or len(fitting) == phrase.number)
    facts = (f"count:{phrase.noun}",) if holds and exact and phrase.noun in KINDS else ()
    return Statement("count", f"{phrase.number} {phrase.noun}", holds, facts)
