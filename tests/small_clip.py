"""A CLIP of the real architecture, with few and random weights."""

import json
from pathlib import Path

SIDE = 16


def write_clip(folder: Path) -> Path:
    """A folder as users have it: the real classes, with few and random weights."""
    # transformers imports torchvision, which may need the shim.
    import torch
    import transformers

    import seqcap.features.torchvision_shim  # noqa: F401

    folder.mkdir(exist_ok=True)
    letters = [chr(i) for i in range(ord("a"), ord("z") + 1)]
    words = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{letter}</w>" for letter in letters), "do", "dog</w>"]
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\nd o\ndo g</w>\n")
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = sizes | {"vocab_size": len(words), "max_position_embeddings": 20}
    text |= {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    settings = transformers.CLIPConfig(
        text_config=text, vision_config=sizes | {"image_size": SIDE, "patch_size": 8}, projection_dim=12
    )
    torch.manual_seed(0)
    transformers.CLIPModel(settings).save_pretrained(folder)
    size = {"height": SIDE, "width": SIDE}
    transformers.CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size=size).save_pretrained(folder)
    return folder
