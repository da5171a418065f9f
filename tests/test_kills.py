"""Kills at random moments cost nothing: the short form of campaigns/kills.py."""

from campaigns.kills import OVERLAYS, Campaign


def test_two_kills_cost_nothing(tmp_path):
    campaign = Campaign(tmp_path, ["smoothing"], 1, OVERLAYS["one_group"])
    campaign.run(2)
    # One of them in the steps of a run with a checkpoint.
    assert any(kill.checkpoints for kill in campaign.kills)
    assert campaign.graphs >= 1
