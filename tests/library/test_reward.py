"""Rewards for others' trainers: texts and token ids, with the end of a caption counted."""

import numpy as np
import pytest
import torch
from plain_rewards import cider_d, document_frequencies

from seqcap import CaptionReward, DocumentFrequencies, TokenReward, evaluate
from seqcap.data.tokenizer import tokenize
from seqcap.errors import InputError
from seqcap.metrics.spice import spice
from seqcap.rewards.sequences import LARGEST_ID

REFERENCES = {
    "a.jpg": ["A man rides a horse on a beach.", "A man on a horse."],
    "b.jpg": ["Two cats sit on a mat.", "cats on a mat"],
    "c.jpg": ["A red bus!", "a bus in the street"],
}
WHOLE, CUT = "a man rides a horse on a beach", "a man rides a horse on a"
END = "</s>"


def by_hand(captions, images, ended):
    own = {image: [[*tokenize(text), END] for text in texts] for image, texts in REFERENCES.items()}
    weights = document_frequencies(list(own.values()))
    rows = [[*tokenize(text), END] if end else tokenize(text) for text, end in zip(captions, ended, strict=True)]
    return [cider_d(row, own[image], weights, len(own)) for row, image in zip(rows, images, strict=True)]


def test_texts_are_paid_as_a_trainer_calls():
    reward = CaptionReward("cider", REFERENCES)
    captions, images = [WHOLE, CUT, "A RED BUS.", ""], ["a.jpg", "a.jpg", "c.jpg", "b.jpg"]
    found = reward(
        prompts=["x"] * 4, completions=captions, completion_ids=[[1]] * 4, image_id=images, trainer_state=None
    )
    assert found == pytest.approx(by_hand(captions, images, [True] * 4), abs=1e-9)
    assert [type(value) for value in found] == [float] * 4
    assert found[0] > found[1] > 0
    assert found[3] == 0
    assert reward.__name__ == "cider"
    # The same whatever comes with it.
    assert reward([CUT], image_id=["a.jpg"]) == pytest.approx(found[1:2], abs=1e-12)
    assert reward([], image_id=[]) == []


def test_chat_messages_are_read():
    reward = CaptionReward("cider", REFERENCES)
    chats = [
        [{"role": "assistant", "content": WHOLE}],
        [{"role": "user", "content": "and now?"}, {"role": "assistant", "content": [{"type": "text", "text": WHOLE}]}],
        {"role": "assistant", "content": WHOLE},
    ]
    assert reward(chats, image_id=["a.jpg"] * 3) == reward([WHOLE] * 3, image_id=["a.jpg"] * 3)
    with pytest.raises(InputError, match="completions: hold 7; pass texts"):
        reward([7], image_id=["a.jpg"])


def test_completions_that_were_cut_off_lack_their_end():
    reward = CaptionReward("cider", REFERENCES, eos=102)
    ids = [[5, 6, 102], [5, 6], [5, 102]]
    captions, images = [WHOLE, WHOLE, CUT], ["a.jpg"] * 3
    found = reward(captions, image_id=images, completion_ids=ids)
    assert found == pytest.approx(by_hand(captions, images, [True, False, True]), abs=1e-9)
    assert found[1] < found[0]
    with pytest.raises(InputError, match="hold no end: the token 7 is in none of 3; pass the tokenizer's eos_token_id"):
        CaptionReward("cider", REFERENCES, eos=7)(captions, image_id=images, completion_ids=ids)
    # Once an end was seen, a batch may be all cut off.
    assert len(reward(captions[:1], image_id=images[:1], completion_ids=[[5]])) == 1


def test_references_of_the_dataset_with_counted_frequencies():
    counted = DocumentFrequencies.of_captions(REFERENCES.values())
    reward = CaptionReward({"cider": 1, "bleu-4": -0.5, "rouge": 2}, frequencies=counted, references_column="captions")
    fixed = CaptionReward({"cider": 1, "bleu-4": -0.5, "rouge": 2}, REFERENCES)
    images = ["c.jpg", "a.jpg", "c.jpg"]
    found = reward([WHOLE, CUT, "a bus"], captions=[REFERENCES[image] for image in images])
    assert found == pytest.approx(fixed([WHOLE, CUT, "a bus"], image_id=images), abs=1e-12)
    parts = [CaptionReward(name, REFERENCES)([CUT], image_id=["a.jpg"])[0] for name in ("cider", "bleu4", "rouge_l")]
    assert found[1] == pytest.approx(parts[0] - 0.5 * parts[1] + 2 * parts[2], abs=1e-12)


@pytest.mark.usefixtures("loaded_once")
def test_meteor_and_spice_are_the_metrics(uncached, tmp_path):
    captions = {"a.jpg": "a man riding horses", "b.jpg": "two kittens on the mat"}
    expected = evaluate(captions, REFERENCES, "meteor", cache=tmp_path).per_item["METEOR"]
    reward = CaptionReward("meteor", REFERENCES, cache=tmp_path)
    assert reward(list(captions.values()), image_id=list(captions)) == pytest.approx(expected, abs=1e-12)
    words = {image: [tokenize(text) for text in texts] for image, texts in REFERENCES.items()}
    spices = spice(words, [(image, tokenize(text)) for image, text in captions.items()], uncached)
    ciders = CaptionReward("cider", REFERENCES)(list(captions.values()), image_id=list(captions))
    spider = CaptionReward("spider", REFERENCES)(list(captions.values()), image_id=list(captions))
    assert max(spices) > 0
    assert spider == pytest.approx([(c + s) / 2 for c, s in zip(ciders, spices, strict=True)], abs=1e-12)


def test_new_words_take_no_memory():
    """A language model says words without end; the engine has 65,535 numbers."""
    reward = CaptionReward("cider", REFERENCES)
    first = reward([CUT], image_id=["a.jpg"])
    batches = (LARGEST_ID // 5000) + 2
    for batch in range(batches):
        assert reward([" ".join(f"w{batch}x{n}" for n in range(5000))], image_id=["a.jpg"]) == [0]
    assert reward([CUT], image_id=["a.jpg"]) == first


@pytest.mark.parametrize(
    ("build", "call", "named"),
    [
        (lambda: CaptionReward("cider"), {}, "CIDEr: has no document frequencies; pass references of the whole"),
        (lambda: CaptionReward("cider", {"a": ["a dog"]}), {}, "count over one image, where every CIDEr is 0"),
        (lambda: CaptionReward("bleu5", REFERENCES), {}, "'bleu5' is not known"),
        (lambda: CaptionReward([], REFERENCES), {}, "metrics: are none"),
        (lambda: CaptionReward("rouge", REFERENCES), {"file": ["a.jpg"]}, "no column 'image_id', but file; name the"),
        (lambda: CaptionReward("rouge", REFERENCES), {"image_id": ["d.jpg"]}, "image_id: 'd.jpg' has no references"),
        (lambda: CaptionReward("rouge", REFERENCES), {"image_id": []}, "image_id: has 0 entries for 1 completions"),
        (lambda: CaptionReward("rouge"), {}, "the call: has no column 'references', but none"),
        (lambda: CaptionReward("rouge"), {"references": [[]]}, "hold a completion without references"),
        (lambda: CaptionReward("rouge"), {"references": [None]}, "references: are None"),
    ],
)
def test_what_is_missing_is_named(build, call, named):
    with pytest.raises(InputError, match=named):
        build()(["a dog"], **call)


IDS = [[[150_000, 7, 8], [7, 8]], [[9, 10, 11]], [[9, 12]]]


def test_token_ids_of_any_tokenizer():
    """BERT's end is 102, Qwen's vocabulary has 151,643 ids."""
    reward = TokenReward("cider", IDS, pad=0, eos=102)
    rows = np.array([[150_000, 7, 8, 102, 0], [150_000, 7, 151_642, 0, 0], [7, 8, 102, 5, 102], [9, 9, 9, 9, 9]])
    ended = [[[*caption, END] for caption in captions] for captions in IDS]
    weights = document_frequencies(ended)
    expected = [
        cider_d(tokens, ended[0], weights, 3)
        for tokens in ([150_000, 7, 8, END], [150_000, 7, 151_642], [7, 8, END], [9, 9, 9, 9, 9])
    ]
    assert reward(rows, [0, 0, 0, 0]) == pytest.approx(expected, abs=1e-9)
    alone = TokenReward("cider", [[[5, 6, 7]], [[8]]], pad=3, eos=3)
    assert alone([[5, 6, 7, 3, 3]], [0]) == pytest.approx([10])
    assert alone([[5, 6, 7]], [0])[0] < 9
    assert reward(torch.tensor(rows), torch.zeros(4, dtype=torch.long)) == reward(rows, [0, 0, 0, 0])
    # An end in a reference is not a second one.
    again = TokenReward("cider", [[[*ids, 102] for ids in captions] for captions in IDS], pad=0, eos=102)
    assert again(rows, [0, 0, 0, 0]) == reward(rows, [0, 0, 0, 0])


@pytest.mark.parametrize(
    ("rows", "image", "named"),
    [
        ([[5, 6, 2]], [0], "captions: hold no end: the token 102 is in none of 1; pass the tokenizer's eos_token_id"),
        ([[5, -100]], [0], "hold token id -100; fill up with `pad`"),
        ([5, 6], [0], "have 1 dimensions of int64"),
        ([[5.0]], [0], "have 2 dimensions of float64"),
        ([[5, 102]], [3], "index 3 has no references"),
        ([[5, 102]], [0, 1], "shape"),
    ],
)
def test_wrong_ids_are_named(rows, image, named):
    with pytest.raises(InputError, match=named):
        TokenReward("cider", IDS, pad=0, eos=102)(rows, image)
    with pytest.raises(InputError, match="METEOR reads words, not token ids"):
        TokenReward("meteor", IDS, pad=0, eos=102)
