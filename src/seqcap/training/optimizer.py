"""Adam without `torch.compile`: torch's imports the compiler, two seconds, at its first step."""

from __future__ import annotations

import inspect

import torch

_TORCH = torch.optim.Adam


class Adam(_TORCH):
    """torch's, each method without the decorator that tells the compiler what to leave alone."""

    add_param_group = inspect.unwrap(_TORCH.add_param_group)
    load_state_dict = inspect.unwrap(_TORCH.load_state_dict)
    state_dict = inspect.unwrap(_TORCH.state_dict)
    zero_grad = inspect.unwrap(_TORCH.zero_grad)
    # The decorator of this one also turns gradients off.
    step = torch.no_grad()(inspect.unwrap(_TORCH.step))
