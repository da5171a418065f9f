"""Captioners of Hugging Face's real architectures, with few and random weights."""

from pathlib import Path

SIDE = 16
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
VISION = SIZES | {"image_size": SIDE, "patch_size": 8}
# BERT's specials, then [DEC], BLIP's start, then words and pieces.
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[DEC]"]
FAMILIES = ("blip", "git", "vit_bert", "vit_gpt2")


def write_huggingface(
    folder: Path, family: str, words: list[str], scale: float = 0.4, size: int | None = None, seed: int = 1
) -> Path:
    """A folder as users have it, of a captioner that knows `words` (or pieces, as "##s"), with weights of a standard
    deviation of `scale`. `size`: the model's vocabulary, if it is larger than the tokenizer's."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    import seqcap.features.torchvision_shim  # noqa: F401

    folder.mkdir(exist_ok=True, parents=True)
    if family == "vit_gpt2":
        # GPT-2 has one special token for everything, and no unknown token.
        pieces = {"<|endoftext|>": 0} | {word: i for i, word in enumerate(words, 1)}
        tokenizer = Tokenizer(models.WordLevel(pieces, "<|endoftext|>"))
        tokenizer.decoder = None
    else:
        pieces = {word: i for i, word in enumerate([*PIECES, *words])}
        tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
        tokenizer.decoder = decoders.WordPiece()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens([name for name in pieces if name[0] in "[<"])
    tokenizer.save(str(folder / "tokenizer.json"))
    vocab = {"vocab_size": size or len(pieces)}
    bert = SIZES | vocab | {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "max_position_embeddings": 32}
    if family == "blip":
        text = bert | {"bos_token_id": 4, "eos_token_id": 2, "sep_token_id": 3, "encoder_hidden_size": 16}
        config = transformers.BlipConfig(text_config=text, vision_config=VISION, projection_dim=16)
        model_class = transformers.BlipForConditionalGeneration
    elif family == "git":
        config = transformers.GitConfig(vision_config=VISION, **bert)
        model_class = transformers.GitForCausalLM
    else:
        encoder = transformers.ViTConfig(**VISION)
        if family == "vit_bert":
            decoder = transformers.BertConfig(**bert, is_decoder=True, add_cross_attention=True)
            special = {"decoder_start_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
        else:
            sizes = {"n_embd": 24, "n_layer": 2, "n_head": 2, "n_positions": 32, "bos_token_id": 0, "eos_token_id": 0}
            decoder = transformers.GPT2Config(**sizes, **vocab, add_cross_attention=True)
            special = {"decoder_start_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
        config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder, **special)
        model_class = transformers.VisionEncoderDecoderModel
    torch.manual_seed(seed)
    model = model_class(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn_like(parameter) * scale)
            # Otherwise captions repeat the word that the biases prefer, and do not end.
            if name.endswith("bias"):
                parameter.mul_(0.1)
            elif name.endswith(("position_embeddings.weight", "wpe.weight")):
                parameter.mul_(4)
            elif parameter.dim() == 1:
                parameter.add_(1)
    model.save_pretrained(folder)
    square = {"height": SIDE, "width": SIDE}
    transformers.BlipImageProcessor(size=square).save_pretrained(folder)
    return folder
