"""Which variant is which row of the paper's tables, and what is scored on COCO's server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seqcap import artifacts
from seqcap.errors import InputError
from seqcap.reporting.inputs import CONFIGS, IMAGE, SCORES_FILE, Kinds, Variant, checked

# Captioner -> its block of Table 1, in the printed order.
BLOCKS = {"lstm": "without attention", "attention": "with attention"}
# Translation's task -> its column of Table 3, in the printed order.
TASKS = {"en_fr": "WMT'14 En-Fr BLEU", "de_en": "IWSLT'14 De-En BLEU"}

MLE = "mle"
# Where a sampled sequence's substitutes come from -> as printed.
POOLS = {"v": "V", "batch": "Vbatch", "refs": "Vrefs"}
# Loss -> its row of Table 1, in the printed order. A variant is <captioner>_<loss>.
CAPTION_LOSSES = {
    MLE: "MLE",
    "entropy": "MLE + gammaH",
    "tok": "Tok | Glove sim",
    "tok_rfreq": "Tok | Glove sim rfreq",
    **{
        f"{kind}_{reward.lower()}_{pool}": f"{label} | {reward} | {printed}"
        for reward in ("Hamming", "CIDER")
        for kind, label in (("seq", "Seq"), ("seq_lazy", "Seq, lazy"))
        for pool, printed in POOLS.items()
    },
    **{
        f"tok_seq_{reward.lower()}_{pool}": f"Tok-Seq | {reward} | {printed}"
        for reward in ("Hamming", "CIDER")
        for pool, printed in POOLS.items()
    },
}
# Loss -> its row of Table 3. A variant is <task>_<loss>.
TRANSLATION_LOSSES = {
    MLE: "MLE",
    "tok": "tok | Glove sim",
    "tok_rfreq": "tok | Glove sim rfreq",
    "seq_hamming_v": "Seq | Hamming | V",
    "seq_hamming_batch": "Seq | Hamming | Vbatch",
    "seq_bleu4_batch": "Seq | BLEU-4 | Vbatch",
    "tok_seq_hamming_batch": "Tok-Seq | Hamming | Vbatch",
    "tok_seq_bleu4_batch": "Tok-Seq | BLEU-4 | Vbatch",
}

SINGLE, ENSEMBLE = "tok_seq_cider", "tok_seq_cider_ensemble"
# Entry on the server -> its row of Table 2.
ENTRIES = {SINGLE: "Ours: Tok-Seq CIDER", ENSEMBLE: "Ours: Tok-Seq CIDER +"}

ROWS: dict[str, Mapping[str, tuple[str, str]] | Mapping[tuple[str, str], tuple[str, str]]] = {
    "table1": {
        (block, label): (f"{captioner}_{loss}", "beam")
        for captioner, block in BLOCKS.items()
        for loss, label in CAPTION_LOSSES.items()
    },
    "table2": {row: (entry, "beam") for entry, row in ENTRIES.items()},
    "table3": {
        (column, label): (f"{task}_{loss}", "beam")
        for task, column in TASKS.items()
        for loss, label in TRANSLATION_LOSSES.items()
    },
}

TRANSLATION_FILE, SERVER_FILE = "translation.parquet", "server_scores.parquet"
# Of a run without an ensemble there is no such file.
SERVER_CONFIG = CONFIGS / "evaluate_server.json"


def score_files(variants: Sequence[Variant]) -> list[str]:
    """The files of scores that there are: of captions, of translations and of the server's split."""
    tasks = {variant.task for variant in variants}
    files = [SCORES_FILE] if IMAGE in tasks else []
    files += [TRANSLATION_FILE] if tasks - {IMAGE} else []
    return files + ([SERVER_FILE] if SERVER_CONFIG.exists() else [])


def server_config() -> dict[str, Any]:
    """configs/evaluate_server.json: split, captioner, and members: entry -> the seeds of its models.

    Raises:
        InputError: it names another entry, or one without members.
    """
    kinds: Kinds = {"split": str, "members": dict, "captioner": str}
    config = checked(SERVER_CONFIG, artifacts.read_json(SERVER_CONFIG), kinds)
    for entry, members in config["members"].items():
        if entry not in ENTRIES:
            raise InputError(SERVER_CONFIG, f"members has {entry!r}", f"allowed: {', '.join(ENTRIES)}")
        if not isinstance(members, list) or not members or not all(isinstance(seed, int) for seed in members):
            raise InputError(SERVER_CONFIG, f"members.{entry} is {members!r}", "expected the seeds of its members")
    return config


def entries() -> list[Variant]:
    """The single model and the ensemble that are scored on the server's split; `seeds` are their members'."""
    if not SERVER_CONFIG.exists():
        return []
    config = server_config()
    return [
        Variant(
            variant=entry,
            label=ENTRIES[entry],
            captioner=config["captioner"],
            objective="token_sequence_smoothing",
            seeds=members,
        )
        for entry, members in config["members"].items()
    ]
