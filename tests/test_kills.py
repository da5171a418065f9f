"""A kill costs nothing: the short form of campaigns/kills.py."""

from campaigns.kills import OVERLAYS, Campaign


def test_a_kill_costs_nothing(tmp_path):
    """In the steps of a run with a checkpoint."""
    campaign = Campaign(tmp_path, ["smoothing"], 1, OVERLAYS["one_group"])
    campaign.run(1)
    (kill,) = campaign.kills
    assert kill.checkpoints
    assert campaign.graphs == 1
