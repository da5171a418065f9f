"""Generated clips: short animations of scenes with five captions each, in the layout of TGIF, which they replace.
Captions say what moves, which no single frame shows. The same configuration and seed give the same bytes."""

import io
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field

from seqcap.files import parquet, schemas, writing
from seqcap.system.progress import progress
from seqcap.world.captions import DetailWeights
from seqcap.world.drawing import draw
from seqcap.world.english import annotate
from seqcap.world.motion import FRAMES, Clip, sample_clip
from seqcap.world.scenes import SCENES, SCENES_FILE, scene_row, write_tar

# TGIF's names, which `data.tgif` reads, and the archive of clips.
CAPTIONS_FILE, SPLITS_FOLDER, CLIPS_FILE = "tgif-v1.0.tsv", "splits", "gifs.tar"
_SHOWN = 200  # milliseconds per frame. Only viewers read it.
_CLIPS = 161803  # makes the random numbers of clips differ from those of images with the same seed and number


class ClipsConfig(BaseModel):
    """Size and difficulty of the dataset."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    train: Annotated[int, Field(ge=1, le=1_000_000)] = 1200
    val: Annotated[int, Field(ge=1, le=1_000_000)] = 300
    test: Annotated[int, Field(ge=1, le=1_000_000)] = 800
    size: Annotated[int, Field(ge=32, le=512)] = 64  # side in pixels
    captions: Annotated[int, Field(ge=1, le=100)] = 5  # per clip
    wrong_colours: Annotated[float, Field(ge=0, le=1)] = 0.05  # probability that an annotator names a colour wrong
    detail: DetailWeights = (1, 4, 5)  # ratio of generic : medium : detailed captions


def write_clips(folder: str | Path, config: ClipsConfig, seed: int) -> None:
    """Generates the dataset and writes its files into `folder`.

    - `tgif-v1.0.tsv`: one line per caption, with the clip's name as its url.
    - `splits/train.txt` and so on: the clips' names.
    - `gifs.tar`: `gifs/000000.gif` and so on.
    - `scenes.parquet`: see `SCENES`; item is the clip's number, `graph` a `motion.Clip`.

    Each clip has its own random numbers, from (seed, number): it does not depend on how many there are.
    """
    folder = Path(folder)
    splits = [name for name in schemas.SPLITS for _ in range(getattr(config, name))]
    names: dict[str, list[str]] = {split: [] for split in schemas.SPLITS}
    captions: list[str] = []
    rows: list[dict[str, Any]] = []
    with write_tar(folder / CLIPS_FILE) as add:
        for number, split in enumerate(progress(splits, desc="clips", unit="clip")):
            clip_rng, caption_rng = (
                np.random.default_rng(child) for child in np.random.SeedSequence([seed, number, _CLIPS]).spawn(2)
            )
            clip, name = sample_clip(clip_rng), f"{number:06d}.gif"
            add(f"gifs/{name}", _gif(clip, config.size))
            names[split].append(name)
            for _ in range(config.captions):
                words = annotate(clip, config.detail, config.wrong_colours, caption_rng)
                captions.append(f"{name}\t{' '.join(words)}")
            rows.append(scene_row(number, split, None, clip))
    files = {CAPTIONS_FILE: captions} | {f"{SPLITS_FOLDER}/{split}.txt": found for split, found in names.items()}
    for file, lines in files.items():
        with writing.atomic(folder / file) as temporary:
            temporary.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")
    parquet.write_rows(folder / SCENES_FILE, rows, SCENES)


def _gif(clip: Clip, size: int) -> bytes:
    no_noise = np.random.default_rng(0)
    frames = [np.asarray(draw(clip.frame(number), size, 0, no_noise)) for number in range(FRAMES)]
    strip = Image.fromarray(np.concatenate(frames)).quantize(dither=Image.Dither.NONE)
    first, *others = (strip.crop((0, size * number, size, size * (number + 1))) for number in range(FRAMES))
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=others, duration=_SHOWN, loop=0)
    return buffer.getvalue()
