"""What the cooperative objectives share (Vered et al., ICCV 2019): a listener that finds pictures by their captions.

The captioner is the speaker. Two terms share it:

    discriminative: the listener's hinge, of both directions, against the hardest negatives of the batch (VSE++)
    natural:        -(CIDEr-D(y) - CIDEr-D(greedy)) log p(y), log p summed over the caption

and w weighs the first against the second. Both are means over pictures, and every objective has the same unit of w:
where the hinge is a reward, it is the item's own. The authors' code sums the hinge over the batch and divides the other
term by the number of tokens: their lambda is w / (w + tokens of a batch), w / (w + 1,340) at their sizes.

The listener learns from the hinge itself, not from w times it: how fast does not depend on w.

Negatives are those of the process: under a launcher, a batch shared by several GPUs has fewer of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from seqcap import retrieval
from seqcap.data.vocabulary import PAD
from seqcap.models import decoding
from seqcap.models.base import Captioner, Tensors
from seqcap.objectives.base import BaselinedSamples, Batch, Context, Objective, Partner, sequence_log_prob
from seqcap.retrieval.losses import hinges
from seqcap.retrieval.ranking import ranks, recall
from seqcap.retrieval.recalls import embed_captions, embed_images
from seqcap.tasks.base import Inputs
from seqcap.tasks.images import ImageInputs

LISTENER = "listener"


class Weighed(BaseModel):
    """Settings of a hinge that is weighed against CIDEr-D."""

    model_config = ConfigDict(extra="forbid")

    weight: float = Field(ge=0, description="of the hinge against CIDEr-D (w)")
    margin: float = Field(0.2, gt=0, le=2, description="of the hinge, a cosine (the paper's eq. 2 has 1, its code .2)")


class Paced(BaseModel):
    """Settings of a listener that learns."""

    model_config = ConfigDict(extra="forbid")

    listener_pace: float = Field(1.0, gt=0, description="the listener's learning rate as a multiple of the captioner's")


@dataclass(frozen=True)
class Spoken:
    """Captions of a batch.

    Attributes:
        samples: one of each picture.
        greedy: ids [b, time].
    """

    samples: BaselinedSamples
    greedy: Tensor


class Cooperation(Objective):
    """An objective with a listener, which starts from a trained retriever.

    Args:
        pace: the listener's learning rate as a multiple of the captioner's; None: it never changes.

    Raises:
        InputError: the retriever is missing or damaged, or it was trained on another task.
    """

    reads = (LISTENER,)
    # Not the epoch of the best R@10 on val: with a small w that is the first one, when the speaker has hardly learned.
    keeps_last = True

    steps: Tensor

    def __init__(self, context: Context, pace: float | None) -> None:
        super().__init__()
        self.context, self.pace = context, pace
        self.listener, _ = retrieval.load(context.reads[LISTENER] / f"seed{context.seed}.safetensors")
        self.listener.requires_grad_(pace is not None)
        self.pictures = self.listener.pictures(context.task)
        self.training_pictures = self.pictures_of(context.items)
        # Of the run: the checkpoint holds them.
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def partners(self) -> Mapping[str, Partner]:
        if self.pace is None:
            return {}
        return {LISTENER: Partner(self.listener, self.pace, self.listener.metadata(), self.trains_listener())}

    def trains_listener(self) -> bool:
        """Whether the next step changes the listener, if any does."""
        return True

    def measures(self, inputs: Inputs, captions: NDArray[np.int64]) -> Mapping[str, float]:
        """R@10 of the captions among all the inputs, with the objective's own listener, 0 to 1."""
        device = self.steps.device
        texts = embed_captions(self.listener, torch.from_numpy(captions), device)
        images = embed_images(self.listener, self.pictures_of(inputs.ids), device)
        return {"val_R@10": recall(ranks(texts, images, torch.arange(len(texts))), 10)}

    def pictures_of(self, items: NDArray[np.int64]) -> ImageInputs:
        """What the listener reads of some of the task's pictures, which need not be what the captioner reads."""
        return ImageInputs(items, self.pictures.store, self.pictures.store.rows_of(items))

    def look(self, batch: Batch) -> Tensor:
        """The listener's embeddings [b, d] of a batch's pictures.

        Raises:
            ValueError: a picture is there twice. Its second caption would be a negative that is right.
        """
        if len(np.unique(batch.images)) < len(batch.images):
            raise ValueError("a batch holds two captions of one picture")
        inputs = self.training_pictures.get(batch.images)
        return self.listener.embed_images(inputs.to(batch.features.device))

    def hinge(self, pictures: Tensor, captions: Tensor, margin: float, distractors: Tensor | None = None) -> Tensor:
        """Each item's own hinge [b], both directions.

        Args:
            pictures: their embeddings [b, d].
            captions: ids [b, time], or relaxed captions [b, time, V].
            distractors: embeddings [m, d] of further pictures.
        """
        to_text, to_picture = hinges(pictures, self.listener.embed_captions(captions), margin, distractors)
        return to_text + to_picture

    def reinforce(
        self,
        captioner: Captioner,
        batch: Batch,
        config: Weighed,
        spoken: Spoken,
        baseline: Tensor,
        distractors: Tensor | None = None,
    ) -> tuple[Tensor, dict[str, float]]:
        """The speaker's loss with the hinge as a reward, and what to log; mean over pictures:

            -(CIDEr-D(y) - CIDEr-D(greedy)) log p(y) + w (hinge(y) - hinge(baseline)) log p(y)

        The hinge is the item's own, of both directions. It has no gradient.

        Args:
            baseline: captions, ids [b, time], whose hinges are subtracted; each other's negatives.
            distractors: embeddings [m, d] of further pictures.
        """
        with torch.no_grad():
            pictures = self.look(batch)
            hinge = self.hinge(pictures, spoken.samples.tokens, config.margin, distractors)
            excess = hinge - self.hinge(pictures, baseline, config.margin, distractors)
        cider, log_prob = natural(captioner, spoken.samples)
        discriminative = config.weight * (excess * log_prob).mean()
        logs = {"train_reward": spoken.samples.reward.mean().item()} | describe(hinge)
        if self.count_step():
            logs |= gradient_norms(captioner, {"hinge": discriminative, "cider": cider})
        return cider + discriminative, logs

    def listener_loss(self, captioner: Captioner, batch: Batch, margin: float) -> tuple[Tensor, dict[str, float]]:
        """The mean hinge of a random caption of each picture, and what to log. The captioner learns nothing."""
        sampled = torch.zeros(len(batch.images), dtype=torch.bool, device=batch.features.device)
        with torch.no_grad():
            memory = captioner.encode(batch.features)
            tokens = decoding.rollout(captioner, memory, self.context.max_length, sampled).tokens
        hinge = self.hinge(self.look(batch), tokens, margin)
        self.count_step()
        return hinge.mean() + idle(captioner), describe(hinge)

    def count_step(self) -> bool:
        """Counts a training step. Whether it is the run's first one."""
        first = int(self.steps) == 0
        if self.training:
            self.steps += 1
        return first


def speak(
    captioner: Captioner, memory: Tensors, batch: Batch, context: Context, tokens: Tensor | None = None
) -> Spoken:
    """One random and one greedy caption of each picture, rewarded.

    Args:
        memory: of the pictures. All captions are drawn and later scored under it, dropout masks included.
        tokens: ids [b, time]: the random captions, if they are drawn already.
    """
    b = len(batch.images)
    greedy = torch.ones(b, dtype=torch.bool, device=batch.features.device)
    if tokens is None:
        # The greedy captions ride in the batch of the random ones.
        doubled = tuple(torch.cat([part, part]) for part in memory)
        drawn = decoding.rollout(captioner, doubled, context.max_length, torch.cat([~greedy, greedy])).tokens
        tokens, best = drawn[:b], drawn[b:]
    else:
        best = decoding.rollout(captioner, memory, context.max_length, greedy).tokens
    reward, baseline = (
        torch.from_numpy(context.reward.score(some.cpu().numpy(), batch.images)).to(greedy.device, torch.float32)
        for some in (tokens, best)
    )
    tokens = tokens[:, : int((tokens != PAD).sum(1).max())]
    return Spoken(BaselinedSamples(tokens, memory, reward[:, None], baseline), best)


def natural(captioner: Captioner, samples: BaselinedSamples) -> tuple[Tensor, Tensor]:
    """The natural term: mean of -(reward - the greedy caption's) log p(y); and log p(y) [b], with gradient."""
    log_prob = sequence_log_prob(captioner, samples)[0][:, 0]
    return -((samples.reward[:, 0] - samples.baseline) * log_prob).mean(), log_prob


def describe(hinge: Tensor) -> dict[str, float]:
    """What to log of hinges [b]: their mean, and the share of items that still have one. In small batches none has."""
    return {"hinge": hinge.mean().item(), "hinge_share": (hinge > 0).float().mean().item()}


def scale_gradient(tensor: Tensor, factor: float) -> Tensor:
    """The tensor itself, behind which gradients are multiplied by a factor."""
    tensor.register_hook(lambda gradient: gradient * factor)  # type: ignore[no-untyped-call]
    return tensor


def idle(module: nn.Module) -> Tensor:
    """Zero, with a gradient of zero for every parameter: DistributedDataParallel waits for those that do not learn."""
    return 0 * torch.stack([parameter.sum() for parameter in module.parameters()]).sum()


def gradient_norms(captioner: Captioner, terms: Mapping[str, Tensor]) -> dict[str, float]:
    """The norm of each term's gradient on the captioner: what w really weighs."""
    parameters = [parameter for parameter in captioner.parameters() if parameter.requires_grad]
    norms = {}
    for name, term in terms.items():
        parts = torch.autograd.grad(term, parameters, retain_graph=True, allow_unused=True)
        norms[f"{name}_gradient"] = float(torch.stack([part.norm() for part in parts if part is not None]).norm())
    return norms


def some_reference(captions: Tensor) -> Tensor:
    """One random caption [b, time] of each picture's, ids [b, references, time]; none that is missing."""
    there = (captions != PAD).any(2).float()
    return captions[torch.arange(len(captions), device=captions.device), torch.multinomial(there, 1).squeeze(1)]
