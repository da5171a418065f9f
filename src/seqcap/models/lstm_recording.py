"""How captions of the LSTM captioner are recorded while they are drawn."""

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqcap.models.base import Captioner, Tensors, select
from seqcap.models.recording import Recording, Steps, pick, precision_of


class LSTMRecording(Recording):
    """Keeps gates and states of every step. The gradient through time is written by hand, so that the products for the
    weights' gradients take all steps at once.

    Args:
        captioner: an LSTM captioner (`seqcap.models.lstm`).
        memory: what its `encode` returned, one row per caption: projected features, masks of inputs and masks of
            outputs, each [n, hidden].
    """

    def __init__(self, captioner: Captioner, memory: Tensors) -> None:
        super().__init__(captioner)
        # Under autocast some of it is rounded already.
        self.memory = tuple(part.float() for part in memory)
        self.precision = precision_of(captioner)
        of_inputs, self.of_state, *biases = cast("nn.LSTM", captioner.lstm).all_weights[0]
        self.of_inputs, self.bias = of_inputs, biases[0] + biases[1]
        self.dropout = captioner.training and captioner.dropout > 0
        self.every_step = bool(captioner.every_step)
        # Without dropout, and with fewer words than there will be steps, each word's part of the gates is known first.
        self.table, self.projected = None, None
        if not self.dropout and captioner.vocabulary_size < 4 * len(memory[0]):
            self.table = self.project(captioner.embedding.weight) + self.bias
            if self.every_step:
                self.projected = self.project(self.memory[0])
        self.hidden, self.cell = self.memory[0].detach(), torch.zeros_like(self.memory[0])
        self.going = torch.arange(len(memory[0]), device=memory[0].device)
        self.projected_going: Tensors = () if self.projected is None else (self.projected.detach(),)
        # Of each step: gates, cell and hidden state before it, tanh of the cell after it.
        self.recorded: list[Tensors] = []

    def project(self, inputs: Tensor) -> Tensor:
        return F.linear(inputs.to(self.precision), self.of_inputs.to(self.precision)).float()

    def inputs(self, tokens: Tensor, rows: Tensor) -> Tensor:
        """What the LSTM reads, [n, hidden]: the last token, ids [n], of captions `rows` [n]."""
        image, mask, _ = self.memory
        inputs: Tensor = self.captioner.embedding(tokens)
        if self.dropout:
            inputs = inputs * mask.index_select(0, rows)
        return inputs + image.index_select(0, rows) if self.every_step else inputs

    def advance(self, tokens: Tensor) -> Tensor:
        if self.table is None:
            gates = self.project(self.inputs(tokens, self.going)) + self.bias
        else:
            gates = F.embedding(tokens, self.table)
            for projected in self.projected_going:
                gates += projected
        gates = add_product(gates, self.hidden, self.of_state.T, self.precision)
        size = self.hidden.shape[1]
        i, f, g, o = gates.chunk(4, dim=1)
        gates[:, : 2 * size].sigmoid_()
        g.tanh_()
        o.sigmoid_()
        cell = torch.addcmul(f * self.cell, i, g)
        squashed = cell.tanh()
        self.recorded.append((gates, self.cell, self.hidden, squashed))
        self.hidden, self.cell = o * squashed, cell
        return self.hidden * self.memory[2][self.going] if self.dropout else self.hidden

    def keep(self, rows: Tensor) -> None:
        self.going, self.hidden, self.cell = select((self.going, self.hidden, self.cell), rows)
        self.projected_going = select(self.projected_going, rows)

    def outputs(self, rows: Tensor, steps: Steps, places: Tensor) -> Tensor:
        captions = rows[steps.rows]
        words = steps.in_turn(self.captioner.shifted(steps.captions))
        if self.table is None:
            inputs = self.inputs(words, captions)
            gates = _Product.apply(inputs, self.of_inputs, self.bias, self.precision)  # type: ignore[no-untyped-call]
        else:
            gates = _Rows.apply(self.table, words)  # type: ignore[no-untyped-call]
            if self.projected is not None:
                gates = gates + _Rows.apply(self.projected, captions)  # type: ignore[no-untyped-call]
        recorded = [pick(parts, places, steps.sizes) for parts in zip(*self.recorded, strict=True)]
        first = self.memory[0].index_select(0, rows)
        arguments = gates, first, self.of_state, recorded, steps.sizes, self.precision
        outputs = cast("Tensor", _Recurrence.apply(*arguments))  # type: ignore[no-untyped-call]
        return outputs * self.memory[2].index_select(0, captions) if self.dropout else outputs


def add_product(total: Tensor, left: Tensor, right: Tensor, precision: torch.dtype) -> Tensor:
    """total [n, m] + left [n, k] @ right [k, m], float32, in place; the factors in `precision`."""
    if precision == torch.float32:
        return total.addmm_(left, right)
    return total.add_(left.to(precision) @ right.to(precision))


class _Rows(torch.autograd.Function):
    """Some rows [m, d] of a table, of which only the gradient is asked for; see `_Product`."""

    @staticmethod
    def forward(context: Any, table: Tensor, rows: Tensor) -> Tensor:
        context.save_for_backward(rows)
        context.shape = table.shape
        return table.new_zeros(()).expand(len(rows), table.shape[1])

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (rows,) = context.saved_tensors
        return gradients[0].new_zeros(context.shape).index_add_(0, rows, gradients[0]), None


class _Product(torch.autograd.Function):
    """inputs @ weight.T + bias, of which only the gradient is asked for: its values were used when captions were drawn.
    They are not computed again; what stands for them is zero."""

    @staticmethod
    def forward(context: Any, inputs: Tensor, weight: Tensor, bias: Tensor, precision: torch.dtype) -> Tensor:
        context.save_for_backward(inputs, weight)
        context.precision = precision
        return inputs.new_zeros(()).expand(len(inputs), len(weight))

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight = context.saved_tensors
        gradient = gradients[0].to(context.precision)
        of_inputs = (gradient @ weight.to(context.precision)).float()
        of_weight = (gradient.T @ inputs.to(context.precision)).float()
        return of_inputs, of_weight, gradients[0].sum(0), None


class _Recurrence(torch.autograd.Function):
    """The recorded hidden states [m, hidden] as a function of what inputs add to the gates [m, 4 hidden], of the first
    state [k, hidden] and of the state's weights. Captions are in the order of their lengths: those that a step has are
    the first ones of the step before."""

    @staticmethod
    def forward(
        context: Any,
        inputs: Tensor,
        first: Tensor,
        weight: Tensor,
        recorded: list[Tensor],
        sizes: list[int],
        precision: torch.dtype,
    ) -> Tensor:
        context.save_for_backward(weight, *recorded)
        context.sizes, context.precision = sizes, precision
        gates, *_, squashed = recorded
        return gates[:, -squashed.shape[1] :] * squashed

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weight, gates, cell, hidden, squashed = context.saved_tensors
        m, size = hidden.shape
        i, f, g, o = gates.chunk(4, dim=1)
        # First what each gate is multiplied by; in the loop they become the gradients before the gates' functions.
        slopes = torch.empty(m, 4, size, device=hidden.device)
        slopes[:, 0] = torch.ops.aten.sigmoid_backward(g, i)
        slopes[:, 1] = torch.ops.aten.sigmoid_backward(cell, f)
        slopes[:, 2] = torch.ops.aten.tanh_backward(i, g)
        slopes[:, 3] = torch.ops.aten.sigmoid_backward(squashed, o)
        through = torch.ops.aten.tanh_backward(o, squashed)
        weight = weight.to(context.precision)
        of_hidden = gradients[0].clone()
        later_hidden = later_cell = of_hidden[:0]
        stop = m
        for size_now in reversed(context.sizes):
            here = slice(stop - size_now, stop)
            of_hidden[here][: len(later_hidden)] += later_hidden
            of_cell = of_hidden[here] * through[here]
            of_cell[: len(later_cell)] += later_cell
            slopes[here, :3] *= of_cell[:, None]
            slopes[here, 3] *= of_hidden[here]
            later_cell = of_cell * f[here]
            later_hidden = (slopes[here].flatten(1).to(context.precision) @ weight).float()
            stop = here.start
        of_gates = slopes.flatten(1)
        of_weight = of_gates.to(context.precision).T @ hidden.to(context.precision)
        return of_gates, later_hidden, of_weight.float(), None, None, None
