"""A kill costs nothing: the short forms of campaigns/kills.py and campaigns/training_kills.py."""

import random

from campaigns.kills import OVERLAYS, Campaign, train_anew
from campaigns.training_kills import TRAINING as STEPS
from campaigns.training_kills import try_run
from objectives.test_everywhere import run_of
from small_task import write_task
from stage_server import DVC, stage_server

TRAINING = "papers/smoothing/dvc.yaml:train-smoothing_de_en_token_sequence"
# What the graph up to there loads.
LOADED = (*DVC, "torch._dynamo", "sacremoses", "safetensors.torch")


def test_a_kill_costs_nothing(tmp_path):
    """In the steps of a run with a checkpoint. What `seqcap repro` itself does after a kill, pipeline/test_repro.py
    asks of cheaper stages."""
    command = ("seqcap.pipeline.quiet_dvc", "--wait-for-lock", "repro", TRAINING)
    with stage_server(LOADED) as programs:
        campaign = Campaign(tmp_path, 1, OVERLAYS["one_group"], command, train_anew, programs)
        campaign.run(1)
    (kill,) = campaign.kills
    assert kill.checkpoints
    assert campaign.graphs == 1


def test_a_training_goes_on_from_the_checkpoint_that_a_kill_left(tmp_path, monkeypatch):
    write_task(tmp_path)
    monkeypatch.chdir(tmp_path)
    run = run_of("mixer", "lstm", training=STEPS["images"])
    # The kill comes after an eighth of the time between the first checkpoint and the end.
    (kill,) = try_run(run, tmp_path, 1, random.Random(1))
    assert 1 <= kill.at <= kill.resumed < 8
