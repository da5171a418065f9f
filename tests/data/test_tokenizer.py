"""The words of captions: those of pycocoevalcap's Java tokenizer."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from seqcap.data.tokenizer import PUNCTUATIONS, tokenize

EXAMPLES = list(YAML(typ="safe").load(Path(__file__).with_name("tokens.yaml").read_text(encoding="utf-8")).items())
# Captions that a rule of thumb would get wrong have one of these characters.
ODD = set("'\"/:;!?&()$#[]=`>+_*@%")


@pytest.mark.parametrize(("caption", "expected"), EXAMPLES)
def test_examples(caption, expected):
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


def test_tokens_are_those_of_java(coco_annotations, java, tmp_path, monkeypatch):
    captions = [caption for image_id in sorted(coco_annotations) for caption in coco_annotations[image_id]]
    odd = [caption for caption in captions if not ODD.isdisjoint(caption) or "." in caption.strip()[:-1]]
    # Without the examples that Java's lines cannot hold.
    compared = captions[:300] + odd[::4]
    compared += [caption for caption, _ in EXAMPLES if caption.strip() and "\0" not in caption]
    assert len(compared) > 900
    expected = java_tokens(compared, tmp_path, monkeypatch)
    different = [(c, tokenize(c), e) for c, e in zip(compared, expected, strict=True) if tokenize(c) != e]
    assert different == []


@pytest.mark.parametrize(
    ("following", "expected"), [("The", "p"), ("A", "p"), ("the", "p."), ("Cats", "p."), ("", "p.")]
)
def test_a_last_letter_asks_the_next_caption(following, expected):
    assert tokenize("a sign with a P.", following) == ["a", "sign", "with", "a", expected]


@given(st.text())
@example("a\nb\r\nc\u2028d\x85e\x1cf")
@example("\0")
@example("word " * 200)
@example("😀🏽‍🚀")
@example("\ud800")
def test_any_text_has_tokens_without_white_space(caption):
    tokens = tokenize(caption)
    assert all(token.split() == [token] for token in tokens)
    assert PUNCTUATIONS.isdisjoint(tokens)
    assert " ".join(tokens) == " ".join(tokens).strip()


@given(st.text(alphabet="aAnt3.,:;!?'’-/&@#()<_ \n", max_size=40), st.text(alphabet="stU.'-9 ", max_size=10))
def test_a_caption_is_its_words(first, second):
    assert tokenize(f"{first}\n{second}") == tokenize(first) + tokenize(second)


@pytest.mark.parametrize("piece", ["a", "a.", "a-", "a'", "a/", "a@", "1.", "1:", "+a", "an't", ".", "é", "a,-"])
def test_a_long_word_loses_no_letter(piece):
    """In linear time, or this would not end."""
    text = piece * 20_000
    assert letters("".join(tokenize(text))) == letters(text)


def letters(text):
    return "".join(filter(str.isalnum, text))
