"""Every reader of strangers' files, thousands of times with files that are damaged at random.

    python tests/campaigns/bad_input.py [--tries 2000] [--seed 0] [--patience 20] [--only TEXT]

Each try damages one good file: its bytes, or its content. A reader may accept the file or end in the one line of an
`InputError`. It may not end in a traceback, take longer than its seconds, or die. Prints a Markdown table, and
below it the faults. Without --only it also writes the table to tests/campaigns/bad_input.md. Takes about half an hour.
tests/test_bad_input.py makes a few tries with every reader.
"""

import argparse
import gzip
import io
import json
import math
import os
import random
import resource
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import chdir
from copy import deepcopy
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import torch
from PIL import Image
from pipeline_files import ROOT, git
from safetensors import safe_open
from safetensors.torch import load, save
from small_captioner import write_huggingface
from small_clip import write_clip
from small_gifs import gif, pack, pictures
from small_task import WORDS, corpus_config, karpathy_layout, write_captioners

from seqcap.data import captions, tgif
from seqcap.data.captions import ImageData
from seqcap.data.frames import ClipSource
from seqcap.data.glove import read_text
from seqcap.data.images import ImageSource
from seqcap.data.pairs import write_pairs
from seqcap.data.vocabulary import Vocabulary
from seqcap.errors import InputError
from seqcap.features.encoders import with_weights
from seqcap.files.json_file import write_json
from seqcap.library.clipscore import clip_score
from seqcap.library.evaluation import evaluate
from seqcap.models.decoding import greedy
from seqcap.models.huggingface import from_folder
from seqcap.rating.aggregate import aggregate, as_table
from seqcap.rewards.frequencies import DocumentFrequencies
from seqcap.tools.caption import caption_files
from seqcap.tools.score import score

TABLE = Path(__file__).with_suffix(".md")
# Seconds that a try may take; memory that it may.
PATIENCE, MEMORY = 20, 6 << 30
OUTCOMES = ("one line", "accepted", "traceback", "hang")

FAST = ["BLEU4", "ROUGE_L", "CIDEr"]
TEXTS = {1: ["A dog runs.", "The dog is running"], 2: ["Two cats sit on a mat", "cats"], 3: ["A red bus!", "a bus"]}
SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Reader:
    """A function that reads files.

    Attributes:
        name: for the table.
        prepare: writes good files into the working directory, which is empty.
        damaged: patterns of the files that are damaged, one in each try.
        read: reads them.
    """

    name: str
    prepare: Callable[[], object]
    damaged: tuple[str, ...]
    read: Callable[[random.Random], object]


# --- Damage

# Values that take the place of any other.
ODD: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 2**31, 2**63, 10**30, 0.5, -1.5, 1e308, 1e-320),
    *("", "a", "1", "-", "../x", "/etc/passwd", "a" * 300, "a\0b", "é", "a b\n", "<eos>", "{", "$alpha", "\u2028"),
    *([], {}, [None], [[[]]], {"a": 1}, [1, 2, 3], ["a"] * 5),
]
# Texts that Python's JSON cannot write, or reads as something else.
IN_JSON = {
    "@long@": "9" * 5000,
    "@half@": '"\\ud800"',
    "@nan@": "NaN",
    "@infinite@": "1e999",
    "@deep@": "[" * 3000 + "]" * 3000,
    "@twice@": '{"a": 1, "a": 2}',
}


def damage_bytes(content: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, removed, repeated, added or cut off."""
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        start = rng.randrange(len(found) + 1)
        some = slice(start, start + rng.choice((1, 1, 2, 8, 100)))
        change = rng.randrange(7)
        if change <= 1:
            found[some] = rng.randbytes(len(found[some]))
        elif change == 2:
            del found[some]
        elif change == 3:
            found[start:start] = found[some]
        elif change == 4:
            found[start:start] = rng.choice((b"\0", b"\xff\xfe", b"\n", b'"', b"\xef\xbb\xbf", b"-", b"9" * 50))
        elif change == 5:
            found[some] = bytes(len(found[some]))
        elif rng.random() < 0.2:
            del found[start:]
    return bytes(found)


def damage_lines(content: bytes, rng: random.Random) -> bytes:
    """Lines removed, repeated or exchanged, and values in them that are others."""
    lines = content.decode(errors="replace").split("\n")
    for _ in range(rng.choice((1, 1, 3))):
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        change = rng.randrange(5)
        if change == 0:
            del lines[i : i + 1]
            lines = lines or [""]
        elif change == 1:
            lines.insert(i, lines[j])
        elif change == 2:
            lines[i], lines[j] = lines[j], lines[i]
        else:
            separator = "," if "," in lines[i] else " "
            values = lines[i].split(separator)
            values[rng.randrange(len(values))] = str(rng.choice([*ODD, "nan", "inf", "1e99", "9" * 5000]))
            lines[i] = separator.join(values)
    return "\n".join(lines).encode(errors="replace")


def damage_tree(tree: Any, rng: random.Random, others: Sequence[str]) -> Any:
    """A tree of mappings and lists, some of whose values and keys are others."""
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        places = list(places_of(tree))
        if not places:
            return deepcopy(rng.choice(ODD))
        where, key = rng.choice(places)
        change = rng.randrange(10)
        if change == 0:
            del where[key]
        elif change == 1 and isinstance(where, dict):
            where[str(rng.choice([*ODD, *others]))] = where.pop(key)
        elif change == 2:
            there, other = rng.choice(places)
            where[key] = deepcopy(there[other])
        elif change == 3 and isinstance(where, list):
            where.insert(key, where[key])
        else:
            where[key] = rng.choice(others) if rng.random() < 0.3 else deepcopy(rng.choice(ODD))
    return tree


def places_of(tree: Any) -> Any:
    """Every mapping or list of a tree, with each of its keys."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield tree, key
        yield from places_of(tree[key])


def damage_json(content: bytes, rng: random.Random) -> bytes:
    text = json.dumps(damage_tree(json.loads(content), rng, [*IN_JSON]))
    for name, raw in IN_JSON.items():
        text = text.replace(f'"{name}"', raw)
    return text.encode(errors="replace")


def damage_safetensors(content: bytes, rng: random.Random) -> bytes:
    """Metadata of others, and weights that are removed, renamed, cut, of other types or not finite."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(content)
        with safe_open(file.name, framework="pt") as opened:
            metadata = dict(opened.metadata() or {})
            tensors = load(content)
    if "seqcap" in metadata and rng.random() < 0.6:
        metadata["seqcap"] = damage_json(metadata["seqcap"].encode(), rng).decode(errors="replace")
        if rng.random() < 0.1:
            metadata = rng.choice(({}, {"other": "x"}, {"seqcap": "{"}, {"seqcap": "[]"}))
    elif tensors:
        name = rng.choice([*tensors])
        tensor = tensors[name]
        change = rng.randrange(6)
        if change == 0:
            del tensors[name]
        elif change == 1:
            tensors[rng.choice(("x", "", "a.b.c", "adam.x.y", "best.a", "step.x"))] = tensors.pop(name)
        elif change == 2:
            tensors[name] = tensor.flatten()[: rng.choice((0, 1, 3))].clone()
        elif change == 3:
            kinds = (torch.float16, torch.float64, torch.int64, torch.bool, torch.float8_e4m3fn, torch.bfloat16)
            tensors[name] = tensor.to(rng.choice(kinds))
        elif change == 4 and tensor.is_floating_point() and tensor.numel():
            tensors[name] = tensor.flatten().index_fill(0, torch.tensor([0]), rng.choice((math.nan, math.inf, 3e38)))
            tensors[name] = tensors[name].view_as(tensor)
        else:
            tensors["more"] = torch.ones(2)
    return save(tensors, metadata)


def damage_gzip(content: bytes, rng: random.Random) -> bytes:
    return gzip.compress(damage_lines(gzip.decompress(content), rng))


def damage_arrays(content: bytes, rng: random.Random) -> bytes:
    """Arrays that are removed, cut, of other types, or hold other numbers."""
    with np.load(io.BytesIO(content)) as opened:
        arrays = dict(opened)
    name = rng.choice([*arrays])
    array = arrays[name]
    change = rng.randrange(4)
    if change == 0:
        del arrays[name]
    elif change == 1:
        arrays[name] = array.ravel()[: rng.choice((0, 1, 3))]
    elif change == 2:
        arrays[name] = array.astype(rng.choice((np.float32, np.int8, np.uint64, np.bool_, np.str_)))
    elif array.size:
        changed = array.ravel().copy()
        changed[rng.randrange(array.size)] = rng.choice((0, 1, 2, 255))
        arrays[name] = changed.reshape(array.shape)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


STRUCTURED: dict[str, Callable[[bytes, random.Random], bytes]] = {
    ".json": damage_json,
    ".safetensors": damage_safetensors,
    ".gz": damage_gzip,
    ".npz": damage_arrays,
    **dict.fromkeys((".csv", ".jsonl", ".txt", ".tsv", ".de", ".en"), damage_lines),
}


def damaged(path: Path, content: bytes, rng: random.Random) -> bytes:
    """A file's content with damage: mostly to its values, sometimes to its bytes."""
    structured = STRUCTURED.get(path.suffix)
    if structured is None or rng.random() < 0.3:
        return rng.choice((b"", b"\n", content[:100])) if rng.random() < 0.02 else damage_bytes(content, rng)
    return structured(content, rng)


# --- Readers


def scored() -> None:
    annotations = [{"image_id": i, "caption": text} for i, texts in TEXTS.items() for text in texts]
    write_json("coco.json", {"annotations": annotations, "images": [{"id": i} for i in TEXTS]})
    images = [
        {"imgid": 10 * i, "cocoid": i, "split": "test", "sentences": [{"raw": text} for text in texts]}
        for i, texts in TEXTS.items()
    ]
    write_json("karpathy.json", {"images": images, "dataset": "coco"})
    Path("plain.txt").write_text("".join(f"{texts[0]}\n" for texts in TEXTS.values()))
    write_json("candidates.json", [{"image_id": i, "caption": texts[0]} for i, texts in TEXTS.items()])
    write_json("other.json", {str(i): texts[:1] for i, texts in TEXTS.items()})
    rows = [f"{i},{first},{second}\n" for i, (first, second) in TEXTS.items()]
    Path("table.csv").write_text("".join(["image,caption_1,caption_2\n", *rows]))
    lines = [json.dumps({"image_id": i, "caption": texts[0]}) + "\n" for i, texts in TEXTS.items()]
    Path("lines.jsonl").write_text("".join(lines))
    Path("texts.json").write_text(json.dumps({str(i): texts[0] for i, texts in TEXTS.items()}))


def read_scored(rng: random.Random) -> None:
    references = rng.choice(("coco.json", "karpathy.json", "plain.txt", "table.csv"))
    candidates = [Path(name) for name in rng.sample(("candidates.json", "other.json", "lines.jsonl", "texts.json"), 2)]
    form = rng.choice(("text", "json", "markdown", "latex"))
    score([Path(references)], candidates, None, FAST, False, None, form, Path("scores.json"), True)


def read_captions(rng: random.Random) -> None:
    weights = [Path("lstm.safetensors"), Path("attention.safetensors")][: rng.choice((1, 2))]
    for path, caption in caption_files([Path("one.png"), Path("two.jpg")], weights, 2):
        f"{path}\t{caption}".encode()


def images() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (24, 16, 4), dtype=np.uint8)
    image = Image.fromarray(pixels)
    Path("images").mkdir()
    for kind, mode in (("png", "RGBA"), ("jpg", "RGB"), ("webp", "RGB"), ("bmp", "RGB"), ("gif", "P"), ("tif", "CMYK")):
        (image if mode == "RGBA" else image.convert("RGB").convert(mode)).save(f"images/a.{kind}")
    image.convert("L").save("images/a.ppm")


def read_images(rng: random.Random) -> None:
    source = ImageSource(".")
    for path in Path("images").iterdir():
        source.read(path.name).tobytes()


def clips() -> None:
    for folder in ("gifs", "splits"):
        Path(folder).mkdir()
    Path(tgif.CAPTIONS_FILE).write_text("".join(f"http://x/{split}.gif\ta {split} cat\n" for split in SPLITS))
    for split in SPLITS:
        Path(f"splits/{split}.txt").write_text(f"http://x/{split}.gif\n")
        Path(f"gifs/{split}.gif").write_bytes(gif(pictures(4)))


def read_clips(rng: random.Random) -> None:
    rows, _ = tgif.read(Path())
    source = ClipSource(Path(), 3)
    for row in rows:
        source.read(row["file"])


def raters() -> None:
    entries = [
        {"task": "accuracy", "item": i, "model": model, "against": None, "question": f"q{i}{model}", "side": "a"}
        for i in range(3)
        for model in ("ours", "theirs")
    ]
    key = {
        "kit": "k",
        "entries": [*entries, entries[0] | {"task": "naturalness", "against": "x", "question": None, "side": None}],
    }
    write_json("key.json", key)
    for rater in ("ann", "bob"):
        lines = [f"k,{rater},accuracy,{entry['question']},{'ab'[i % 2]},1" for i, entry in enumerate(entries)]
        Path(f"{rater}.csv").write_text("\r\n".join(["kit,rater,task,question,choice,place", *lines, ""]))


def karpathy() -> None:
    layout = karpathy_layout("flickr8k")
    for image in layout["images"]:
        image["cocoid"] = image["imgid"] + 100
    write_json("data/dataset_flickr8k.json", layout)
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "PNG")
    pack(Path("data/images.tar"), {f"images/{i}.png": buffer.getvalue() for i in range(5)})


def read_karpathy(rng: random.Random) -> None:
    config = {"dataset": "flickr8k", "root": "data", "min_count": 1, "max_length": 5, "scenes": None, "seed": 1}
    captions.prepare(ImageData(**config, fingerprint={}, code={}), Path("out"))


def parallel_text() -> None:
    for split in SPLITS:
        for language, words in (("de", "der rote Hund läuft ."), ("en", "the red dog runs .")):
            Path(f"{split}.{language}").write_text(f"{words}\nUnd so weiter, z. B.\n" * 3, encoding="utf-8")
    for language in ("de", "en"):
        path = Path(f"test.{language}")
        Path(f"test.{language}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()


def vectors() -> None:
    text = "".join(f"{word} {i} 0.5 -1e-3\n" for i, word in enumerate([*WORDS, "<eos>"]))
    Path("glove.txt").write_text(text)
    Path("glove.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def read_vectors(rng: random.Random) -> None:
    for name in ("glove.txt", "glove.txt.gz"):
        read_text(name, Vocabulary.build([WORDS], 1), 3)


def encoder() -> None:
    tensors = with_weights("scenes_cnn", "random", 1).body.state_dict()
    body = {name: tensor.contiguous() for name, tensor in tensors.items()}
    Path("weights.safetensors").write_bytes(save(body))
    torch.save(body, "weights.pth")


def read_encoder(rng: random.Random) -> None:
    for name in ("weights.safetensors", "weights.pth"):
        with_weights("scenes_cnn", name, 1)


def counted() -> None:
    DocumentFrequencies.of_captions(TEXTS.values()).write("counted.npz")


def read_counted(rng: random.Random) -> None:
    evaluate(["A dog runs."], [TEXTS[1]], "cider", frequencies="counted.npz")


def huggingface() -> None:
    write_huggingface(Path("blip"), "blip", WORDS)


def read_huggingface(rng: random.Random) -> None:
    captioner, vocabulary, pixels = from_folder("blip")
    captions = greedy(captioner, captioner.encode(pixels.read([picture()])), 4).tokens
    " ".join(vocabulary.decode(captions[0].tolist()))


def read_clip(rng: random.Random) -> None:
    clip_score(["a dog"], [picture()], [["dogs"]], clip="clip")


def picture() -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (20, 24, 3), dtype=np.uint8))


READERS = (
    Reader("`score`", scored, ("*.json", "*.jsonl", "*.csv", "*.txt"), read_scored),
    Reader("document frequencies", counted, ("*.npz",), read_counted),
    Reader(
        "`caption`", lambda: write_captioners(Path()), ("*.safetensors", "artifacts/*/*.safetensors"), read_captions
    ),
    Reader(
        "`rating`",
        raters,
        ("*.json", "*.csv"),
        lambda _: as_table(aggregate(Path("key.json"), [Path("ann.csv"), Path("bob.csv")])).encode(),
    ),
    Reader("images", images, ("images/*",), read_images),
    Reader("Karpathy's layout", karpathy, ("data/*",), read_karpathy),
    Reader("TGIF's layout", clips, ("*.tsv", "splits/*", "gifs/*"), read_clips),
    Reader(
        "parallel text",
        parallel_text,
        ("*.de", "*.en", "*.gz"),
        lambda _: write_pairs(".", corpus_config(tokenise=True, subwords=8), Path("out")),
    ),
    Reader("GloVe's text", vectors, ("glove*",), read_vectors),
    Reader("encoders", encoder, ("weights.*",), read_encoder),
    Reader("captioners of Hugging Face", huggingface, ("blip/*",), read_huggingface),
    Reader("CLIP", lambda: write_clip(Path("clip")), ("clip/*",), read_clip),
)


# --- The campaign


@dataclass
class Result:
    """The outcomes of a reader's tries.

    Attributes:
        outcomes: outcome -> how often.
        faults: number of a try -> what went wrong.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: dict[int, str] = field(default_factory=dict)


def campaign(reader: Reader, folder: Path, numbers: Sequence[int], seed: int, patience: float = PATIENCE) -> Result:
    """Makes some tries with a reader, in an empty folder. Each has its own random numbers, and `patience` seconds."""
    with chdir(folder):
        reader.prepare()
        files = sorted(path for path in Path().rglob("*") if any(fnmatchcase(str(path), one) for one in reader.damaged))
        good = {path: path.read_bytes() for path in files if path.is_file()}
    context, result = get_context("fork"), Result()
    worker = None
    for number in numbers:
        if worker is None:
            here, there = context.Pipe()
            worker = context.Process(target=work, args=(there, reader, folder, good, seed), daemon=True)
            worker.start()
            there.close()
        here.send(number)
        outcome, why = "hang", f"no answer in {patience} s"
        try:
            if here.poll(patience):
                outcome, why = here.recv()
        except EOFError:
            worker.join()
            outcome, why = "traceback", f"died with status {worker.exitcode}"
        if outcome == "fault of the campaign":
            raise RuntimeError(f"{reader.name}, try {number}: {why}")
        result.outcomes[outcome] += 1
        if outcome in ("traceback", "hang"):
            result.faults[number] = why
            worker.kill()
            worker.join()
            worker = None
    if worker is not None:
        worker.kill()
        worker.join()
    return result


def work(connection: Connection, reader: Reader, folder: Path, good: dict[Path, bytes], seed: int) -> None:
    """Makes the tries whose numbers it is sent, and sends their outcomes. `good`: the files before the damage."""
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    # Nothing is printed.
    for descriptor in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False, errors="backslashreplace")
    while True:
        rng = random.Random(f"{reader.name} {seed} {connection.recv()}")
        for path, content in good.items():
            path.write_bytes(content)
        path = rng.choice([*good]) if good else None
        if path is not None:
            try:
                path.write_bytes(damaged(path, good[path], rng))
            except Exception:
                connection.send(("fault of the campaign", traceback.format_exc()))
                continue
        connection.send(attempt(reader, rng, path))


def attempt(reader: Reader, rng: random.Random, path: Path | None) -> tuple[str, str]:
    """The outcome of one try, and the reason for a fault."""
    try:
        reader.read(rng)
    except InputError as error:
        return ("one line", "") if "\n" not in str(error) else ("traceback", f"several lines: {error}")
    except BaseException:
        return "traceback", f"{path}\n{traceback.format_exc()}"
    return "accepted", ""


def as_rows(results: dict[str, Result]) -> list[str]:
    """The lines of a Markdown table."""
    rows = ["| reader | tries | one line | accepted | tracebacks | hangs |"]
    rows.append("|---|" + "---:|" * (1 + len(OUTCOMES)))
    total: Counter[str] = Counter()
    for result in results.values():
        total += result.outcomes
    for name, outcomes in [*((name, result.outcomes) for name, result in results.items()), ("all", total)]:
        counts = [f"{outcomes[outcome]:,}" for outcome in OUTCOMES]
        rows.append(f"| {name} | {outcomes.total():,} | {' | '.join(counts)} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=2000, help="with each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds for a try; more on a busy machine")
    parser.add_argument("--only", default="", help="readers whose name holds this")
    arguments = parser.parse_args()
    tip = git(ROOT, "rev-parse", "--short=8", "HEAD").strip()
    results = {}
    for reader in READERS:
        if arguments.only in reader.name:
            tries = range(arguments.tries)
            with tempfile.TemporaryDirectory() as folder:
                results[reader.name] = campaign(reader, Path(folder), tries, arguments.seed, arguments.patience)
            print(as_rows({reader.name: results[reader.name]})[2], file=sys.stderr, flush=True)
    table = "\n".join(as_rows(results))
    print(table)
    for name, result in results.items():
        for number, why in result.faults.items():
            print(f"\n{name}, try {number}: {why}")
    if not arguments.only:
        TABLE.write_text(
            "# Damaged files\n\n"
            f"Written by `python tests/campaigns/bad_input.py --tries {arguments.tries} --seed {arguments.seed}` at\n"
            f"commit {tip}. Each try damages one file at random: its bytes, or\n"
            "its values. A reader may accept it, or say in one line what is wrong.\n\n" + table + "\n"
        )


if __name__ == "__main__":
    main()
