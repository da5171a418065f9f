"""Plans and English sentences."""

import hashlib
import re

import numpy as np
import pytest

from seqcap.world.captions import DETAILS, Mention, Plan, plan
from seqcap.world.english import realise
from seqcap.world.graph import pick, sample
from seqcap.world.wording import MAX_WORDS
from seqcap.world.words import ENGLISH

OUTDOORS, PICTURES, WEATHER = (ENGLISH[name] for name in ("outdoors", "pictures", "weather"))


DIGEST = "c4df59601a3be17366682a8aa1b86d4e3ac02141c92a05b6cd9a2f2fcf8113ae"


@pytest.fixture(scope="module")
def captions() -> list[list[str]]:
    """As many as a captioner trains on by default."""
    found = []
    for number in range(2000):
        rng = np.random.default_rng([3, number])
        scene = sample(rng)
        found += [realise(plan(scene, pick(rng, DETAILS, (4, 4, 2)), 0.05, rng), rng) for _ in range(5)]
    return found


def test_captions_are_the_same_on_every_machine(captions):
    """Committed results are built on them. Whoever changes scenes, plans or words on purpose changes the digest."""
    assert hashlib.sha256("\n".join(" ".join(tokens) for tokens in captions).encode()).hexdigest() == DIGEST


def test_words_are_plain(captions):
    for tokens in captions:
        assert 2 <= len(tokens) <= MAX_WORDS
        assert all(re.fullmatch("[a-z]+", word) for word in tokens), tokens
        for word, following in zip(tokens, [*tokens[1:], "end"], strict=True):
            assert word != "an" or following[0] in "aeiou", tokens
            assert word != "a" or following[0] not in "aeiou", tokens
            assert word != following, tokens


def test_asides_fit_the_background_and_the_opening():
    man = Mention("man", (0,), colour="red", size="large", action="walking")
    seen = set()
    for number in range(400):
        text = " ".join(realise(Plan((man,), None, "snow"), np.random.default_rng(number)))
        said = {
            phrase
            for table in (OUTDOORS, PICTURES, *WEATHER.values())
            for phrase in table
            if f" {phrase} " in f" {text} "
        }
        seen |= said
        assert said <= {*OUTDOORS, *PICTURES, *WEATHER["snow"]}, text
        assert not said & set(PICTURES) or not text.startswith(tuple(ENGLISH["introductions"])), text
    assert seen == {*OUTDOORS, *PICTURES, *WEATHER["snow"]}


def test_a_bare_mention_says_where():
    scene = sample(np.random.default_rng([9, 1]))
    for number in range(300):
        made = plan(scene, "generic", 0, np.random.default_rng(number))
        first = made.mentions[0]
        assert len(made.mentions) > 1 or first != Mention(first.noun, first.objects) or made.background is not None
