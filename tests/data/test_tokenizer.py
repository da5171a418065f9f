"""The words of captions: those of pycocoevalcap's Java tokenizer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seqcap.data.tokenizer import PUNCTUATIONS, tokenize

# Caption, tokens of pycocoevalcap 1.2's PTBTokenizer.
EXAMPLES = [
    ("A man riding a horse, on a beach.", "a man riding a horse on a beach"),
    ("", ""),
    (" \t\n ", ""),
    ("?! .. ... .... - -- --- ; : , ' \" `` … – — “ ” ‘ ’", "?!"),
    # Contractions and other apostrophes.
    ("It's the dogs' men's can't WON'T I'm they've", "it 's the dogs men 's ca n't wo n't i 'm they 've"),
    ("cannot gonna Gotta wanna lemme gimme kinda", "can not gon na got ta wan na lem me gim me kinda"),
    ("rock 'n' roll rock'n'roll 'em o'clock ma'am", "rock 'n' roll rock 'n' roll 'em o'clock ma'am"),
    ("y'all 'tis d'ye O'Brien x'y", "y' all 't is d'ye o'brien x y"),
    ("a Dunkin' Donuts, Dunkin's, eatin' ol' food", "a dunkin' donuts dunkin 's eatin ol' food"),
    ("the '90s 1920's 60s it’s don’t ‘foo’", "the '90s 1920 's 60s it 's do n't foo"),
    ("'MT' 'hello' it''s \"Joan's\"", "mt hello it s joan 's"),
    # Periods.
    ("clock set at 11:59. There is", "clock set at 11:59 there is"),
    ("room.with The stre.et ground.A foo!bar foo...bar", "room.with the stre.et ground.a foo!bar foo bar"),
    ("D.C. T.V T.V. u.s.-based J.R.R. a.k.a. 6 p.m. 6p.m.", "d.c. t.v t.v. u.s.-based j.r.r. a.k.a. 6 p.m. 6p m."),
    ("St. st., ave. sheep penn. in. no. plan b.", "st. st. ave. sheep penn. in no plan b."),
    ("Ill. ill. Wash. wash. Ph.D. dr.foo", "ill. ill wash. wash ph.d. dr.foo"),
    ("foo., bar.; foo.. etc...", "foo. bar. foo etc."),
    # Commas, slashes, hyphens.
    (",, foo,,bar ,bar foo,bar a;b a:b", "foo bar bar foo bar a b a b"),
    ("tub/shower a/b/c foo-bar/baz w/ it's/that's", "tub/shower a/b/c foo-bar/baz w / it 's / that 's"),
    ("-up up- post-it-note t-shirt's a--b 3-year-old ----- x", "up up post-it-note t-shirt 's a b 3-year-old ----- x"),
    # Numbers.
    ("3.5 .5 1,000 5% $5 #1 1st 1/2 9/11/01", "3.5 .5 1,000 5 % $ 5 # 1 1st 1/2 9/11/01"),
    ("10:30am 9am 3.5mm 3.5-inch 555-1234 -3 747-400", "10:30 am 9am 3.5 mm 3.5-inch 555-1234 -3 747-400"),
    # Other marks.
    ("(foo) [b] {c} foo(s)", "-lrb- foo -rrb- -lsb- b -rsb- -lcb- c -rcb- foo -lrb- s -rrb-"),
    ("! ? !! foo!!! ??", "!! foo !!! ??"),
    ("AT&T a & b h&m C++ #hash @user a_b a+b <b>", "at&t a & b h & m c++ #hash @user a_b a + b <b>"),
    ("a@b.com www.foo.com http://a.com, :) * **", "a@b.com www.foo.com http://a.com :-rrb- * **"),
    # Beyond ASCII.
    ("É café naïve 日本語 привет", "é café naïve 日本語 привет"),
    ("£5 €5 ½ ° ❤\ufe0f ™ a–b a…b", "# 5 $ 5 1/2 ° ❤ ™ a b a b"),
    ("a😀b 😀 soft\u00adhyphen \u200bzero nul\0a no\u00a0break", "a b softhyphen zero nul a no break"),
]
# Captions that a rule of thumb would get wrong have one of these characters.
ODD = set("'\"/:;!?&()$#[]=`>+_*@%")


@pytest.mark.parametrize(("caption", "expected"), EXAMPLES)
def test_examples(caption: str, expected: str) -> None:
    assert tokenize(caption) == expected.split()


def java_tokens(captions: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    from pycocoevalcap.tokenizer import ptbtokenizer

    # Its temporary file goes beside its source, which need not be writable. A caption between keeps the lexer from
    # looking into the next one.
    jar = ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR
    (folder / jar).symlink_to(Path(ptbtokenizer.__file__).parent / jar)
    monkeypatch.setattr(ptbtokenizer, "__file__", str(folder / "ptbtokenizer.py"))
    images = {index: [{"caption": caption}, {"caption": "yy"}] for index, caption in enumerate(captions)}
    return [texts[0].split() for texts in ptbtokenizer.PTBTokenizer().tokenize(images).values()]


def test_tokens_are_those_of_java(
    coco_annotations: dict[int, list[str]], java: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captions = [caption for image_id in sorted(coco_annotations) for caption in coco_annotations[image_id]]
    odd = [caption for caption in captions if not ODD.isdisjoint(caption) or "." in caption.strip()[:-1]]
    # Without the few captions in which the next word decides on a period, which the tokenizer does not see, and the
    # examples that Java's lines cannot hold.
    compared = [caption for caption in captions[:300] + odd[::4] if "no. 2 " not in caption and " I. " not in caption]
    compared += [caption for caption, _ in EXAMPLES if caption.strip() and "\0" not in caption]
    assert len(compared) > 900
    expected = java_tokens(compared, tmp_path, monkeypatch)
    different = [(c, tokenize(c), e) for c, e in zip(compared, expected, strict=True) if tokenize(c) != e]
    assert different == []


@given(st.text())
@example("a\nb\r\nc\u2028d\x85e\x1cf")
@example("\0")
@example("word " * 200)
@example("😀🏽‍🚀")
@example("\ud800")
def test_any_text_has_tokens_without_white_space(caption: str) -> None:
    tokens = tokenize(caption)
    assert all(token.split() == [token] for token in tokens)
    assert PUNCTUATIONS.isdisjoint(tokens)
    assert " ".join(tokens) == " ".join(tokens).strip()


@given(st.text(alphabet="aAnt3.,:;!?'’-/&@#()<_ \n", max_size=40), st.text(alphabet="stU.'-9 ", max_size=10))
def test_a_caption_is_its_words(first: str, second: str) -> None:
    assert tokenize(f"{first}\n{second}") == tokenize(first) + tokenize(second)


@pytest.mark.parametrize("piece", ["a", "a.", "a-", "a'", "a/", "a@", "1.", "1:", "+a", "an't", ".", "é", "a,-"])
def test_a_long_word_takes_linear_time(piece: str) -> None:
    start = time.perf_counter()
    tokenize(piece * 20_000)
    assert time.perf_counter() - start < 2
