"""The page as a file: what is in it, what is not, and what the key says of it."""

import base64
import hashlib
import io
import json
import random
import re

import numpy as np
import pytest
from PIL import Image
from small_kit import HOSTILE, accuracy_items, naturalness_items

from seqcap.errors import InputError
from seqcap.rating import read_key
from seqcap.rating.page import AccuracyItem, NaturalnessItem, write_page
from seqcap.world.drawing import draw
from seqcap.world.graph import sample


def pixels(uri):
    with Image.open(io.BytesIO(base64.b64decode(uri.removeprefix("data:image/png;base64,")))) as picture:
        return np.asarray(picture.convert("RGB"))


def test_the_same_questions_in_any_order_give_the_same_page(kit, scenes, tmp_path):
    accuracy, naturalness = accuracy_items(), naturalness_items()
    random.Random(1).shuffle(accuracy)
    write_page(tmp_path / "again.html", accuracy, naturalness[::-1], "Cats & <dogs>", scenes)
    assert (tmp_path / "again.html").read_bytes() == kit.page.read_bytes()


def test_a_caption_is_text_wherever_it_stands(kit):
    assert kit.html.lower().count("<script") == kit.html.lower().count("</script") == 2
    assert "<img" not in kit.html
    assert "<title>Cats &amp; &lt;dogs&gt;</title>" in kit.html
    questions = kit.content["questions"]
    assert [q["caption"] for q in questions].count(HOSTILE) == 1
    assert sum(HOSTILE in (q["a"], q["b"]) for q in questions) == 1


def test_the_page_loads_nothing_and_allows_nothing_else(kit):
    assert not re.search(r"(https?:)?//[\w.-]+\.\w+|@import|url\(|<link|<iframe|<object", kit.html)
    elements = re.sub(r"<(script|style)\b.*?</\1>", "", kit.html, flags=re.DOTALL)
    assert not re.search(r"\s(src|href|style|on\w+)=", elements)
    digests = {
        kind: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for kind, text in re.findall(r"<(script|style)>(.*?)</\1>", kit.html, re.DOTALL)
    }
    assert (
        "content=\"default-src 'none'; img-src data:; "
        f"style-src 'sha256-{digests['style']}'; script-src 'sha256-{digests['script']}'; "
        "base-uri 'none'; form-action 'none'\""
    ) in kit.html


def test_the_page_does_not_tell_whose_a_caption_is(kit):
    for secret in ("modelpsst", "modelst", "modelhuman", "own", "item"):
        assert not re.search(rf'"{secret}"|model', json.dumps(kit.content))


def test_the_key_says_which_side_is_whose(kit, scenes):
    page = kit.content
    questions = {question["id"]: question for question in page["questions"]}
    captions = {(one.item, one.model): one.caption for one in accuracy_items()}
    pairs = {two.item: two for two in naturalness_items()}
    assert read_key(kit.key_file).kit == page["kit"]
    for entry in kit.key.entries:
        if entry.question is None:
            assert entry.item == 2
            continue
        question = questions[entry.question]
        sides = {side: question[side] for side in "ab"}
        favoured, other = sides.pop(entry.side), *sides.values()
        assert question["task"] == entry.task
        if entry.task == "accuracy":
            assert question["caption"] == captions[entry.item, entry.model]
            for item, place in ((entry.item, favoured), ((entry.item + 1) % len(scenes), other)):
                drawn = np.asarray(draw(scenes[item], 320, 0, np.random.default_rng(0)))
                # Some of the shades along edges share a colour.
                assert np.abs(pixels(page["pictures"][place]).astype(int) - drawn).mean() < 0.1
        else:
            two = pairs[entry.item]
            assert (favoured, other, entry.against) == (two.caption, two.against_caption, two.against)
    assert len({entry.question for entry in kit.key.entries} - {None}) == len(questions)


def test_equal_questions_are_asked_once(kit):
    asked = {(e.item, e.model): e.question for e in kit.key.entries if e.task == "accuracy"}
    assert asked[1, "modelst"] == asked[1, "modelpsst"] != asked[1, "modelhuman"]
    # Four pictures: twelve captions less one, and four pairs less one of equal captions.
    assert len(kit.content["questions"]) == 11 + 3


def test_a_question_is_of_one_picture(tmp_path):
    pairs = [NaturalnessItem(item, "new", "a dog runs", "old", "dog a run") for item in range(3)]
    write_page(tmp_path / "page.html", [], pairs, "Title", {})
    entries = read_key(tmp_path / "key.json").entries
    assert len({entry.question for entry in entries}) == 3
    # The same pair the other way round is the same question.
    turned = [NaturalnessItem(0, "old", "dog a run", "new", "a dog runs")]
    write_page(tmp_path / "page.html", [], pairs + turned, "Title", {})
    first, *_, last = read_key(tmp_path / "key.json").entries
    assert first.question == last.question
    assert {first.side, last.side} == {"a", "b"}


def test_sides_are_dealt_out_by_chance(scenes, tmp_path):
    pairs = [NaturalnessItem(item, "new", f"a dog {item}", "old", f"b dog {item}") for item in range(400)]
    accuracy = [AccuracyItem(0, 1, f"model {number}", f"caption {number}") for number in range(400)]
    write_page(tmp_path / "page.html", accuracy, pairs, "Title", scenes)
    for task in ("accuracy", "naturalness"):
        sides = [entry.side for entry in read_key(tmp_path / "key.json").entries if entry.task == task]
        assert 0.4 < sides.count("a") / len(sides) < 0.6


def refused(tmp_path, accuracy, naturalness, scenes):
    with pytest.raises(InputError) as caught:
        write_page(tmp_path / "page.html", accuracy, naturalness, "Title", scenes)
    assert not (tmp_path / "page.html").exists()
    return str(caught.value)


def test_photographs_do_not_get_in(scenes, tmp_path):
    items = [AccuracyItem(0, 99, "model", "a caption")]
    message = refused(tmp_path, items, naturalness_items(), scenes)
    assert "image 99 is not a generated scene; photographs are not shown" in message
    assert "image 0 is not" in refused(tmp_path, accuracy_items(), [], {})


def test_questions_without_an_answer_are_refused(scenes, tmp_path):
    one = accuracy_items()[0]
    twin = scenes | {1: sample(np.random.default_rng([7, 0]))}
    assert "items 0 and 1 look the same" in refused(tmp_path, [one], [], twin)
    assert "nothing to ask" in refused(tmp_path, [], [naturalness_items()[2]], scenes)
