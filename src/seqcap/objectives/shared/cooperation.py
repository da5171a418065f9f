"""Shared by objectives with a listener, a retriever that finds images by captions (Vered et al. 2019).
The captioner is the speaker. Its loss has two terms, both means over images; w weighs the first:
    discriminative: the listener's hinge, both directions, against the hardest negatives of the batch (VSE++)
    reward:         -(CIDEr-D(y) - CIDEr-D(greedy)) log p(y), log p summed over the caption
The authors sum the hinge over the batch and divide the other term by the batch's tokens (1,340), so its lambda is w /
(w + tokens).
A listener that learns gets the gradient of the hinge itself, without w. Negatives come from the process's own part of
the batch, so several GPUs have fewer of them."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from torch import Tensor, nn

from seqcap import retrieval
from seqcap.config import Frozen
from seqcap.models import decoding
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Context, Objective, Partner, Samples
from seqcap.retrieval.losses import hinges
from seqcap.retrieval.ranking import ranks, recall
from seqcap.retrieval.recalls import embed_captions, embed_images
from seqcap.tasks.base import Inputs
from seqcap.tasks.images import ImageInputs

LISTENER = "listener"


class HingeConfig(Frozen):
    """The settings of the hinge by which a listener pays."""

    weight: float = Field(ge=0, description="of the hinge against CIDEr-D (w)")
    margin: float = Field(0.2, gt=0, le=2, description="of the hinge, a cosine (the paper's eq. 2 has 1, its code .2)")


class ListenerConfig(Frozen):
    """The settings of a listener that learns beside the captioner."""

    listener_pace: float = Field(1.0, gt=0, description="the listener's learning rate as a multiple of the captioner's")


class ListenerObjective(Objective):
    """An objective with a listener that starts from a trained retriever.

    Args:
        config: the settings. The listener learns if they are a `ListenerConfig`, and else stays fixed.
        context: the folder `reads["listener"]` has the weights seed<k>.safetensors, k being `seed`.

    Raises:
        InputError: the retriever is missing or damaged, or it was trained on another task.
    """

    reads = (LISTENER,)
    # With a small w, the epoch with the best R@10 on val is the first, in which the speaker has hardly learned.
    keeps_last = True

    def __init__(self, config: BaseModel, context: Context) -> None:
        super().__init__(config, context)
        self.pace = config.listener_pace if isinstance(config, ListenerConfig) else None
        self.listener, _ = retrieval.load(context.reads[LISTENER] / f"seed{context.seed}.safetensors")
        self.listener.requires_grad_(self.pace is not None)
        self.task = self.listener.load_task(context.task)
        self.training_images = self.listener_inputs(context.items)

    def partners(self) -> Mapping[str, Partner]:
        if self.pace is None:
            return {}
        return {LISTENER: Partner(self.listener, self.pace, self.listener.metadata(), self.listener_learns())}

    def listener_learns(self) -> bool:
        """Whether the next step updates the listener, if it learns at all."""
        return True

    def measures(self, inputs: Inputs, captions: NDArray[np.int64]) -> Mapping[str, float]:
        """R@10 of the captions among all inputs, 0 to 1, by the objective's own listener."""
        device = self.steps.device
        texts = embed_captions(self.listener, torch.from_numpy(captions), device)
        images = embed_images(self.listener, self.listener_inputs(inputs.ids), device)
        return {"val_R@10": recall(ranks(texts, images, torch.arange(len(texts))), 10)}

    def listener_inputs(self, items: NDArray[np.int64]) -> ImageInputs:
        """The listener's features of images; the captioner may read others."""
        return ImageInputs(items, self.task.store, self.task.store.rows_of(items))

    def embed_batch(self, batch: Batch) -> Tensor:
        """The listener's embeddings [b, d] of the batch's images. ValueError if an image occurs twice: its second
        caption would be a false negative."""
        if len(np.unique(batch.images)) < len(batch.images):
            raise ValueError("a batch holds two captions of one image")
        inputs = self.training_images.get(batch.images)
        return self.listener.embed_images(inputs.to(batch.features.device))

    def hinge(self, images: Tensor, captions: Tensor, margin: float, distractors: Tensor | None = None) -> Tensor:
        """The hinge of each image [b], both directions summed, given image embeddings [b, d] and captions, ids [b,
        time] or relaxed [b, time, V]. `distractors`: embeddings [m, d] of further images."""
        to_text, to_image = hinges(images, self.listener.embed_captions(captions), margin, distractors)
        return to_text + to_image

    def reinforce(
        self,
        captioner: Captioner,
        batch: Batch,
        config: HingeConfig,
        samples: Samples,
        baseline: Tensor,
        distractors: Tensor | None = None,
    ) -> tuple[Tensor, dict[str, float]]:
        """The speaker's loss with the hinge as a reward, and numbers to log. The loss is the mean over images of
            -(CIDEr-D(y) - CIDEr-D(greedy)) log p(y) + w (hinge(y) - hinge(baseline)) log p(y)
        `baseline` captions [b, time] are each other's negatives; `distractors` are embeddings [m, d] of images."""
        with torch.no_grad():
            images = self.embed_batch(batch)
            hinge = self.hinge(images, samples.tokens, config.margin, distractors)
            excess = hinge - self.hinge(images, baseline, config.margin, distractors)
        log_prob = samples.log_prob()[:, 0]
        cider = reward_loss(samples.reward[:, 0], samples.baseline, log_prob)
        discriminative = config.weight * (excess * log_prob).mean()
        logs = {"train_reward": samples.reward.mean().item()} | hinge_logs(hinge)
        if self.count_step():
            logs |= gradient_norms(captioner, {"hinge": discriminative, "cider": cider})
        return cider + discriminative, logs

    def listener_loss(self, captioner: Captioner, batch: Batch, margin: float) -> tuple[Tensor, dict[str, float]]:
        """The mean hinge of one sampled caption per image, and numbers to log. The captioner gets no gradient."""
        sampled = torch.zeros(len(batch.images), dtype=torch.bool, device=batch.features.device)
        with torch.no_grad():
            memory = captioner.encode(batch.features)
            tokens = decoding.rollout(captioner, memory, self.context.max_length, sampled).tokens
        hinge = self.hinge(self.embed_batch(batch), tokens, margin)
        self.count_step()
        return hinge.mean() + zero_loss(captioner), hinge_logs(hinge)


def reward_loss(reward: Tensor, baseline: Tensor, log_prob: Tensor) -> Tensor:
    """The mean of -(reward - baseline) log p(y), each [b]."""
    return -((reward - baseline) * log_prob).mean()


def hinge_logs(hinge: Tensor) -> dict[str, float]:
    """The mean of hinges [b] and the share above zero, which may be 0 in small batches."""
    return {"hinge": hinge.mean().item(), "hinge_share": (hinge > 0).float().mean().item()}


def scale_gradient(tensor: Tensor, factor: float) -> Tensor:
    tensor.register_hook(lambda gradient: gradient * factor)  # type: ignore[no-untyped-call]
    return tensor


def zero_loss(module: nn.Module) -> Tensor:
    """Zero, with a zero gradient for every parameter: DistributedDataParallel waits for each gradient."""
    return 0 * torch.stack([parameter.sum() for parameter in module.parameters()]).sum()


def gradient_norms(captioner: Captioner, terms: Mapping[str, Tensor]) -> dict[str, float]:
    """The norm of each term's gradient with respect to the captioner."""
    parameters = [parameter for parameter in captioner.parameters() if parameter.requires_grad]
    norms = {}
    for name, term in terms.items():
        parts = torch.autograd.grad(term, parameters, retain_graph=True, allow_unused=True)
        norms[f"{name}_gradient"] = float(torch.stack([part.norm() for part in parts if part is not None]).norm())
    return norms
