"""A kill costs nothing: the short form of campaigns/kills.py."""

from campaigns.kills import OVERLAYS, Campaign, train_anew
from stage_server import DVC, stage_server

TRAINING = "papers/smoothing/dvc.yaml:train-smoothing_de_en_token_sequence"
# What the graph up to there loads.
LOADED = (*DVC, "torch._dynamo", "sacremoses", "safetensors.torch")


def test_a_kill_costs_nothing(tmp_path):
    """In the steps of a run with a checkpoint. What `seqcap repro` itself does after a kill, pipeline/test_repro.py
    asks of cheaper stages."""
    command = ("seqcap.pipeline.quiet_dvc", "--wait-for-lock", "repro", TRAINING)
    (tmp_path / "server").mkdir()
    with stage_server(tmp_path / "server", LOADED) as programs:
        campaign = Campaign(tmp_path, 1, OVERLAYS["one_group"], command, train_anew, programs)
        campaign.run(1)
    (kill,) = campaign.kills
    assert kill.checkpoints
    assert campaign.graphs == 1
