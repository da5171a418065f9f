"""Noise and bias of gradients through a listener, on a fixed batch with a frozen captioner and listener.
They estimate the gradient, on the captioner's parameters, of the discriminative term of Vered et al. (ICCV 2019):
    F = E mean_i hinge_i(y),  y_1 .. y_b drawn from the captioner,
with the hinges of `seqcap.retrieval.losses`, both directions. The other items' captions are negatives, so a caption
changes their hinges, too. The reference is unbiased: the score function, with what a caption adds to all of the batch's
hinges as its reward. Straight-through and PSST differentiate the hinge of relaxed captions
(`seqcap.models.relaxation`): less noise, but a bias. The paper argues with both and shows no numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from seqcap import retrieval
from seqcap.config import Frozen
from seqcap.errors import InputError
from seqcap.evaluation.gradients import GradientsConfig, flat_gradient, read_start
from seqcap.models import decoding
from seqcap.models.base import Captioner, repeat
from seqcap.models.recording import record
from seqcap.models.relaxation import Distribution, Relaxation, relaxed_rollout
from seqcap.objectives.shared.base import sample_references
from seqcap.retrieval.base import Retriever
from seqcap.retrieval.losses import hinges
from seqcap.system import machine
from seqcap.system.progress import progress

# Unbiased: its reward is what a caption adds to the batch's hinges, over the greedy caption.
REFERENCE = "score_function"
# Its reward is the caption's own hinge, over a random reference's: `joint_reinforce`.
OWN_HINGE = "own_hinge"
DISTRIBUTIONS: tuple[Distribution, ...] = ("multinomial", "gumbel")


class Sizes(Frozen):
    """What is measured, and how much is drawn."""

    margin: float = Field(gt=0, le=2)  # of the hinge, a cosine
    rhos: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(min_length=1)  # of estimators that pass captions on
    images: int = Field(ge=2)  # training images in the batch
    replicates: int = Field(ge=2)  # independent gradients of each estimator
    draws: int = Field(ge=1)  # captions of each image in one replicate of a score-function estimator


class EstimatorsConfig(GradientsConfig, Sizes):
    """Stage `estimators`: the noise and bias of gradients through a listener."""

    listener: str  # folder of the retrievers, seed<k>.safetensors


@dataclass(frozen=True)
class Estimator:
    """A way to estimate the gradient through a listener.

    Attributes:
        name: `REFERENCE`, `OWN_HINGE` or a distribution of `seqcap.models.relaxation`.
        draws: captions of each image over which one estimate is the mean.
        relaxation: how captions are passed on; None: a score function.
    """

    name: str
    draws: int = 1
    relaxation: Relaxation | None = None


@dataclass(frozen=True)
class Setup:
    """A batch of b images, a captioner and a listener.

    Attributes:
        captioner: gradients are of its parameters.
        listener: its hinge is differentiated.
        features: for the captioner, [b, *feature shape].
        images: the listener's embeddings [b, d].
        references: people's captions, ids [b, references, time]; a missing one is all PAD.
        margin: of the hinge, a cosine.
        max_length: tokens of a caption, EOS included.
    """

    captioner: Captioner
    listener: Retriever
    features: Tensor
    images: Tensor
    references: Tensor
    margin: float
    max_length: int

    def embed(self, captions: Tensor) -> Tensor:
        """Embeddings [draws, b, d] of captions by image, ids [b * draws, time] or relaxed [b * draws, time, V]."""
        embedded = self.listener.embed_captions(captions)
        return embedded.view(len(self.images), -1, embedded.shape[1]).transpose(0, 1)

    def cosines(self, captions: Tensor) -> Tensor:
        """Cosines [draws, images, captions] of each image with each caption."""
        return torch.einsum("id,kjd->kij", self.images, self.embed(captions))

    def hinge(self, captions: Tensor) -> Tensor:
        """Each item's own hinge [draws, b], both directions; captions as in `embed`."""
        both = [hinges(self.images, some, self.margin) for some in self.embed(captions)]
        return torch.stack([to_text + to_image for to_text, to_image in both])


def measure(config: EstimatorsConfig) -> list[dict[str, Any]]:
    """Draws independent gradients by every estimator: rows of `ESTIMATES`, the reference's first. It takes 3 x
    `replicates` x parameters x 4 bytes of memory. InputError for malformed inputs, a listener of another task, or a
    gradient that is not finite."""
    setup = read_setup(config)
    torch.manual_seed(config.seed)
    found: list[dict[str, Any]] = []
    reference = None
    for estimator in progress(estimators(config.rhos, config.draws), desc="gradient estimators", unit="estimator"):
        gradients = torch.stack([gradient(setup, estimator) for _ in range(config.replicates)])
        if not bool(gradients.isfinite().all()):
            raise InputError(config.start, f"its gradient by {estimator.name} is not finite", "train it again")
        reference = gradients if reference is None else reference
        found += rows(estimator, gradients, reference)
    return found


def estimators(rhos: Sequence[float], draws: int) -> list[Estimator]:
    """The reference; then for each distribution, rho 0 without gradient through fed-back words, and all `rhos` with."""
    found = [Estimator(REFERENCE, draws), Estimator(OWN_HINGE, draws)]
    for name in DISTRIBUTIONS:
        relaxations = [Relaxation(name, 0.0, feedback_grad=False), *(Relaxation(name, rho) for rho in rhos)]
        found += [Estimator(name, relaxation=relaxation) for relaxation in relaxations]
    return found


def read_setup(config: EstimatorsConfig) -> Setup:
    """A random batch of the task's training images; InputError for malformed inputs or a listener of another task."""
    device = machine.one_thread_device()
    captioner, task, training = read_start(config, "images", device)
    listener, _ = retrieval.load(Path(config.listener) / f"seed{config.seed}.safetensors")
    seen = listener.inputs(task.folder, "train")
    chosen = np.random.default_rng(config.seed).permutation(len(training))[: config.images]
    listener.to(device).requires_grad_(False)
    return Setup(
        captioner,
        listener,
        training.inputs.get(chosen).to(device),
        listener.embed_images(seen.get(chosen).to(device)),
        training.captions(chosen).to(device),
        config.margin,
        config.max_length,
    )


def gradient(setup: Setup, estimator: Estimator) -> Tensor:
    """One estimate [parameters] of the gradient of F."""
    if estimator.relaxation is None:
        loss = score_function(setup, estimator)
    else:
        memory = setup.captioner.encode(setup.features)
        relaxed = relaxed_rollout(setup.captioner, memory, setup.max_length, estimator.relaxation)
        loss = setup.hinge(relaxed.passed).mean()
    return flat_gradient(loss, setup.captioner)


def score_function(setup: Setup, estimator: Estimator) -> Tensor:
    """A scalar whose gradient is the estimate: mean over draws and images of a caption's reward x its log p."""
    b = len(setup.images)
    once = setup.captioner.encode(setup.features)
    memory = repeat(once, estimator.draws)
    sampled = torch.zeros(b * estimator.draws, dtype=torch.bool, device=setup.images.device)
    drawn = record(setup.captioner, memory, setup.max_length, sampled)
    tokens = drawn.tokens
    with torch.no_grad():
        if estimator.name == REFERENCE:
            greedy = decoding.greedy(setup.captioner, once, setup.max_length).tokens
            paid = credit(setup.cosines(tokens), setup.cosines(greedy), setup.margin)
        else:
            references = torch.stack([sample_references(setup.references) for _ in range(estimator.draws)], dim=1)
            paid = setup.hinge(tokens) - setup.hinge(references.flatten(0, 1))
    log_prob = drawn.log_prob(torch.arange(len(tokens), device=tokens.device)).view_as(paid.T)
    return (paid.T * log_prob).mean()


def credit(drawn: Tensor, other: Tensor, margin: float) -> Tensor:
    """What each caption adds to the batch's hinges [draws, captions]: H(y) - H(y with another caption of its image).
    H is the sum of all items' hinges, both directions. Given the captions of the other images, the second term does not
    depend on the caption: it is a baseline, and gradients of score functions stay unbiased. (Anything else that does
    not depend on the caption, such as the hinges of the batch without it, would be in both terms.) `drawn` are cosines
    [draws, images, captions] of drawn captions, caption i of image i, `other` [1, ...] of those that replace them."""
    same = torch.eye(drawn.shape[-1], dtype=torch.bool, device=drawn.device)
    fits, fits_other = drawn.diagonal(dim1=1, dim2=2), other.diagonal(dim1=1, dim2=2)
    rivals, rivals_other = drawn.masked_fill(same, -torch.inf), other.masked_fill(same, -torch.inf)
    # The hardest negative of image j, and that with caption i replaced by the other: [draws, j, i].
    hardest, caption = rivals.topk(2, dim=2)
    is_hardest = caption[..., :1] == torch.arange(len(same), device=drawn.device)
    without = torch.where(is_hardest, hardest[..., 1:], hardest[..., :1])
    to_text = (margin + hardest[..., 0] - fits).relu()
    changed = (margin + torch.maximum(without, other) - fits[..., None]).relu()
    as_negative = (to_text[..., None] - changed).masked_fill(same, 0).sum(1)
    own = to_text + (margin + rivals.amax(1) - fits).relu()
    own_other = (margin + hardest[..., 0] - fits_other).relu() + (margin + rivals_other.amax(1) - fits_other).relu()
    return as_negative + own - own_other


def rows(estimator: Estimator, gradients: Tensor, reference: Tensor) -> Iterator[dict[str, Any]]:
    """Rows of `ESTIMATES` from an estimator's gradients and the reference's, each [replicates, parameters]."""
    relaxation = estimator.relaxation
    own, across = (_products(gradients, others).tolist() for others in (gradients, reference))
    for replicate, (mine, theirs) in enumerate(zip(own, across, strict=True)):
        yield {
            "estimator": estimator.name,
            "rho": None if relaxation is None else relaxation.rho,
            "feedback_grad": None if relaxation is None else relaxation.feedback_grad,
            "draws": estimator.draws,
            "replicate": replicate,
            "own": mine,
            "reference": theirs,
        }


def _products(left: Tensor, right: Tensor) -> Tensor:
    """left @ right.T in double precision, in blocks of columns."""
    parts = zip(torch.split(left, 1_000_000, dim=1), torch.split(right, 1_000_000, dim=1), strict=True)
    return torch.stack([some.double() @ others.double().T for some, others in parts]).sum(0)
