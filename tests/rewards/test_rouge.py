"""ROUGE-L on ids: equal to pycocoevalcap."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_rewards import EOS, rows
from pycocoevalcap.rouge.rouge import Rouge

from seqcap.rewards.rouge import RougeL
from seqcap.rewards.sequences import References

captions = st.lists(st.integers(4, 8), max_size=7)


@pytest.mark.parametrize("eos", [True, False])
@settings(deadline=None, max_examples=100)
@given(captions, st.lists(captions, min_size=1, max_size=4), st.data())
def test_any_caption_scores_as_pycocoevalcap_says(eos, hypothesis, references, data):
    end = [EOS] if eos else []
    score = RougeL(References([references], eos)).score(rows([hypothesis]), [0])[0]
    ended = [[*caption, *end] for caption in [hypothesis, *references]]
    texts = [" ".join(map(str, caption)) for caption in ended]
    assert score == pytest.approx(Rouge().calc_score(texts[:1], texts[1:]), abs=1e-12)
    shuffled = data.draw(st.permutations(references))
    assert RougeL(References([shuffled], eos)).score(rows([hypothesis]), [0])[0] == score
    assert RougeL(References([[*references, hypothesis]], eos)).score(rows([hypothesis]), [0])[0] == pytest.approx(1)
