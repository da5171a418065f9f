"""Distinctive objectives with a discriminator that keeps captions human-like (Chaffin et al., 2024): r(x) = alpha
r_sim(x) + (1 - alpha) P_D(human | x)                                        (eq. 1)"""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import nullcontext
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap.config import Frozen
from seqcap.models.base import Captioner, Tensors
from seqcap.objectives.shared.base import Batch, Context, Partner
from seqcap.objectives.shared.contrastive_reward import (
    CANDIDATES,
    TRUTH,
    CaptionedBatch,
    add_rewards,
    draw_captions,
    image_to_text,
    reward_term,
    shuffle_words,
    text_to_image,
)
from seqcap.objectives.shared.cooperation import LISTENER, ListenerObjective, zero_loss
from seqcap.retrieval.mining import mined_file, read
from seqcap.retrieval.recalls import embed_captions, embed_images
from seqcap.tasks.base import Inputs

DISCRIMINATOR = "discriminator"
MACHINE, HUMAN = range(2)


class DiscriminatorConfig(Frozen):
    """Settings of a reward with a discriminator. The paper does not say how long it learns alone."""

    alpha: float = Field(0.94, ge=0, le=1, description="weight of the similarity against P_D; 1: no regularisation")
    discriminator_pace: float = Field(70.0, gt=0, description="its learning rate as a multiple of the captioner's")
    pretraining_steps: int = Field(100, ge=0, description="first steps in which only the discriminator learns")
    co_training: bool = Field(True, description="whether the discriminator learns on, beside the captioner")


class ContrastiveConfig(DiscriminatorConfig):
    """Settings of a decoupled contrastive reward. Alpha and tau suit CLIP; choose them on val for another retriever."""

    temperature: float = Field(0.01, gt=0, description="tau")
    cap: float | None = Field(None, gt=0, description="upper bound of its logarithms, nats (released code: 16)")


class BicontrastiveConfig(ContrastiveConfig):
    """The settings of a reward that compares in both directions, from image to caption and from caption to image."""

    halve: bool = Field(False, description="half of r_bicont, as in the released code: alpha .94 is .887 of eq. 2")
    mined_ranks: tuple[int, ...] = Field((4, 5), description="mined images that are negatives, 1: the nearest")


class Discriminator(nn.Module):
    """Classifies whether a person wrote the caption of an image: a perceptron on both embeddings, as in the released
    code; with CLIP's 512 channels 1024 -> 512 -> 256 -> 2.

    Args:
        size: d, the size of the retriever's embeddings.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        layers = nn.Linear(2 * size, size), nn.ReLU(), nn.Linear(size, size // 2), nn.ReLU(), nn.Linear(size // 2, 2)
        self.layers = nn.Sequential(*layers)

    def forward(self, images: Tensor, texts: Tensor) -> Tensor:
        """Logits [..., 2] of `MACHINE` and `HUMAN` from embeddings of images [b, d] and captions [..., b, d]."""
        return self.layers(torch.cat([images.expand_as(texts), texts], -1))  # type: ignore[no-any-return]


class DiscriminatorObjective(ListenerObjective):
    """An objective with a fixed retriever and a discriminator. In the first `pretraining_steps` only the discriminator
    learns, from captions of the initial captioner; later both do. The reward uses the discriminator before the step.

    Args:
        config: the reward's settings.
        context: the folder `reads["listener"]` has the weights seed<k>.safetensors, k being `seed`.

    Raises:
        InputError: as `ListenerObjective`, or the task has no split "val".
    """

    config: DiscriminatorConfig
    rewarded: ClassVar[tuple[str, ...]]  # captions that get a reward, keys of `CANDIDATES`

    def __init__(self, config: DiscriminatorConfig, context: Context) -> None:
        super().__init__(config, context)
        first = self.training_images.get(np.zeros(1, dtype=np.int64))
        self.size = self.listener.embed_images(first).shape[1]
        self.discriminator = Discriminator(self.size)
        self.held_out = self.task.split("val", context.max_length)

    @abstractmethod
    def similarity(self, captioned: CaptionedBatch, which: int) -> tuple[Tensor, dict[str, float]]:
        """r_sim [b] of captions in row `which`, and numbers to log."""

    def embed_candidates(self, batch: Batch, images: Tensor) -> Tensor:
        """`CaptionedBatch.candidates`: here, the embeddings [b, d] of the batch's images."""
        return images

    def partners(self) -> Mapping[str, Partner]:
        learns = self.config.co_training or not self.trains_captioner()
        metadata = {"embedding": self.size}
        return {DISCRIMINATOR: Partner(self.discriminator, self.config.discriminator_pace, metadata, learns)}

    def trains_captioner(self) -> bool:
        return int(self.steps) >= self.config.pretraining_steps

    @torch.no_grad()
    def measures(self, inputs: Inputs, captions: NDArray[np.int64]) -> Mapping[str, float]:
        """R@10, and the discriminator's accuracy on these captions and equally many of people's, for val images."""
        device = self.steps.device
        rows = {item: row for row, item in enumerate(self.held_out.inputs.ids.tolist())}
        people = self.held_out.captions(np.array([rows[item] for item in inputs.ids.tolist()]))[:, 0]
        images = embed_images(self.listener, self.listener_inputs(inputs.ids), device)
        right = []
        for ids, author in ((torch.from_numpy(captions), MACHINE), (people, HUMAN)):
            texts = embed_captions(self.listener, ids, device)
            right.append(self.discriminator(images, texts).argmax(1) == author)
        return {**super().measures(inputs, captions), "val_discriminator": torch.cat(right).double().mean().item()}

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        learning = self.trains_captioner()
        memory = captioner.encode(batch.features)
        captioned = self.caption(captioner, memory, batch)
        loss, human, logs = self.discriminator_loss(captioned)
        if not learning:
            loss = loss + zero_loss(captioner)
        for name, which in CANDIDATES.items():
            reward, details = self.reward(captioned, which, human)
            if learning:
                with nullcontext() if name in self.rewarded else torch.no_grad():
                    term, details["entropy"] = reward_term(captioner, memory, captioned.captions[which], reward)
                if name in self.rewarded:
                    loss = loss + term
            logs |= {f"{name}_{quantity}": value for quantity, value in details.items()}
        self.count_step()
        return loss, logs | {"train_reward": logs["beam_reward"]}

    @torch.no_grad()
    def caption(self, captioner: Captioner, memory: Tensors, batch: Batch) -> CaptionedBatch:
        """Draws captions and embeds everything. ValueError if an image occurs twice. `memory` has one row per image."""
        images = self.embed_batch(batch)
        captions = draw_captions(captioner, memory, batch, self.context.max_length)
        texts = self.listener.embed_captions(captions.flatten(0, 1)).view(*captions.shape[:2], -1)
        return CaptionedBatch(captions, texts, images, self.embed_candidates(batch, images))

    def discriminator_loss(self, captioned: CaptionedBatch) -> tuple[Tensor, Tensor, dict[str, float]]:
        """The loss on x_bs and x_gt; P_D [3, b] of all captions, without gradient; and numbers to log: the accuracy
        before this step, and P_D of shuffled words."""
        logits = self.discriminator(captioned.images, captioned.texts)
        author = torch.full(logits.shape[:2], MACHINE, device=logits.device)
        author[TRUTH] = HUMAN
        judged = list(CANDIDATES.values())
        loss = F.cross_entropy(logits[judged].flatten(0, 1), author[judged].flatten())
        with torch.no_grad():
            right = (logits.argmax(2) == author)[judged].float().mean()
            texts = self.listener.embed_captions(shuffle_words(captioned.captions[TRUTH]))
            shuffled = self.discriminator(captioned.images, texts).softmax(1)[:, HUMAN].mean()
        logs = {
            "discriminator_loss": loss.item(),
            "discriminator_accuracy": right.item(),
            "shuffled_human": shuffled.item(),
        }
        return loss, logits.detach().softmax(2)[..., HUMAN], logs

    def regular(self, human: Tensor, which: int) -> Tensor:
        """What eq. 1 weighs by 1 - alpha, [b], of captions in row `which`, from P_D [3, b] of all captions."""
        return human[which]

    def reward(self, captioned: CaptionedBatch, which: int, human: Tensor) -> tuple[Tensor, dict[str, float]]:
        """r [b] of captions in row `which` with P_D `human` [3, b], and numbers to log."""
        similarity, logs = self.similarity(captioned, which)
        regular = self.regular(human, which)
        reward, more = add_rewards(self.config.alpha * similarity, (1 - self.config.alpha) * regular)
        return reward, logs | more | {"human": human[which].mean().item()}


class BicontrastiveObjective(DiscriminatorObjective):
    """An objective with the reward r_bicont. Its negatives include the images that stage `mine` found.

    Args:
        config: the reward's settings.
        context: the folder `reads["listener"]` has seed<k>.safetensors and seed<k>.mined.parquet, k being `seed`.

    Raises:
        InputError: as `DiscriminatorObjective`, or the mined images are missing or damaged.
    """

    config: BicontrastiveConfig

    def __init__(self, config: BicontrastiveConfig, context: Context) -> None:
        super().__init__(config, context)
        self.mined = read(mined_file(context.reads[LISTENER], context.seed), context.items, config.mined_ranks)

    def embed_candidates(self, batch: Batch, images: Tensor) -> Tensor:
        """The batch's images and those mined for each, without duplicates."""
        rows = np.unique(np.concatenate([batch.images, self.mined[batch.images].ravel()]))
        return self.listener.embed_images(self.training_images.get(rows).to(images.device))

    def similarity(self, captioned: CaptionedBatch, which: int) -> tuple[Tensor, dict[str, float]]:
        """r_bicont (eq. 2), and the share above zero of each direction. If that of text to image is always zero, a
        caption's own image is among its negatives."""
        config = self.config
        to_text = image_to_text(captioned, which, config.temperature, config.cap)
        to_image = text_to_image(captioned, which, config.temperature, config.cap)
        shares = {"to_text": to_text, "to_image": to_image}
        logs = {f"{name}_positive": (part > 0).float().mean().item() for name, part in shares.items()}
        return (to_text + to_image) * (0.5 if config.halve else 1.0), logs
