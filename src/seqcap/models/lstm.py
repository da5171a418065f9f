"""The LSTM captioner of Chen & Jin 2020 (section 5.1), after Vinyals et al. 2015."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from seqcap.models.base import CaptionerConfig, ImageCaptioner, Tensors
from seqcap.models.lstm_recording import LSTMRecording


class Config(CaptionerConfig):
    """The paper uses hidden 512 and `initial_state`: h0 is the projected feature. With few images, a small decoder
    learns to ignore h0; `every_step` also adds the projected feature to every input."""

    image_input: Literal["initial_state", "every_step"] = Field(description="where the image enters")


class Model(ImageCaptioner):
    """An LSTM that the image's feature begins, or enters at every step.

    Args:
        config: its sizes, and where the image enters.
        vocabulary_size: V, the number of tokens.
        feature_shape: (channels,) of a pooled feature.
    """

    features = "pooled"
    parts = 3
    recording = LSTMRecording

    def __init__(self, config: Config, vocabulary_size: int, feature_shape: tuple[int, ...]) -> None:
        super().__init__(config, vocabulary_size, feature_shape)
        self.image = nn.Linear(feature_shape[-1], config.hidden)
        self.lstm = nn.LSTM(config.hidden, config.hidden, batch_first=True)
        self.every_step = config.image_input == "every_step"

    def encode(self, features: Tensor) -> Tensors:
        """Features [n, channels] -> (projected feature, masks of inputs and outputs), each [n, hidden]."""
        projected = self.image(self.standardise(features))
        n, hidden = projected.shape
        return projected, self.mask(n, hidden), self.mask(n, hidden)

    def start(self, memory: Tensors) -> Tensors:
        return memory[0], torch.zeros_like(memory[0])

    def recur(self, embedded: Tensor, state: Tensors, memory: Tensors) -> tuple[Tensor, Tensors]:
        image, input_mask, output_mask = memory
        inputs = embedded * input_mask
        if self.every_step:
            inputs = inputs + image
        h, c = torch.lstm_cell(inputs, state, *self.lstm.all_weights[0])
        return h * output_mask, (h, c)

    def unroll(self, captions: Tensor, memory: Tensors) -> Tensor:
        """See the base class; one call. On a CPU, a loop over steps or a packed sequence takes twice the time."""
        image, input_mask, output_mask = memory
        inputs = self.embedding(self.shifted(captions)) * input_mask[:, None]
        if self.every_step:
            inputs = inputs + image[:, None]
        h0, c0 = self.start(memory)
        outputs, _ = self.lstm(inputs, (h0[None].contiguous(), c0[None].contiguous()))
        return outputs * output_mask[:, None]  # type: ignore[no-any-return]
