"""Cross-entropy of float32 or bfloat16 logits."""

from typing import Any, Literal, cast

import torch
from torch import Tensor
from torch.nn import functional as F

ROWS = 64  # rows of logits per chunk on a CPU: they fit into its cache with COCO's vocabulary


def cross_entropy(logits: Tensor, tokens: Tensor, reduction: Literal["mean", "none"] = "mean") -> Tensor:
    """-log p of tokens [m] in nats, float32, from logits [m, V], float32 or bfloat16: [m], or their mean."""
    if logits.dtype != torch.bfloat16:
        return F.cross_entropy(logits.float(), tokens, reduction=reduction)
    losses = cast("Tensor", _CrossEntropy.apply(logits, tokens))  # type: ignore[no-untyped-call]
    return losses.mean() if reduction == "mean" else losses


class _CrossEntropy(torch.autograd.Function):
    """Cross-entropy of bfloat16 logits in chunks: float32 copies of all would take a quarter of a step's time."""

    @staticmethod
    def forward(context: Any, logits: Tensor, tokens: Tensor) -> Tensor:
        target = tokens[:, None]
        normaliser = torch.empty(len(tokens), 1, device=logits.device)
        losses = torch.empty_like(normaliser)
        for some in _parts(logits):
            single = logits[some].float()
            normaliser[some] = single.logsumexp(1, keepdim=True)
            losses[some] = normaliser[some] - single.gather(1, target[some])
        context.save_for_backward(logits, target, normaliser)
        return losses.squeeze(1)

    @staticmethod
    def backward(context: Any, *weights: Tensor) -> tuple[Tensor, None]:
        logits, target, normaliser = context.saved_tensors
        weight = weights[0][:, None]
        gradient = torch.empty_like(logits)
        for some in _parts(logits):
            single = logits[some].float().sub_(normaliser[some]).exp_().mul_(weight[some])
            gradient[some] = single.scatter_add_(1, target[some], -weight[some])
        return gradient, None


def _parts(logits: Tensor) -> list[slice]:
    size = ROWS if logits.device.type == "cpu" else max(1, len(logits))
    return [slice(start, start + size) for start in range(0, len(logits), size)]
