"""Cross-entropy of logits in either precision (`precision` in params.yaml)."""

from __future__ import annotations

from typing import Any, Literal, cast

import torch
from torch import Tensor
from torch.nn import functional as F

# Rows of logits per chunk on a CPU: with COCO's vocabulary they fit into its cache.
ROWS = 64


def cross_entropy(logits: Tensor, tokens: Tensor, reduction: Literal["mean", "none"] = "mean") -> Tensor:
    """-log p of tokens [m], in float32 nats, of logits [m, V], float32 or bfloat16: [m], or their mean."""
    if logits.dtype != torch.bfloat16:
        return F.cross_entropy(logits.float(), tokens, reduction=reduction)
    losses = cast(Tensor, _CrossEntropy.apply(logits, tokens))  # type: ignore[no-untyped-call]
    return losses.mean() if reduction == "mean" else losses


class _CrossEntropy(torch.autograd.Function):
    """Cross-entropy of bfloat16 logits by chunks of rows: float32 copies of all logits, of their log-softmax and of its
    gradient would take a quarter of a training step."""

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
            # The probabilities, less 1 at the token itself.
            single = logits[some].float().sub_(normaliser[some]).exp_().mul_(weight[some])
            gradient[some] = single.scatter_add_(1, target[some], -weight[some])
        return gradient, None


def _parts(logits: Tensor) -> list[slice]:
    """Chunks of rows; on a GPU a single one."""
    size = ROWS if logits.device.type == "cpu" else max(1, len(logits))
    return [slice(start, start + size) for start in range(0, len(logits), size)]
