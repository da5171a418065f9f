"""What all tests of evaluation share."""

import pytest

from seqcap.artifacts import PARAPHRASES


@pytest.fixture(scope="module", autouse=True)
def loaded_once(request):
    """One SPICE parser, and METEOR without paraphrases: to look for those of a few words takes 2 seconds each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seqcap.rewards.meteor_resources.filter_paraphrases", lambda _: PARAPHRASES.empty_table())
        patch.setattr("seqcap.spice.cache.Parser", lambda: request.getfixturevalue("parser"))
        yield
