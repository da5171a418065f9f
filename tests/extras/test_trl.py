"""examples/trl_grpo.py: TRL's GRPO trains a vision-language model, and `seqcap.CaptionReward` pays it."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("trl", reason="needs TRL, which `make test-extras` installs: its trainer calls our reward")
EXAMPLE = Path(__file__).parents[2] / "examples/trl_grpo.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("trl_grpo", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_grpo_learns_from_the_reward(example, tmp_path):
    trainer = example.train(tmp_path)
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    rewards = np.array([entry["reward"] for entry in logged])
    assert len(rewards) == trainer.args.max_steps
    assert np.isfinite(rewards).all()
    # TRL names a reward by its function, and logs the mean over completions.
    np.testing.assert_allclose([entry["rewards/cider/mean"] for entry in logged], rewards)
    assert rewards[-10:].mean() > rewards[:3].mean()
    before, after = example.tiny_llava()[0].state_dict(), trainer.model.state_dict()
    moved = [name for name in before if not before[name].equal(after[name].cpu())]
    assert any("language_model" in name for name in moved)
    assert any("multi_modal_projector" in name for name in moved)
