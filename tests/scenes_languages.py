"""For the tests of the scenes' languages: sentences whose wording is dictated, and plans of every sort."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest

from seqcap.world.captions import DETAILS, Mention, Plan, plan
from seqcap.world.english import NOUNS, Draws, Wording
from seqcap.world.graph import pick, sample


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
            return cast(np.random.Generator, _Fixed(self._said(about, 0.99)))

        super().__init__(what, answer)
        self.said = said

    def _said(self, about: str, otherwise: Any) -> Any:
        return self.said.get(about, self.said.get(about.split(" (")[0], otherwise))

    def opening(self) -> Any:
        return self.said.get("opening", "sentence")

    def order(self, relation: str, finite: bool) -> Any:
        return self.said.get("order", "plain")

    def noun(self, mention: Mention) -> tuple[str, str]:
        forms = dict(NOUNS[mention.noun])
        wanted = self._said(f"noun {mention.objects}", next(iter(forms))[0])
        return next(pair for pair in forms if pair[0] == wanted)

    def choose(self, about: str, weights: Mapping[str, float]) -> str:
        word = str(self._said(about, next(iter(weights))))
        return word if word in weights else next(iter(weights))


def dictate(language: ModuleType, what: Plan, said: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> str:
    """The sentence of a language's module that says `what` in the words of `said`."""

    def wording(what: Plan, draws: Draws) -> Wording:
        return Dictated(what, said)

    monkeypatch.setattr(language, "Wording", wording)
    return " ".join(language.sentence(what, lambda about: np.random.default_rng(0)))


def plans(count: int) -> list[Plan]:
    """Plans of random scenes, at all levels of detail."""
    return [_plan(number) for number in range(count)]


@cache
def _plan(number: int) -> Plan:
    rng = np.random.default_rng([8, number])
    return plan(sample(rng), pick(rng, DETAILS), 0.05, rng)


def sentences(realise: Callable[[Plan, np.random.Generator], list[str]], count: int) -> list[tuple[Plan, list[str]]]:
    """Plans, and what a language says of them."""
    return [(what, realise(what, np.random.default_rng([1, number]))) for number, what in enumerate(plans(count))]
