"""English sentences."""

from collections.abc import Sequence

import numpy as np

from seqcap.world.captions import DETAILS, DetailWeights, Mention, Plan, plan
from seqcap.world.grammar import SubjectFirst, joined
from seqcap.world.graph import Scene, pick
from seqcap.world.motion import PASSING
from seqcap.world.wording import fit
from seqcap.world.words import ENGLISH, PEOPLE, UNCOUNTED, finite_form


def realise(what: Plan, rng: np.random.Generator) -> list[str]:
    """Says a plan in one English sentence of at most `wording.MAX_WORDS` lower-case words: if it needs more, in other
    words, then without its least important statements."""
    return fit(lambda plan: [English.sentence(plan, lambda about: rng)], what)[0]


def annotate(scene: Scene, detail: DetailWeights, wrong_colours: float, rng: np.random.Generator) -> list[str]:
    """The words of one annotator's caption of a scene or a clip. `detail`: the ratio of generic : medium : detailed
    captions; `wrong_colours`: the probability that a colour is named wrong."""
    return realise(plan(scene, pick(rng, DETAILS, detail), wrong_colours, rng), rng)


class English(SubjectFirst):
    """English sentences about scenes and clips."""

    comma = ""

    def tokens(self) -> list[str]:
        words = super().tokens()
        return [
            "an" if word == "a" and following[:1] in set("aeiou") else word
            for word, following in zip(words, [*words[1:], ""], strict=True)
        ]

    def say(self, table: str, word: str) -> str:
        return word

    def there(self, mention: Mention) -> str:
        there = self.wording.there()
        return self.there_is(mention) if there == "there is" else there

    def there_is(self, mention: Mention) -> str:
        return f"there {self.copula(mention)}"

    def copula(self, mention: Mention) -> str:
        return "are" if mention.plural else "is"

    def toward(self, subject: Mention, relation: str, finite: bool) -> str:
        if relation in PASSING and finite and subject.action is None and self.wording.simple(subject):
            # "a dog passes behind"
            verb = finite_form(self.wording.relation(relation), subject.plural)
            return f"{self.noun_phrase(subject)} {verb}"
        return super().toward(subject, relation, finite)

    def finite_verb(self, subjects: Sequence[Mention]) -> str:
        mention = subjects[0]
        plural = len(subjects) > 1 or mention.plural
        is_simple, participle = self.wording.simple(mention), self.wording.participle(mention)
        simple = finite_form(participle, plural) if is_simple else None
        return simple or f"{'are' if plural else 'is'} {participle}"

    def loose_verb(self, mention: Mention, subject: str) -> str:
        return self.wording.participle(mention)

    def beside(self, host: Mention, relation: str, takes_pronoun: bool) -> str:
        if not takes_pronoun:
            return relation
        pronoun = ENGLISH["pronouns"].get(host.noun, "it") if len(host.objects) == 1 else "them"
        return f"{relation} {pronoun}"

    def noun_phrase(self, mention: Mention, with_action: bool = False) -> str:
        person = mention.noun in PEOPLE
        words = [self.wording.determiner(mention), self.wording.opinion(mention) or ""]
        if mention.size is not None:
            words.append(self.wording.size(mention))
        action = mention.action if with_action else None
        clause = action is not None and self.wording.relative(mention)
        if action is not None and not clause:
            words.append(self.wording.attribute(mention))
        adjectives, tail = ([], self._clothes(mention)) if person else self.look(mention)
        words += [*adjectives, self.wording.noun(mention)[mention.plural], tail]
        if clause:
            words += ["who" if person else "that", self.copula(mention), self.wording.participle(mention)]
        return joined(*words)

    def _clothes(self, mention: Mention) -> str:
        clothes = self.wording.clothes(mention)
        if clothes is None:
            return ""
        bare = clothes.garment is None or clothes.garment in UNCOUNTED or mention.plural
        words = (clothes.manner, "" if bare else "a", clothes.texture, clothes.colour, clothes.garment)
        return joined(*(word for word in words if word))
