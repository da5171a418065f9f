"""Self-critical training on a retriever's cosine, with a grammar head: SCST-Grammar of Chaffin et al., 2024, that is,
Cho et al., NAACL 2022, by their released code. The run itself tunes the text encoder."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from seqcap.config import Frozen
from seqcap.models.base import Captioner
from seqcap.objectives.shared.base import Batch, Context, Partner, sample_references
from seqcap.objectives.shared.contrastive_reward import (
    BEAM,
    CANDIDATES,
    GREEDY,
    TRUTH,
    add_rewards,
    draw_captions,
    reward_term,
    shuffle_words,
)
from seqcap.objectives.shared.cooperation import ListenerObjective, zero_loss
from seqcap.retrieval.grammar import DAMAGED, INTACT, Grammar, damage
from seqcap.retrieval.ranking import CHUNK
from seqcap.tasks.base import Inputs

GRAMMAR = "grammar"
CLIP_S, WEIGHT = 2.5, 2.0  # factors of the cosine in CLIP-S (Hessel et al., EMNLP 2021), and of CLIP-S in the reward


class Config(Frozen):
    """How the text encoder is tuned. The papers have no captioners of this size: choose on val."""

    grammar_pace: float = Field(10.0, gt=0, description="its learning rate as a multiple of the captioner's")
    tuning_steps: int = Field(400, ge=0, description="first steps in which only the text encoder and its head learn")


class Model(ListenerObjective):
    """Loss -r log p(x_bs), mean over images, with the reward of Cho et al.'s code,
        r = 2 [CLIP-S(x_bs) - CLIP-S(x_gs)] + g(x_bs) - g(x_gs),   CLIP-S = 2.5 max(cosine, 0)
    g is the probability that a caption is intact. Cosine and g come from a text encoder that is tuned together with its
    head on people's captions in the first `tuning_steps`, and then fixed. Images and measures use the retriever.

    Args:
        config: its settings.
        context: as in `ListenerObjective`; `seed` also decides how captions are damaged.

    Raises:
        InputError: as `ListenerObjective`, the retriever is neither a dual encoder nor CLIP, or the task has no split
            "val".
    """

    config: Config

    def __init__(self, config: Config, context: Context) -> None:
        super().__init__(config, context)
        self.grammar = Grammar(self.listener)
        self.held_out = self.task.split("val", context.max_length)

    def partners(self) -> Mapping[str, Partner]:
        learns, metadata = not self.trains_captioner(), {"encoder": self.listener.metadata()}
        return {GRAMMAR: Partner(self.grammar, self.config.grammar_pace, metadata, learns)}

    def trains_captioner(self) -> bool:
        return int(self.steps) >= self.config.tuning_steps

    @torch.no_grad()
    def measures(self, inputs: Inputs, captions: NDArray[np.int64]) -> Mapping[str, float]:
        """R@10 of the captions, and the head's accuracy on people's captions of all val images, intact and damaged."""
        people = self.held_out.captions(np.arange(len(self.held_out)))[:, 0]
        faulty = damage(people, self.listener.vocabulary_size, np.random.default_rng(0))
        right = []
        for ids, kind in ((people, INTACT), (faulty, DAMAGED)):
            for some in torch.split(ids.to(self.steps.device), CHUNK):
                right.append(self.grammar(some)[1].argmax(1) == kind)
        return {**super().measures(inputs, captions), "val_grammar": torch.cat(right).double().mean().item()}

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        train = self.captioner_loss if self.trains_captioner() else self.grammar_loss
        loss, logs = train(captioner, batch)
        self.count_step()
        return loss, logs

    def grammar_loss(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """The text encoder's loss, and numbers to log. The captioner gets no gradient."""
        captions = sample_references(batch.captions)
        # Seeded by the step, so that a resumed run draws the same damage.
        rng = np.random.default_rng([self.context.seed, int(self.steps)])
        faulty = damage(captions, self.listener.vocabulary_size, rng)
        loss, accuracy = self.grammar.loss(self.embed_batch(batch), captions, faulty)
        return loss + zero_loss(captioner), {"grammar_loss": loss.item(), "grammar_accuracy": accuracy.item()}

    def captioner_loss(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """The captioner's loss, and numbers to log. The text encoder gets no gradient."""
        memory = captioner.encode(batch.features)
        captions = draw_captions(captioner, memory, batch, self.context.max_length)
        reward, logs = self.reward(self.embed_batch(batch), captions)
        loss, entropy = reward_term(captioner, memory, captions[BEAM], reward)
        with torch.no_grad():
            _, truth_entropy = reward_term(captioner, memory, captions[TRUTH], reward)
        logs |= {"beam_entropy": entropy, "truth_entropy": truth_entropy, "train_reward": logs["beam_reward"]}
        return loss + zero_loss(self.grammar), logs

    @torch.no_grad()
    def reward(self, images: Tensor, captions: Tensor) -> tuple[Tensor, dict[str, float]]:
        """r [b] of x_bs and numbers to log, from image embeddings [b, d] and captions [3, b, time]."""
        texts, logits = self.grammar(captions.flatten(0, 1))
        clip_s = CLIP_S * (images * texts.view(*captions.shape[:2], -1)).sum(2).relu()
        intact = logits.softmax(1)[:, INTACT].view(captions.shape[:2])
        reward, logs = add_rewards(WEIGHT * (clip_s[BEAM] - clip_s[GREEDY]), intact[BEAM] - intact[GREEDY])
        logs = {f"beam_{quantity}": value for quantity, value in logs.items()}
        logs |= {f"{name}_grammar": intact[which].mean().item() for name, which in CANDIDATES.items()}
        shuffled = self.grammar(shuffle_words(captions[TRUTH]))[1].softmax(1)[:, INTACT]
        return reward, logs | {"shuffled_grammar": shuffled.mean().item()}
