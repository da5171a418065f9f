"""Kills at random moments cost nothing: the short form of campaigns/kills.py."""

from campaigns.kills import Campaign

# One group, on pictures.
ONE_GROUP = {
    "papers/sle.yaml": {
        "papers": {"sle": {"reads": "image/data/vocabulary.json"}},
        "evaluations": {"sle_clip": None},
        "groups": {"sle_sll_sle_att": None},
    }
}


def test_two_kills_cost_nothing(tmp_path):
    campaign = Campaign(tmp_path, ["sle"], 1, ONE_GROUP)
    campaign.run(2)
    # One of them in the steps of a run with a checkpoint.
    assert any(kill.checkpoints for kill in campaign.kills)
    assert campaign.graphs >= 1
