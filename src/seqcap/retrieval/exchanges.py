"""People's captions with one fact exchanged: negatives that a retriever may be trained with, and a test of retrievers.
Of scenes, the checker says that the caption is true and the other false (`seqcap.world.exchange`). Of photographs
nobody knows; there, a colour, a number or a noun is exchanged (exchanges.yaml), and the outcome may happen to be true.
Nor is every word as common as another there, so that words alone tell much: `compare` with other images says how much.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ruamel.yaml import YAML
from torch import Tensor

from seqcap.data.vocabulary import EOS, PAD, UNK, Vocabulary
from seqcap.files.parquet import read_table
from seqcap.files.schemas import REFERENCES
from seqcap.retrieval.base import Retriever
from seqcap.retrieval.ranking import CHUNK, TIE
from seqcap.retrieval.recalls import embed_captions, embed_images
from seqcap.tasks.base import Split
from seqcap.tasks.images import VisualTask
from seqcap.world.exchange import TABLES, Table, exchange, exchanged_words
from seqcap.world.scenes import SCENES_FILE, read_scenes

DATA_FILES = "exchanges.yaml"
Compared = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]
KINDS = tuple(TABLES)  # of facts; photographs have some of them


def read_tables(vocabulary: Vocabulary) -> Mapping[str, list[Table]]:
    """Kind of fact -> tables of words of photographs' captions, of those that a vocabulary has."""
    words: Mapping[str, Any] = YAML(typ="safe").load(Path(__file__).with_name(DATA_FILES))
    return {kind: [*_known_tables(tables, set(vocabulary.words))] for kind, tables in words.items()}


def _known_tables(tables: Iterable[Mapping[str, Iterable[str]]], words: Set[str]) -> Iterator[Table]:
    for table in tables:
        said = {meaning: dict.fromkeys((word for word in of if word in words), 1) for meaning, of in table.items()}
        known = {meaning: of for meaning, of in said.items() if of}
        if len(known) > 1:
            yield Table(known)


def knows_facts(task: VisualTask) -> bool:
    """Whether everything that is true of a task's images is known: that they are scenes."""
    return (task.folder / "data" / SCENES_FILE).exists()


def read(task: VisualTask, split: str, max_length: int, seed: int) -> Tensor:
    """The captions of a split with one fact exchanged: ids int32 [images, references, kinds, max_length], images and
    references in the order of `task.split`, kinds as in `KINDS`; all PAD where a caption has no such fact, or where the
    other would be told by a word that nobody says in training. Random draws depend on the seed and the caption's
    number."""
    scenes = read_scenes(task.folder / "data" / SCENES_FILE) if knows_facts(task) else {}
    tables = {} if scenes else read_tables(task.vocabulary)
    by_image: dict[int, list[list[str]]] = {}
    for row in read_table(task.folder / "data/references.parquet", REFERENCES).to_pylist():
        if row["split"] == split:
            by_image.setdefault(row["item"], []).append(row["tokens"])
    most = max(map(len, by_image.values()))
    ids = np.full((len(by_image), most, len(KINDS), max_length), PAD, dtype=np.int32)
    for i, (item, captions) in enumerate(by_image.items()):
        for j, words in enumerate(captions):
            rng = np.random.default_rng([seed, item, j])
            others: Mapping[str, Iterable[list[str]]]
            if scenes:
                others = {kind: [other] for kind, other in exchange(words, scenes[item], rng).items()}
            else:
                others = {kind: exchanged_words(words, table, rng) for kind, table in tables.items()}
            original = _encoded(task, words, max_length)
            for kind, candidates in others.items():
                for other in candidates:
                    other_ids = _encoded(task, other, max_length)
                    # What is cut makes no difference.
                    if other_ids != original and other_ids.count(UNK) <= original.count(UNK):
                        ids[i, j, KINDS.index(kind), : len(other_ids)] = other_ids
                        break
    return torch.from_numpy(ids)


def _encoded(task: VisualTask, words: list[str], max_length: int) -> list[int]:
    return [*task.vocabulary.encode(words)[: max_length - 1], EOS]


def told(retriever: Retriever, split: Split, exchanged: Tensor, device: torch.device) -> dict[str, float]:
    """Kind of fact -> the share of exchanged captions that score below the true one."""
    compared = compare(retriever, split, exchanged, device)
    return {kind: float(below.mean()) for kind, (_, _, below) in compared.items()}


@torch.no_grad()
def compare(
    retriever: Retriever, split: Split, exchanged: Tensor, device: torch.device, away: int = 0
) -> dict[str, Compared]:
    """Kind of fact -> its exchanged captions, from `read`: the row of the image [n], the number of the caption among
    its references [n], and whether it scores below the true one (bool [n]). Kinds without any are left out. Both are
    scored with the image that is so many places `away` in the split, the first ones after the last."""
    captions = split.captions(np.arange(len(split)))
    images = embed_images(retriever, split.inputs, device)
    compared = {}
    for number, kind in enumerate(KINDS):
        image, reference = (exchanged[:, :, number, 0] != PAD).nonzero(as_tuple=True)
        if len(image) == 0:
            continue
        below = []
        for rows, places in zip(torch.split(image, CHUNK), torch.split(reference, CHUNK), strict=True):
            scores = []
            for ids in (captions[rows, places], exchanged[rows, places, number].long()):
                texts = embed_captions(retriever, ids, device)
                scores.append(retriever.compare_own(texts[:, None], images[(rows + away) % len(images)]).squeeze(1))
            below.append(scores[0] > scores[1] + TIE)
        compared[kind] = image.numpy(), reference.numpy(), torch.cat(below).cpu().numpy()
    return compared
