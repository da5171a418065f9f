"""What all tests of evaluation share."""

import pytest

from seqcap.metrics.paraphrases import NUMBERED


@pytest.fixture(scope="module", autouse=True)
def loaded_once(request):
    """One SPICE parser, and METEOR without paraphrases: to read them takes 6 seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seqcap.metrics.paraphrases.numbered", lambda _: NUMBERED.empty_table())
        patch.setattr("seqcap.spice.cache.Parser", lambda: request.getfixturevalue("parser"))
        yield
