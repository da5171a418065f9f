"""Joint training with a gradient through the captions: straight-through and PSST of Vered et al., ICCV 2019."""

from pydantic import Field
from torch import Tensor

from seqcap.models import decoding
from seqcap.models.base import Captioner
from seqcap.models.relaxation import Distribution, Relaxation, anneal, relaxed_rollout
from seqcap.objectives.shared.base import Batch, draw_with_greedy, score, sequence_log_prob
from seqcap.objectives.shared.cooperation import (
    HingeConfig,
    ListenerConfig,
    ListenerObjective,
    gradient_norms,
    hinge_logs,
    reward_loss,
    scale_gradient,
)


class Config(HingeConfig, ListenerConfig):
    """Rows of Table 2: ST multinomial and ST Gumbel at rho 0, PSST at rho > 0, annealed Gumbel with `anneal_rate`.
    The paper prints rho = .25, its code passes on p_t with probability .75; either may be meant. In the code, only
    straight-through rows feed the index back without gradient: `feedback_grad`. Its temperature is 1 in the scripts, 8
    in the README. The annealing rate is unknown."""

    distribution: Distribution = Field("multinomial", description="whose gradient is taken at a drawn word")
    rho: float = Field(0.25, ge=0, le=1, description="probability that a step's distribution itself is passed on")
    temperature: float = Field(1.0, gt=0, description="of the Gumbel-softmax (tau), if it is constant")
    anneal_rate: float = Field(0.0, ge=0, description="r of tau = max(.5, exp(-r steps)); 0: tau is constant")
    feedback_grad: bool = Field(True, description="whether the gradient flows through what the captioner reads next")


class Model(ListenerObjective):
    """Loss w mean_i hinge_i(v) - mean_i (CIDEr-D(y_i) - CIDEr-D(greedy_i)) log p(y_i).
    v are the captions that `seqcap.models.relaxation` passes on; the hinge's negatives have gradients, too. If rho > 0,
    y is a separate sample, because along v the captioner has read distributions. At rho = 0, y are the indices of v.
    They are scored again if the gradient flows through the fed-back words: in the second term it must not. The listener
    gets the gradient of the hinge without w."""

    config: Config

    def temperature(self) -> float:
        rate = self.config.anneal_rate
        return anneal(int(self.steps), rate) if rate else self.config.temperature

    def forward(self, captioner: Captioner, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        config = self.config
        memory = captioner.encode(batch.features)
        relaxation = Relaxation(config.distribution, config.rho, self.temperature(), config.feedback_grad)
        relaxed = relaxed_rollout(captioner, memory, self.context.max_length, relaxation)
        passed = scale_gradient(relaxed.passed, config.weight)
        hinge = self.hinge(self.embed_batch(batch), passed, config.margin)
        if config.rho > 0:
            samples = draw_with_greedy(captioner, memory, batch, self.context, 1)
            reward, baseline, log_prob = samples.reward[:, 0], samples.baseline, samples.log_prob()[:, 0]
        else:
            greedy = decoding.greedy(captioner, memory, self.context.max_length).tokens
            reward, baseline = (score(captions, batch, self.context) for captions in (relaxed.tokens, greedy))
            if relaxed.log_prob is not None:
                log_prob = relaxed.log_prob
            else:
                log_prob, _ = sequence_log_prob(captioner, relaxed.tokens, memory)
        cider = reward_loss(reward, baseline, log_prob)
        logs = {"train_reward": reward.mean().item(), "soft_share": relaxed.soft} | hinge_logs(hinge)
        if config.anneal_rate:
            logs["temperature"] = relaxation.temperature
        if self.count_step():
            logs |= gradient_norms(captioner, {"hinge": hinge.mean(), "cider": cider})
        return hinge.mean() + cider, logs
