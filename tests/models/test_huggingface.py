"""Captioners of Hugging Face against transformers' own `generate` and logits, on tiny models of random weights."""

import copy
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from enumeration import Cider, all_captions, assert_close, gradient, make_context, say
from PIL import Image
from small_captioner import FAMILIES, SIDE, VISION, write_huggingface
from small_listener import Store, learning, tiny_listener
from small_task import decoding_run, run_config, train_group, values, write_listener, write_pretrained_task, write_task

from seqcap import models
from seqcap.data.tokens import TokenVocabulary, load_vocabulary
from seqcap.data.vocabulary import BOS, EOS, PAD
from seqcap.errors import InputError
from seqcap.evaluation.decode import decode_split
from seqcap.features.captioner_folder import Pixels, read_model
from seqcap.models import decoding
from seqcap.models.base import repeat
from seqcap.models.huggingface import Config, Model, from_folder
from seqcap.objectives import (
    cross_entropy,
    self_critical,
    sequence_exploration,
    straight_through,
)
from seqcap.objectives.shared import base, cooperation, discriminator
from seqcap.rewards.ciderd import CiderD
from seqcap.rewards.sequences import References

WORDS = ["red", "dog", "cat", "run", "##s", "bird"]
LENGTH, BEAM, IMAGES = 7, 3, 4


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("huggingface")
    return {family: write_huggingface(root / family, family, WORDS) for family in FAMILIES}


@pytest.fixture(scope="module")
def loaded(folders):
    """Family -> captioner, vocabulary, pixels, and transformers' model of the same folder."""
    return {family: (*from_folder(folder), read_model(folder).eval()) for family, folder in folders.items()}


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


def pictures(n=IMAGES, seed=0) -> torch.Tensor:
    return torch.randn(n, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(seed))


def generate(model, vocabulary, pixels, **options):
    """transformers' own captions as this package's ids [n, time] without the start, and its answer."""
    never = sorted({vocabulary.ids[PAD], vocabulary.ids[BOS]} - {vocabulary.ids[EOS]})
    # A beam's scores would not be normalised without these tokens.
    options |= {"suppress_tokens": never, "renormalize_logits": True} if never else {}
    options |= {"return_dict_in_generate": True, "output_scores": True, "max_new_tokens": LENGTH}
    if model.config.model_type == "blip":
        answer = model.generate(pixel_values=pixels, **options)
    else:
        answer = model.generate(pixel_values=pixels, use_cache=True, **options)
    own = {number: i for i, number in reversed(list(enumerate(vocabulary.ids)))}
    own |= {vocabulary.ids[EOS]: EOS}
    captions = []
    for row in answer.sequences.tolist():
        said = [own[number] for number in row[1:]]
        captions.append(said[: said.index(EOS) + 1] if EOS in said else said)
    return captions, answer


def rows(tokens: torch.Tensor) -> list[list[int]]:
    return [[token for token in row if token != PAD] for row in tokens.tolist()]


def test_log_probabilities_are_the_models_own(loaded, family):
    captioner, vocabulary, _, model = loaded[family]
    pixels = pictures(3)
    captions = torch.tensor([[5, 6, 7, EOS], [8, EOS, PAD, PAD], [4, 4, 5, 9]])
    ids = torch.tensor(vocabulary.ids)
    given = ids[captioner.shifted(captions)]
    if family == "blip":
        cells = model.vision_model(pixels).last_hidden_state
        logits = model.text_decoder(input_ids=given, encoder_hidden_states=cells).logits
    elif family == "git":
        logits = model(input_ids=given, pixel_values=pixels).logits[:, -captions.shape[1] :]
    else:
        logits = model(pixel_values=pixels, decoder_input_ids=given).logits
    expected = logits[:, :, ids].masked_fill(captioner.impossible, -torch.inf).log_softmax(2)
    actual = captioner.teacher_force(pixels, captions).log_softmax(2)
    there = captions != PAD
    possible = ~captioner.impossible
    torch.testing.assert_close(actual[there][:, possible], expected[there][:, possible], atol=1e-5, rtol=1e-4)
    assert actual.exp()[:, :, [PAD, BOS]].max() == 0
    # Images, and what was said before, matter.
    assert (actual[0] - captioner.teacher_force(pixels[[1]], captions[[0]])[0].log_softmax(1)).abs().max() > 1e-2


def test_greedy_and_beam_captions_are_those_of_generate(loaded, family):
    captioner, vocabulary, _, model = loaded[family]
    pixels = pictures()
    memory = captioner.encode(pixels)
    captions, _ = generate(model, vocabulary, pixels, do_sample=False)
    assert rows(decoding.greedy(captioner, memory, LENGTH).tokens) == captions
    options = {"num_beams": BEAM, "length_penalty": 0.0, "early_stopping": "never", "num_return_sequences": BEAM}
    captions, answer = generate(model, vocabulary, pixels, do_sample=False, **options)
    found = decoding.beam(captioner, memory, LENGTH, BEAM)
    assert rows(found.tokens.flatten(0, 1)) == captions
    torch.testing.assert_close(found.log_prob.flatten(), answer.sequences_scores, atol=1e-4, rtol=1e-4)
    assert len({tuple(caption) for caption in captions}) > BEAM
    assert any(len(caption) < LENGTH for caption in captions)


def test_samples_are_those_of_generate(loaded, family, monkeypatch):
    """From the same random numbers: both draw with `multinomial` over the model's own order of tokens."""
    captioner, vocabulary, _, model = loaded[family]
    pixels = pictures(1)
    ids = torch.tensor(vocabulary.ids)
    back = {number: i for i, number in enumerate(vocabulary.ids) if not captioner.impossible[i]}

    def choose(probabilities, greedy):
        in_models_order = torch.zeros(len(probabilities), int(ids.max()) + 1)
        in_models_order[:, list(back)] = probabilities[:, list(back.values())]
        drawn = torch.multinomial(in_models_order, 1).squeeze(1)
        return torch.tensor([back[number] for number in drawn.tolist()])

    monkeypatch.setattr(decoding, "choose", choose)
    seen = set()
    memory = captioner.encode(pixels)
    for seed in range(6):
        torch.manual_seed(seed)
        captions, _ = generate(model, vocabulary, pixels, do_sample=True, top_k=0)
        torch.manual_seed(seed)
        assert rows(decoding.sample(captioner, memory, LENGTH, 1).tokens[0]) == captions
        seen.add(tuple(captions[0]))
    assert len(seen) > 3


# --- Four words, every caption of which can be written down.
FOUR = all_captions(words=4, max_length=2)
REWARD = Cider([[[5, 6], [5, 7]], [[6, 5], [8]], [[7, 8], [4, 8]]])
ONE = np.zeros(1, dtype=np.int64)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Captioners that say four words; each call gives a new copy."""
    kept = {}

    def copy_of(family):
        if family not in kept:
            # BERT's tokenizer has one special token more than this package: another word.
            words = ["red", "dog", "cat"] if family != "vit_gpt2" else ["a", "red", "dog", "cat"]
            kept[family], vocabulary, _ = from_folder(
                write_huggingface(tmp_path_factory.mktemp("small") / family, family, words)
            )
            assert len(vocabulary) == 8
        return copy.deepcopy(kept[family])

    return copy_of


def log_probs(captioner, pixels, captions):
    logits = captioner.teacher_force(pixels.expand(len(captions), -1, -1, -1), captions)
    token = torch.log_softmax(logits, 2).gather(2, captions[:, :, None]).squeeze(2)
    return token.masked_fill(captions == PAD, 0).sum(1)


def expected_reward(captioner, pixels, image=0):
    reward = REWARD.score(FOUR.numpy(), np.full(len(FOUR), image))
    return log_probs(captioner, pixels, FOUR).exp() @ torch.from_numpy(reward).float()


def test_the_expected_gradient_is_the_exact_one(small, family, monkeypatch):
    """Of SCST: every caption is drawn once, and weighs what it is probable."""
    captioner, pixels = small(family), pictures(1)
    probability = log_probs(captioner, pixels, FOUR).exp().detach()
    assert probability.sum() == pytest.approx(1, abs=1e-5)
    greedy = decoding.greedy(captioner, captioner.encode(pixels), 2).tokens
    greedy = torch.nn.functional.pad(greedy, (0, 2 - greedy.shape[1]))
    best = REWARD.score(greedy.numpy(), ONE)[0]

    class Weighted:
        """The loss is a mean over samples: these weigh what they are probable. The greedy caption earns nothing."""

        def score(self, captions, image):
            weights = np.append(probability.numpy() * len(FOUR), 1.0)
            return (REWARD.score(captions, image) - best) * weights

    objective = self_critical.Model(self_critical.Config(samples=len(FOUR)), make_context(Weighted(), 2, 8))
    say(monkeypatch, torch.cat([FOUR, greedy]))
    loss, _ = objective(captioner, base.Batch(pixels, ONE, FOUR[None]))
    assert_close(-gradient(captioner, loss), gradient(captioner, expected_reward(captioner, pixels)), atol=1e-5)


RUNS = [(self_critical, family) for family in FAMILIES]
RUNS += [(sequence_exploration, "git"), (straight_through, "blip")]


@pytest.mark.parametrize(("module", "family"), RUNS)
def test_a_few_steps_raise_the_reward(small, monkeypatch, module, family):
    captioner, pixels = small(family), pictures(2)
    store = Store(10, 20, 30)
    monkeypatch.setattr(cooperation.retrieval, "load", lambda path: (tiny_listener(8, store=store), {}))
    context = make_context(REWARD, 2, 8, reads={"listener": Path("x")}, items=np.array([10, 20]))
    settings = {"weight": 0.01} if module is straight_through else {"samples": 5}
    objective = module.Model(module.Config(**settings), context)
    batch = base.Batch(pixels, np.array([0, 1]), FOUR[None, 1:3].expand(2, -1, -1))
    before = sum(expected_reward(captioner, pixels[[i]], image=i).item() for i in range(2))
    _, step = learning(captioner, objective, batch)
    torch.manual_seed(1)
    for _ in range(15):
        step()
    captioner.eval()
    assert sum(expected_reward(captioner, pixels[[i]], image=i).item() for i in range(2)) > 1.1 * before


def test_wtf_rl_raises_its_reward(tmp_path, monkeypatch):
    """In a training run on pictures, with a listener of the captioner's tokens; then its captions are decoded. Here a
    caption earns something if it says "the": a listener without training has no preferences."""
    write_task(tmp_path)
    write_pretrained_task(tmp_path, "blip")
    write_listener(tmp_path, "photo")
    monkeypatch.chdir(tmp_path)
    the = load_vocabulary("artifacts/photo/data/vocabulary.json").words.index("the")

    def similarity(self, captioned, which):
        return (captioned.captions[which] == the).any(1).float(), {}

    monkeypatch.setattr(discriminator.BicontrastiveObjective, "similarity", similarity)
    run = run_config(
        task="photo",
        architecture="huggingface",
        model={"folder": "blip"},
        objective="weighted_teacher_forcing_reinforce",
        settings={"pretraining_steps": 0, "alpha": 1.0},
        reward={},
        reads={"listener": "starts/retriever/photo"},
        training={"epochs": 3, "batch_size": 12, "learning_rate": 0.02},
        weights="trained",
    )
    [[trained]] = train_group(run)
    rewards = values(trained.curves, "train_reward")
    assert rewards[-1] > rewards[0] + 0.2
    captioner, metadata = models.load(Path("trained/seed1.safetensors"))
    assert metadata["model"]["folder"] == "blip"
    started = from_folder("blip")[0].state_dict()
    changed = [not torch.equal(tensor, started[name]) for name, tensor in captioner.state_dict().items()]
    assert sum(changed) > len(changed) / 2
    decoded = list(decode_split(decoding_run(task="photo", weights="trained", max_length=6)))
    assert {row["decoder"] for row in decoded} == {"greedy", "beam", "sample"}
    assert any(row["tokens"] for row in decoded)


def test_a_killed_training_resumes_to_the_same_bytes(tmp_path, monkeypatch, killed_after_saving):
    """SCST with LoRA."""
    write_task(tmp_path)
    write_pretrained_task(tmp_path, "blip")
    monkeypatch.chdir(tmp_path)

    def train(weights):
        run = run_config(
            task="photo",
            architecture="huggingface",
            model={"folder": "blip", "lora": 2},
            objective="self_critical",
            settings={"samples": 2},
            training={"epochs": 2, "batch_size": 12, "learning_rate": 0.01},
            weights=weights,
        )
        [[trained]] = train_group(run)
        return trained.curves

    expected = train("one")
    assert killed_after_saving(lambda: train("two")) == (expected, 2)
    assert Path("one/seed1.safetensors").read_bytes() == Path("two/seed1.safetensors").read_bytes()


def test_a_vocabulary_of_fifty_thousand(tmp_path):
    folder = write_huggingface(tmp_path / "large", "blip", WORDS, scale=0.3, size=50_000)
    captioner, vocabulary, _ = from_folder(folder)
    assert len(vocabulary) == captioner.vocabulary_size == 50_000
    pixels = pictures(2)
    captions, _ = generate(read_model(folder).eval(), vocabulary, pixels, do_sample=False)
    assert rows(decoding.greedy(captioner, captioner.encode(pixels), LENGTH).tokens) == captions
    assert max(map(max, captions)) > 20

    class OddNumbers:
        def score(self, hypotheses, image):
            return (hypotheses % 2).mean(1)

    objective = self_critical.Model(self_critical.Config(samples=3), make_context(OddNumbers(), 5, 50_000))
    before = [parameter.detach().clone() for parameter in captioner.parameters()]
    _, step = learning(captioner, objective, base.Batch(pixels, np.arange(2), torch.tensor([[[5, EOS]]] * 2)))
    step()
    changed = [not torch.equal(old, new) for old, new in zip(before, captioner.parameters(), strict=True)]
    assert sum(changed) > len(changed) / 2


@pytest.mark.parametrize("family", ["blip", "vit_gpt2"])
def test_lora_trains_its_own_matrices_alone(folders, loaded, family):
    captioner, _, _ = from_folder(folders[family], lora=2)
    pixels, captions = pictures(2), torch.tensor([[[5, 6, EOS]], [[7, EOS, PAD]]])
    # It begins as the folder's captioner.
    whole = loaded[family][0].teacher_force(pixels, captions[:, 0])
    torch.testing.assert_close(captioner.teacher_force(pixels, captions[:, 0]), whole)
    learns = {name for name, parameter in captioner.named_parameters() if parameter.requires_grad}
    assert learns
    assert all(".lora_" in name for name in learns)
    before = {name: tensor.clone() for name, tensor in captioner.state_dict().items()}
    objective = cross_entropy.Model(cross_entropy.Config(), make_context(None, 3, captioner.vocabulary_size))
    _, step = learning(captioner, objective, base.Batch(pixels, np.arange(2), captions))
    step()
    step()
    changed = {name for name, tensor in captioner.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed == learns
    # Its weights say how to build it.
    config = Config(folder=str(folders[family]), lora=2)
    again = Model(config, captioner.vocabulary_size, (3, SIDE, SIDE))
    again.load_state_dict(captioner.state_dict())
    assert torch.equal(
        again.eval().teacher_force(pixels, captions[:, 0]), captioner.eval().teacher_force(pixels, captions[:, 0])
    )


# --- Words and pixels.
def test_words_become_tokens_and_words_again(loaded):
    for family in ("blip", "vit_gpt2"):
        vocabulary = loaded[family][1]
        if family == "blip":
            ids = vocabulary.encode(["a", "red", "dog", "runs"])
            assert [vocabulary.words[i] for i in ids] == ["<unk>", "red", "dog", "run", "##s"]
            assert vocabulary.decode([*ids, EOS, PAD]) == ["red", "dog", "runs"]
        assert vocabulary.decode([*vocabulary.encode(["red", "cat"]), EOS]) == ["red", "cat"]
        # A special token in a text is no special token.
        assert not {PAD, BOS, EOS} & set(vocabulary.encode(["[SEP]", "<|endoftext|>", "[PAD]", "dog"]))


def test_a_vocabulary_survives_its_file(loaded, tmp_path):
    vocabulary = loaded["git"][1]
    vocabulary.write(tmp_path / "vocabulary.json")
    again = load_vocabulary(tmp_path / "vocabulary.json")
    assert isinstance(again, TokenVocabulary)
    assert (again.words, again.ids, again.knows_unknown) == (vocabulary.words, vocabulary.ids, vocabulary.knows_unknown)
    assert again.encode(["run", "runs"]) == vocabulary.encode(["run", "runs"])


def test_rewards_compare_words(loaded):
    """A caption of pieces earns what its words earn; a word of no reference earns nothing."""
    vocabulary = loaded["blip"][1]
    references = [[vocabulary.encode_reference(["red", "dog", "runs"])], [vocabulary.encode_reference(["cat"])]]
    reward = vocabulary.in_words(CiderD(References(references)))
    captions = [["red", "dog", "runs"], ["red", "dog", "run"], ["red", "dog", "bird"]]
    tokens = torch.full((3, 6), PAD)
    for row, words in zip(tokens, captions, strict=True):
        ids = [*vocabulary.encode(words), EOS]
        row[: len(ids)] = torch.tensor(ids)
    numbers = [[4, 5, 6, EOS], [4, 5, 3, EOS], [4, 5, 3, EOS]]
    expected = CiderD(References(references)).score(numbers, [0, 0, 0])
    assert reward.score(tokens.numpy(), [0, 0, 0]).tolist() == expected.tolist()
    assert expected[0] > 2 * expected[1] > 0
    assert vocabulary.scored_words[4:] == ["red", "dog", "runs", "cat"]
    # One that was cut off has no end.
    cut = reward.score(tokens.numpy()[:1, :4], [0])
    assert 0 < cut[0] < expected[0]


def test_images_go_through_the_models_own_processor(folders):
    import transformers

    noise = np.random.default_rng(0).integers(0, 255, (30, 20, 3), dtype=np.uint8)
    images = [Image.fromarray(noise), Image.new("RGB", (50, 50), "red")]
    processor = transformers.AutoImageProcessor.from_pretrained(folders["blip"])
    expected = processor(images, return_tensors="pt").pixel_values
    pixels = Pixels(folders["blip"])
    assert pixels.shape == (3, SIDE, SIDE)
    assert torch.equal(pixels.read(images), expected)


# --- Strangers' folders.
def edit(file, **changes):
    def change(folder):
        path = folder / file
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def pickled(folder):
    (folder / "model.safetensors").unlink()
    torch.save({"x": torch.zeros(1)}, folder / "pytorch_model.bin")


def sharded(folder):
    shutil.move(folder / "model.safetensors", folder.parent / "outside.safetensors")
    index = {"metadata": {}, "weight_map": {"text_decoder.cls.predictions.bias": "../outside.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def cut(file):
    def change(folder):
        content = (folder / file).read_bytes()
        (folder / file).write_bytes(content[: len(content) // 2])

    return change


def other_sizes(folder):
    content = json.loads((folder / "config.json").read_text())
    content["text_config"]["hidden_size"] = 32
    (folder / "config.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: shutil.rmtree(folder), "is no folder"),
        (lambda folder: (folder / "config.json").unlink(), "has no config.json"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer.json"),
        (lambda folder: (folder / "preprocessor_config.json").unlink(), "has no preprocessor_config.json"),
        (pickled, "has no model.safetensors"),
        (sharded, "names '../outside.safetensors', which is no file of the folder"),
        (cut("model.safetensors"), "cannot be read"),
        (cut("config.json"), "config.json: is not JSON"),
        (cut("tokenizer.json"), "tokenizer.json: is not JSON"),
        (cut("preprocessor_config.json"), "has an image processor that cannot be read"),
        (other_sizes, "cannot be read"),
        (edit("tokenizer.json", model={"type": "x"}), "tokenizer.json: is no tokenizer"),
        (edit("config.json", model_type="llama"), "holds a model of type 'llama'"),
        (edit("config.json", auto_map={"AutoModel": "evil.Model"}), "names code of its own"),
        (edit("config.json", quantization_config={"quant_method": "bitsandbytes"}), "holds quantized weights"),
        (edit("config.json", text_config={"vocab_size": 3}), "has "),
        (edit("config.json", model_type={}), "whose model_type is {}"),
        (edit("config.json", vision_config=VISION | {"num_hidden_layers": 2**31}), "with 2,147,483,648 layers"),
        (lambda folder: (folder / "adapter_config.json").write_text("{}"), "holds an adapter, whose base is elsewhere"),
    ],
)
def test_a_folder_that_is_no_captioner_is_one_clear_line(folders, tmp_path, change, said):
    folder = tmp_path / "blip"
    shutil.copytree(folders["blip"], folder)
    change(folder)
    with pytest.raises(InputError) as error:
        from_folder(folder)
    assert said in str(error.value)
    assert str(folder) in str(error.value)


def test_an_image_processor_of_another_model_is_one_clear_line(folders, family, tmp_path):
    folder = tmp_path / family
    shutil.copytree(folders[family], folder)
    path = folder / "preprocessor_config.json"
    content = json.loads(path.read_text())
    side = 3 * SIDE
    path.write_text(json.dumps(content | {"size": {"height": side, "width": side}, "do_center_crop": False}))
    with pytest.raises(InputError, match=rf"makes \[3, {side}, {side}\], which its model cannot read"):
        from_folder(folder)


def test_damaged_weights_are_refused(folders, tmp_path):
    model = read_model(folders["git"])
    with torch.no_grad():
        next(model.parameters()).view(-1)[0] = torch.nan
    folder = tmp_path / "git"
    shutil.copytree(folders["git"], folder)
    model.save_pretrained(folder)
    with pytest.raises(InputError, match="NaN or infinite"):
        from_folder(folder)


def test_repeated_images_share_one_memory(loaded, family):
    captioner = loaded[family][0]
    memory = captioner.encode(pictures(2))
    torch.testing.assert_close(repeat(memory, 2)[0], captioner.encode(pictures(2).repeat_interleave(2, 0))[0])
