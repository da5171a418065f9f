"""Adam without `torch.compile`: torch's Adam imports the compiler at its first step, which takes two seconds."""

import inspect

import torch

_TORCH = torch.optim.Adam


class Adam(_TORCH):
    """torch's Adam without the decorator that hides methods from the compiler."""

    add_param_group = inspect.unwrap(_TORCH.add_param_group)
    load_state_dict = inspect.unwrap(_TORCH.load_state_dict)
    state_dict = inspect.unwrap(_TORCH.state_dict)
    zero_grad = inspect.unwrap(_TORCH.zero_grad)
    step = torch.no_grad()(inspect.unwrap(_TORCH.step))  # this decorator also turns gradients off
