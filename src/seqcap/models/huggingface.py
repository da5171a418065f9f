"""A captioner of Hugging Face in a user's folder: VisionEncoderDecoder, BLIP (Li et al., ICML 2022) or GIT (Wang et
al., TMLR 2022), as transformers' `save_pretrained` writes them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap.config import Frozen
from seqcap.data.tokens import TokenVocabulary
from seqcap.data.vocabulary import BOS, EOS, PAD, UNK
from seqcap.errors import InputError
from seqcap.features.captioner_folder import Pixels, build_model, read_model, read_vocabulary
from seqcap.features.folder_config import check_config
from seqcap.models.base import IMPOSSIBLE, PIXELS, Captioner, Tensors, in_precision
from seqcap.system.extras import require

# What LoRA adapts: the attentions' queries and values, as its paper does; GPT-2 has them in one matrix.
ADAPTED = r".*\.(query|value|q_proj|v_proj|c_attn|q_attn)"


class Config(Frozen):
    """Which captioner of Hugging Face is trained, and how many of its weights."""

    folder: str = Field(description="with the model's config.json, weights, tokenizer and image processor")
    lora: int | None = Field(
        None, ge=1, le=1024, description="rank of LoRA (Hu et al., ICLR 2022); null: every weight is trained"
    )


class Head:
    """The layer over the vocabulary in this package's order of tokens. Its weights are the model's: gradients reach
    them.

    Args:
        captioner: the captioner whose `ids` [V] number this package's tokens in the model.
        linear: the model's own layer, from [hidden] to its tokens, with or without bias.
    """

    def __init__(self, captioner: "Model", linear: Any) -> None:
        self._captioner, self._weight, self._bias = captioner, linear.weight, linear.bias

    @property
    def in_features(self) -> int:
        return int(self._weight.shape[1])

    @property
    def weight(self) -> Tensor:
        """[V, hidden]."""
        return self._weight.index_select(0, self._captioner.ids)  # type: ignore[no-any-return]

    @property
    def bias(self) -> Tensor:
        """[V]; zeros if the model has none."""
        if self._bias is None:
            return self._weight.new_zeros(len(self._captioner.ids))  # type: ignore[no-any-return]
        return self._bias.index_select(0, self._captioner.ids)  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """Faster than a product with `weight`, which copies it."""
        return F.linear(hidden, self._weight, self._bias).index_select(-1, self._captioner.ids)


class Model(Captioner):
    """Reads pixel values [n, channels, height, width] of the model's own image processor, and writes tokens of its own
    tokenizer (`vocabulary`). Weights are fresh until `load_pretrained`.

    Probabilities are the model's, but for padding and the start, which are no words: they have probability zero here,
    as with `suppress_tokens` of `generate`. The model's own dropout is off, since captions must be scored under what
    drew them; the training loop's `dropout` is on the word embeddings and on the decoder's outputs, one mask an image.
    The memory: keys and values [n, heads, cells, hidden / heads] of the image in each layer, then the two masks. The
    state is that of `seqcap.models.transformer`.

    Args:
        config: the folder, and how many of its weights are trained.
        vocabulary_size: V, the number of the folder's tokens.
        feature_shape: (channels, height, width) of the image processor's pixel values; no weight depends on it.

    Raises:
        InputError: the folder holds no such captioner, it has another number of tokens than `vocabulary_size`, its
            model cannot read pixel values of `feature_shape`, or the extra for LoRA is asked for and not installed.
    """

    kinds = ("images",)
    features = PIXELS
    ids: Tensor

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(vocabulary_size, 1, 1)
        self.folder = Path(config.folder)
        check_config(self.folder)
        vocabulary = read_vocabulary(self.folder)
        if len(vocabulary) != vocabulary_size:
            problem = f"has {len(vocabulary)} tokens, and the task's vocabulary {vocabulary_size}"
            raise InputError(self.folder, problem, "name this folder as the task's `pretrained`, too")
        self.register_buffer("ids", torch.tensor(vocabulary.ids), persistent=False)
        if not vocabulary.knows_unknown:
            self.impossible[UNK] = True
        self.model = build_model(self.folder)
        kind = self.model.config.model_type
        # GIT's image is the beginning of the text; the others' decoders look at it by cross-attention.
        self.reads_ahead = kind == "git"
        self.writer = {"git": "", "blip": "text_decoder", "vision-encoder-decoder": "decoder"}[kind]
        encoder: Any = getattr(self.model, "encoder", None)
        if getattr(encoder, "pooler", None) is not None:
            # It summarises images, and no captioner reads that.
            encoder.pooler = None
        self._take_ends()
        if config.lora is not None:
            require("lora", "LoRA")
            import peft  # comes with the extra

            settings = peft.LoraConfig(r=config.lora, lora_alpha=config.lora, target_modules=ADAPTED)
            self.requires_grad_(False)
            peft.inject_adapter_in_model(settings, self.model)
        self.model.eval()
        self._check_pixels(feature_shape)

    @property
    def decoder(self) -> Any:
        return self.model.get_submodule(self.writer)

    @torch.no_grad()
    def _check_pixels(self, shape: tuple[int, ...]) -> None:
        """Reads a black image: a processor of another model may make others than this one reads."""
        try:
            self.encode(torch.zeros(1, *shape))
        except (RuntimeError, ValueError) as error:
            problem = f"has an image processor that makes {list(shape)}, which its model cannot read ({error})"
            raise InputError(self.folder, problem, "save the model's own image processor beside it") from None

    def _take_ends(self) -> None:
        """Makes the embedding and the layer over the vocabulary this captioner's. The model's decoder then returns what
        that layer reads."""
        linear = self.decoder.get_output_embeddings()
        place = next(name for name, module in self.model.named_modules() if module is linear)
        parent, _, name = place.rpartition(".")
        setattr(self.model.get_submodule(parent), name, nn.Identity())
        self.head_names = {"head_weight": f"{place}.weight", "head_bias": f"{place}.bias"}
        # Not twice in the weights file: an embedding may be the layer's weight, too.
        kept = {id(parameter) for parameter in self.model.parameters()}
        for own, parameter in (("head_weight", linear.weight), ("head_bias", linear.bias)):
            if parameter is not None and id(parameter) not in kept:
                self.register_parameter(own, parameter)
        del self.embedding, self.output
        # Not as sub-modules, for the same reason.
        object.__setattr__(self, "embedding", self.decoder.get_input_embeddings())
        object.__setattr__(self, "output", Head(self, linear))

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """transformers' name of each weight, and the weight; without LoRA's matrices."""
        for name, tensor in self.state_dict().items():
            if name in self.head_names:
                yield self.head_names[name], tensor
            elif ".lora_" not in name:
                yield name.removeprefix("model.").replace(".base_layer", ""), tensor

    def load_pretrained(self) -> Self:
        """Takes the folder's weights; InputError if they do not fit. LoRA's matrices are new, and begin as zero."""
        source = read_model(self.folder).state_dict()
        for place, tensor in self.weights():
            if place not in source:
                raise InputError(self.folder, f"has no weights for {place}", "save the model again")
            tensor.copy_(source[place])
        return self

    def merged(self) -> Any:
        """A new model of transformers with these weights, LoRA's matrices added to what they adapt. Padding and the
        start have probability zero there, too: by the bias of the layer over the vocabulary, or, if it has none, by
        `suppress_tokens` of the generation's configuration. InputError if the folder cannot be read any more."""
        model = read_model(self.folder)
        target = model.state_dict()
        for place, tensor in self.weights():
            target[place].copy_(tensor)
        for place, module in self.model.named_modules():
            if hasattr(module, "get_delta_weight"):
                for adapter in module.active_adapters:
                    target[f"{place}.weight"].add_(module.get_delta_weight(adapter).detach())
        ids = self.ids.tolist()
        never = sorted({ids[PAD], ids[BOS]} - {ids[EOS]})
        bias = model.get_submodule(self.writer).get_output_embeddings().bias
        if bias is not None:
            bias.data[never] = IMPOSSIBLE
        elif never:
            model.generation_config.suppress_tokens = never
        return model

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        self.model.eval()
        return self

    def encode(self, features: Tensor) -> Tensors:
        """Pixel values [n, channels, height, width] -> memory."""
        n = len(features)
        start = self.ids[BOS].expand(n, 1)
        if self.reads_ahead:
            cache = self.model(input_ids=start, pixel_values=features, use_cache=True).past_key_values
            # The image's tokens do not look at the start that follows them.
            seen = [part[:, :, :-1] for layer in cache.layers for part in (layer.keys, layer.values)]
        else:
            vision = self.model.vision_model if self.model.config.model_type == "blip" else self.model.encoder
            cells = vision(pixel_values=features).last_hidden_state
            if hasattr(self.model, "enc_to_dec_proj"):
                cells = self.model.enc_to_dec_proj(cells)
            # Reading one token fills the cache of the cross-attention, which depends on the image alone.
            read = self.decoder(input_ids=start, encoder_hidden_states=cells, use_cache=True)
            layers = read.past_key_values.cross_attention_cache.layers
            seen = [part for layer in layers for part in (layer.keys, layer.values)]
        return *seen, self.mask(n, self.embedding.embedding_dim), self.mask(n, self.output.in_features)

    def start(self, memory: Tensors) -> Tensors:
        seen = memory[:-2]
        return seen[0].new_ones(len(seen[0]), 0, dtype=torch.bool), *(part[:, :, :0] for part in seen)

    @in_precision
    def embed(self, inputs: Tensor) -> Tensor:
        weight: Tensor = self.embedding.weight
        if inputs.is_floating_point():
            return inputs @ weight.index_select(0, self.ids)
        return F.embedding(self.ids[inputs], weight)

    @in_precision
    def logits(self, hidden: Tensor) -> Tensor:
        head: Any = self.output
        logits: Tensor = head.logits(hidden)
        return logits.masked_fill(self.impossible, IMPOSSIBLE)

    def recur(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        output, state = self.read(embedded[:, None], state, memory)
        return output[:, 0], state

    def unroll(self, captions: Tensor, memory: Tensors) -> Tensor:
        return self.read(self.embed(self.shifted(captions)), self.start(memory), memory)[0]

    def states(self, captions: Tensor, memory: Tensors, rows: Tensor, places: Tensor) -> Tensors:
        """See the base class; caches all words of a caption and masks those from `places` on."""
        _, (own, *cached) = self.read(self.embed(self.shifted(captions)), self.start(memory), memory)
        time = torch.arange(own.shape[1], device=own.device)
        # Inputs begin with BOS, so place t is input t + 1.
        return time <= places[:, None], *[part[rows] for part in cached]

    def read(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        """Reads embedded words [n, time, embedding] at once: outputs [n, time, hidden], and the next state."""
        own, *past = state
        *seen, word_mask, output_mask = memory
        n, time, _ = embedded.shape
        places = own.sum(1, keepdim=True) + torch.arange(time, device=own.device)
        before, own = own.shape[1], torch.cat([own, own.new_ones(n, time)], dim=1)
        allowed = own[:, None, None] & own.new_ones(time, before + time).tril(before)
        cells = seen[0].shape[2] if self.reads_ahead else 0
        if self.reads_ahead:
            allowed = torch.cat([allowed.new_ones(n, 1, time, cells), allowed], dim=3)
            cache = words = _cache([torch.cat(parts, dim=2) for parts in zip(seen, past, strict=True)])
            image = {}
        else:
            words = _cache(past)
            from transformers import EncoderDecoderCache  # comes with the extra `hf`

            cache = EncoderDecoderCache(words, _cache(seen))
            # Only its length is read: keys and values are in the cache.
            image = {"encoder_hidden_states": embedded.new_zeros(n, seen[0].shape[2], 1)}
        lowest = torch.finfo(embedded.dtype).min
        outputs = self.decoder(
            inputs_embeds=embedded * word_mask[:, None],
            position_ids=places,
            attention_mask=torch.zeros_like(allowed, dtype=embedded.dtype).masked_fill(~allowed, lowest),
            past_key_values=cache,
            use_cache=True,
            **image,
        ).logits
        past = [part[:, :, cells:] for layer in words.layers for part in (layer.keys, layer.values)]
        return outputs * output_mask[:, None], (own, *past)


def _cache(parts: list[Tensor]) -> Any:
    """transformers' cache of keys and values, one after the other."""
    from transformers import DynamicCache  # comes with the extra `hf`

    cache = DynamicCache()
    for layer, (keys, values) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        if keys.shape[2] > 0:
            cache.update(keys, values, layer)
    return cache


def from_folder(folder: str | Path, lora: int | None = None) -> tuple[Model, TokenVocabulary, Pixels]:
    """A captioner with the folder's weights, in evaluation mode; its vocabulary; and its image processor. InputError if
    the folder holds no captioner that is known here."""
    check_config(Path(folder))
    vocabulary, pixels = read_vocabulary(Path(folder)), Pixels(Path(folder))
    captioner = Model(Config(folder=str(folder), lora=lora), len(vocabulary), pixels.shape)
    return captioner.load_pretrained().eval(), vocabulary, pixels
