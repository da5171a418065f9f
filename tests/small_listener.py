"""A tiny listener over stored features, and what tests of objectives with a listener share."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import torch
from enumeration import CHANNELS
from torch import Tensor

from seqcap.retrieval import dual_encoder
from seqcap.tasks.images import ImageInputs
from seqcap.training import loop
from seqcap.training.captioners import CaptionerLearner
from seqcap.training.checkpoint import State


class Store:
    """Features that the listener reads of images, in another order than the captioner's."""

    def __init__(self, *ids):
        self.ids = ids
        self.features = torch.randn(len(ids), CHANNELS, generator=torch.Generator().manual_seed(2)).numpy()

    def rows_of(self, items):
        return np.array([self.ids.index(item) for item in items])

    def get(self, rows):
        return self.features[rows]

    def inputs(self, items):
        return ImageInputs(np.array(items), self, self.rows_of(items))


def tiny_listener(vocabulary: int, **task) -> dual_encoder.Model:
    """A dual encoder with random weights, whose task has the given attributes."""
    torch.manual_seed(0)
    listener = dual_encoder.Model(dual_encoder.Config(embedding=3, hidden=4), vocabulary, (CHANNELS,))
    for parameter in listener.parameters():
        torch.nn.init.normal_(parameter, std=0.8)
    listener.load_task = lambda folder: SimpleNamespace(**task)
    return listener


def weights(module) -> Tensor:
    return torch.cat([value.detach().flatten().double() for value in module.state_dict().values()])


def learning(captioner, objective, batch, clip=5.0):
    """A training run's state, and a function that takes a step on the batch."""
    settings = SimpleNamespace(learning_rate=0.01, decay=1.0, decay_every=1, clip=clip)
    job = SimpleNamespace(settings=settings, batches=10, world=1, clip=settings.clip)
    job.set_rates = partial(loop.Job.set_rates, job)
    learner = CaptionerLearner(captioner, objective)
    state = State(learner, learner, torch.optim.Adam(learner.parameter_groups(), lr=0.01))
    return state, lambda: loop.update(job, state, batch)


def unit(*shape, seed=0, dtype=torch.float32) -> Tensor:
    """Vectors of length one."""
    vectors = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    return torch.nn.functional.normalize(vectors, dim=-1)
