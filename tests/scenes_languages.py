"""For the tests of scenes and their languages: objects, sentences whose wording is dictated, plans, tables."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from ruamel.yaml import YAML

from seqcap.world.captions import DETAILS, Mention, Plan, plan
from seqcap.world.grammar import Grammar
from seqcap.world.graph import ACTIONS, COLOURS, SIZES, TEXTURES, Scene, SceneObject, pick, sample
from seqcap.world.wording import Wording, fit
from seqcap.world.words import ENGLISH


def table(name: str) -> Any:
    """A file of tests/world."""
    return YAML(typ="safe").load((Path(__file__).parent / "world" / name).read_text(encoding="utf-8"))


def digests(folder: Path) -> dict[str, str]:
    """The hash of every file."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def thing(
    kind: Any,
    left: int,
    top: int,
    width: int,
    height: int,
    *,
    colour: Any = "red",
    size: Any = "medium",
    texture: Any = "plain",
    action: Any = None,
    flip: bool = False,
) -> SceneObject:
    return SceneObject(kind, colour, size, texture, action, left, top, width, height, flip)


def written_scene(scene: Mapping[str, Any]) -> Scene:
    """A scene as the files of tests/world have it."""
    things = (thing(*rest.pop("thing"), **rest) for rest in map(dict, scene["objects"]))
    return Scene(scene["background"], tuple(things))


class _Fixed:
    def __init__(self, point: float) -> None:
        self.point = point

    def random(self) -> float:
        return self.point

    def integers(self, high: int) -> int:
        return high - 1


class Dictated(Wording):
    """Answers questions as `said`: by a word, or by the number that is drawn; else the plainest answer there is.

    A question about one mention is named with its objects ("noun (1,)") or without.
    """

    def __init__(self, what: Plan, said: Mapping[str, Any]) -> None:
        def answer(about: str) -> np.random.Generator:
            return cast("np.random.Generator", _Fixed(self._said(about, 0.99)))

        super().__init__(what, answer)
        self.said = said

    def _said(self, about: str, otherwise: Any) -> Any:
        return self.said.get(about, self.said.get(about.partition(" (")[0], otherwise))

    def opening(self) -> Any:
        return self.said.get("opening", "sentence")

    def order(self, relation: str, finite: bool) -> Any:
        return self.said.get("order", "plain")

    def choose(self, about: str, weights: Mapping[str, float]) -> str:
        first = next(iter(weights))
        word = str(self._said(about, first))
        # Nouns are chosen as "puppy puppies".
        return next((choice for choice in weights if word in (choice, choice.split()[0])), first)


def dictate(grammar: type[Grammar], what: str, said: Mapping[str, Any]) -> str:
    """The sentence that says a `planned` plan in the words of `said`."""
    made = planned(what)
    return " ".join(grammar(made, Dictated(made, said)).tokens())


def planned(text: str) -> Plan:
    """ "2 small red dog, cat | next_to | beach": mentions, the relation of the first two, and the background."""
    mentions, relation, background, *_ = [part.strip() for part in f"{text} | | ".split("|")]
    found: list[Mention] = []
    for phrase in mentions.split(", "):
        *words, noun = phrase.split()
        number = int(words.pop(0)) if words and words[0].isdigit() else 1
        start = sum(len(mention.objects) for mention in found)
        values: dict[str, Any] = {}
        for word in words:
            kinds = {"colour": COLOURS, "size": SIZES, "texture": TEXTURES, "action": {*sum(ACTIONS.values(), ())}}
            values[next(kind for kind, allowed in kinds.items() if word in allowed)] = word
        found.append(Mention(cast("Any", noun), tuple(range(start, start + number)), **values))
    return Plan(tuple(found), relation or None, cast("Any", background or None))


def plans(count: int) -> list[Plan]:
    """Plans of random scenes, at all levels of detail."""
    return [_plan(number) for number in range(count)]


@cache
def _plan(number: int) -> Plan:
    rng = np.random.default_rng([8, number])
    return plan(sample(rng), pick(rng, DETAILS), 0.05, rng)


def sentences(grammar: type[Grammar], count: int) -> list[tuple[Plan, list[str]]]:
    """Plans, and what a language says of them."""

    def say(number: int, what: Plan) -> list[str]:
        rng = np.random.default_rng([1, number])
        return fit(lambda plan: [grammar.sentence(plan, lambda about: rng)], what)[0]

    return [(what, say(number, what)) for number, what in enumerate(plans(count))]


def english_words(*names: str) -> set[str]:
    """All words or phrases of some of English's tables, at any depth."""

    def inside(value: Any) -> set[str]:
        if isinstance(value, Mapping) and any(isinstance(part, Mapping) for part in value.values()):
            return set().union(*map(inside, value.values()))
        return set(value)

    return set().union(*(inside(ENGLISH[name]) for name in names))
