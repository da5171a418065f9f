"""The captions behind a paper's rows, as files that anybody can score: COCO's format of results, gzipped."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from seqcap.files import writing
from seqcap.report.inputs import Results

FOLDER = "captions"  # in the folder of a paper's results


def write(results: Results, rows: Iterable[tuple[str, str]], folder: Path) -> None:
    """Writes `<run>_<decoder>.json.gz` for each of some runs and decoders: a list of {"image_id": int, "caption": str},
    the best caption of each item, with the run's first seed. An item has the number that our artifacts give it."""
    for name, decoder in dict.fromkeys(rows):
        decoded, seed = results.decoded(name), results.by_name[name].seeds[0]
        chosen = decoded[(decoded["decoder"] == decoder) & (decoded["seed"] == seed)]
        # Of samples the first one stands for all.
        first = chosen[chosen["rank"] == 0].sort_values("item")
        items, texts = first["item"].tolist(), first["text"].tolist()
        captions = [{"image_id": item, "caption": text} for item, text in zip(items, texts, strict=True)]
        if captions:
            with writing.atomic(folder / f"{name}_{decoder}.json.gz") as path:
                # No time within the file: equal captions give equal bytes.
                path.write_bytes(gzip.compress(json.dumps(captions, ensure_ascii=False).encode(), mtime=0))
