"""The scenes that a caption is true of: how well it tells its scene from others, without a retriever.

A caption is true of a scene if it says something about it and all of that is true, as in `checker.check`. To check
each caption against each scene would take hours. Here a set of scenes is one whole number, whose bit n stands for the
n-th scene, and a caption's scenes are intersections and unions of such sets.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, product
from operator import and_, or_

from seqcap.world.graph import MAX_OBJECTS, Scene
from seqcap.world.parser import Parsed, Phrase, Words, parse
from seqcap.world.words import ENGLISH

_OBJECTS = range(MAX_OBJECTS)
_Scenes = int  # a set of scenes
_ByObject = list[_Scenes]  # for each object number, the set of scenes in which something is true of that object
# Objects that a phrase may stand for, and the scenes in which all that it says of them is true.
_Option = tuple[tuple[int, ...], _Scenes]


class Matcher:
    """Finds the scenes that captions are true of, and caches them.

    Args:
        scenes: the scenes to tell apart, by item; at least one.
    """

    def __init__(self, scenes: Mapping[int, Scene]) -> None:
        self._numbers = {item: n for n, item in enumerate(scenes)}
        self._all: _Scenes = (1 << len(scenes)) - 1
        # By (attribute, value); "kind" and "action" are attributes, too.
        self._looks: dict[tuple[str, str], _ByObject] = defaultdict(lambda: [0] * MAX_OBJECTS)
        self._relations: dict[tuple[str, int, int], _Scenes] = defaultdict(int)
        self._places: dict[str, _Scenes] = defaultdict(int)
        self._found: dict[Words, _Scenes] = {}
        for n, scene in enumerate(scenes.values()):
            bit = 1 << n
            for i, thing in enumerate(scene.objects):
                for name in ("kind", "colour", "size", "texture", "action"):
                    self._looks[name, getattr(thing, name)][i] |= bit
            for (i, j), names in scene.relations.items():
                for name in names:
                    self._relations[name, i, j] |= bit
            for place in (scene.background, *ENGLISH["weather"][scene.background]):
                self._places[place] |= bit

    def measures(self, item: int, tokens: Sequence[str]) -> dict[str, float]:
        """How well a caption, words without end marks, tells its scene, that of `item`, from the others.

        `true_of_own`: 1 if it is true of its scene, else 0; `alone`: 1 if it is true of its scene only, else 0; `bits`:
        log2(N / number of scenes that it is true of) out of N scenes, 0 if it is not true of its own; `literal_R@K`:
        how often a listener who believes every word, and ranks the scenes that it is true of first, in random order,
        has its scene among the first K; `unparsed`: statements that cannot be understood.
        """
        words = tuple(tokens)
        found = self._true_of(words)
        number, own = found.bit_count(), bool(found >> self._numbers[item] & 1)
        return {
            "true_of_own": float(own),
            "alone": float(own and number == 1),
            "bits": math.log2(len(self._numbers) / number) if own else 0.0,
            **{f"literal_R@{k}": min(1.0, k / number) if own else 0.0 for k in (1, 5, 10)},
            "unparsed": float(len(parse(words).unparsed)),
        }

    def _true_of(self, words: Words) -> _Scenes:
        if words not in self._found:
            self._found[words] = self._search(parse(words))
        return self._found[words]

    def _search(self, parsed: Parsed) -> _Scenes:
        """The scenes in which some assignment of objects to phrases makes all statements true. `check` takes such a
        one: all assignments have the same number of statements, since no two phrases share an object."""
        if parsed.unparsed or not (parsed.phrases or parsed.backgrounds):
            return 0
        scenes = reduce(and_, (self._places[place] for place in parsed.backgrounds), self._all)
        return self._assign(parsed, [list(self._options(phrase)) for phrase in parsed.phrases], (), scenes)

    def _assign(
        self, parsed: Parsed, options: list[list[_Option]], chosen: tuple[tuple[int, ...], ...], scenes: _Scenes
    ) -> _Scenes:
        """Those of `scenes` in which the phrases after the `chosen` ones can have objects, no object twice."""
        here = len(chosen)
        if here == len(options):
            return scenes
        found = 0
        for objects, holds in options[here]:
            left = scenes & holds
            if not left or any(not set(objects).isdisjoint(other) for other in chosen):
                continue
            longer = (*chosen, objects)
            for name, subject, other in parsed.relations:
                if max(subject, other) == here:
                    for i, j in product(longer[subject], longer[other]):
                        left &= self._relations[name, i, j]
            found |= self._assign(parsed, options, longer, left)
        return found

    def _options(self, phrase: Phrase) -> Iterator[_Option]:
        """The choices of objects for which all that a phrase says is true in some scene. A number is right if exactly
        so many things fit the phrase, or if exactly so many are of the kind and all fit. A bare plural needs two."""
        looks = [*phrase.attributes, *(("action", action) for action in phrase.actions)]
        of_kind = [reduce(or_, (self._looks["kind", kind][i] for kind in phrase.kinds)) for i in _OBJECTS]
        fitting = [reduce(and_, (self._looks[look][i] for look in looks), of_kind[i]) for i in _OBJECTS]
        possible = _exactly(phrase.number, fitting) if phrase.number > 1 else self._all
        for objects in combinations(_OBJECTS, phrase.number or 2):
            scenes = reduce(and_, (fitting[i] for i in objects), possible)
            if scenes:
                yield objects, scenes


def _exactly(number: int, scenes: _ByObject) -> _Scenes:
    found = 0
    for objects in combinations(_OBJECTS, number):
        among = reduce(and_, (scenes[i] for i in objects), -1)
        others = reduce(or_, (scenes[i] for i in _OBJECTS if i not in objects), 0)
        found |= among & ~others
    return found
