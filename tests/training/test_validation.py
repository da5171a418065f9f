"""What tells the best epoch: scores of the validation captions."""

import numpy as np
import pytest
from small_task import run_config, translation_config, write_translation_task

from seqcap import tasks
from seqcap.data.vocabulary import PAD, UNK
from seqcap.models.lstm import Model as Lstm
from seqcap.models.translator import Model as Translator
from seqcap.training.validation import criteria


@pytest.mark.parametrize("subwords", [None, 12])
def test_translations_are_measured_by_bleu_of_words(tmp_path, monkeypatch, subwords):
    monkeypatch.chdir(tmp_path)
    write_translation_task(tmp_path, subwords)
    task = tasks.load("sentences", "de_en", Translator)
    validation = task.split("val", 20)
    found = criteria(task, translation_config(reward={"bleu4": 1.0}), validation)
    assert found.decisive == "val_bleu"
    bleu = found.measured["val_bleu"]
    captions = validation.captions(np.arange(len(validation)))[:, 0].numpy()
    assert bleu(captions) == pytest.approx(1)
    wrong = captions.copy()
    wrong[0, 0] = UNK
    assert 0 < bleu(wrong) < 1
    assert bleu(np.full_like(captions, PAD)) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("reward", "measured"),
    [({}, ["val_cider"]), ({"cider": 1.0}, ["val_cider"]), ({"bleu4": 1.0}, ["val_cider", "val_reward"])],
)
def test_captions_are_measured_by_what_is_paid_and_by_cider(small_images, reward, measured):
    task = tasks.load("images", "image", Lstm)
    validation = task.split("val", 6)
    found = criteria(task, run_config(reward=reward), validation)
    assert list(found.measured) == measured
    assert found.decisive == measured[-1]
    captions = validation.captions(np.arange(len(validation)))[:, 0].numpy()
    for criterion in found.measured.values():
        assert criterion(captions) > criterion(np.roll(captions, 1, 0))
