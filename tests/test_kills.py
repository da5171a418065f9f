"""Kills at random moments cost nothing: the short form of campaigns/kills.py."""

from campaigns.kills import LONGER, Campaign

# One group, on sentences: without pictures, and without what METEOR and SPICE load.
ONE_GROUP = {
    "papers/smoothing.yaml": {
        "pictures": "de_en",
        "evaluations": {"smoothing_image": None, "smoothing_server": None},
        "groups": {
            "smoothing_lstm_token_sequence": None,
            "smoothing_attention_token_sequence": None,
            "smoothing_server": None,
        },
        "ensembles": {"tok_seq_cider": None, "tok_seq_cider_ensemble": None},
        "runs": {"translations": LONGER},
    }
}


def test_two_kills_cost_nothing(tmp_path):
    campaign = Campaign(tmp_path, ["smoothing"], 1, ONE_GROUP)
    campaign.run(2)
    # One of them in the steps of a run with a checkpoint.
    assert any(kill.checkpoints for kill in campaign.kills)
    assert campaign.graphs >= 1
