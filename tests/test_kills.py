"""A kill costs nothing: the short form of campaigns/kills.py."""

from campaigns.kills import OVERLAYS, Campaign, train_anew

TRAINING = "papers/smoothing/dvc.yaml:train-smoothing_de_en_token_sequence"


def test_a_kill_costs_nothing(tmp_path):
    """In the steps of a run with a checkpoint. What `seqcap repro` itself does after a kill, pipeline/test_repro.py
    asks of cheaper stages."""
    command = ("seqcap.pipeline.quiet_dvc", "--wait-for-lock", "repro", TRAINING)
    campaign = Campaign(tmp_path, 1, OVERLAYS["one_group"], command, train_anew)
    campaign.run(1)
    (kill,) = campaign.kills
    assert kill.checkpoints
    assert campaign.graphs == 1
